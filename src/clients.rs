//! Stage 2: what each client, at a named version, does with a project.
//!
//! A client is one file with a `resolve` that reads like the client's documentation, in its order. It is a pure
//! function of the files, the session and a behaviour; the behaviour at a version is a fold over the client's
//! `HISTORY`, so no resolver ever compares versions. A resolution never fails: what cannot be read is a source
//! with a reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::discover::Project;
use crate::files::Files;
use crate::resolution::{Outcome, Resolution, Scope, Source, Trigger, Via};
use crate::text::lossy;

pub mod claude;
pub mod codex;
pub mod opencode;

/// The clients, in the order of the matrix.
pub static CLIENTS: &[&Client] = &[&codex::CLIENT, &opencode::CLIENT, &claude::CLIENT];

/// A client, all its versions.
pub struct Client {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in prose.
    pub title: &'static str,
    /// The version that is used when none is named.
    pub default: Version,
    /// The versions that were recorded, oldest first, the newest last. The first is the oldest that is known.
    pub recorded: &'static [Version],
    /// What changed, oldest first.
    pub history: fn() -> Vec<Row>,
    /// Resolves a project.
    pub resolve: fn(&Scene<'_>, Version) -> Resolution,
    /// What becomes of an instruction-like file that the resolver did not come to.
    pub passed_over: fn(&Scene<'_>, Version, &Path) -> PassedOver,
    /// Those of its arguments that change what it loads.
    pub arguments: &'static [&'static str],
    /// Whether the client comes to files below the start directory later, when it reads there.
    pub reads_below: bool,
    /// The text of a file as the client puts it before the model: what it strips is gone, what it cuts is cut.
    pub shown: fn(&str, &Source, Version) -> String,
}

/// One row of a history, in words.
#[derive(Clone, Debug)]
pub struct Row {
    /// The first version that behaves so.
    pub since: Version,
    /// The change, one sentence without a full stop.
    pub what: &'static str,
    /// The claims it rests on.
    pub evidence: &'static [&'static str],
}

/// One change of a client's behaviour `B`.
pub struct Change<B> {
    /// The first version that behaves so.
    pub since: Version,
    /// The change, one sentence without a full stop.
    pub what: &'static str,
    /// The claims it rests on.
    pub evidence: &'static [&'static str],
    /// Makes the behaviour before it the behaviour after it.
    pub apply: fn(&mut B),
}

/// The behaviour at `version`: every change up to it, in order.
pub fn behaviour_at<B: Default>(history: &[Change<B>], version: Version) -> B {
    let mut behaviour = B::default();
    for change in history.iter().filter(|change| change.since <= version) {
        (change.apply)(&mut behaviour);
    }
    behaviour
}

/// A history without its functions.
pub fn rows<B>(history: &[Change<B>]) -> Vec<Row> {
    history.iter().map(|change| Row { since: change.since, what: change.what, evidence: change.evidence }).collect()
}

/// A version of a client: a dated manual, or a release. A manual comes before every release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// The manual of that day: year, month, day.
    Manual(u16, u8, u8),
    /// A release.
    Release(u32, u32, u32),
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manual(year, month, day) => write!(f, "manual-{year:04}-{month:02}-{day:02}"),
            Self::Release(major, minor, patch) => write!(f, "{major}.{minor}.{patch}"),
        }
    }
}

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a version; write it like 2.1.220, latest or manual-2026-07-31");
        let (separator, digits) = match text.strip_prefix("manual-") {
            Some(date) => ('-', date),
            None => ('.', text.strip_prefix('v').unwrap_or(text)),
        };
        let numbers = digits
            .split(separator)
            .map(|part| if part.bytes().all(|byte| byte.is_ascii_digit()) { part.parse::<u32>().ok() } else { None })
            .collect::<Option<Vec<u32>>>();
        match (separator, numbers.as_deref()) {
            ('.', Some(&[major, minor, patch])) => Ok(Self::Release(major, minor, patch)),
            ('-', Some(&[year, month, day])) => Ok(Self::Manual(
                year.try_into().map_err(|_| wrong())?,
                month.try_into().map_err(|_| wrong())?,
                day.try_into().map_err(|_| wrong())?,
            )),
            _ => Err(wrong()),
        }
    }
}

/// How a client is started.
#[derive(Clone, Debug)]
pub struct Session {
    /// The start directory, absolute, links resolved.
    pub cwd: PathBuf,
    /// The user's home directory, absolute.
    pub home: Option<PathBuf>,
    /// The environment.
    pub env: BTreeMap<String, String>,
    /// The operating system, which decides the places of managed files.
    pub os: Os,
    /// The arguments of each client.
    pub args: BTreeMap<String, Vec<String>>,
    /// The files that the client's read tool opens, in order, absolute; they need not exist.
    pub reads: Vec<PathBuf>,
    /// Whether the user's and the machine's own sources count.
    pub user: bool,
    /// Files outside the project that may be opened as if the client had recorded the approval, absolute.
    pub allowed: BTreeSet<PathBuf>,
}

impl Session {
    /// A session started in `cwd`, with nothing else said.
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        Self {
            cwd: cwd.into(),
            home: None,
            env: BTreeMap::new(),
            os: Os::Linux,
            args: BTreeMap::new(),
            reads: Vec::new(),
            user: true,
            allowed: BTreeSet::new(),
        }
    }

    /// The value of an environment variable; `None` when it is unset or empty.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.env.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The arguments of the client called `name`.
    pub fn args(&self, name: &str) -> &[String] {
        self.args.get(name).map_or(&[], Vec::as_slice)
    }
}

