//! The secrets of everything that some client loads, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::{Redactor, Secret, fingerprint, scan};
use crate::files::Files;
use crate::resolution::{Location, Outcome, Resolution, Skip, Source};
use crate::text::{Place, lossy};

/// What was found in the prompt-loaded sources of some resolutions. Each text is scanned once.
#[derive(Default)]
pub struct Scanned {
    found: BTreeMap<Key, Vec<Found>>,
    redactor: Redactor,
}

/// A secret in a source.
#[derive(Clone, Debug)]
pub struct Found {
    /// What and where in the scanned text.
    pub secret: Secret,
    /// Where in a file: the value, or the configuration's value that holds it. `None` for an argument.
    pub place: Option<Place>,
    /// By what it can be accepted.
    pub fingerprint: String,
}

/// What tells texts apart.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    File(PathBuf),
    Inline(Location, Option<Place>),
}

impl Scanned {
    /// Scans every source that one of `resolutions` loads, now or later. `key` is the project's, for the fingerprints.
    pub fn new<'a>(files: &dyn Files, key: &str, resolutions: impl IntoIterator<Item = &'a Resolution>) -> Self {
        let mut scanned = Self::default();
        let mut quoted = BTreeSet::new();
        for source in resolutions.into_iter().flat_map(|resolution| &resolution.sources) {
            // What is named and not there may be no name at all, and what names it is quoted by findings.
            if let (None, Location::File(path)) = (&source.real, &source.location) {
                let name = path.to_string_lossy();
                scanned.redactor.learn(&name, &scan(&name));
            }
            if let Some(from) = source.from.as_ref().filter(|from| quoted.insert(from.path.clone())) {
                let text = files.read(&from.path).map(|bytes| lossy(&bytes).into_owned()).unwrap_or_default();
                scanned.redactor.learn(&text, &scan(&text));
            }
            if !reaches_a_model(source) || scanned.found.contains_key(&key_of(source)) {
                continue;
            }
            let found = match text(files, source) {
                Some(text) => scanned.learn(key, source, &text),
                None => Vec::new(),
            };
            scanned.found.insert(key_of(source), found);
        }
        scanned
    }

    /// The secrets in one source.
    pub fn of(&self, source: &Source) -> &[Found] {
        self.found.get(&key_of(source)).filter(|_| reaches_a_model(source)).map_or(&[], Vec::as_slice)
    }

    /// What takes the values out of text.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    fn learn(&mut self, key: &str, source: &Source, text: &str) -> Vec<Found> {
        let secrets = scan(text);
        self.redactor.learn(text, &secrets);
        let place = |secret: &Secret| match key_of(source) {
            Key::File(path) => Some(Place::at(path, secret.span.clone())),
            Key::Inline(_, from) => from,
        };
        let found =
            |secret: Secret| Found { place: place(&secret), fingerprint: fingerprint(key, text, &secret), secret };
        secrets.into_iter().map(found).collect()
    }
}

/// Whether a client puts the source before a model. What was only not observed may well be.
fn reaches_a_model(source: &Source) -> bool {
    source.is_loaded() || source.outcome == (Outcome::Skipped { why: Skip::NotObserved })
}

fn key_of(source: &Source) -> Key {
    match (&source.location, &source.inline) {
        (Location::File(path), None) => Key::File(source.real.as_ref().unwrap_or(path).clone()),
        (location, _) => Key::Inline(location.clone(), source.from.clone()),
    }
}

/// The text of a source, all of it: what a client strips or cuts is a step away from being sent.
fn text(files: &dyn Files, source: &Source) -> Option<String> {
    match (&source.inline, &source.location) {
        (Some(text), _) => Some(text.0.clone()),
        (None, Location::File(path)) => files.read(path).ok().map(|bytes| lossy(&bytes).into_owned()),
        (None, Location::Url(text) | Location::Argument(text)) => Some(text.clone()),
    }
}
