//! Files as they would be after some changes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::{Entry, Files, Unreadable, entries_of};
use crate::text::Content;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Memory;

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
}
