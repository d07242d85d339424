use std::cell::OnceCell;
use std::path::Path;

use super::imports::{follows_imports, holder};
use super::{Lint, Rule, by_path, repairs, title};
use crate::diagnostic::{Diagnostic, Level, Repair};
use crate::resolution::{Outcome, Resolution, Scope, Skip};
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "shadowed-source",
    level: Level::Warning,
    summary: "a file that is not read because another one is taken in its place",
    page: include_str!("shadowed_source.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    lint.resolutions.iter().flat_map(|resolution| shadowed(lint, resolution)).collect()
}

fn shadowed(lint: &Lint<'_>, resolution: &Resolution) -> Vec<Diagnostic> {
    let known = OnceCell::new();
    let at = |path: &Path| {
        let known = known.get_or_init(|| by_path(resolution.sources.iter().map(|source| (resolution, source))));
        known.get(path).map_or(&[] as &[_], Vec::as_slice)
    };
    let mut found = Vec::new();
    for source in &resolution.sources {
        let (Some(path), Outcome::Shadowed { by }) = (source.path(), &source.outcome) else { continue };
        // The user's own second choice is meant to lose; so is `CONTEXT.md`, a name that many use for something else.
        let may_lose = source.scope == Scope::User || path.ends_with("CONTEXT.md") || lint.is_foreign(path);
        // It may come in by a configuration all the same. An empty winner is a finding of its own.
        let loaded = at(path).iter().any(|(_, source)| source.is_loaded());
        let empty = |why: &Outcome| *why == Outcome::Skipped { why: Skip::Empty };
        let by_empty = at(by).iter().any(|(_, winner)| empty(&winner.outcome));
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
    let (Some(lost), Some(taken)) = (lint.content(loser), lint.content(winner)) else { return false };
    let (lost, taken) = (lost.text().trim(), taken.text().trim());
    lost.is_empty() || lost == taken || lint.imports(loser, winner)
}
