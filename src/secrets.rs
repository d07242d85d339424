//! Secrets in prompt-loaded text: found, named, and kept out of every output.
//!
//! * [`DETECTORS`] are data: what a secret looks like, and what to use in its place. Their examples are their tests.
//! * [`scan`] finds them: one automaton over all keywords runs through the text, and only where a keyword stands does
//!   a detector's pattern look at a bounded part of it. The work grows linearly with the text.
//! * [`Redactor`] learns values and takes them out of whatever is about to be printed.
//!
//! What always holds: a [`Secret`] knows where a value is, never what it is, and nothing here prints a value.

use std::fmt;
use std::ops::Range;

mod detectors;
mod names;
mod plausible;
mod proof;
mod redact;
#[cfg(test)]
pub(crate) mod sample;
mod search;
mod sources;
#[cfg(test)]
mod tests;
mod words;

pub use detectors::DETECTORS;
pub use names::Kind;
pub use redact::{MARKER, Redactor, redact_window};
pub use sources::{Found, Scanned};

/// One kind of secret: how it looks, and what to use in its place.
pub struct Detector {
    /// Unique, lowercase, words joined by `-`; stable, for suppressions contain it by way of the fingerprint.
    pub id: &'static str,
    /// What was found, for people: `GitHub token`.
    pub title: &'static str,
    /// A regular expression over bytes, ASCII only. Its first group, or all of it without one, is the value. For
    /// [`Place::Start`] and [`Place::Name`] it is anchored.
    pub pattern: &'static str,
    /// Text without which the pattern cannot match, in any case; lowercase.
    pub keywords: &'static [&'static str],
    /// Where the keywords stand.
    pub place: Place,
    /// How specific the detector is: of two that see the same value, the first in this order reports it.
    pub rank: Rank,
    /// A byte without which the word that begins with the keyword is not worth a look.
    pub needs: Option<u8>,
    /// The least entropy of the value after its keyword, in bits for each byte.
    pub entropy: Option<f32>,
    /// What must hold of the value: its structure, or that it looks random.
    pub check: Option<fn(&str) -> bool>,
    /// A checksum in the value. A value that passes is a secret whatever it looks like; one that does not still has to
    /// look like a placeholder to be left alone, for a mistyped token is one that was pasted.
    pub proof: Option<fn(&str) -> bool>,
    /// The environment variable to use in its place.
    pub instead: &'static str,
    /// What else keeps such a value: a credential helper, a secret manager, an identity without a stored key.
    pub advice: &'static str,
    /// Examples that the detector reports. `{w36}` stands for 36 letters and digits; see `sample.rs`.
    pub hits: &'static [&'static str],
    /// Examples in which no detector finds anything.
    pub misses: &'static [&'static str],
}

impl fmt::Debug for Detector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Detector").field(&self.id).finish()
    }
}

impl PartialEq for Detector {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Detector {}

/// Where a detector's keyword stands, seen from the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The pattern begins with it, and so does the value, unless the pattern has a group.
    Start,
    /// Up to `before` bytes of the match stand before it, and up to `after` bytes after it.
    Near {
        /// In bytes.
        before: usize,
        /// In bytes.
        after: usize,
    },
    /// It is in the name before the value, and the name is of this kind. The pattern begins behind the name.
    Name(Kind),
}

/// How specific a detector is, the most specific first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// A format that only one thing has: a vendor's prefix.
    Token,
    /// A vendor's name, and a value of the vendor's length and alphabet after it.
    Vendor,
    /// A format for credentials of any origin: a header, a URL, a connection string.
    Structure,
    /// A name that says so, and a value that looks it.
    Generic,
}

/// Where a value is, and what it is; never the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// What found it.
    pub detector: &'static Detector,
    /// The bytes of the value in the scanned text, on character boundaries.
    pub span: Range<usize>,
}

/// The secrets in `text`, in its order; no two overlap, and the most specific detector reports each.
pub fn scan(text: &str) -> Vec<Secret> {
    search::scan(text).0
}

/// A name for the value of `secret` in `text` that does not give the value away: 20 hexadecimal digits of a SHA-256
/// over a constant of this program, `key`, the detector and the value.
///
/// Stable: the same key, detector and value give the same fingerprint in every version; changing that breaks every
/// suppression. `key` is the project's own (it may be empty): with a random one, a fingerprint that is read cannot be
/// tried against a list of likely passwords by whoever does not have the key.
pub fn fingerprint(key: &str, text: &str, secret: &Secret) -> String {
    let value = text.get(secret.span.clone()).unwrap_or_default();
    let id = secret.detector.id;
    let mut hash = proof::sha256_hex(&[b"rulecheck.secret/1", key.as_bytes(), id.as_bytes(), value.as_bytes()]);
    hash.truncate(20);
    hash
}
