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
}

impl Pattern {
    pub(super) fn new(pattern: &str) -> Self {
        if pattern.is_empty() {
            return Self { branches: Vec::new() };
        }
        let branches = expand(pattern);
        Self { branches: branches.iter().map(|branch| parts(&simplified(branch), OPTIONS)).collect() }
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
    /// What the project's own walk found, by directory; made when it is first needed.
    project: RefCell<Option<HashMap<PathBuf, Listing>>>,
    listed: Cell<usize>,
    compared: Cell<usize>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(scene: &'a Scene<'a>) -> Self {
        Self {
            scene,
            lists: RefCell::default(),
            project: RefCell::default(),
            listed: Cell::new(0),
            compared: Cell::new(0),
        }
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

    /// What is in `dir`, links not followed.
    fn list(&self, dir: &Path) -> Rc<Listing> {
        if let Some(known) = self.lists.borrow().get(dir) {
            return known.clone();
        }
        let files = self.scene.files;
        let list = if let Some(known) = self.known(dir) {
            known
        } else {
            self.listed.set(self.listed.get() + 1);
            let names = files.list(dir).unwrap_or_default();
            names.into_iter().filter_map(|name| Some((name.clone(), files.entry(&dir.join(name))?))).collect()
        };
        let list = Rc::new(list);
        self.lists.borrow_mut().insert(dir.to_path_buf(), list.clone());
        list
    }

    /// What the project's own walk found in `dir`, where it came to.
    fn known(&self, dir: &Path) -> Option<Listing> {
        let project = self.scene.project;
        if !dir.starts_with(&project.root) {
            return None;
        }
        let mut index = self.project.borrow_mut();
        let mut list = index.get_or_insert_with(|| index_of(self.scene)).get(dir)?.clone();
        // That walk leaves out what is below a `.git`; this one does not.
        if self.scene.files.entry(&dir.join(".git")) == Some(Entry::Dir) {
            list.push((".git".into(), Entry::Dir));
        }
        Some(list)
    }
}

/// The project's files and links, and the directories above them, by the directory that holds them.
fn index_of(scene: &Scene<'_>) -> HashMap<PathBuf, Listing> {
    let project = scene.project;
    let links: BTreeSet<&PathBuf> = project.links.iter().collect();
    let mut index: HashMap<PathBuf, Listing> = HashMap::new();
    for path in project.files.iter().filter(|path| path.starts_with(&project.root)) {
        let mut entry = if links.contains(path) { Entry::Link } else { Entry::File { len: 0 } };
        let mut path = path.as_path();
        while let (Some(dir), Some(name)) = (path.parent(), path.file_name()) {
            let known = index.contains_key(dir);
            index.entry(dir.to_path_buf()).or_default().push((name.to_os_string(), entry));
            if known || dir == project.root {
                break;
            }
            entry = Entry::Dir;
            path = dir;
        }
    }
    index
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
        let list = self.walker.list(dir);
        self.walker.compared.set(self.walker.compared.get() + list.len());
        for (name, entry) in list.iter() {
            let Some(text) = name.to_str() else { continue };
            let path = dir.join(name);
            match self.parts.get(at) {
                Some(Part::One(segment)) if segment.is_match(text) => self.matched(path, *entry, at),
                Some(Part::Globstar) => {
                    match entry {
                        Entry::Dir => self.come(path.clone(), at, false),
                        // It stands for one link, and for nothing below it.
                        Entry::Link if !last && at > 0 => self.come(path.clone(), at + 1, true),
                        _ => {}
                    }
                    if last {
                        self.matched(path, *entry, at);
                    } else if let Some(Part::One(segment)) = self.parts.get(at + 1)
                        && segment.is_match(text)
                    {
                        self.matched(path, *entry, at + 1);
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
