//! A finding: what is wrong, where, for whom, why, and what to do.

use std::fmt;
use std::path::PathBuf;

use clap::ValueEnum;

use crate::clients::Version;
use crate::text::{Place, Span};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Worth knowing.
    Note,
    /// Probably not what was meant.
    Warning,
    /// Certainly wrong.
    Error,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// The level that makes a run fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Errors.
    #[default]
    Error,
    /// Warnings and errors.
    Warning,
    /// Any finding.
    Note,
    /// Nothing.
    Never,
}

impl FailOn {
    /// Whether a finding of `level` makes the run fail.
    pub fn fails(self, level: Level) -> bool {
        match self {
            Self::Error => level >= Level::Error,
            Self::Warning => level >= Level::Warning,
            Self::Note => true,
            Self::Never => false,
        }
    }
}

/// A client that a finding concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct For {
    /// The client's name.
    pub client: &'static str,
    /// Its version.
    pub version: Version,
    /// When the source would be loaded: `startup` or `lazy`.
    pub phase: &'static str,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule's name.
    pub rule: &'static str,
    /// How bad it is.
    pub level: Level,
    /// One line, lower case, without a full stop.
    pub message: String,
    /// Where it is.
    pub place: Place,
    /// Other places that belong to it, each with what it has to do with it.
    pub related: Vec<(Place, String)>,
    /// What to do, one line.
    pub help: Option<String>,
    /// Whom it concerns.
    pub clients: Vec<For>,
    /// The claims that it rests on.
    pub evidence: Vec<&'static str>,
    /// For a secret, the name by which it can be accepted; never the value.
    pub fingerprint: Option<String>,
    /// What mends it for sure, where something does.
    pub repair: Option<Repair>,
}

impl Diagnostic {
    /// Whether it says of its place what `other` says of its own, word for word.
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.rule == other.rule
            && self.level == other.level
            && self.message == other.message
            && self.help == other.help
            && self.related == other.related
            && self.clients == other.clients
            && self.evidence == other.evidence
            && self.fingerprint == other.fingerprint
    }
}

/// A change of files that mends a finding. It is carried out by [`crate::fix`], which tries it out first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Repair {
    /// A text takes the place of another.
    Replace {
        /// The file.
        path: PathBuf,
        /// The bytes of its text.
        span: Span,
        /// What stands there.
        old: String,
        /// What should stand there.
        new: String,
    },
    /// A file gets the name that was meant.
    Rename {
        /// The file.
        from: PathBuf,
        /// A name that is free.
        to: PathBuf,
    },
    /// A file imports another: it is made, it gets the import before its text, or it is a copy and becomes the import.
    Import {
        /// The importing file, which need not exist.
        file: PathBuf,
        /// The file that is imported.
        of: PathBuf,
        /// The import.
        line: String,
    },
    /// The text of a file moves into another, and the import of it stays behind. Another layout that works is given
    /// up for that, so it is done on demand only.
    Move {
        /// The file.
        file: PathBuf,
        /// The other one.
        to: PathBuf,
        /// The import.
        line: String,
    },
}

/// Without the texts, which may hold a secret.
impl fmt::Debug for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replace { path, span, .. } => f.debug_tuple("Replace").field(path).field(span).finish(),
            Self::Rename { from, to } => f.debug_tuple("Rename").field(from).field(to).finish(),
            Self::Import { file, of, .. } => f.debug_tuple("Import").field(file).field(of).finish(),
            Self::Move { file, to, .. } => f.debug_tuple("Move").field(file).field(to).finish(),
        }
    }
}
