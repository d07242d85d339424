//! What a resolver may see of a file system, and the only place in the crate that touches one.
//!
//! Paths are absolute. Listings are sorted, links are visible as links, nothing is ever written through [`Files`], and what
//! is not a regular file (a pipe, a socket, a device) is never opened. [`Overlay`] shows files as they would be after some
//! changes, and [`apply`] makes such changes on the disk, all or none.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

pub use self::change::{Unwritten, Write, apply};

use crate::text::Content;

mod change;

/// The largest file that is read, in bytes (256 MiB). A larger one is [`Unreadable::TooLarge`].
pub const MAX_READ: u64 = 256 * 1024 * 1024;

/// The number of links followed on one path before it counts as a loop, as on Linux.
const MAX_LINKS: usize = 40;

/// The longest name of one file, in bytes, as on Linux.
const MAX_NAME: usize = 255;

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A regular file of so many bytes.
    File {
        /// Its size in bytes.
        len: u64,
    },
    /// A directory.
    Dir,
    /// A symbolic link (only where links are not followed).
    Link,
    /// A pipe, a socket or a device: never opened.
    Other,
}

/// Why a file gave no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// Nothing is there, or a link leads nowhere.
    Missing,
    /// It is not a regular file.
    NotAFile,
    /// The system refused.
    Denied,
    /// A part of its path is not a directory.
    NotADirectory,
    /// The path cannot be followed: a loop of links, a name that is too long.
    Lost,
    /// It is larger than [`MAX_READ`].
    TooLarge,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "it does not exist",
            Self::NotAFile => "it is not a regular file",
            Self::Denied => "the system does not allow reading it",
            Self::NotADirectory => "a part of its path is not a directory",
            Self::Lost => "its path cannot be followed",
            Self::TooLarge => "it is larger than 256 MiB",
        })
    }
}

/// A file system as the clients see it.
pub trait Files {
    /// What stands at `path` itself; a link is reported as [`Entry::Link`]. `None`: nothing, or no permission to look.
    fn entry(&self, path: &Path) -> Option<Entry>;

    /// What `path` leads to, links followed. `None`: nothing, a dangling link, or a loop.
    fn target(&self, path: &Path) -> Option<Entry>;

    /// Whether the system cannot say what `path` leads to, though something may be there: a loop of links, or a
    /// directory that may not be looked into.
    fn is_barred(&self, path: &Path) -> bool;

    /// The absolute path with every link resolved. `None` where [`Files::target`] is `None`.
    fn real(&self, path: &Path) -> Option<PathBuf>;

    /// What is in the regular file that `path` leads to.
    ///
    /// # Errors
    /// Says why there are none; it never blocks on a pipe or a device.
    fn read(&self, path: &Path) -> Result<Rc<Content>, Unreadable>;

    /// The names in a directory (links followed to it), sorted by their bytes.
    ///
    /// # Errors
    /// Says why there are none.
    fn list(&self, dir: &Path) -> Result<Vec<OsString>, Unreadable>;

    /// As [`Files::list`], with what stands at each name, links not followed. Sizes are not looked up, and are 0.
    ///
    /// # Errors
    /// Says why there are none.
    fn entries(&self, dir: &Path) -> Result<Vec<(OsString, Entry)>, Unreadable>;

    /// Whether `path` leads to a regular file, links followed.
    fn is_file(&self, path: &Path) -> bool {
        matches!(self.target(path), Some(Entry::File { .. }))
    }

    /// Whether `path` leads to a directory, links followed.
    fn is_dir(&self, path: &Path) -> bool {
        matches!(self.target(path), Some(Entry::Dir))
    }
}

/// `path` made absolute on `base`, with `.` and `..` taken out by their spelling alone (links are not looked at).
pub fn absolute(base: &Path, path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in base.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// The directories from `top` down to `bottom`, both included; only `bottom` when `top` does not hold it.
pub fn chain<'a>(top: &Path, bottom: &'a Path) -> Vec<&'a Path> {
    let mut dirs: Vec<&Path> = bottom.ancestors().take_while(|dir| dir.starts_with(top)).collect();
    dirs.reverse();
    if dirs.is_empty() { vec![bottom] } else { dirs }
}

/// What reading gave.
type Read = Result<Rc<Content>, Unreadable>;

