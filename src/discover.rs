//! Stage 1: one walk over the project, which finds every instruction-like file in it.
//!
//! What a name means to a client is not decided here.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::mem;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use memchr::memmem;

use crate::files::{Entry, Files, Unreadable};
use crate::text::is_hidden;

/// A project that was walked.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// Its directory, absolute, links resolved.
    pub root: PathBuf,
    /// The files, links and directories with an instruction-like name or place, absolute, links not resolved.
    pub instructions: BTreeSet<PathBuf>,
    /// Every directory, sorted.
    pub dirs: Rc<Vec<Dir>>,
    /// Every link, absolute, sorted.
    pub links: Rc<Vec<PathBuf>>,
    /// The directories that could not be listed, sorted.
    pub closed: Rc<Vec<PathBuf>>,
}

/// A directory that was walked.
#[derive(Clone, Debug)]
pub struct Dir {
    /// Where it is, absolute.
    pub path: PathBuf,
    /// The names of what is in it, a NUL behind each: a path for each would take five times as much. Behind the name of
    /// a directory stands a `/`, behind that of a link two.
    names: String,
}

impl Dir {
    /// What is in it, sorted. A name that is not UTF-8 is left out: no import and no pattern can stand for it.
    pub fn entries(&self) -> impl Iterator<Item = (&str, Entry)> {
        self.names.split_terminator('\0').map(|name| match (name.strip_suffix("//"), name.strip_suffix('/')) {
            (Some(link), _) => (link, Entry::Link),
            (None, Some(dir)) => (dir, Entry::Dir),
            (None, None) => (name, Entry::File { len: 0 }),
        })
    }

    /// The names of the files and links in it, sorted.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.entries().filter(|(_, entry)| *entry != Entry::Dir).map(|(name, _)| name)
    }
}

impl Project {
    /// The directory at `path`, where the walk came to it.
    pub fn dir(&self, path: &Path) -> Option<&Dir> {
        self.dirs.binary_search_by(|dir| dir.path.as_path().cmp(path)).ok().map(|at| &self.dirs[at])
    }

    /// The directories that hold instruction files, and the project's own, each with the project as it is seen from there:
    /// with the instruction files below it, and those of the directories above it. What lies in a `.claude` counts for
    /// the directory that holds it.
    pub fn views(&self) -> Vec<(PathBuf, Self)> {
        let outside = |dir: &&Path| !dir.components().any(|part| part.as_os_str() == ".claude");
        let mut held: BTreeMap<&Path, Vec<&PathBuf>> = BTreeMap::from([(self.root.as_path(), Vec::new())]);
        for path in &self.instructions {
            if let Some(holder) = path.ancestors().skip(1).find(outside) {
                held.entry(holder).or_default().push(path);
            }
        }
        let view = |dir: &&Path| {
            let below = held.range(*dir..).take_while(|(holder, _)| holder.starts_with(dir)).map(|(_, files)| files);
            let above = dir.ancestors().skip(1).filter_map(|above| held.get(above));
            let instructions = below.chain(above).flatten().map(|path| PathBuf::clone(path)).collect();
            let (dirs, links, closed) = (self.dirs.clone(), self.links.clone(), self.closed.clone());
            (dir.to_path_buf(), Self { root: self.root.clone(), instructions, dirs, links, closed })
        };
        held.keys().map(view).collect()
    }
}

/// So many directories are listed at once, and held until they are looked at.
const AT_ONCE: usize = 512;

/// Walks `root`, and `cwd` too where it lies outside. What is below a `.git` is left out: no client reads there.
pub fn discover(files: &dyn Files, root: &Path, cwd: &Path) -> Project {
    let mut project = Project { root: root.to_path_buf(), ..Project::default() };
    let mut level = vec![root.to_path_buf()];
    if !cwd.starts_with(root) && !root.starts_with(cwd) {
        level.push(cwd.to_path_buf());
        level.sort_unstable();
    }
    // Level by level, for the directories of one level can be listed side by side.
    let mut walked: Vec<Walked> = Vec::new();
    let tops = level.len();
    while !level.is_empty() {
        let mut below = Vec::new();
        let children = walked.len() + level.len();
        for dirs in level.chunks_mut(AT_ONCE) {
            let listed = files.entries_of_all(dirs);
            for (path, entries) in dirs.iter_mut().map(mem::take).zip(listed) {
                let first = children + below.len();
                let names = project.look_at(&path, entries, &mut below);
                walked.push(Walked { path, names, children: first..children + below.len() });
            }
        }
        level = below;
    }
    project.dirs = sorted(walked, tops).into();
    Rc::make_mut(&mut project.links).sort_unstable();
    Rc::make_mut(&mut project.closed).sort_unstable();
    let starts = [root, cwd];
    project.instructions.retain(|path| !is_page(files, &starts, path));
    project
}

