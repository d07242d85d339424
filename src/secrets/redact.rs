//! Redaction: learned values, and whatever a scan finds, are replaced before text is cut into excerpts or printed.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use super::{Secret, scan};
use crate::text;

/// What stands in the place of a value.
pub const MARKER: &str = "[REDACTED]";

/// No run of this many bytes of a learned value stays in a redacted text.
const WINDOW: usize = 10;
/// Values that are shorter are only taken out where a scan finds them: elsewhere they may be ordinary words.
const SHORTEST: usize = 8;

/// Takes secrets out of text.
///
/// Teach it every text that was scanned, then pass through it everything that is printed. It also scans what it is
/// given, so that a value of a text that nobody taught it does not get through either. The guarantee: in its output no
/// ten bytes in a row of a learned value remain, whether the value is whole, cut short, or joined to something else,
/// and no learned value of eight or nine bytes.
///
/// Values of several lines, such as private keys, are learned as a whole and line by line by the same means: any ten
/// bytes of them are enough. Lines that every key of a kind has (`-----BEGIN …`) are not part of what is learned.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Every run of [`WINDOW`] bytes of every value that is at least that long.
    windows: HashSet<[u8; WINDOW], BuildHasherDefault<Fnv>>,
    /// A bit for each hash of the first four bytes of what is learned: most of a text is told apart by this alone.
    starts: Vec<u64>,
    /// Values of eight and nine bytes.
    short: HashSet<Vec<u8>, BuildHasherDefault<Fnv>>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Redactor {
    /// Remembers the values of `secrets`, which [`scan`] found in `text`.
    pub fn learn(&mut self, text: &str, secrets: &[Secret]) {
        for secret in secrets {
            let Some(value) = text.get(secret.span.clone()) else { continue };
            // A key's lines may stand escaped in one file and as lines in another.
            for line in value.split(['\n', '\r']).flat_map(|line| line.split("\\n")) {
                if !line.contains("-----") && !line.starts_with("PuTTY-") {
                    self.remember(line.trim_matches(|char: char| {
                        char.is_whitespace() || matches!(char, '"' | '\'' | '\\' | '+' | ',')
                    }));
                }
            }
        }
    }

    fn remember(&mut self, value: &str) {
        let bytes = value.as_bytes();
        for window in bytes.windows(WINDOW) {
            if let Ok(window) = window.try_into() {
                self.windows.insert(window);
                self.mark(&window);
            }
        }
        if (SHORTEST..WINDOW).contains(&bytes.len()) {
            self.short.insert(bytes.to_vec());
            self.mark(bytes);
        }
    }

    fn mark(&mut self, start: &[u8]) {
        if self.starts.is_empty() {
            self.starts.resize(1 << 10, 0);
        }
        let bit = start_bit(start);
        self.starts[bit / 64] |= 1 << (bit % 64);
    }

    /// `text` with [`MARKER`] in the place of every value in it.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let hidden = self.hidden(text);
        if hidden.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(replace(text, &hidden))
    }

    /// What is to be hidden in `text`: in order, apart from each other, on character boundaries.
    pub fn hidden(&self, text: &str) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = scan(text).into_iter().map(|secret| secret.span).collect();
        let bytes = text.as_bytes();
        if !self.starts.is_empty() {
            for at in 0..bytes.len().saturating_sub(SHORTEST - 1) {
                let bit = start_bit(&bytes[at..]);
                if self.starts[bit / 64] >> (bit % 64) & 1 == 0 {
                    continue;
                }
                let window = bytes.get(at..at + WINDOW).and_then(|window| <[u8; WINDOW]>::try_from(window).ok());
                if window.is_some_and(|window| self.windows.contains(&window)) {
                    ranges.push(at..at + WINDOW);
                }
                for length in SHORTEST..WINDOW {
                    if bytes.get(at..at + length).is_some_and(|part| self.short.contains(part)) {
                        ranges.push(at..at + length);
                    }
                }
            }
        }
        ranges.sort_by_key(|range| range.start);
        let mut hidden: Vec<Range<usize>> = Vec::new();
        for range in ranges {
            let mut end = range.end;
            while !text.is_char_boundary(end) {
                end += 1;
            }
            let start = text::clamp(text, range).start;
            match hidden.last_mut() {
                Some(last) if start <= last.end => last.end = last.end.max(end),
                _ => hidden.push(start..end),
            }
        }
        hidden
    }
}

