//! What a resolver may see of a file system, and the only place in the crate that touches one.
//!
//! Paths are absolute. Listings are sorted, links are visible as links, nothing is ever written through [`Files`], and what
//! is not a regular file (a pipe, a socket, a device) is never opened.
//!
//! * [`Disk`] is this machine, [`Memory`] one that is made up, [`Overlay`] what another would be after some changes.
//! * [`apply`] makes such changes on the disk, all or none; [`write`](write()) puts one file there.

use std::ffi::OsString;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

pub use self::change::{Unwritten, Write, apply, make_dir, write};
pub use self::disk::Disk;
pub use self::memory::Memory;
pub use self::overlay::Overlay;

use crate::text::Content;

mod change;
mod disk;
mod memory;
mod overlay;

/// The largest file that is read, in bytes (256 MiB). A larger one is [`Unreadable::TooLarge`].
pub const MAX_READ: u64 = 256 * 1024 * 1024;

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

    /// What [`Files::entries`] says of each directory.
    fn entries_of_all(&self, dirs: &[PathBuf]) -> Vec<Result<Vec<(OsString, Entry)>, Unreadable>> {
        dirs.iter().map(|dir| self.entries(dir)).collect()
    }

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
    fn a_chain_runs_from_the_top_to_the_bottom() {
        assert_eq!(chain(Path::new("/a"), Path::new("/a/b")), [Path::new("/a"), Path::new("/a/b")]);
        assert_eq!(chain(Path::new("/z"), Path::new("/a/b")), [Path::new("/a/b")]);
    }
}
