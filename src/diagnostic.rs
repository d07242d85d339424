//! A finding: what is wrong, where, for whom, why, and what to do.

use std::fmt;

use crate::clients::Version;
use crate::text::Place;

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
}