/// The disk of this machine. Files are read once and kept for the run, and so is where links lead.
#[derive(Debug, Default)]
pub struct Disk {
    contents: RefCell<HashMap<PathBuf, Read>>,
    real: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
}

#[allow(clippy::disallowed_methods, reason = "the only std::fs in the crate")]
mod disk {
    use super::*;
    use std::fs::{self, FileType, Metadata};
    use std::io::Read;

    fn of(meta: &Metadata) -> Entry {
        if meta.is_file() { Entry::File { len: meta.len() } } else { of_type(meta.file_type()) }
    }

    fn of_type(kind: FileType) -> Entry {
        if kind.is_symlink() {
            Entry::Link
        } else if kind.is_dir() {
            Entry::Dir
        } else {
            Entry::Other
        }
    }

    /// Opens what was a regular file a moment ago without ever waiting for another process.
    fn open(path: &Path) -> std::io::Result<fs::File> {
        let mut options = fs::OpenOptions::new();
        options.read(true);
        #[cfg(target_os = "linux")]
        {
            use std::os::unix::fs::OpenOptionsExt;
            const O_NONBLOCK: i32 = 0o4000;
            options.custom_flags(O_NONBLOCK);
        }
        options.open(path)
    }

    fn why(error: std::io::Error) -> Unreadable {
        match error.kind() {
            std::io::ErrorKind::NotFound => Unreadable::Missing,
            std::io::ErrorKind::PermissionDenied => Unreadable::Denied,
            std::io::ErrorKind::NotADirectory => Unreadable::NotADirectory,
            _ => Unreadable::Lost,
        }
    }

    fn content(path: &Path) -> Result<Rc<Content>, Unreadable> {
        // Looked at before it is opened, since opening a pipe or a device can block or do something.
        let meta = fs::metadata(path).map_err(why)?;
        if !meta.is_file() {
            return Err(Unreadable::NotAFile);
        }
        if meta.len() > MAX_READ {
            return Err(Unreadable::TooLarge);
        }
        let mut buffer = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0) + 1);
        // It may have grown since it was looked at.
        open(path).and_then(|file| file.take(MAX_READ + 1).read_to_end(&mut buffer)).map_err(why)?;
        if buffer.len() as u64 > MAX_READ { Err(Unreadable::TooLarge) } else { Ok(Rc::new(buffer.into())) }
    }

    impl Disk {
        /// The system would look at each directory above `path` anew. Only on Linux is that all it does: elsewhere a
        /// name may be found in another case.
        fn resolve(&self, path: &Path) -> Option<PathBuf> {
            match (path.parent(), path.file_name()) {
                (Some(dir), Some(name)) if cfg!(target_os = "linux") => {
                    let at = self.real(dir)?.join(name);
                    if self.entry(&at)? == Entry::Link { fs::canonicalize(at).ok() } else { Some(at) }
                }
                _ => fs::canonicalize(path).ok(),
            }
        }
    }

    impl Files for Disk {
        fn entry(&self, path: &Path) -> Option<Entry> {
            fs::symlink_metadata(path).ok().map(|meta| of(&meta))
        }

        fn target(&self, path: &Path) -> Option<Entry> {
            fs::metadata(path).ok().map(|meta| of(&meta))
        }

        fn is_barred(&self, path: &Path) -> bool {
            fs::metadata(path).is_err_and(|error| matches!(why(error), Unreadable::Denied | Unreadable::Lost))
        }

        fn real(&self, path: &Path) -> Option<PathBuf> {
            if let Some(known) = self.real.borrow().get(path) {
                return known.clone();
            }
            let real = self.resolve(path);
            self.real.borrow_mut().insert(path.to_path_buf(), real.clone());
            real
        }

        fn read(&self, path: &Path) -> Result<Rc<Content>, Unreadable> {
            if let Some(known) = self.contents.borrow().get(path) {
                return known.clone();
            }
            let read = content(path);
            self.contents.borrow_mut().insert(path.to_path_buf(), read.clone());
            read
        }

        fn list(&self, dir: &Path) -> Result<Vec<OsString>, Unreadable> {
            let entries = fs::read_dir(dir).map_err(why)?;
            let mut names: Vec<OsString> = entries.flatten().map(|entry| entry.file_name()).collect();
            names.sort_unstable();
            Ok(names)
        }

        fn entries(&self, dir: &Path) -> Result<Vec<(OsString, Entry)>, Unreadable> {
            let entries = fs::read_dir(dir).map_err(why)?.flatten();
            let typed = |entry: fs::DirEntry| {
                let kind = entry.file_type().ok()?;
                Some((entry.file_name(), if kind.is_file() { Entry::File { len: 0 } } else { of_type(kind) }))
            };
            let mut entries: Vec<(OsString, Entry)> = entries.filter_map(typed).collect();
            entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
            Ok(entries)
        }
    }
}

