//! The value between resolving and linting: for one client at one version, every instruction source with its fate.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::clients::Version;
use crate::text::Place;

/// What one client at one version does with one project.
#[derive(Clone, Debug)]
pub struct Resolution {
    /// The client's name: `codex`, `opencode` or `claude`.
    pub client: &'static str,
    /// The version that was resolved.
    pub version: Version,
    /// Why the client would refuse to start, if it would; nothing is loaded then.
    pub refusal: Option<Refusal>,
    /// Configuration that the client passes over in silence.
    pub ignored_config: Vec<Refusal>,
    /// Where a search ended at a limit of this program, so that something may be missing.
    pub cut_short: Vec<Refusal>,
    /// Loaded sources first, in prompt order (startup, then lazy), then the others by path.
    pub sources: Vec<Source>,
}

/// A configuration a client does not accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The file and the bytes at fault.
    pub at: Place,
    /// What is wrong, one line without a full stop.
    pub why: String,
    /// The claim it rests on.
    pub evidence: &'static str,
}

/// One instruction source and what becomes of it.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where it is: a file, absolute, as it is reached (links not resolved), or a URL.
    pub location: Location,
    /// The file with its links resolved. `None` when nothing is there, it is a URL, or it was never looked at.
    pub real: Option<PathBuf>,
    /// Who put it there.
    pub scope: Scope,
    /// How the client comes to it.
    pub via: Via,
    /// What becomes of it.
    pub outcome: Outcome,
    /// When: before the first model turn, or later.
    pub phase: Phase,
    /// Whether the client leaves its order among its neighbours open.
    pub order_unspecified: bool,
    /// The simulated read that loads it, counted from 0.
    pub activated_by: Option<usize>,
    /// The import, the configuration entry or the key that names it.
    pub from: Option<Place>,
    /// Its size in bytes, as far as known.
    pub bytes: Option<u64>,
    /// The bytes of it that are loaded, when it is cut; of the file's own bytes.
    pub cut: Option<Range<usize>>,
    /// The text itself, for a source that is a value in a configuration.
    pub inline: Option<Inline>,
    /// The claims it rests on, as `client/observation#claim`.
    pub evidence: Vec<&'static str>,
}

/// A text that stands in a configuration. It may hold a secret, so it is not printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Inline(pub String);

impl fmt::Debug for Inline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inline({} bytes)", self.0.len())
    }
}

/// Where a source is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Location {
    /// An absolute path.
    File(PathBuf),
    /// An address that the client fetches.
    Url(String),
    /// An argument or a variable of the client that holds the text itself.
    Argument(String),
}

/// Who put a source there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The machine's administrator.
    Managed,
    /// The user, for all projects.
    User,
    /// The project.
    Project,
    /// The user, for this project.
    Local,
    /// A configuration that names it.
    Configured,
    /// A configuration that names an address.
    Remote,
    /// A configuration that holds the text itself.
    Inline,
}

/// How a client comes to a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Via {
    /// By its place and name.
    Place,
    /// By an import in another source.
    Import,
    /// As a rule file.
    Rule,
    /// By a configuration.
    Config,
}

/// What becomes of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its text reaches the model.
    Loaded,
    /// Another source is taken in its place.
    Shadowed {
        /// The one that is taken.
        by: PathBuf,
    },
    /// The client does not know this name or place.
    Unsupported {
        /// Why, one line without a full stop.
        why: String,
    },
    /// The client knows it and leaves it out.
    Skipped {
        /// Why.
        why: Skip,
    },
}

/// Why a client leaves out a source that it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skip {
    /// Nothing but white space is in it.
    Empty,
    /// The byte budget was spent before it.
    OverBudget,
    /// It is larger than the client reads.
    OverSize,
    /// It is more hops away than the client follows.
    TooDeep,
    /// It imports itself, directly or over others.
    Cycle,
    /// It is loaded already.
    Duplicate,
    /// Nothing is there.
    Missing,
    /// It is a link that leads nowhere.
    BrokenLink,
    /// It is a directory, a pipe, a socket or a device.
    NotAFile,
    /// A setting excludes it.
    Excluded,
    /// A switch turns it off.
    Disabled,
    /// It lies outside the project and is not approved; it was not opened.
    OutsideProject,
    /// The client does not take it for text.
    NotText,
    /// Its patterns match no path at all.
    NeverMatches,
    /// It is not in a directory that the client looks at from this start.
    NotInChain,
    /// The system does not let it be read.
    Unreadable,
    /// The project is not trusted.
    Untrusted,
    /// The client does not start.
    NoStart,
    /// The client gave up the whole chain at another file that it could not read.
    Aborted,
    /// A configuration names it; it was not seen in what the client sent at this version.
    NotObserved,
}

