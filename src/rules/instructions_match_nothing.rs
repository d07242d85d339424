use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::resolution::{Outcome, Skip, Via};
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "instructions-match-nothing",
    level: Level::Warning,
    summary: "an entry of OpenCode's `instructions` that matches no file",
    page: include_str!("instructions_match_nothing.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    let missing = lint
        .sources()
        .filter(|(_, source)| source.via == Via::Config && source.outcome == Outcome::Skipped { why: Skip::Missing });
    missing
        .filter_map(|(resolution, source)| {
            let path = source.path()?;
            let place = source.from.clone().unwrap_or_else(|| Place::whole(path));
            // As it is written, where that can be seen.
            let written = place
                .span
                .and_then(|span| Some(lint.content(&place.path)?.text().get(span.start..span.end)?.to_string()));
            let entry = written.map_or_else(|| lint.name(path), |entry| entry.trim_matches('"').to_string());
            Some(
                RULE.at(place, format!("`{entry}` matches no file, and the client says nothing"))
                    .for_sources([(resolution, source)])
                    .help(
                        "entries are looked for from the start directory up to the repository's root, wherever the \
                         configuration lies; in an absolute one, or one with `~/`, only the last part is a pattern",
                    ),
            )
        })
        .collect()
}