/// Puts `bytes` at `path` in one step, so that nobody ever sees a part of them: they are written beside it, and then take
/// its place. The permissions of a file that is there are kept, the directory must exist.
///
/// # Errors
/// As the system says; nothing is changed then.
#[allow(clippy::disallowed_methods, reason = "the only std::fs in the crate")]
pub fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    // A link is written through, not replaced.
    let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}.rulecheck", std::process::id()));
    let written = std::fs::OpenOptions::new().write(true).create_new(true).open(&beside).and_then(|mut file| {
        file.write_all(bytes)?;
        if let Ok(old) = std::fs::metadata(path) {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()
    });
    let done = written.and_then(|()| std::fs::rename(&beside, path));
    if done.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    done
}

/// Makes the directory `path`, and those above it.
///
/// # Errors
/// As the system says.
#[allow(clippy::disallowed_methods, reason = "the only std::fs in the crate")]
pub fn make_dir(path: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(path)
}

/// A file system in memory, for tests and examples: the same rules, on any machine.
#[derive(Clone, Debug)]
pub struct Memory {
    nodes: BTreeMap<PathBuf, Node>,
}

#[derive(Clone, Debug)]
enum Node {
    File(Rc<Content>),
    Dir,
    Link(PathBuf),
    Denied,
    Other,
}

impl Default for Memory {
    fn default() -> Self {
        Self { nodes: BTreeMap::from([(PathBuf::from("/"), Node::Dir)]) }
    }
}

impl Memory {
    /// Puts a file at `path`, and the directories above it.
    pub fn file(&mut self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> &mut Self {
        self.put(path.as_ref(), Node::File(Rc::new(text.as_ref().to_vec().into())))
    }

    /// Puts a directory at `path`, and those above it.
    pub fn dir(&mut self, path: impl AsRef<Path>) -> &mut Self {
        self.put(path.as_ref(), Node::Dir)
    }

    /// Puts a symbolic link at `path`; `to` may be relative to the directory that holds it.
    pub fn link(&mut self, path: impl AsRef<Path>, to: impl AsRef<Path>) -> &mut Self {
        self.put(path.as_ref(), Node::Link(to.as_ref().to_path_buf()))
    }

    /// Puts a file that exists and cannot be read.
    pub fn denied(&mut self, path: impl AsRef<Path>) -> &mut Self {
        self.put(path.as_ref(), Node::Denied)
    }

    /// Puts a pipe, a socket or a device.
    pub fn other(&mut self, path: impl AsRef<Path>) -> &mut Self {
        self.put(path.as_ref(), Node::Other)
    }

    fn put(&mut self, path: &Path, node: Node) -> &mut Self {
        let path = absolute(Path::new("/"), path);
        for dir in path.ancestors().skip(1) {
            self.nodes.entry(dir.to_path_buf()).or_insert(Node::Dir);
        }
        self.nodes.insert(path, node);
        self
    }

    /// `path` with its links resolved; with `last`, a link at its very end too.
    fn resolve(&self, path: &Path, last: bool) -> Result<PathBuf, Unreadable> {
        let mut links = 0;
        let mut todo: Vec<OsString> = parts(path);
        let mut at = PathBuf::from("/");
        while let Some(part) = todo.pop() {
            if part == ".." {
                at.pop();
                continue;
            }
            if part.len() > MAX_NAME {
                return Err(Unreadable::Lost);
            }
            at.push(&part);
            match self.nodes.get(&at).ok_or(Unreadable::Missing)? {
                Node::Link(to) if last || !todo.is_empty() => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(Unreadable::Lost);
                    }
                    at.pop();
                    if to.is_absolute() {
                        at = PathBuf::from("/");
                    }
                    todo.extend(parts(to));
                }
                Node::File(_) | Node::Denied | Node::Other if !todo.is_empty() => {
                    return Err(Unreadable::NotADirectory);
                }
                _ => {}
            }
        }
        Ok(at)
    }

    /// The paths right below the directory `dir`, in order.
    fn children<'a>(&'a self, dir: &'a Path) -> impl Iterator<Item = (&'a PathBuf, &'a Node)> {
        self.nodes
            .range::<Path, _>((std::ops::Bound::Excluded(dir), std::ops::Bound::Unbounded))
            .take_while(move |(path, _)| path.starts_with(dir))
            .filter(move |(path, _)| path.parent() == Some(dir))
    }

    fn node_entry(&self, path: &Path) -> Option<Entry> {
        Some(match self.nodes.get(path)? {
            Node::File(bytes) => Entry::File { len: bytes.len() as u64 },
            Node::Denied => Entry::File { len: 1 },
            Node::Dir => Entry::Dir,
            Node::Link(_) => Entry::Link,
            Node::Other => Entry::Other,
        })
    }
}

