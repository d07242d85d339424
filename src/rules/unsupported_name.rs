use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{ByPath, Lint, Rule, by_path, repairs, title};
use crate::diagnostic::{Diagnostic, Level, Repair};
use crate::discover::{NATIVE, OF_CLIENTS, is_rule_place, read_as, seen};
use crate::resolution::{Outcome, Phase, Resolution, Skip, Source, Trigger, Via};
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "unsupported-name",
    level: Level::Error,
    summary: "an instruction-like name that no selected client reads",
    page: include_str!("unsupported_name.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    let instructions = lint.scene.project.instructions.iter();
    let known = by_path(lint.sources());
    instructions.filter(|path| !lint.is_foreign(path)).filter_map(|path| unsupported(lint, &known, path)).collect()
}

fn unsupported(lint: &Lint<'_>, known: &ByPath<'_>, path: &Path) -> Option<Diagnostic> {
    let name = path.file_name().and_then(OsStr::to_str)?;
    // Where one of the selected clients does not read a name that another reads, that is another finding.
    if NATIVE.contains(&name) && !is_misplaced(path, name) {
        return None;
    }
    let at = |path: &Path| known.get(path).cloned().unwrap_or_default();
    let sources = at(path);
    if !sources.iter().all(|(_, source)| is_unread(source, path)) {
        return None;
    }
    // A link to a file that is read is there for other tools.
    let real = lint.scene.files.real(path);
    let read =
        |(_, source): &(&Resolution, &Source)| source.is_loaded() && !is_unread(source, path) && source.real == real;
    if real.as_deref().is_some_and(|real| at(real).iter().any(read)) {
        return None;
    }
    let message = format!("no selected client reads {}", place_and_name(lint, path, name));
    let found = RULE.at(Place::whole(path), message).for_sources(sources).help(advice(lint, path, name));
    Some(found.mended_by(rename(lint, path, name)))
}

/// The new name, where it is free and can only be the one that was meant.
fn rename(lint: &Lint<'_>, path: &Path, name: &str) -> Option<Repair> {
    let to = meant(lint, path, name)?;
    let is_free = lint.scene.files.entry(&to).is_none();
    (is_free && repairs::is_plain(lint, path)).then(|| Repair::Rename { from: path.to_path_buf(), to })
}

fn meant(lint: &Lint<'_>, path: &Path, name: &str) -> Option<PathBuf> {
    let seen = seen(name);
    let (stem, _) = seen.rsplit_once('.')?;
    if is_rule_place(path) {
        return Some(path.with_file_name(format!("{stem}.md")));
    }
    if name == "CLAUDE.local.md" && dir_of(path) == ".claude" {
        // Its imports are relative to the place that it leaves.
        let stays = lint.content(path).is_none_or(|content| repairs::has_imports(content.text()));
        return path.parent()?.parent().filter(|_| !stays).map(|dir| dir.join(name));
    }
    let lower = read_as(name);
    let meant = match stem_of(&lower) {
        "agents" | "agent" | "agents.md" => "AGENTS.md",
        "agents.override" => "AGENTS.override.md",
        "claude" | "claude.md" => "CLAUDE.md",
        "claude.local" => "CLAUDE.local.md",
        // `AGENTS.local.md` has no counterpart for all clients, and `codex.md` is for one of them.
        _ => return None,
    };
    let to = path.with_file_name(meant);
    (!is_misplaced(&to, meant)).then_some(to)
}

/// Whether a file of a native name lies in the directory of a client, where none looks for it.
fn is_misplaced(path: &Path, name: &str) -> bool {
    match dir_of(path) {
        ".claude" => !["CLAUDE.md", "CONTEXT.md"].contains(&name),
        dir => OF_CLIENTS.contains(&dir) && name != "CONTEXT.md",
    }
}

/// Whether the client does not know the file at `path`, or comes to it only from the directory in which it lies.
fn is_unread(source: &Source, path: &Path) -> bool {
    match (&source.outcome, &source.phase) {
        (Outcome::Unsupported { .. }, _) => true,
        (Outcome::Skipped { why: Skip::NotInChain }, _) => OF_CLIENTS.contains(&dir_of(path)),
        (_, Phase::Lazy(Trigger::Under(dir))) => {
            path.parent() == Some(dir) && OF_CLIENTS.contains(&dir_of(path)) && source.via == Via::Place
        }
        _ => false,
    }
}

/// The name of the directory that holds `path`.
fn dir_of(path: &Path) -> &str {
    path.parent().and_then(Path::file_name).and_then(OsStr::to_str).unwrap_or_default()
}

/// The name, with the directory where that is what is wrong.
fn place_and_name(lint: &Lint<'_>, path: &Path, name: &str) -> String {
    match dir_of(path) {
        _ if is_rule_place(path) => format!("`{}`", lint.name(path)),
        dir if OF_CLIENTS.contains(&dir) => format!("`{dir}/{name}`"),
        _ => format!("`{name}`"),
    }
}

/// What to do: the nearest name that is read.
fn advice(lint: &Lint<'_>, path: &Path, name: &str) -> String {
    let seen = seen(name);
    let (stem, _) = seen.rsplit_once('.').unwrap_or((&seen, ""));
    if is_rule_place(path) {
        return format!("rule files end in `.md`: rename it to `{stem}.md`");
    }
    if NATIVE.contains(&name) {
        return format!("move it out of `{}`: `{name}` is read beside that directory, not in it", dir_of(path));
    }
    let lower = read_as(name);
    let nearest = match stem_of(&lower) {
        "agents" | "agent" | "codex" | "agents.md" => "AGENTS.md",
        "claude" | "claude.md" => "CLAUDE.md",
        "claude.local" => "CLAUDE.local.md",
        "agents.override" | "agents.override.local" => "AGENTS.override.md",
        "agents.local" => {
            return "for a file that is yours alone use `CLAUDE.local.md` (Claude Code); Codex and OpenCode have none: \
                    use your global `~/.codex/AGENTS.md` and `~/.config/opencode/AGENTS.md`"
                .into();
        }
        other if other.starts_with("claude.") => {
            return "put its text into `CLAUDE.md`, or import it there with an `@` before its name".into();
        }
        _ => return "put its text into `AGENTS.md`".into(),
    };
    let to = path.with_file_name(nearest);
    match lint.scene.files.entry(&to) {
        Some(_) => format!("put its text into `{nearest}`, which is read, or take it away"),
        None => match ousted(lint, &to) {
            Some(client) => format!(
                "did you mean `{nearest}`? Rename it, and write what {client} should know into it: it reads `CLAUDE.md` only \
                 where there is none"
            ),
            None => format!("did you mean `{nearest}`? Rename it"),
        },
    }
}

/// The client that would not read the `CLAUDE.md` beside an `AGENTS.md` at `path` any more.
fn ousted(lint: &Lint<'_>, path: &Path) -> Option<&'static str> {
    let beside = path.with_file_name("CLAUDE.md");
    let takes_one = |resolution: &&Resolution| resolution.client == "opencode";
    let reads =
        |resolution: &&Resolution| resolution.at(&beside).any(|source| source.is_loaded() && source.via == Via::Place);
    let ousted = lint.resolutions.iter().filter(takes_one).find(reads).filter(|_| path.ends_with("AGENTS.md"));
    ousted.map(title)
}

/// A name without its ending and the dots before it.
fn stem_of(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem).trim_start_matches('.')
}
