use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::resolution::Skip;
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "over-size",
    level: Level::Warning,
    summary: "a file that is larger than a client reads",
    page: include_str!("over_size.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    lint.skipped(Skip::OverSize)
        .map(|(resolution, source, path)| {
            let size = source.bytes.map_or(String::new(), |bytes| format!(" of {bytes} bytes"));
            let place = source.from.clone().unwrap_or_else(|| Place::whole(path));
            RULE.at(place, format!("the file{size} is too large to be loaded"))
                .for_sources([(resolution, source)])
                .help("split it, or take out what is not an instruction")
        })
        .collect()
}
