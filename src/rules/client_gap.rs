use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::imports::follows_imports;
use super::{Lint, Rule, import_ignored, repairs, title};
use crate::diagnostic::{Diagnostic, Level};
use crate::discover::OF_CLIENTS;
use crate::resolution::{Outcome, Phase, Resolution, Skip, Source, Trigger, Via};
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "client-gap",
    level: Level::Warning,
    summary: "shared instructions that one of the selected clients never gets",
    page: include_str!("client_gap.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    let shared: Vec<&Path> =
        lint.scene.project.instructions.iter().map(PathBuf::as_path).filter(|path| is_shared(lint, path)).collect();
    let started = lint.resolutions.iter().filter(|resolution| resolution.refusal.is_none());
    started.flat_map(|resolution| gaps(lint, resolution, &shared)).collect()
}

/// The files that one client never gets.
fn gaps(lint: &Lint<'_>, resolution: &Resolution, shared: &[&Path]) -> Vec<Diagnostic> {
    let (unread, known): (Vec<&Source>, Vec<&Source>) = resolution.sources.iter().partition(|source| is_unread(source));
    let unread: BTreeMap<&Path, &Source> =
        unread.into_iter().filter_map(|source| Some((source.path()?, source))).collect();
    let reached: BTreeSet<&Path> =
        known.iter().flat_map(|source| [source.path(), source.real.as_deref()]).flatten().collect();
    let speaks = |source: &&&Source| source.via != Via::Import && has_text(source);
    let mut speakers: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
    for path in known.iter().filter(speaks).filter_map(|source| source.path()) {
        speakers.entry(home_of(path).unwrap_or(path)).or_default().push(path);
    }
    let almost = OnceCell::new();
    shared
        .iter()
        .filter_map(|path| {
            let source = unread.get(path)?;
            if reached.contains(path) || source.real.as_deref().is_some_and(|real| reached.contains(real)) {
                return None;
            }
            if !says_something(lint, path) {
                return None;
            }
            let speakers = speakers.get(home_of(path)?).map_or(&[] as &[_], Vec::as_slice);
            let instead = speakers.iter().rev().find(|path| !is_pointer(lint, path));
            // The import is there, and the client does not come to it from this start, or another finding says why not.
            if follows_imports(resolution) && speakers.iter().any(|beside| lint.imports(beside, path)) {
                return None;
            }
            // What looks like an import of it is a finding of its own.
            if almost.get_or_init(|| import_ignored::named(lint, resolution)).contains(*path) {
                return None;
            }
            let (message, help, repair) = match path.file_name()?.to_str()? {
                "AGENTS.md" if instead.is_some_and(|instead| says_the_same(lint, path, instead)) => return None,
                "AGENTS.md" => (
                    format!("{} does not read this file, and nothing imports it", title(resolution)),
                    if instead.is_some() {
                        "add the line `@AGENTS.md` to the `CLAUDE.md` beside it"
                    } else {
                        "add a `CLAUDE.md` beside it with the line `@AGENTS.md`"
                    },
                    if follows_imports(resolution) { repairs::import(lint, path) } else { None },
                ),
                _ if instead.is_some() => return None,
                _ => (
                    if is_aside(source) {
                        format!("{} comes to this file only when it reads another one in `.claude`", title(resolution))
                    } else {
                        format!("{} reads nothing in this directory", title(resolution))
                    },
                    if home_of(path) == path.parent() {
                        "move what is for all clients into `AGENTS.md` beside it, and leave the line `@AGENTS.md` here"
                    } else {
                        "move what is for all clients into the `AGENTS.md` of the directory that holds `.claude`, and \
                         leave the line `@../AGENTS.md` here"
                    },
                    repairs::move_out(lint, path),
                ),
            };
            let found = RULE.at(Place::whole(*path), message).for_sources([(resolution, *source)]);
            Some(found.help(help).mended_by(repair))
        })
        .collect()
}

/// Whether the client does not know a file, or as good as never comes to it.
fn is_unread(source: &Source) -> bool {
    matches!(source.outcome, Outcome::Unsupported { .. }) || is_aside(source)
}

/// Whether the client comes to a file only by reading what lies beside it in `.claude`.
fn is_aside(source: &Source) -> bool {
    let known = !matches!(source.outcome, Outcome::Unsupported { .. });
    known && matches!(&source.phase, Phase::Lazy(Trigger::Under(dir)) if dir.ends_with(".claude"))
}

/// Whether a file that the client knows says something to it, now or from another start directory.
fn has_text(source: &Source) -> bool {
    match &source.outcome {
        Outcome::Loaded | Outcome::Shadowed { .. } => true,
        Outcome::Skipped { why } => {
            matches!(why, Skip::NotInChain | Skip::OverBudget | Skip::Duplicate | Skip::Untrusted)
        }
        Outcome::Unsupported { .. } => false,
    }
}

/// Whether the file is meant for more than one client.
fn is_shared(lint: &Lint<'_>, path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str);
    let dir = path.parent().and_then(Path::file_name).and_then(OsStr::to_str).unwrap_or_default();
    // In the directory of a client, a name that is not read there is a finding of its own.
    let placed = !OF_CLIENTS.contains(&dir) || (dir == ".claude" && name == Some("CLAUDE.md"));
    matches!(name, Some("AGENTS.md" | "CLAUDE.md")) && placed && !lint.is_foreign(path)
}

fn says_something(lint: &Lint<'_>, path: &Path) -> bool {
    !is_pointer(lint, path) && lint.content(path).is_some_and(|content| !content.text().trim().is_empty())
}

/// Whether the file is an `AGENTS.md` of nothing but imports, which no client follows from there.
fn is_pointer(lint: &Lint<'_>, path: &Path) -> bool {
    let only_imports = |text: &str| text.lines().all(|line| line.trim().is_empty() || line.starts_with('@'));
    path.ends_with("AGENTS.md") && lint.content(path).is_some_and(|content| only_imports(content.text()))
}

fn says_the_same(lint: &Lint<'_>, one: &Path, other: &Path) -> bool {
    let (Some(one), Some(other)) = (lint.content(one), lint.content(other)) else { return false };
    one.text().trim() == other.text().trim()
}

/// The directory that a file speaks for: what lies in `.claude` speaks for the directory that holds it.
fn home_of(path: &Path) -> Option<&Path> {
    let dir = path.parent()?;
    if dir.file_name() == Some(OsStr::new(".claude")) { dir.parent() } else { Some(dir) }
}