/// The parts of a path, last first, without the root and the dots.
fn parts(path: &Path) -> Vec<OsString> {
    let named = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_os_string()),
        Component::ParentDir => Some(OsStr::new("..").to_os_string()),
        _ => None,
    };
    path.components().rev().filter_map(named).collect()
}

impl Files for Memory {
    fn entry(&self, path: &Path) -> Option<Entry> {
        self.node_entry(&self.resolve(path, false).ok()?)
    }

    fn target(&self, path: &Path) -> Option<Entry> {
        self.node_entry(&self.resolve(path, true).ok()?)
    }

    fn is_barred(&self, path: &Path) -> bool {
        self.resolve(path, true) == Err(Unreadable::Lost)
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        self.resolve(path, true).ok()
    }

    fn read(&self, path: &Path) -> Result<Rc<Content>, Unreadable> {
        let real = self.resolve(path, true)?;
        match self.nodes.get(&real) {
            Some(Node::File(bytes)) => Ok(bytes.clone()),
            Some(Node::Denied) => Err(Unreadable::Denied),
            Some(_) => Err(Unreadable::NotAFile),
            None => Err(Unreadable::Missing),
        }
    }

    fn list(&self, dir: &Path) -> Result<Vec<OsString>, Unreadable> {
        let real = self.resolve(dir, true)?;
        match self.nodes.get(&real) {
            Some(Node::Dir) => {
                Ok(self.children(&real).filter_map(|(path, _)| path.file_name()).map(OsStr::to_os_string).collect())
            }
            _ => Err(Unreadable::NotAFile),
        }
    }

    fn entries(&self, dir: &Path) -> Result<Vec<(OsString, Entry)>, Unreadable> {
        entries_of(self, dir)
    }
}

/// Files as they would be after some changes.
#[derive(Clone)]
pub struct Overlay<'a> {
    base: &'a dyn Files,
    /// By the path with the links above it resolved: the content, or `None` for what is gone.
    changed: BTreeMap<PathBuf, Option<Rc<Content>>>,
}

impl<'a> Overlay<'a> {
    /// `base` as it is.
    pub fn new(base: &'a dyn Files) -> Self {
        Self { base, changed: BTreeMap::new() }
    }

    /// Puts a file at `path`, in a directory that exists, in the place of what is there.
    pub fn put(&mut self, path: &Path, bytes: impl Into<Vec<u8>>) {
        self.changed.insert(self.key(path), Some(Rc::new(Content::from(bytes.into()))));
    }

    /// Takes away the file at `path`.
    pub fn remove(&mut self, path: &Path) {
        self.changed.insert(self.key(path), None);
    }

    /// The paths that were put or removed, in order.
    pub fn changed(&self) -> impl Iterator<Item = &Path> {
        self.changed.keys().map(PathBuf::as_path)
    }

    fn key(&self, path: &Path) -> PathBuf {
        let dir = path.parent().and_then(|dir| self.base.real(dir));
        dir.zip(path.file_name()).map_or_else(|| path.to_path_buf(), |(dir, name)| dir.join(name))
    }

    /// What became of `path` itself, or of the file that it leads to; `None` when nothing did.
    fn change(&self, path: &Path) -> Option<(PathBuf, Option<&Rc<Content>>)> {
        if self.changed.is_empty() {
            return None;
        }
        let by = |path: PathBuf| self.changed.get(&path).map(|bytes| (path.clone(), bytes.as_ref()));
        by(self.key(path)).or_else(|| by(self.base.real(path)?))
    }
}

fn file_entry(bytes: &Rc<Content>) -> Entry {
    Entry::File { len: bytes.len() as u64 }
}