/// An operating system, as far as the places of files go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Os {
    /// Linux and other Unix systems.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

/// Everything that a resolver may look at.
pub struct Scene<'a> {
    /// The file system.
    pub files: &'a dyn Files,
    /// How the client is started.
    pub session: &'a Session,
    /// The project, already walked.
    pub project: &'a Project,
}

/// What a client does with an instruction-like file that its resolver did not come to.
pub struct PassedOver {
    /// Skipped or unsupported.
    pub outcome: Outcome,
    /// The claim it rests on.
    pub evidence: &'static str,
}

impl Client {
    /// Whether `word` of a command line is one of [`Client::arguments`], alone or with its value.
    pub fn takes(&self, word: &str) -> bool {
        let is_one = |known: &&str| match word.strip_prefix(*known) {
            Some("") => true,
            Some(value) => value.starts_with('=') || !known.starts_with("--"),
            None => false,
        };
        self.arguments.iter().any(is_one)
    }

    /// The newest version that was recorded.
    pub fn newest(&self) -> Version {
        self.recorded.last().copied().unwrap_or(self.default)
    }

    /// `version` if this client can be resolved at it: a recorded manual, or any release from the oldest known on.
    ///
    /// # Errors
    /// Says which versions are known.
    pub fn known(&self, version: Version) -> Result<Version, String> {
        let (manuals, releases): (Vec<Version>, Vec<Version>) =
            self.recorded.iter().partition(|known| matches!(known, Version::Manual(..)));
        let oldest = releases.first().copied().unwrap_or(self.default);
        if manuals.contains(&version) || (matches!(version, Version::Release(..)) && version >= oldest) {
            return Ok(version);
        }
        let manuals: String = manuals.iter().map(|manual| format!("{manual} and ")).collect();
        Err(format!(
            "{} {version} is not known; known are {manuals}the releases from {oldest} to {}, which is `latest`, and every \
             later one is taken for that",
            self.title,
            self.newest()
        ))
    }

    /// The text of a loaded source as this client puts it before the model. `None` for a URL and for what cannot be read.
    pub fn text(&self, files: &dyn Files, version: Version, source: &Source) -> Option<String> {
        if let Some(text) = &source.inline {
            return Some(text.0.clone());
        }
        let bytes = files.read(source.path()?).ok()?;
        let bytes = source.cut.clone().and_then(|cut| bytes.get(cut)).unwrap_or(&bytes);
        Some((self.shown)(&lossy(bytes), source, version))
    }

    /// Resolves a project: the client's own resolver, then every instruction-like file that it did not come to.
    pub fn resolve(&self, scene: &Scene<'_>, version: Version) -> Resolution {
        let mut resolution = (self.resolve)(scene, version);
        let seen: BTreeSet<&Path> = resolution.sources.iter().filter_map(Source::path).collect();
        let rest: Vec<Source> = scene
            .project
            .instructions
            .iter()
            .filter(|path| !seen.contains(path.as_path()))
            .map(|path| {
                let PassedOver { outcome, evidence } = (self.passed_over)(scene, version, path);
                let mut source = Source::file(path, Scope::Project, Via::Place, evidence);
                source.real = scene.files.real(path);
                source.outcome = outcome;
                match spoken_for(path, &scene.session.cwd) {
                    Some(dir) if self.reads_below => source.lazy(Trigger::Under(dir.to_path_buf())),
                    _ => source,
                }
            })
            .collect();
        resolution.sources.extend(rest);
        resolution.sort();
        resolution
    }
}

/// The directory below `cwd` that a file speaks for: what lies in a hidden directory speaks for the one that holds it.
fn spoken_for<'a>(path: &'a Path, cwd: &Path) -> Option<&'a Path> {
    let hidden = |part: std::path::Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
    let below = |dir: &&Path| dir.strip_prefix(cwd).is_ok_and(|inside| !inside.components().any(hidden));
    path.ancestors().skip(1).find(below).filter(|dir| *dir != cwd)
}

impl Resolution {
    /// Loaded sources first, in the order in which they stand; the others behind them, by path.
    fn sort(&mut self) {
        let (mut loaded, mut others): (Vec<Source>, Vec<Source>) =
            self.sources.drain(..).partition(|source| source.is_loaded());
        loaded.sort_by_key(|source| (!source.at_startup(), source.activated_by.unwrap_or(usize::MAX)));
        others.sort_by(|a, b| (&a.location, a.via, &a.from).cmp(&(&b.location, b.via, &b.from)));
        others.dedup_by(|a, b| (&a.location, a.via, &a.from, &a.outcome) == (&b.location, b.via, &b.from, &b.outcome));
        self.sources.extend(loaded);
        self.sources.extend(others);
    }
}

/// The client called `name`.
pub fn client(name: &str) -> Option<&'static Client> {
    CLIENTS.iter().copied().find(|client| client.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_written_alike() {
        for text in ["2.1.220", "manual-2026-07-31"] {
            assert_eq!(text.parse::<Version>().unwrap().to_string(), text);
        }
        for text in ["", "2.1", "2.1.220-beta.1", "manual-2026", "2.1.x", "2..1", "-1.2.3", "+1.2.3"] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }

    #[test]
    fn histories_are_sorted_and_say_what_they_rest_on() {
        for client in CLIENTS {
            let rows = (client.history)();
            assert!(rows.is_sorted_by_key(|row| row.since), "{}", client.name);
            assert!(rows.iter().all(|row| !row.evidence.is_empty() && !row.what.ends_with('.')), "{}", client.name);
            assert!(client.recorded.is_sorted() && client.recorded.contains(&client.default), "{}", client.name);
        }
    }
}
