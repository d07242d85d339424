//! The secrets of everything that some client loads, and nothing else.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use super::{Redactor, Secret, fingerprint, scan};
use crate::files::Files;
use crate::resolution::{Location, Outcome, Resolution, Skip, Source};
use crate::text::Place;

/// What was found in the prompt-loaded sources of some resolutions. Each text is scanned once.
#[derive(Default)]
pub struct Scanned {
    found: HashMap<Key, Vec<Found>>,
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
#[derive(Clone, PartialEq, Eq, Hash)]
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
            quoted.extend(source.from.as_ref().map(|from| from.path.as_path()));
            if !reaches_a_model(source) || scanned.found.contains_key(&key_of(source)) {
                continue;
            }
            let found = with_text(files, source, |text| scanned.learn(key, source, text)).unwrap_or_default();
            scanned.found.insert(key_of(source), found);
        }
        for path in quoted {
            let of_source = Key::File(files.real(path).unwrap_or_else(|| path.to_path_buf()));
            if let (false, Ok(content)) = (scanned.found.contains_key(&of_source), files.read(path)) {
                scanned.redactor.learn(content.text(), &scan(content.text()));
            }
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

/// What `f` makes of the text of a source, all of it: what a client strips or cuts is a step away from being sent.
fn with_text<T>(files: &dyn Files, source: &Source, f: impl FnOnce(&str) -> T) -> Option<T> {
    match (&source.inline, &source.location) {
        (Some(text), _) => Some(f(&text.0)),
        (None, Location::File(path)) => files.read(path).ok().map(|content| f(content.text())),
        (None, Location::Url(text) | Location::Argument(text)) => Some(f(text)),
    }
}
