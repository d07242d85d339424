//! Changes of the disk: all of them are made, or none.
//!
//! Everything that can be known before is checked before: that the files are what they were when they were read, that
//! nothing stands where something is to be made, that all lies inside the project, that the new texts fit on the disk.
//! The texts then lie complete and synced beside their places, and take them by renaming. A file is never open half
//! written, and what fails in the middle is undone.

#![allow(
    clippy::disallowed_methods,
    reason = "files.rs is the only place that touches the disk, and this is a part of it"
)]

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// A file that is not there yet.
    Create {
        /// Where.
        path: PathBuf,
        /// Its bytes.
        new: Rc<[u8]>,
        /// The file whose permissions it gets; otherwise they are the usual ones.
        like: Option<PathBuf>,
    },
    /// Another text in a file, whose permissions stay.
    Edit {
        /// The file.
        path: PathBuf,
        /// Its bytes before.
        old: Rc<[u8]>,
        /// Its bytes after.
        new: Rc<[u8]>,
    },
    /// Another name for a file. It never takes that of another file.
    Rename {
        /// Its name before.
        from: PathBuf,
        /// Its name after.
        to: PathBuf,
        /// Its bytes, which stay.
        text: Rc<[u8]>,
    },
}

impl Write {
    /// The file as it is called afterwards.
    pub fn path(&self) -> &Path {
        match self {
            Self::Create { path, .. } | Self::Edit { path, .. } | Self::Rename { to: path, .. } => path,
        }
    }

    /// The bytes before and after; none before for what is made.
    pub fn texts(&self) -> (Option<&Rc<[u8]>>, &Rc<[u8]>) {
        match self {
            Self::Create { new, .. } => (None, new),
            Self::Edit { old, new, .. } => (Some(old), new),
            Self::Rename { text, .. } => (Some(text), text),
        }
    }
}

