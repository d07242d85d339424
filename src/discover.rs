//! Stage 1: one walk over the project, which finds every instruction-like file in it.
//!
//! What a name means to a client is not decided here.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::files::{Entry, Files};

/// A project that was walked.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// Its directory, absolute, links resolved.
    pub root: PathBuf,
    /// The files, links and directories with an instruction-like name or place, absolute, links not resolved.
    pub instructions: BTreeSet<PathBuf>,
    /// Every file and link, absolute, in walking order.
    pub files: Vec<PathBuf>,
    /// Every link, absolute, in walking order.
    pub links: Vec<PathBuf>,
    /// The directories that could not be listed.
    pub closed: Vec<PathBuf>,
}

impl Project {
    /// The directories that hold instruction files, and the project's own; what lies in a `.claude` counts for the
    /// directory that holds it.
    pub fn instruction_dirs(&self) -> Vec<PathBuf> {
        let outside = |dir: &&Path| !dir.components().any(|part| part.as_os_str() == ".claude");
        let holder = |path: &PathBuf| path.ancestors().skip(1).find(outside).map(Path::to_path_buf);
        let mut dirs: BTreeSet<PathBuf> = self.instructions.iter().filter_map(holder).collect();
        dirs.insert(self.root.clone());
        dirs.into_iter().collect()
    }
}

/// Walks `root`, and `cwd` too where it lies outside. What is below a `.git` is left out: no client reads there.
pub fn discover(files: &dyn Files, root: &Path, cwd: &Path) -> Project {
    let mut project = Project { root: root.to_path_buf(), ..Project::default() };
    let mut roots = vec![root];
    if !cwd.starts_with(root) && !root.starts_with(cwd) {
        roots.push(cwd);
    }
    for root in roots {
        let Project { instructions, files: all, links, closed, .. } = &mut project;
        // Two closures need the set of instructions, so directories are kept apart until the walk is over.
        let mut dirs = Vec::new();
        files.walk(
            root,
            &mut |dir| {
                if dir.file_name() == Some(OsStr::new(".git")) {
                    return false;
                }
                if is_instruction_like(dir) {
                    dirs.push(dir.to_path_buf());
                }
                true
            },
            &mut |path, entry| {
                if entry == Entry::Link {
                    links.push(path.to_path_buf());
                }
                if is_instruction_like(path) {
                    instructions.insert(path.to_path_buf());
                }
                all.push(path.to_path_buf());
            },
            &mut |dir| closed.push(dir.to_path_buf()),
        );
        project.instructions.extend(dirs);
    }
    project
}

/// Whether somebody could take `path` for a file that a client reads, by its name and place alone.
pub fn is_instruction_like(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(OsStr::to_str) else { return false };
    let ends_like_text = [".md", ".mdc", ".txt", ".markdown"].iter().any(|ending| {
        name.len() > ending.len()
            && name.is_char_boundary(name.len() - ending.len())
            && name[name.len() - ending.len()..].eq_ignore_ascii_case(ending)
    });
    if !ends_like_text {
        return false;
    }
    if is_rule_place(path) {
        return true;
    }
    let lower = name.to_ascii_lowercase();
    let stem = lower.trim_start_matches('.');
    let stem = &stem[..stem.rfind('.').unwrap_or(stem.len())];
    let (family, variant) = stem.split_once('.').map_or((stem, None), |(family, variant)| (family, Some(variant)));
    match (family, variant) {
        ("agents" | "agent" | "claude" | "codex", None) => true,
        ("context", None) => name == "CONTEXT.md",
        ("agents" | "agent" | "claude" | "codex", Some(variant)) => {
            !is_language(variant) && !NOT_MEANT.contains(&variant)
        }
        _ => false,
    }
}

/// Variants of an instruction file's name that are plainly not meant to be loaded.
const NOT_MEANT: &[&str] = &["template", "tmpl", "example", "sample", "dist", "bak", "backup", "old", "orig", "draft"];

/// Whether `variant` is a language code, as in a translated `AGENTS.zh-CN.md`.
fn is_language(variant: &str) -> bool {
    let mut parts = variant.split(['-', '_']);
    let letters = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphabetic());
    parts.next().is_some_and(|code| code.len() == 2 && letters(code))
        && parts.all(|part| part.len() <= 4 && letters(part))
}

/// Whether `path` lies below a `.claude/rules`.
pub fn is_rule_place(path: &Path) -> bool {
    let mut above = path.ancestors().skip(1);
    above.any(|dir| {
        dir.file_name() == Some(OsStr::new("rules"))
            && dir.parent().and_then(Path::file_name) == Some(OsStr::new(".claude"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_like_instructions() {
        for yes in [
            "/p/AGENTS.md",
            "/p/agents.md",
            "/p/.agents.local.md",
            "/p/CLAUDE.override.md",
            "/p/.claude/CLAUDE.md",
            "/p/.claude/rules/a/b.mdc",
            "/p/CONTEXT.md",
            "/p/AGENT.md",
            "/p/codex.md",
        ] {
            assert!(is_instruction_like(Path::new(yes)), "{yes}");
        }
        for no in [
            "/p/README.md",
            "/p/GEMINI.md",
            "/p/context.md",
            "/p/AGENTS.zh-CN.md",
            "/p/CLAUDE.template.md",
            "/p/agents.ts",
            "/p/día.md",
        ] {
            assert!(!is_instruction_like(Path::new(no)), "{no}");
        }
    }
}
