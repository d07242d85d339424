use std::path::Path;

use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::resolution::{Outcome, Resolution, Skip, Via};
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "empty-source",
    level: Level::Warning,
    summary: "an empty instruction file, which contributes nothing and may keep another from being read",
    page: include_str!("empty_source.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    lint.skipped(Skip::Empty)
        .filter(|(_, source, _)| source.via != Via::Import)
        .map(|(resolution, source, path)| {
            let kept: Vec<&Path> = kept_out(resolution, path);
            let names: Vec<String> = kept.iter().map(|path| format!("`{}`", lint.name(path))).collect();
            let message = match names.as_slice() {
                [] => "the file is empty, so nothing of it is loaded".to_string(),
                names => format!("the file is empty, and keeps {} from being read", names.join(" and ")),
            };
            let found = RULE.at(Place::whole(path), message).for_sources([(resolution, source)]);
            let found = kept.iter().fold(found, |found, path| found.also(Place::whole(*path), "this file is not read"));
            found.help("write something into it, or take it away")
        })
        .collect()
}

/// The files that lose to the one at `path`.
fn kept_out<'a>(resolution: &'a Resolution, path: &Path) -> Vec<&'a Path> {
    let loses = |outcome: &Outcome| matches!(outcome, Outcome::Shadowed { by } if by == path);
    resolution.sources.iter().filter(|source| loses(&source.outcome)).filter_map(|source| source.path()).collect()
}
