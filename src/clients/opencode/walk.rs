//! The files that a glob finds, walked as the client's glob library walks them.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::clients::Scene;
use crate::files::{Entry, absolute};
use crate::glob::shell::braces::expand;
use crate::glob::shell::{Options, Part, parts};

/// The most directories outside the project that are listed for all globs of a resolution; the search ends there.
pub(super) const MAX_DIRECTORIES: usize = 20_000;

/// The most names that are compared with a pattern for all globs of a resolution; the search ends there.
pub(super) const MAX_NAMES: usize = 20_000_000;

const OPTIONS: Options = Options { dot: true, nocase: false, empty_tail: false };

/// The names in a directory, with what stands there.
type Listing = Vec<(OsString, Entry)>;

/// A compiled `instructions` entry.
pub(super) struct Pattern {
    branches: Vec<Vec<Part>>,
    /// Whether its braces make more than is expanded; it matches nothing then.
    pub(super) is_excessive: bool,
}

impl Pattern {
    pub(super) fn new(pattern: &str) -> Self {
        if pattern.is_empty() {
            return Self { branches: Vec::new(), is_excessive: false };
        }
        let branches = expand(pattern);
        Self {
            is_excessive: branches.is_none(),
            branches: branches.iter().flatten().map(|branch| parts(&simplified(branch), OPTIONS)).collect(),
        }
    }

    /// The path that it names below `dir`, when it names just one.
    pub(super) fn literal(&self, dir: &Path) -> Option<PathBuf> {
        let [branch] = self.branches.as_slice() else { return None };
        let mut path = dir.to_path_buf();
        for part in branch {
            match part {
                Part::One(segment) => path = absolute(&path, Path::new(segment.literal()?)),
                Part::Globstar => return None,
            }
        }
        Some(path)
    }

    /// Whether it goes down to any depth.
    pub(super) fn is_deep(&self) -> bool {
        self.branches.iter().flatten().any(|part| matches!(part, Part::Globstar))
    }
}

/// A pattern without `x/..`, dots and double slashes; nothing is looked up for that.
fn simplified(pattern: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let all: Vec<&str> = pattern.split('/').collect();
    for (at, part) in all.iter().enumerate() {
        let last = at + 1 == all.len();
        match *part {
            "" | "." if at > 0 && !last => {}
            ".." if parts.last().is_some_and(|above| !matches!(*above, "" | "." | ".." | "**")) => {
                parts.pop();
                // What is first in a pattern is not the same as what comes later.
                if parts.is_empty() && all.get(at + 1) == Some(&"**") {
                    parts.push(".");
                }
            }
            _ => parts.push(part),
        }
    }
    if parts.is_empty() { ".".into() } else { parts.join("/") }
}

/// Finds files, and remembers what it listed.
pub(super) struct Walker<'a> {
    scene: &'a Scene<'a>,
    lists: RefCell<HashMap<PathBuf, Rc<Listing>>>,
    listed: Cell<usize>,
    compared: Cell<usize>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(scene: &'a Scene<'a>) -> Self {
        Self { scene, lists: RefCell::default(), listed: Cell::new(0), compared: Cell::new(0) }
    }

    /// Whether the search has come to its end before it was done.
    pub(super) fn is_spent(&self) -> bool {
        self.listed.get() >= MAX_DIRECTORIES || self.compared.get() >= MAX_NAMES
    }

    /// What `pattern` matches from `dir`, sorted: files, and links to whatever.
    pub(super) fn find(&self, pattern: &Pattern, dir: &Path) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        for parts in pattern.branches.iter().take_while(|_| !self.is_spent()) {
            let mut walk = Walk { walker: self, parts, found: &mut found, seen: BTreeSet::new(), todo: Vec::new() };
            match parts.first() {
                // A brace can hide an absolute path.
                Some(Part::One(first)) if first.literal() == Some("") => walk.come(PathBuf::from("/"), 1, false),
                _ => walk.come(dir.to_path_buf(), 0, false),
            }
            while let Some((dir, at)) = walk.todo.pop().filter(|_| !self.is_spent()) {
                walk.enter(&dir, at);
            }
        }
        found
    }

    /// What is in `dir`, where the project's own walk did not come to; links not followed.
    fn list(&self, dir: &Path) -> Rc<Listing> {
        if let Some(known) = self.lists.borrow().get(dir) {
            return known.clone();
        }
        self.listed.set(self.listed.get() + 1);
        let list = Rc::new(self.scene.files.entries(dir).unwrap_or_default());
        self.lists.borrow_mut().insert(dir.to_path_buf(), list.clone());
        list
    }
}