impl Skip {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Empty,
        Self::OverBudget,
        Self::OverSize,
        Self::TooDeep,
        Self::Cycle,
        Self::Duplicate,
        Self::Missing,
        Self::BrokenLink,
        Self::NotAFile,
        Self::Excluded,
        Self::Disabled,
        Self::OutsideProject,
        Self::NotText,
        Self::NeverMatches,
        Self::NotInChain,
        Self::Unreadable,
        Self::Untrusted,
        Self::NoStart,
        Self::Aborted,
        Self::NotObserved,
    ];

    /// Its word in the output, the same in every format.
    pub fn word(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::OverBudget => "over-budget",
            Self::OverSize => "over-size",
            Self::TooDeep => "too-deep",
            Self::Cycle => "cycle",
            Self::Duplicate => "duplicate",
            Self::Missing => "missing",
            Self::BrokenLink => "broken-link",
            Self::NotAFile => "not-a-file",
            Self::Excluded => "excluded",
            Self::Disabled => "disabled",
            Self::OutsideProject => "outside-project",
            Self::NotText => "not-text",
            Self::NeverMatches => "never-matches",
            Self::NotInChain => "not-in-chain",
            Self::Unreadable => "unreadable",
            Self::Untrusted => "untrusted",
            Self::NoStart => "no-start",
            Self::Aborted => "aborted",
            Self::NotObserved => "not-observed",
        }
    }
}

/// When a source is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before the first model turn.
    Startup,
    /// When the client's read tool opens a file.
    Lazy(Trigger),
}

/// What makes a lazy source load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A read below this directory, absolute.
    Under(PathBuf),
    /// A read of a file that matches, its path taken relative to `base`.
    Patterns {
        /// The patterns after the client's own rewriting, in order.
        patterns: Vec<String>,
        /// The directory they are relative to, absolute.
        base: PathBuf,
    },
}

impl Source {
    /// A source at `path` that is loaded at startup by its place; the rest is set by whoever knows better.
    pub fn file(path: impl Into<PathBuf>, scope: Scope, via: Via, evidence: &'static str) -> Self {
        Self {
            location: Location::File(path.into()),
            real: None,
            scope,
            via,
            outcome: Outcome::Loaded,
            phase: Phase::Startup,
            order_unspecified: false,
            activated_by: None,
            from: None,
            bytes: None,
            cut: None,
            inline: None,
            evidence: vec![evidence],
        }
    }

    /// Its path; `None` for a URL.
    pub fn path(&self) -> Option<&Path> {
        match &self.location {
            Location::File(path) => Some(path),
            Location::Url(_) | Location::Argument(_) => None,
        }
    }

    /// Whether its text reaches the model, now or later.
    pub fn is_loaded(&self) -> bool {
        self.outcome == Outcome::Loaded
    }

    /// Whether it is loaded before the first model turn.
    pub fn at_startup(&self) -> bool {
        self.phase == Phase::Startup
    }

    /// The same source, left out for a reason.
    #[must_use]
    pub fn skipped(mut self, why: Skip) -> Self {
        self.outcome = Outcome::Skipped { why };
        self
    }

    /// The same source, with another taken in its place.
    #[must_use]
    pub fn shadowed(mut self, by: impl Into<PathBuf>) -> Self {
        self.outcome = Outcome::Shadowed { by: by.into() };
        self
    }

    /// The same source, of a name or place that the client does not know.
    #[must_use]
    pub fn unsupported(mut self, why: impl Into<String>) -> Self {
        self.outcome = Outcome::Unsupported { why: why.into() };
        self
    }

    /// The same source, loaded later.
    #[must_use]
    pub fn lazy(mut self, trigger: Trigger) -> Self {
        self.phase = Phase::Lazy(trigger);
        self
    }
}

impl Resolution {
    /// A resolution with nothing in it.
    pub fn new(client: &'static str, version: Version) -> Self {
        Self { client, version, refusal: None, ignored_config: Vec::new(), cut_short: Vec::new(), sources: Vec::new() }
    }

    /// The loaded sources of the start, in prompt order.
    pub fn startup(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(|source| source.is_loaded() && source.at_startup())
    }

    /// The sources that are loaded later, in the order in which they are listed.
    pub fn lazy(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(|source| source.is_loaded() && !source.at_startup())
    }

    /// The sources at `path`, as reached or with links resolved.
    pub fn at<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = &'a Source> {
        self.sources.iter().filter(move |source| source.path() == Some(path) || source.real.as_deref() == Some(path))
    }
}