/// Why nothing was changed.
#[derive(Debug)]
pub struct Unwritten {
    /// The file at fault.
    pub path: PathBuf,
    /// What is wrong, one line without a full stop.
    pub why: String,
    /// Whether some changes were made already and undone.
    pub undone: bool,
    /// The files that could not be made again what they were, each with where its old text lies, if it has one.
    pub stuck: Vec<(PathBuf, Option<PathBuf>)>,
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` cannot be changed: {}; ", self.path.display(), self.why)?;
        if self.stuck.is_empty() {
            return f.write_str(if self.undone {
                "what was changed before it is undone"
            } else {
                "nothing is changed"
            });
        }
        f.write_str("what was changed before it is undone, but for")?;
        for (path, backup) in &self.stuck {
            write!(f, " `{}`", path.display())?;
            if let Some(backup) = backup {
                write!(f, " (its old text is `{}`)", backup.display())?;
            }
        }
        Ok(())
    }
}

/// Makes `changes`, in order, all of them inside `root`.
///
/// # Errors
/// Names the change that cannot be made. The files are then what they were before.
pub fn apply(root: &Path, changes: &[Write]) -> Result<(), Unwritten> {
    stage(root, changes)?.commit()
}

/// Puts `bytes` at `path` in one step, so that nobody ever sees a part of them. A file that is there keeps its permissions
/// and owner, a link is written through; the directory must exist.
///
/// # Errors
/// As the system says; nothing is changed then.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    // A device or a pipe is written to; a file must not take its place.
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let mut temporary = Temporary::default();
    beside(path, bytes, fs::metadata(path).ok().as_ref(), &mut temporary.new)?;
    temporary.new.as_ref().map_or(Ok(()), |new| fs::rename(new, path))
}

/// Makes the directory `path`, and those above it.
///
/// # Errors
/// As the system says.
pub fn make_dir(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Changes that wait to be made.
struct Staged<'a> {
    changes: Vec<(&'a Write, Temporary)>,
}

/// What lies beside a file for the time of the change; gone when it is dropped.
#[derive(Default)]
struct Temporary {
    new: Option<PathBuf>,
    old: Option<PathBuf>,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        for path in self.new.iter().chain(&self.old) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Checks all changes and lays their texts beside their places.
fn stage<'a>(root: &Path, changes: &'a [Write]) -> Result<Staged<'a>, Unwritten> {
    let mut staged = Vec::new();
    // A renamed file may be edited afterwards: until then it is under its old name.
    let mut renamed: BTreeMap<&Path, &Path> = BTreeMap::new();
    for change in changes {
        let path = change.path();
        let refuse = |why: String| Unwritten { path: path.to_path_buf(), why, undone: false, stuck: Vec::new() };
        let told = |error: io::Error| refuse(told(&error));
        let mut temporary = Temporary::default();
        inside(root, path).map_err(refuse)?;
        match change {
            Write::Create { new, like, .. } => {
                free(path).map_err(refuse)?;
                let like = like.as_deref().map(fs::metadata).transpose().map_err(told)?;
                beside(path, new, like.as_ref(), &mut temporary.new).map_err(told)?;
            }
            Write::Edit { old, new, .. } => {
                let now = renamed.get(path).copied().unwrap_or(path);
                let meta = unchanged(now, old).map_err(refuse)?;
                if meta.permissions().readonly() {
                    return Err(refuse("it may not be written".into()));
                }
                beside(path, new, Some(&meta), &mut temporary.new).map_err(told)?;
                let backup = temporary_name(path);
                // A second name keeps the file itself, a copy at least its text and permissions.
                fs::hard_link(now, &backup).or_else(|_| fs::copy(now, &backup).map(|_| ())).map_err(told)?;
                temporary.old = Some(backup);
            }
            Write::Rename { from, to, text } => {
                inside(root, from).map_err(refuse)?;
                unchanged(from, text).map_err(refuse)?;
                free(to).map_err(refuse)?;
                // Both directories must let a name be made and taken away.
                for path in [from, to] {
                    beside(path, b"", None, &mut Temporary::default().new).map_err(told)?;
                }
                renamed.insert(to, from);
            }
        }
        staged.push((change, temporary));
    }
    Ok(Staged { changes: staged })
}

impl Staged<'_> {
    fn commit(mut self) -> Result<(), Unwritten> {
        for at in 0..self.changes.len() {
            let (change, temporary) = &self.changes[at];
            let made = match (change, &temporary.new) {
                (Write::Create { path, .. }, Some(new)) => rename_to_free(new, path),
                (Write::Edit { path, .. }, Some(new)) => fs::rename(new, path),
                (Write::Rename { from, to, .. }, _) => rename_to_free(from, to),
                _ => Ok(()),
            };
            if let Err(error) = made {
                let path = change.path().to_path_buf();
                return Err(Unwritten { path, why: told(&error), undone: at > 0, stuck: self.undo(at) });
            }
        }
        let dirs = self.changes.iter().filter_map(|(change, _)| change.path().parent());
        for dir in dirs {
            // Not every system can sync a directory, and the changes are made.
            let _ = File::open(dir).and_then(|dir| dir.sync_all());
        }
        Ok(())
    }

    /// Undoes the first `count` changes, the last one first; what cannot be undone is named, and its old text stays.
    fn undo(&mut self, count: usize) -> Vec<(PathBuf, Option<PathBuf>)> {
        let mut stuck = Vec::new();
        for (change, temporary) in self.changes[..count].iter_mut().rev() {
            let undone = match change {
                Write::Create { path, .. } => fs::remove_file(path),
                Write::Edit { path, .. } => temporary.old.as_ref().map_or(Ok(()), |old| fs::rename(old, path)),
                Write::Rename { from, to, .. } => rename_to_free(to, from),
            };
            if undone.is_err() {
                stuck.push((change.path().to_path_buf(), temporary.old.take()));
            }
        }
        stuck
    }
}

/// Whether `path` lies in a directory of the project itself, and not in one that a link leads to.
fn inside(root: &Path, path: &Path) -> Result<(), String> {
    let dir = path.parent().unwrap_or(path);
    match fs::canonicalize(dir) {
        Ok(real) if real == dir && real.starts_with(root) => Ok(()),
        Ok(_) => Err("it lies behind a link, or outside the project".into()),
        Err(error) => Err(told(&error)),
    }
}

/// Whether nothing stands at `path`.
fn free(path: &Path) -> Result<(), String> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(told(&error)),
        Ok(_) => Err("something of this name is there already".into()),
    }
}

/// Whether `path` is a file with the bytes `old`.
fn unchanged(path: &Path, old: &[u8]) -> Result<Metadata, String> {
    let meta = fs::symlink_metadata(path).map_err(|error| told(&error))?;
    // Its size tells most, and what is no file is never opened.
    let same =
        meta.is_file() && meta.len() == old.len() as u64 && { fs::read(path).map_err(|error| told(&error))? == old };
    if same { Ok(meta) } else { Err("it has changed since it was read".into()) }
}

/// Lays `bytes` in a file beside `path`, complete and with the permissions of `like`. The file is in `temporary` as soon
/// as it is there.
fn beside(path: &Path, bytes: &[u8], like: Option<&Metadata>, temporary: &mut Option<PathBuf>) -> io::Result<()> {
    let name = temporary_name(path);
    let mut file = OpenOptions::new().write(true).create_new(true).open(&name)?;
    *temporary = Some(name.clone());
    file.write_all(bytes)?;
    if let Some(like) = like {
        file.set_permissions(like.permissions())?;
        keep_owner(&name, like);
    }
    file.sync_all()
}

/// Gives a file the owner of another one, where that is allowed: only the administrator may do so.
#[cfg(unix)]
fn keep_owner(path: &Path, like: &Metadata) {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let differs = fs::metadata(path).is_ok_and(|own| (own.uid(), own.gid()) != (like.uid(), like.gid()));
    if differs && chown(path, Some(like.uid()), Some(like.gid())).is_ok() {
        // A change of owner may take permissions away.
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(like.permissions().mode()));
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &Path, _: &Metadata) {}

/// A name beside `path` that nothing else has.
fn temporary_name(path: &Path) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".rulecheck-{}-{count}.tmp", std::process::id()))
}

/// Renames a file without ever taking the place of another: a second name fails where there is one, a rename does not.
fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from).inspect_err(|_| {
            let _ = fs::remove_file(to);
        }),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Not every disk has second names.
        Err(_) => match free(to) {
            Ok(()) => fs::rename(from, to),
            Err(_) => Err(io::ErrorKind::AlreadyExists.into()),
        },
    }
}

fn told(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist any more".into(),
        io::ErrorKind::PermissionDenied => "the system does not allow writing there".into(),
        io::ErrorKind::ReadOnlyFilesystem => "the disk can only be read".into(),
        io::ErrorKind::AlreadyExists => "something of this name is there already".into(),
        io::ErrorKind::StorageFull => "the disk is full".into(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Rc<[u8]> {
        text.as_bytes().into()
    }

    /// An empty directory, gone when it is dropped.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let dir = std::env::temp_dir().join(format!("rulecheck-change-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&dir);
            fs::create_dir_all(&dir).unwrap();
            Self(dir.canonicalize().unwrap())
        }

        /// The names and texts in it.
        fn all(&self) -> Vec<(String, String)> {
            let entries = fs::read_dir(&self.0).unwrap().flatten();
            let text = |entry: &fs::DirEntry| fs::read_to_string(entry.path()).unwrap();
            let mut all: Vec<_> =
                entries.map(|entry| (entry.file_name().into_string().unwrap(), text(&entry))).collect();
            all.sort();
            all
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn three(dir: &Path) -> [Write; 4] {
        fs::write(dir.join("a"), "oak").unwrap();
        fs::write(dir.join("b"), "linen").unwrap();
        [
            Write::Rename { from: dir.join("b"), to: dir.join("c"), text: bytes("linen") },
            Write::Edit { path: dir.join("c"), old: bytes("linen"), new: bytes("amber") },
            Write::Edit { path: dir.join("a"), old: bytes("oak"), new: bytes("elm") },
            Write::Create { path: dir.join("d"), new: bytes("ash"), like: None },
        ]
    }

    fn names<const N: usize>(all: [(&str, &str); N]) -> Vec<(String, String)> {
        all.map(|(name, text)| (name.to_string(), text.to_string())).to_vec()
    }

    #[test]
    fn all_changes_are_made() {
        let scratch = Scratch::new("all");
        apply(&scratch.0, &three(&scratch.0)).unwrap();
        assert_eq!(scratch.all(), names([("a", "elm"), ("c", "amber"), ("d", "ash")]));
    }

    #[test]
    fn what_cannot_be_made_is_known_before_anything_is() {
        let scratch = Scratch::new("before");
        let changes = three(&scratch.0);
        fs::write(scratch.0.join("d"), "ivy").unwrap();
        let refused = apply(&scratch.0, &changes).unwrap_err();
        assert!(!refused.undone && refused.path.ends_with("d"), "{refused}");
        assert_eq!(scratch.all(), names([("a", "oak"), ("b", "linen"), ("d", "ivy")]));
        fs::remove_file(scratch.0.join("d")).unwrap();
        fs::write(scratch.0.join("a"), "yew").unwrap();
        let refused = apply(&scratch.0, &changes).unwrap_err();
        assert!(refused.to_string().contains("has changed since it was read"), "{refused}");
        assert_eq!(scratch.all(), names([("a", "yew"), ("b", "linen")]));
    }

    #[test]
    fn what_fails_in_the_middle_is_undone() {
        let scratch = Scratch::new("middle");
        let changes = three(&scratch.0);
        let staged = stage(&scratch.0, &changes).unwrap_or_else(|refused| panic!("{refused}"));
        fs::write(scratch.0.join("d"), "ivy").unwrap();
        let failed = staged.commit().unwrap_err();
        assert!(failed.undone && failed.stuck.is_empty() && failed.path.ends_with("d"), "{failed}");
        assert_eq!(scratch.all(), names([("a", "oak"), ("b", "linen"), ("d", "ivy")]));
    }
}
