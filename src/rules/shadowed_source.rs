use std::path::Path;

use super::imports::{follows_imports, holder};
use super::{Lint, Rule, repairs, title};
use crate::diagnostic::{Diagnostic, Level, Repair};
use crate::resolution::{Outcome, Resolution, Scope, Skip, Source};
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "shadowed-source",
    level: Level::Warning,
    summary: "a file that is not read because another one is taken in its place",
    page: include_str!("shadowed_source.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (resolution, source) in lint.sources() {
        let (Some(path), Outcome::Shadowed { by }) = (source.path(), &source.outcome) else { continue };
        // The user's own second choice is meant to lose; so is `CONTEXT.md`, a name that many use for something else.
        let may_lose = source.scope == Scope::User || path.ends_with("CONTEXT.md") || lint.is_foreign(path);
        // It may come in by a configuration all the same. An empty winner is a finding of its own.
        let loaded = resolution.at(path).any(Source::is_loaded);
        let empty = |why: &Outcome| *why == Outcome::Skipped { why: Skip::Empty };
        let by_empty = resolution.at(by).any(|winner| empty(&winner.outcome));
        if may_lose || loaded || by_empty || says_the_same(lint, path, by) {
            continue;
        }
        let message = format!("{} reads `{}` instead of this file", title(resolution), lint.name(by));
        found.push(
            RULE.at(Place::whole(path), message)
                .also(Place::whole(by), "this file is taken")
                .for_sources([(resolution, source)])
                .help("put what both should say into the file that is taken")
                .mended_by(import(lint, resolution, path, by)),
        );
    }
    found
}

/// The import that makes both of two files for one directory count.
fn import(lint: &Lint<'_>, resolution: &Resolution, loser: &Path, winner: &Path) -> Option<Repair> {
    let of_one = winner.parent().map(holder) == loser.parent();
    let portable = loser.ends_with("AGENTS.md") && winner.ends_with("CLAUDE.md");
    if of_one && portable && follows_imports(resolution) { repairs::import(lint, loser) } else { None }
}

/// Whether the loser is empty, or only repeats or imports the winner: then nothing is lost.
fn says_the_same(lint: &Lint<'_>, loser: &Path, winner: &Path) -> bool {
    let files = lint.scene.files;
    if files.real(loser) == files.real(winner) {
        return true;
    }
    let (Some(lost), Some(taken)) = (lint.text(loser), lint.text(winner)) else { return false };
    lost.trim().is_empty() || lost.trim() == taken.trim() || lint.imports(loser, winner)
}
