//! `{env:NAME}` and `{file:path}` in the text of a configuration, with a way back to the original bytes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use crate::files::{Files, absolute};
use crate::text::lossy;

/// A text in which pieces were replaced.
#[derive(Debug)]
pub(super) struct Replaced {
    pub(super) text: String,
    /// Each piece that was put in: its bytes in the new text, and the bytes in the old one that it stands for.
    pieces: Vec<(Range<usize>, Range<usize>)>,
}

impl Replaced {
    /// The bytes of the old text for the bytes `span` of the new one. What lies in a piece is the piece as a whole.
    pub(super) fn origin(&self, span: Range<usize>) -> Range<usize> {
        let start = self.back(span.start, false);
        start..self.back(span.end, true).max(start)
    }

    fn back(&self, at: usize, end: bool) -> usize {
        let before = self.pieces.partition_point(|(new, _)| new.start < at || (new.start == at && !end));
        let Some((new, old)) = before.checked_sub(1).and_then(|last| self.pieces.get(last)) else { return at };
        match (at < new.end, end) {
            (true, false) => old.start,
            (true, true) => old.end,
            (false, _) => old.end + (at - new.end),
        }
    }
}

/// Replaces each `{<kind>:…}` of `text` by what `with` gives for its name; where it gives nothing, the piece stays.
/// `with` gets what stands before the piece on its line, and the name.
///
/// # Errors
/// The first piece for which `with` has nothing, as bytes of `text`, with the reason.
fn replace(
    text: &str,
    kind: &str,
    mut with: impl FnMut(&str, &str) -> Result<Option<String>, String>,
) -> Result<Replaced, (Range<usize>, String)> {
    let opening = format!("{{{kind}:");
    let mut replaced = Replaced { text: String::with_capacity(text.len()), pieces: Vec::new() };
    let mut at = 0;
    while let Some(start) = text[at..].find(&opening).map(|offset| at + offset) {
        let name = start + opening.len();
        let Some(end) = text[name..].find('}').map(|offset| name + offset) else { break };
        let line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        // Without a name it is plain text.
        let value = if name == end { Ok(None) } else { with(&text[line..start], &text[name..end]) };
        replaced.text.push_str(&text[at..start]);
        let from = replaced.text.len();
        if let Some(value) = value.map_err(|why| (start..end + 1, why))? {
            replaced.text.push_str(&value);
            replaced.pieces.push((from..replaced.text.len(), start..end + 1));
        } else {
            replaced.text.push_str(&text[start..=end]);
        }
        at = end + 1;
    }
    replaced.text.push_str(&text[at..]);
    Ok(replaced)
}

/// A configuration text as the client parses it, and the way back.
#[derive(Debug)]
pub(super) struct Substituted {
    env: Replaced,
    file: Replaced,
}

impl Substituted {
    /// Puts in the variables first, as they are, then the files, as parts of a JSON text. `dir` holds the configuration.
    ///
    /// # Errors
    /// A file that cannot be read: the bytes of `text` that name it, and the reason.
    pub(super) fn new(
        text: &str,
        dir: &Path,
        home: Option<&Path>,
        env: &BTreeMap<String, String>,
        files: &dyn Files,
    ) -> Result<Self, (Range<usize>, String)> {
        let env = replace(text, "env", |_, name| Ok(Some(env.get(name).cloned().unwrap_or_default())))?;
        let file = replace(&env.text, "file", |before, name| {
            // Of comments, only those on a line of their own are known here.
            if before.trim_start().starts_with("//") {
                return Ok(None);
            }
            let path = match (name.strip_prefix("~/"), home) {
                (Some(rest), Some(home)) => absolute(home, Path::new(rest)),
                _ => absolute(dir, Path::new(name)),
            };
            let bytes = files.read(&path).map_err(|why| format!("the file `{name}` cannot be put in: {why}"))?;
            let quoted = serde_json::Value::from(lossy(&bytes).trim_matches(is_space)).to_string();
            Ok(Some(quoted[1..quoted.len() - 1].to_string()))
        })
        .map_err(|(span, why)| (env.origin(span), why))?;
        Ok(Self { env, file })
    }

    /// The text to parse.
    pub(super) fn text(&self) -> &str {
        &self.file.text
    }

    /// The bytes of the original text for bytes of the text to parse.
    pub(super) fn origin(&self, span: Range<usize>) -> Range<usize> {
        self.env.origin(self.file.origin(span))
    }
}

/// What JavaScript trims: white space, and a byte order mark.
pub(super) fn is_space(char: char) -> bool {
    char.is_whitespace() || char == '\u{feff}'
}