/// A directory among those that were walked level by level.
struct Walked {
    path: PathBuf,
    /// As in [`Dir`]; `None` when it could not be listed.
    names: Option<String>,
    /// Where its own directories are.
    children: Range<usize>,
}

/// The directories with each before what is in it. On each level they are sorted already, and `tops` are on the first.
fn sorted(mut walked: Vec<Walked>, tops: usize) -> Vec<Dir> {
    let mut dirs = Vec::with_capacity(walked.len());
    // What is first comes last on the stack.
    let mut todo: Vec<usize> = (0..tops).rev().collect();
    while let Some(at) = todo.pop() {
        let Walked { path, names, children } = &mut walked[at];
        if let Some(names) = names.take() {
            dirs.push(Dir { path: mem::take(path), names });
        }
        todo.extend(children.clone().rev());
    }
    dirs
}

impl Project {
    /// Takes what is of interest from the directory at `path`, puts the directories in it behind `below`, and gives back
    /// the names in it. `None` when it could not be listed.
    fn look_at(
        &mut self,
        path: &Path,
        entries: Result<Vec<(OsString, Entry)>, Unreadable>,
        below: &mut Vec<PathBuf>,
    ) -> Option<String> {
        let Ok(entries) = entries else {
            Rc::make_mut(&mut self.closed).push(path.to_path_buf());
            return None;
        };
        let mut names = String::with_capacity(entries.iter().map(|(name, _)| name.len() + 3).sum());
        for (name, entry) in entries {
            let text = name.to_str();
            names.push_str(text.unwrap_or_default());
            names.push_str(match (text, entry) {
                (None, _) => "",
                (_, Entry::Dir) => "/\0",
                (_, Entry::Link) => "//\0",
                _ => "\0",
            });
            if entry == Entry::Link {
                Rc::make_mut(&mut self.links).push(path.join(&name));
            }
            if entry == Entry::Dir && name == ".git" {
                continue;
            }
            if text.is_some_and(ends_like_text) && is_instruction_like(&path.join(&name)) {
                self.instructions.insert(path.join(&name));
            }
            if entry == Entry::Dir {
                below.push(path.join(&name));
            }
        }
        names.shrink_to_fit();
        Some(names)
    }
}