/// The bytes `window` of `text` without what is `hidden` in the text, and where the bytes `span` in the window are then: a
/// span that touches a value covers the whole marker.
pub fn redact_window(
    text: &str,
    window: &Range<usize>,
    hidden: &[Range<usize>],
    span: &Range<usize>,
) -> (String, Range<usize>) {
    let first = hidden.partition_point(|range| range.end <= window.start);
    let inside = |at: usize| at.clamp(window.start, window.end) - window.start;
    let hidden: Vec<Range<usize>> = hidden[first..]
        .iter()
        .take_while(|range| range.start < window.end)
        .map(|range| inside(range.start)..inside(range.end))
        .collect();
    let text = &text[window.clone()];
    (replace(text, &hidden), Moves::new(text, &hidden).span(&(inside(span.start)..inside(span.end))))
}

fn replace(text: &str, hidden: &[Range<usize>]) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut at = 0;
    for range in hidden {
        redacted.push_str(&text[at..range.start]);
        redacted.push_str(MARKER);
        at = range.end;
    }
    redacted.push_str(&text[at..]);
    redacted
}

/// Where bytes of a text are once `hidden` is replaced.
struct Moves<'a> {
    text: &'a str,
    hidden: &'a [Range<usize>],
    /// For each hidden range, where its marker begins.
    markers: Vec<usize>,
}

impl<'a> Moves<'a> {
    fn new(text: &'a str, hidden: &'a [Range<usize>]) -> Self {
        let mut removed = 0;
        let place = |(count, range): (usize, &Range<usize>)| {
            let start = range.start + count * MARKER.len() - removed;
            removed += range.len();
            start
        };
        let markers = hidden.iter().enumerate().map(place).collect();
        Self { text, hidden, markers }
    }

    /// A span that touches a hidden range covers all of its marker.
    fn span(&self, span: &Range<usize>) -> Range<usize> {
        let span = text::clamp(self.text, span.clone());
        let start = self.offset(span.start, 0);
        let end = if span.is_empty() && !self.inside(span.start) { start } else { self.offset(span.end, MARKER.len()) };
        let begins = self.hidden.binary_search_by_key(&span.start, |range| range.start).is_ok();
        start..end.max(if begins { start + MARKER.len() } else { start })
    }

    fn inside(&self, at: usize) -> bool {
        let before = self.hidden.partition_point(|range| range.start <= at);
        self.hidden[..before].last().is_some_and(|range| at < range.end)
    }

    /// Where the byte before or at `at` is; inside a hidden range, `into` its marker.
    fn offset(&self, at: usize, into: usize) -> usize {
        let before = self.hidden.partition_point(|range| range.start < at);
        match before.checked_sub(1).map(|last| (&self.hidden[last], self.markers[last])) {
            Some((range, marker)) if at < range.end => marker + into,
            Some((range, marker)) => marker + MARKER.len() + (at - range.end),
            None => at,
        }
    }
}

fn start_bit(bytes: &[u8]) -> usize {
    let start = bytes.iter().take(4).fold(0u32, |start, byte| start << 8 | u32::from(*byte));
    (start.wrapping_mul(0x9e37_79b1) >> 16) as usize
}

/// Fowler, Noll and Vo's hash: short keys, no need to withstand an attack on the table, for a table of values that
/// were found in the same run costs at worst what a list would.
#[derive(Clone, Copy)]
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