/// One walk along the parts of a pattern.
struct Walk<'a, 'w> {
    walker: &'w Walker<'a>,
    parts: &'w [Part],
    found: &'w mut BTreeSet<PathBuf>,
    /// The directories that were entered, each with the part it was entered for.
    seen: BTreeSet<(PathBuf, usize)>,
    todo: Vec<(PathBuf, usize)>,
}

impl Walk<'_, '_> {
    /// Comes to `path`, with the parts from `at` on still to match. Parts without a wildcard are followed at once.
    fn come(&mut self, mut path: PathBuf, mut at: usize, mut link: bool) {
        while let Some(Part::One(segment)) = self.parts.get(at) {
            let Some(name) = segment.literal() else { break };
            let next = absolute(&path, Path::new(name));
            if at + 1 == self.parts.len() {
                if !matches!(name, "" | "." | "..") {
                    self.take(next);
                }
                return;
            }
            path = next;
            at += 1;
            link = false;
        }
        // A `**` at the very start of the pattern follows no link.
        if link && at == 0 {
            return;
        }
        // A last `**` stands for what was come to, too.
        if matches!(self.parts.get(at..), Some([Part::Globstar])) {
            self.take(path.clone());
        }
        // `**/..` is the directory above each one that `**` comes to.
        if matches!(self.parts.get(at), Some(Part::Globstar))
            && matches!(self.parts.get(at + 1), Some(Part::One(next)) if next.literal() == Some(".."))
        {
            self.plan(absolute(&path, Path::new("..")), at + 2);
        }
        self.plan(path, at);
    }

    /// `path` is found when a file or a link is there.
    fn take(&mut self, path: PathBuf) {
        self.walker.compared.set(self.walker.compared.get() + 1);
        if self.walker.scene.files.entry(&path).is_some_and(|entry| entry != Entry::Dir) {
            self.found.insert(path);
        }
    }

    /// Notes that `dir` is to be entered for the parts from `at` on, once.
    fn plan(&mut self, dir: PathBuf, at: usize) {
        if at < self.parts.len() && self.seen.insert((dir.clone(), at)) {
            self.todo.push((dir, at));
        }
    }

    /// Matches what is in `dir` with the parts from `at` on.
    fn enter(&mut self, dir: &Path, at: usize) {
        let last = at + 1 == self.parts.len();
        let listed;
        let entries: Box<dyn Iterator<Item = (&str, Entry)>> = match self.walker.scene.project.dir(dir) {
            Some(known) => Box::new(known.entries()),
            None => {
                listed = self.walker.list(dir);
                Box::new(listed.iter().filter_map(|(name, entry)| Some((name.to_str()?, *entry))))
            }
        };
        for (name, entry) in entries {
            self.walker.compared.set(self.walker.compared.get() + 1);
            match self.parts.get(at) {
                Some(Part::One(segment)) if segment.is_match(name) => self.matched(dir.join(name), entry, at),
                Some(Part::Globstar) => {
                    match entry {
                        Entry::Dir => self.come(dir.join(name), at, false),
                        // It stands for one link, and for nothing below it.
                        Entry::Link if !last && at > 0 => self.come(dir.join(name), at + 1, true),
                        _ => {}
                    }
                    if last {
                        self.matched(dir.join(name), entry, at);
                    } else if let Some(Part::One(segment)) = self.parts.get(at + 1)
                        && segment.is_match(name)
                    {
                        self.matched(dir.join(name), entry, at + 1);
                    }
                }
                _ => {}
            }
        }
    }

    /// `path` matches the parts up to `at`: it is found, or gone into.
    fn matched(&mut self, path: PathBuf, entry: Entry, at: usize) {
        if at + 1 < self.parts.len() {
            if matches!(entry, Entry::Dir | Entry::Link) {
                self.come(path, at + 1, entry == Entry::Link);
            }
        } else if entry != Entry::Dir {
            self.found.insert(path);
        }
    }
}
