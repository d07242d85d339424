//! The disk of this machine, as it is.

#![allow(clippy::disallowed_methods, reason = "files.rs and what is below it are the only places that touch the disk")]

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, FileType, Metadata};
use std::io::Read;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::thread;

use super::{Entry, Files, MAX_READ, Unreadable};
use crate::text::Content;

/// A thread is not worth its start for fewer directories than these.
const MIN_SHARE: usize = 32;

/// The disk of this machine. Files are read once and kept for the run, and so is where links lead.
#[derive(Debug, Default)]
pub struct Disk {
    contents: RefCell<HashMap<PathBuf, Result<Rc<Content>, Unreadable>>>,
    real: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
}

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

/// What [`Files::entries`] says.
fn listing(dir: &Path) -> Result<Vec<(OsString, Entry)>, Unreadable> {
    let entries = fs::read_dir(dir).map_err(why)?.flatten();
    let typed = |entry: fs::DirEntry| {
        let kind = entry.file_type().ok()?;
        Some((entry.file_name(), if kind.is_file() { Entry::File { len: 0 } } else { of_type(kind) }))
    };
    let mut entries: Vec<(OsString, Entry)> = entries.filter_map(typed).collect();
    entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    Ok(entries)
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
        listing(dir)
    }

    fn entries_of_all(&self, dirs: &[PathBuf]) -> Vec<Result<Vec<(OsString, Entry)>, Unreadable>> {
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(dirs.len() / MIN_SHARE).max(1);
        let (own, others) = dirs.split_at(dirs.len().div_ceil(threads));
        thread::scope(|scope| {
            let share = |dirs: &[PathBuf]| dirs.iter().map(|dir| listing(dir)).collect::<Vec<_>>();
            let shares: Vec<_> = others.chunks(own.len().max(1)).map(|dirs| scope.spawn(move || share(dirs))).collect();
            let mut all = share(own);
            for share in shares {
                all.extend(share.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            all
        })
    }
}
