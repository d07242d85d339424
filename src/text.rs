//! A file's text: bytes made characters, and byte offsets made lines and columns.

use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;

/// The text of `bytes`; what is not UTF-8 is replaced, as the clients do.
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// A line and a column, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

/// A text with its line starts, for many positions in it.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    text: Cow<'a, str>,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Looks through `text` once.
    pub fn new(text: impl Into<Cow<'a, str>>) -> Self {
        let text = text.into();
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of the line, without its end, that holds byte `offset`.
    pub fn line(&self, offset: usize) -> Range<usize> {
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let end = self.starts.get(line + 1).map_or(self.text.len(), |next| next - 1);
        self.starts[line]..end
    }

    /// As [`position`].
    pub fn position(&self, offset: usize) -> Position {
        let offset = floor(&self.text, offset);
        let line = self.starts.partition_point(|start| *start <= offset);
        Position { line, column: self.text[self.starts[line - 1]..offset].chars().count() + 1 }
    }
}

/// Where byte `offset` of `text` stands. An offset past the end, or inside a character, counts as the next
/// possible place before it.
pub fn position(text: &str, offset: usize) -> Position {
    let offset = floor(text, offset);
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    Position {
        line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
        column: before[start..].chars().count() + 1,
    }
}

/// `span` moved onto character boundaries inside `text`.
pub fn clamp(text: &str, span: Range<usize>) -> Range<usize> {
    let start = floor(text, span.start);
    start..floor(text, span.end).max(start)
}

fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// A place in a file: all of it, or a span of bytes of its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file, absolute.
    pub path: PathBuf,
    /// Bytes of the file's text as [`lossy`] gives it; `None` is the file as a whole.
    pub span: Option<Span>,
}

/// A span of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl Place {
    /// The file at `path` as a whole.
    pub fn whole(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), span: None }
    }

    /// The bytes `span` of the file at `path`.
    pub fn at(path: impl Into<PathBuf>, span: Range<usize>) -> Self {
        Self { path: path.into(), span: Some(span.into()) }
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self { start: range.start, end: range.end }
    }
}

impl From<Span> for Range<usize> {
    fn from(span: Span) -> Self {
        span.start..span.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let text = "one\ndía x";
        assert_eq!(position(text, 0), Position { line: 1, column: 1 });
        assert_eq!(position(text, 4), Position { line: 2, column: 1 });
        assert_eq!(position(text, text.len()), Position { line: 2, column: 6 });
        assert_eq!(position(text, 6), Position { line: 2, column: 2 });
        let lines = Lines::new(text);
        for offset in 0..=text.len() + 1 {
            assert_eq!(lines.position(offset), position(text, offset), "{offset}");
        }
        assert_eq!((lines.line(0), lines.line(3), lines.line(4), lines.line(11)), (0..3, 0..3, 4..10, 4..10));
    }
}
