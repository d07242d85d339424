use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::resolution::{Skip, Via};
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "broken-link",
    level: Level::Warning,
    summary: "an instruction file that is a link to nothing",
    page: include_str!("broken_link.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    lint.skipped(Skip::BrokenLink)
        .filter(|(_, source, _)| source.via != Via::Import)
        .map(|(resolution, source, path)| {
            RULE.at(Place::whole(path), "the link leads nowhere, so it counts as missing")
                .for_sources([(resolution, source)])
                .help("point the link at a file that exists, or take it away")
        })
        .collect()
}
