//! Stage 4: what was found, rendered in one of several formats.

use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, Level};
use crate::files::Files;
use crate::resolution::{Location, Resolution};
use crate::text::{Place, Position, lossy, position};

pub mod human;
pub mod json;

/// One start directory, and what each client does there.
#[derive(Debug)]
pub struct Start {
    /// The directory, absolute.
    pub cwd: PathBuf,
    /// One resolution a client.
    pub resolutions: Vec<Resolution>,
}

/// Everything that a format may print.
pub struct Report<'a> {
    /// Where excerpts and lines come from.
    pub files: &'a dyn Files,
    /// The project's directory, absolute.
    pub project: &'a Path,
    /// The simulated reads, as they were given.
    pub reads: &'a [PathBuf],
    /// The start directories, at least one, each with its resolutions.
    pub starts: &'a [Start],
    /// The findings, sorted.
    pub diagnostics: &'a [Diagnostic],
}

impl Report<'_> {
    /// `path` relative to the project with `/`, or absolute when it lies outside.
    pub fn relative(&self, path: &Path) -> String {
        match path.strip_prefix(self.project) {
            Ok(inside) if inside.as_os_str().is_empty() => ".".into(),
            Ok(inside) => inside.to_string_lossy().replace('\\', "/"),
            Err(_) => path.to_string_lossy().into_owned(),
        }
    }

    /// What a location is called in the output.
    pub fn name(&self, location: &Location) -> String {
        match location {
            Location::File(path) => self.relative(path),
            Location::Url(text) | Location::Argument(text) => text.clone(),
        }
    }

    /// The first line and column of a place, if its file can be read.
    pub fn start(&self, place: &Place) -> Option<Position> {
        let span = place.span?;
        let bytes = self.files.read(&place.path).ok()?;
        Some(position(&lossy(&bytes), span.start))
    }

    /// How many findings have this level.
    pub fn count(&self, level: Level) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.level == level).count()
    }
}

/// `text` with control and bidirectional characters made visible, so that nothing in a project can forge output.
pub fn visible(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    if !text.contains(hidden) {
        return text.to_string();
    }
    text.chars().map(|c| if hidden(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_bidirectional_characters_are_made_visible() {
        assert_eq!(visible("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        assert_eq!(visible("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(visible("día"), "día");
    }
}
