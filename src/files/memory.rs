//! A file system in memory.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use super::{Entry, Files, Unreadable, absolute, entries_of};
use crate::text::Content;

/// The number of links followed on one path before it counts as a loop, as on Linux.
const MAX_LINKS: usize = 40;

/// The longest name of one file, in bytes, as on Linux.
const MAX_NAME: usize = 255;

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
            .range::<Path, _>((Bound::Excluded(dir), Bound::Unbounded))
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