/// The names that some client reads by themselves.
pub const NATIVE: &[&str] = &["AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "CONTEXT.md"];

/// The directories of the clients, in which people look for their files.
pub const OF_CLIENTS: &[&str] = &[".agents", ".claude", ".codex", ".opencode"];

/// Directories of pages for people.
const OF_PAGES: &[&str] = &["articles", "blog", "content", "doc", "docs", "documentation", "pages", "posts", "wiki"];

/// What a package has at its top.
const MANIFESTS: &[&str] = &[
    "Cargo.toml",
    "Gemfile",
    "Package.swift",
    "build.gradle",
    "build.gradle.kts",
    "composer.json",
    "deno.json",
    "go.mod",
    "mix.exs",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "setup.py",
];

/// Whether a file of an instruction-like name is more likely a page among pages, such as `docs/agents.md`, or a file of
/// another tool, such as `.cursor/rules/claude.mdc`. `starts` are the directories that a client may be started in.
fn is_page(files: &dyn Files, starts: &[&Path], path: &Path) -> bool {
    let (Some(name), Some(dir)) = (path.file_name().and_then(OsStr::to_str), path.parent()) else { return false };
    let parent = dir.file_name().and_then(OsStr::to_str).unwrap_or_default();
    if NATIVE.contains(&name) || is_rule_place(path) || OF_CLIENTS.contains(&parent) {
        return false;
    }
    let below = starts.iter().find_map(|start| dir.strip_prefix(start).ok()).unwrap_or(dir);
    let within = |is: fn(&str) -> bool| below.iter().filter_map(OsStr::to_str).any(is);
    // An agent, a command or a skill of a client, or a file of another tool.
    if within(|dir| dir.starts_with('.')) {
        return true;
    }
    let is_package = || MANIFESTS.iter().any(|manifest| files.entry(&dir.join(manifest)).is_some());
    if is_unmistakable(name) || starts.contains(&dir) || is_package() {
        return false;
    }
    within(|dir| OF_PAGES.contains(&dir.to_ascii_lowercase().as_str())) || has_other_pages(files, dir, name)
}

/// Whether no page for people would be called so.
fn is_unmistakable(name: &str) -> bool {
    let name = &*seen(name);
    let lower = name.to_ascii_lowercase();
    let family = name.split('.').next().unwrap_or_default();
    name.starts_with('.')
        || [".local.", ".override."].iter().any(|variant| lower.contains(variant))
        || (["AGENTS", "CLAUDE"].contains(&family) && name.matches('.').count() == 1)
}

/// Whether there is Markdown in `dir` besides `name`, the readme and instruction files.
fn has_other_pages(files: &dyn Files, dir: &Path, name: &str) -> bool {
    let is_other = |other: &OsStr| {
        let lower = other.to_string_lossy().to_ascii_lowercase();
        (lower.ends_with(".md") || lower.ends_with(".mdx"))
            && other != name
            && !lower.starts_with("readme.")
            && !NATIVE.iter().any(|native| other == *native)
    };
    files.list(dir).is_ok_and(|names| names.iter().any(|other| is_other(other)))
}

/// `name` as it is seen: without white space around it, and without control and format characters.
pub fn seen(name: &str) -> Cow<'_, str> {
    match name.trim_matches(is_unseen) {
        name if name.contains(is_hidden) => Cow::Owned(name.replace(is_hidden, "")),
        name => Cow::Borrowed(name),
    }
}

/// `name` in lower case, as somebody who wrote it may have meant it: `CLAUDE_LOCAL.md` is `claude.local.md`.
pub fn read_as(name: &str) -> String {
    let seen = seen(name);
    let lower = seen.to_ascii_lowercase();
    let variant = ["CLAUDE", "AGENTS"].iter().find_map(|family| seen.strip_prefix(family)?.strip_prefix(['_', '-']));
    match variant.and_then(|variant| variant.split_once('.')) {
        Some((word, _)) if ["local", "override"].iter().any(|known| word.eq_ignore_ascii_case(known)) => {
            lower.replacen(['_', '-'], ".", 1)
        }
        _ => lower,
    }
}

fn is_unseen(c: char) -> bool {
    c.is_whitespace() || is_hidden(c)
}

/// Whether somebody could take `path` for a file that a client reads, by its name and place alone.
pub fn is_instruction_like(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(OsStr::to_str) else { return false };
    if !ends_like_text(name) {
        return false;
    }
    if is_rule_place(path) {
        return true;
    }
    let lower = read_as(name);
    let stem = lower.trim_start_matches('.');
    let (stem, ending) = stem.rsplit_once('.').unwrap_or((stem, ""));
    let (family, variant) = stem.split_once('.').map_or((stem, None), |(family, variant)| (family, Some(variant)));
    match (family, variant) {
        // A list of user agents, say.
        ("agents" | "agent" | "claude" | "codex", None) => ending != "txt" || !name.starts_with(family),
        ("context", None) => seen(name) == "CONTEXT.md",
        ("agents" | "agent" | "claude" | "codex", Some(variant)) => {
            !variant.split('.').any(|part| is_language(part) || NOT_MEANT.contains(&part))
        }
        _ => false,
    }
}

fn ends_like_text(name: &str) -> bool {
    let name = name.trim_end_matches(is_unseen);
    let ends_in = |ending: &&str| {
        let start = name.len().checked_sub(ending.len()).filter(|start| *start > 0);
        start.and_then(|start| name.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(ending))
    };
    [".md", ".mdc", ".txt", ".markdown"].iter().any(ends_in)
}