impl Files for Overlay<'_> {
    fn entry(&self, path: &Path) -> Option<Entry> {
        match self.changed.get(&self.key(path)) {
            Some(change) => change.as_ref().map(file_entry),
            None => self.base.entry(path),
        }
    }

    fn target(&self, path: &Path) -> Option<Entry> {
        match self.change(path) {
            Some((_, change)) => change.map(file_entry),
            None => self.base.target(path),
        }
    }

    fn is_barred(&self, path: &Path) -> bool {
        self.change(path).is_none() && self.base.is_barred(path)
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        match self.change(path) {
            Some((real, change)) => change.map(|_| real),
            None => self.base.real(path),
        }
    }

    fn read(&self, path: &Path) -> Result<Rc<Content>, Unreadable> {
        match self.change(path) {
            Some((_, change)) => change.cloned().ok_or(Unreadable::Missing),
            None => self.base.read(path),
        }
    }

    fn list(&self, dir: &Path) -> Result<Vec<OsString>, Unreadable> {
        let mut names = self.base.list(dir)?;
        let real = self.base.real(dir);
        for (path, change) in self.changed.iter().filter(|(path, _)| path.parent() == real.as_deref()) {
            let Some(name) = path.file_name() else { continue };
            match (names.binary_search_by(|known| known.as_os_str().cmp(name)), change) {
                (Err(at), Some(_)) => names.insert(at, name.to_os_string()),
                (Ok(at), None) => {
                    names.remove(at);
                }
                _ => {}
            }
        }
        Ok(names)
    }

    fn entries(&self, dir: &Path) -> Result<Vec<(OsString, Entry)>, Unreadable> {
        if self.changed.is_empty() {
            return self.base.entries(dir);
        }
        entries_of(self, dir)
    }
}

/// What [`Files::entries`] says, from the other answers.
fn entries_of(files: &dyn Files, dir: &Path) -> Result<Vec<(OsString, Entry)>, Unreadable> {
    let entry = |name: OsString| {
        let entry = match files.entry(&dir.join(&name))? {
            Entry::File { .. } => Entry::File { len: 0 },
            other => other,
        };
        Some((name, entry))
    };
    Ok(files.list(dir)?.into_iter().filter_map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlay_shows_what_would_be() {
        let mut memory = Memory::default();
        memory.file("/p/a", "a").file("/p/c", "c").dir("/p/d").link("/p/ln", "a").link("/p/in", "d");
        let mut overlay = Overlay::new(&memory);
        overlay.put(Path::new("/p/a"), *b"new");
        overlay.put(Path::new("/p/in/b"), *b"b");
        overlay.remove(Path::new("/p/c"));
        assert_eq!(overlay.read(Path::new("/p/ln")).unwrap().text(), "new");
        assert_eq!(overlay.read(Path::new("/p/d/b")).unwrap().text(), "b");
        assert_eq!(overlay.real(Path::new("/p/in/b")), Some("/p/d/b".into()));
        assert_eq!((overlay.entry(Path::new("/p/c")), overlay.target(Path::new("/p/c"))), (None, None));
        assert_eq!(overlay.list(Path::new("/p")).unwrap(), ["a", "d", "in", "ln"]);
        let names: Vec<_> = overlay.entries(Path::new("/p/d")).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["b"]);
    }

    #[test]
    fn links_resolve_through_directories_and_loops_end() {
        let mut memory = Memory::default();
        memory.file("/a/real/x", "x").link("/a/ln", "real").link("/a/one", "two").link("/a/two", "one");
        assert_eq!(memory.real(Path::new("/a/ln/x")), Some(PathBuf::from("/a/real/x")));
        assert_eq!(memory.entry(Path::new("/a/ln")), Some(Entry::Link));
        assert_eq!(memory.target(Path::new("/a/ln")), Some(Entry::Dir));
        assert_eq!(memory.target(Path::new("/a/one")), None);
        assert_eq!(memory.entry(Path::new("/a/one")), Some(Entry::Link));
    }

    #[test]
    fn a_chain_runs_from_the_top_to_the_bottom() {
        assert_eq!(chain(Path::new("/a"), Path::new("/a/b")), [Path::new("/a"), Path::new("/a/b")]);
        assert_eq!(chain(Path::new("/z"), Path::new("/a/b")), [Path::new("/a/b")]);
    }
}
