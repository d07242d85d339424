//! A file's text: bytes made characters, and byte offsets made lines and columns.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};

use crate::markdown::{self, Markdown};

/// The text of `bytes`; what is not UTF-8 is replaced, as the clients do.
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// The text of a path; what is not UTF-8 is written as `\xff`, so that two names stay two.
pub fn path_text(path: &Path) -> Cow<'_, str> {
    if let Some(text) = path.to_str() {
        return Cow::Borrowed(text);
    }
    let mut text = String::new();
    for part in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(part.valid());
        text.extend(part.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    Cow::Owned(text)
}

/// Whether a character cannot be seen and changes what is: a control or a format character.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// A line and a column, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

/// What is in a file: its bytes, to which it dereferences, and what is made of them once and asked for often.
#[derive(Debug)]
pub struct Content {
    lines: Lines<'static>,
    /// The bytes, where they are not those of the text.
    bytes: Option<Vec<u8>>,
    /// Without and with a byte order mark allowed.
    markdown: [OnceCell<Markdown>; 2],
}

impl Content {
    /// The text, as [`lossy`].
    pub fn text(&self) -> &str {
        self.lines.text()
    }

    /// The text with its line starts.
    pub fn lines(&self) -> &Lines<'static> {
        &self.lines
    }

    /// The text as [`markdown::lex`] has it.
    pub fn markdown(&self, bom: bool) -> &Markdown {
        self.markdown[usize::from(bom)].get_or_init(|| markdown::lex(self.text(), bom))
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Self {
        let (text, bytes) = match String::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) => (lossy(error.as_bytes()).into_owned(), Some(error.into_bytes())),
        };
        Self { lines: Lines::new(text), bytes, markdown: Default::default() }
    }
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.as_deref().unwrap_or(self.text().as_bytes())
    }
}

/// A text with its line starts, for many positions in it.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    text: Cow<'a, str>,
    starts: OnceCell<Vec<usize>>,
    /// The last position that was asked for: the next one is mostly a little further on the same line.
    last: Cell<(usize, Position)>,
}

impl<'a> Lines<'a> {
    /// The text; it is looked through once, when the first position is asked for.
    pub fn new(text: impl Into<Cow<'a, str>>) -> Self {
        Self { text: text.into(), starts: OnceCell::new(), last: Cell::new((0, Position { line: 1, column: 1 })) }
    }

    fn starts(&self) -> &[usize] {
        let ends = || self.text.match_indices('\n').map(|(at, _)| at + 1);
        self.starts.get_or_init(|| std::iter::once(0).chain(ends()).collect())
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where line `line` starts, from 1.
    pub fn start(&self, line: usize) -> Option<usize> {
        self.starts().get(line.checked_sub(1)?).copied()
    }

    /// The bytes of the line, without its end, that holds byte `offset`.
    pub fn line(&self, offset: usize) -> Range<usize> {
        let starts = self.starts();
        let line = starts.partition_point(|start| *start <= offset) - 1;
        let end = starts.get(line + 1).map_or(self.text.len(), |next| next - 1);
        starts[line]..end
    }

    /// As [`position`].
    pub fn position(&self, offset: usize) -> Position {
        let offset = floor(&self.text, offset);
        let starts = self.starts();
        let line = starts.partition_point(|start| *start <= offset);
        let chars = |range: Range<usize>| self.text[range].chars().count();
        let column = match self.last.get() {
            (last, known) if known.line == line && last <= offset => known.column + chars(last..offset),
            _ => chars(starts[line - 1]..offset) + 1,
        };
        let position = Position { line, column };
        self.last.set((offset, position));
        position
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

/// `text` when it has at most `most` bytes; of a longer one so much of its start and its end. A long text on several
/// lines is cut at its end, so that its lines stay in their places.
pub fn brief(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let (start, end) = (floor(text, most / 2), floor(text, text.len() - most / 2));
    let end = if text[start..end].contains('\n') { text.len() } else { end };
    Cow::Owned(format!("{} … {}", &text[..start], &text[end..]))
}

fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// A place in a file: all of it, or a span of bytes of its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file, absolute.
    pub path: PathBuf,
    /// Bytes of the file's text as [`lossy`] gives it; `None` is the file as a whole.
    pub span: Option<Span>,
}

/// A span of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    #[cfg(unix)]
    fn names_that_are_no_text_stay_apart() {
        use std::os::unix::ffi::OsStrExt;
        let text = |name: &[u8]| path_text(Path::new(std::ffi::OsStr::from_bytes(name))).into_owned();
        assert_eq!([text(b"a/\xff"), text(b"a/\xfeb"), text("día".as_bytes())], ["a/\\xff", "a/\\xfeb", "día"]);
    }

    #[test]
    fn a_long_text_is_shown_by_its_ends() {
        assert_eq!(brief("abcdef", 6), "abcdef");
        assert_eq!(brief("abcdefgh", 6), "abc … fgh");
        assert_eq!(brief("aéééf", 4), "a … éf");
        assert_eq!(brief("ab\ncd\nef", 4), "ab … ");
    }

    #[test]
    fn columns_count_characters() {
        let text = "one\ndía x";
        assert_eq!(position(text, 0), Position { line: 1, column: 1 });
        assert_eq!(position(text, 4), Position { line: 2, column: 1 });
        assert_eq!(position(text, text.len()), Position { line: 2, column: 6 });
        assert_eq!(position(text, 6), Position { line: 2, column: 2 });
        let lines = Lines::new(text);
        for offset in (0..=text.len() + 1).chain((0..=text.len()).rev()) {
            assert_eq!(lines.position(offset), position(text, offset), "{offset}");
        }
        assert_eq!((lines.line(0), lines.line(3), lines.line(4), lines.line(11)), (0..3, 0..3, 4..10, 4..10));
    }
}