/// Variants of an instruction file's name that are plainly not meant to be loaded.
const NOT_MEANT: &[&str] =
    &["template", "tmpl", "tpl", "example", "sample", "dist", "bak", "backup", "copy", "old", "orig", "draft"];

/// Whether `variant` is a language code, as in a translated `AGENTS.zh-CN.md`.
fn is_language(variant: &str) -> bool {
    let mut parts = variant.split(['-', '_']);
    let letters = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphabetic());
    // Of `AGENTS.md.txt` the variant is an ending.
    parts.next().is_some_and(|code| code.len() == 2 && letters(code) && code != "md")
        && parts.all(|part| part.len() <= 4 && letters(part))
}

/// Whether `path` lies below a `.claude/rules`.
pub fn is_rule_place(path: &Path) -> bool {
    // Most places are told apart by this alone.
    if memmem::find(path.as_os_str().as_encoded_bytes(), b".claude").is_none() {
        return false;
    }
    let mut above = path.ancestors().skip(1);
    above.any(|dir| {
        dir.file_name() == Some(OsStr::new("rules"))
            && dir.parent().and_then(Path::file_name) == Some(OsStr::new(".claude"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Memory;

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
            "/p/AGENTS.md.txt",
            "/p/AGENTS.override.local.md",
            "/p/CLAUDE.MD",
            "/p/CLAUDE_LOCAL.md",
            "/p/AGENTS-override.md",
            "/p/AGENTS.md ",
            "/p/AGENTS.md\n",
            "/p/\u{202e}CLAUDE.md",
            "/p/AGE\u{200b}NTS.md",
        ] {
            assert!(is_instruction_like(Path::new(yes)), "{yes}");
        }
        for no in [
            "/p/README.md",
            "/p/GEMINI.md",
            "/p/context.md",
            "/p/AGENTS.zh-CN.md",
            "/p/CLAUDE.template.md",
            "/p/CLAUDE.local.example.md",
            "/p/agents.txt",
            "/p/agents.ts",
            "/p/día.md",
            "/p/agents-local.md",
            "/p/CLAUDE_NOTES.md",
        ] {
            assert!(!is_instruction_like(Path::new(no)), "{no}");
        }
    }

    #[test]
    fn directories_are_sorted() {
        let mut files = Memory::default();
        for path in ["/p/b/x", "/p/a/b/c/x", "/p/a/x", "/p/a-b/x", "/p/b/.git/x/x", "/c/x/x"] {
            files.file(path, "oak");
        }
        let project = discover(&files, Path::new("/p"), Path::new("/c"));
        let dirs: Vec<&str> = project.dirs.iter().filter_map(|dir| dir.path.to_str()).collect();
        assert_eq!(dirs, ["/c", "/c/x", "/p", "/p/a", "/p/a/b", "/p/a/b/c", "/p/a-b", "/p/b"]);
        assert!(dirs.iter().all(|dir| project.dir(Path::new(dir)).is_some_and(|found| found.path == Path::new(dir))));
    }

    #[test]
    fn pages_among_pages_are_no_instructions() {
        let instructions = [
            "/p/agents.md",
            "/p/.claude/claude.md",
            "/p/.codex/agents.md",
            "/p/pkg/agents.md",
            "/p/web/claude.md",
            "/p/docs/CLAUDE.MD",
            "/p/docs/AGENTS.local.md",
        ];
        let pages = [
            "/p/docs/agents.md",
            "/p/notes/claude.md",
            "/p/.cursor/rules/claude.mdc",
            "/p/.claude/commands/codex.md",
            "/p/docs/CLAUDE.setup.md",
        ];
        let mut files = Memory::default();
        for path in instructions.iter().chain(&pages) {
            files.file(path, "oak");
        }
        files.file("/p/pkg/README.md", "oak").file("/p/web/package.json", "{}").file("/p/web/news.md", "oak");
        files.file("/p/notes/news.md", "oak");
        let found = discover(&files, Path::new("/p"), Path::new("/p")).instructions;
        assert_eq!(found, instructions.iter().map(PathBuf::from).collect());
    }
}
