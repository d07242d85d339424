//! A file system in memory.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
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
    root: Node,
}

#[derive(Clone, Debug)]
enum Node {
    File(Rc<Content>),
    /// What is in it, by name.
    Dir(BTreeMap<OsString, Self>),
    Link(PathBuf),
    Denied,
    Other,
}

impl Default for Memory {
    fn default() -> Self {
        Self { root: Node::Dir(BTreeMap::new()) }
    }
}

impl Memory {
    /// Puts a file at `path`, and the directories above it.
    pub fn file(&mut self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> &mut Self {
        self.put(path.as_ref(), Node::File(Rc::new(text.as_ref().to_vec().into())))
    }

    /// Puts a directory at `path`, and those above it.
    pub fn dir(&mut self, path: impl AsRef<Path>) -> &mut Self {
        self.put(path.as_ref(), Node::Dir(BTreeMap::new()))
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
        let mut at = &mut self.root;
        for part in parts(&path).into_iter().rev() {
            // Below what is no directory nobody could look at it.
            let Node::Dir(dir) = at else { return self };
            at = dir.entry(part).or_insert_with(|| Node::Dir(BTreeMap::new()));
        }
        // A directory that is there keeps what is in it.
        if !matches!((&at, &node), (Node::Dir(_), Node::Dir(_))) {
            *at = node;
        }
        self
    }

    /// `path` with its links resolved, and what stands there; with `last`, a link at its very end too.
    fn resolve(&self, path: &Path, last: bool) -> Result<(PathBuf, &Node), Unreadable> {
        let mut links = 0;
        let mut todo: Vec<OsString> = parts(path);
        let mut at = PathBuf::from("/");
        // What stands at the root and at each part of `at`.
        let mut nodes = vec![&self.root];
        while let Some(part) = todo.pop() {
            if part == ".." {
                at.pop();
                nodes.truncate((nodes.len() - 1).max(1));
                continue;
            }
            if part.len() > MAX_NAME {
                return Err(Unreadable::Lost);
            }
            let Some(Node::Dir(dir)) = nodes.last() else { return Err(Unreadable::NotADirectory) };
            match dir.get(&part).ok_or(Unreadable::Missing)? {
                Node::Link(to) if last || !todo.is_empty() => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(Unreadable::Lost);
                    }
                    if to.is_absolute() {
                        at = PathBuf::from("/");
                        nodes.truncate(1);
                    }
                    todo.extend(parts(to));
                }
                Node::File(_) | Node::Denied | Node::Other if !todo.is_empty() => {
                    return Err(Unreadable::NotADirectory);
                }
                node => {
                    at.push(part);
                    nodes.push(node);
                }
            }
        }
        Ok((at, nodes.last().copied().unwrap_or(&self.root)))
    }

    fn entry_at(&self, path: &Path, last: bool) -> Option<Entry> {
        Some(match self.resolve(path, last).ok()?.1 {
            Node::File(bytes) => Entry::File { len: bytes.len() as u64 },
            Node::Denied => Entry::File { len: 1 },
            Node::Dir(_) => Entry::Dir,
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
        self.entry_at(path, false)
    }

    fn target(&self, path: &Path) -> Option<Entry> {
        self.entry_at(path, true)
    }

    fn is_barred(&self, path: &Path) -> bool {
        matches!(self.resolve(path, true), Err(Unreadable::Lost))
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        self.resolve(path, true).ok().map(|(real, _)| real)
    }

    fn read(&self, path: &Path) -> Result<Rc<Content>, Unreadable> {
        match self.resolve(path, true)?.1 {
            Node::File(bytes) => Ok(bytes.clone()),
            Node::Denied => Err(Unreadable::Denied),
            _ => Err(Unreadable::NotAFile),
        }
    }

    fn list(&self, dir: &Path) -> Result<Vec<OsString>, Unreadable> {
        match self.resolve(dir, true)?.1 {
            Node::Dir(entries) => Ok(entries.keys().cloned().collect()),
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
