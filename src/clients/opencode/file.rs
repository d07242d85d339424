//! What becomes of a file that the client comes to.

use super::substitute::is_space;
use crate::files::{Entry, Files, Unreadable};
use crate::resolution::{Skip, Source};
use crate::text::lossy;

/// `source` with what its file says: loaded, or left out because nothing can be read from it.
pub(super) fn filled(files: &dyn Files, mut source: Source) -> Source {
    let Some(path) = source.path() else { return source };
    let (real, read) = (files.real(path), files.read(path));
    let broken = matches!(files.entry(path), Some(Entry::Link)) && files.target(path).is_none();
    source.real = real;
    match read {
        Ok(bytes) => {
            source.bytes = Some(bytes.len() as u64);
            if lossy(&bytes).trim_matches(is_space).is_empty() { source.skipped(Skip::Empty) } else { source }
        }
        Err(Unreadable::Missing | Unreadable::Lost) if broken => source.skipped(Skip::BrokenLink),
        Err(Unreadable::Missing | Unreadable::NotADirectory) => source.skipped(Skip::Missing),
        Err(Unreadable::NotAFile) => source.skipped(Skip::NotAFile),
        Err(Unreadable::Denied | Unreadable::Lost) => source.skipped(Skip::Unreadable),
        Err(Unreadable::TooLarge) => source.skipped(Skip::OverSize),
    }
}
