use std::ffi::OsStr;
use std::path::Path;

use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::discover::is_rule_place;
use crate::resolution::{Outcome, Resolution, Source};
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "unsupported-name",
    level: Level::Error,
    summary: "an instruction-like name that no selected client reads",
    page: include_str!("unsupported_name.md"),
    check,
};

/// The names that some client reads by themselves; where one of the selected clients does not, that is another finding.
const NATIVE: &[&str] = &["AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "CONTEXT.md"];

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    lint.scene.project.instructions.iter().filter_map(|path| unsupported(lint, path)).collect()
}

fn unsupported(lint: &Lint<'_>, path: &Path) -> Option<Diagnostic> {
    let name = path.file_name().and_then(OsStr::to_str)?;
    let in_claude_dir = path.parent().and_then(Path::file_name) == Some(OsStr::new(".claude"));
    if NATIVE.contains(&name) && !(in_claude_dir && name == "CLAUDE.local.md") {
        return None;
    }
    let of_path = |resolution: &Resolution| -> Vec<Source> { resolution.at(path).cloned().collect() };
    let sources: Vec<(&Resolution, Vec<Source>)> = lint.resolutions.iter().map(|one| (one, of_path(one))).collect();
    let mut all = sources.iter().flat_map(|(_, sources)| sources);
    if !all.all(|source| matches!(source.outcome, Outcome::Unsupported { .. })) {
        return None;
    }
    // A link to a file that is read is there for other tools.
    let real = lint.scene.files.real(path);
    let read = |source: &Source| source.is_loaded() && source.real.is_some() && source.real == real;
    if lint.resolutions.iter().any(|resolution| resolution.sources.iter().any(read)) {
        return None;
    }
    let message = format!("no selected client reads {}", place_and_name(path, name));
    let pairs =
        sources.iter().flat_map(|(resolution, sources)| sources.iter().map(move |source| (*resolution, source)));
    Some(RULE.at(Place::whole(path), message).for_sources(pairs).help(advice(path, name)))
}

/// The name, with the directory where that is what is wrong.
fn place_and_name(path: &Path, name: &str) -> String {
    match path.parent().and_then(Path::file_name).and_then(OsStr::to_str) {
        Some(dir @ (".claude" | "rules")) => format!("`{dir}/{name}`"),
        _ => format!("`{name}`"),
    }
}

/// What to do: the nearest name that is read.
fn advice(path: &Path, name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    if is_rule_place(path) {
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        return format!("rule files end in `.md`: rename it to `{stem}.md`");
    }
    let nearest = match lower.trim_start_matches('.') {
        "agents.md" | "agent.md" | "codex.md" => "AGENTS.md",
        "claude.md" => "CLAUDE.md",
        "claude.local.md" if name.starts_with('.') || name != "CLAUDE.local.md" => "CLAUDE.local.md",
        "claude.local.md" => {
            return "move it out of `.claude`, beside `CLAUDE.md`: Claude Code reads `CLAUDE.local.md` only there"
                .into();
        }
        "agents.local.md" => {
            return "for a file that is yours alone use `CLAUDE.local.md` (Claude Code); Codex and OpenCode have none: \
                    use your global `~/.codex/AGENTS.md` and `~/.config/opencode/AGENTS.md`"
                .into();
        }
        "agents.override.md" => "AGENTS.override.md",
        other if other.starts_with("claude.") => {
            return "put its text into `CLAUDE.md`, or import it there with an `@` before its name".into();
        }
        _ => return "put its text into `AGENTS.md`".into(),
    };
    format!("did you mean `{nearest}`? Rename it")
}
