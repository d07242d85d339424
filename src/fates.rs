//! What becomes of each file, in one word, so that two versions can be compared.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::clients::{Client, Row, Scene, Version};
use crate::resolution::{Outcome, Phase, Resolution, Source};

/// The fate of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fate {
    /// What the client does: `loads it at startup`, `loads a part of it at startup`, `loads it later`, `does not load it`.
    pub word: &'static str,
    /// The claims it rests on.
    pub evidence: Vec<&'static str>,
}

/// The words, the best fate first.
const WORDS: [&str; 4] = ["loads it at startup", "loads a part of it at startup", "loads it later", "does not load it"];

/// A file that is not named at all.
const UNNAMED: Fate = Fate { word: WORDS[3], evidence: Vec::new() };

fn word(source: &Source) -> &'static str {
    match (&source.outcome, &source.phase) {
        (Outcome::Loaded, _) if source.cut.is_some() => WORDS[1],
        (Outcome::Loaded, Phase::Startup) => WORDS[0],
        (Outcome::Loaded, Phase::Lazy(_)) => WORDS[2],
        _ => WORDS[3],
    }
}

/// The fate of every file of a resolution; the best one where it has several.
pub fn fates(resolution: &Resolution) -> BTreeMap<&Path, Fate> {
    let rank = |word: &str| WORDS.iter().position(|known| *known == word);
    let mut fates: BTreeMap<&Path, Fate> = BTreeMap::new();
    for source in &resolution.sources {
        let Some(path) = source.path().filter(|_| source.inline.is_none()) else { continue };
        let fate = Fate { word: word(source), evidence: source.evidence.clone() };
        match fates.get(path) {
            Some(known) if rank(known.word) <= rank(fate.word) => {}
            _ => drop(fates.insert(path, fate)),
        }
    }
    fates
}

/// The files that fare differently in two resolutions, with their fate in each.
pub fn differences(a: &Resolution, b: &Resolution) -> BTreeMap<PathBuf, (Fate, Fate)> {
    let (mut before, after) = (fates(a), fates(b));
    let mut different = BTreeMap::new();
    for (path, then) in after {
        let now = before.remove(path).unwrap_or(UNNAMED);
        if now.word != then.word {
            different.insert(path.to_path_buf(), (now, then));
        }
    }
    for (path, now) in before {
        if now.word != UNNAMED.word {
            different.insert(path.to_path_buf(), (now, UNNAMED));
        }
    }
    different
}

/// A file that two versions of a client treat differently.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The file, absolute.
    pub path: PathBuf,
    /// Its fate at the first version.
    pub before: Fate,
    /// Its fate at the second.
    pub after: Fate,
    /// The changes of the client that did it.
    pub rows: Vec<Row>,
}

/// What changes for a project between two versions of a client, and which changes of the client do it.
pub fn between(scene: &Scene<'_>, client: &Client, from: Version, to: Version) -> Vec<Changed> {
    let rows: Vec<Row> = (client.history)().into_iter().filter(|row| row.since > from && row.since <= to).collect();
    let mut versions: Vec<Version> = rows.iter().map(|row| row.since).collect();
    versions.dedup();
    let first = client.resolve(scene, from);
    let mut last = first.clone();
    let mut causes: BTreeMap<PathBuf, Vec<Row>> = BTreeMap::new();
    for version in versions {
        let next = client.resolve(scene, version);
        for path in differences(&last, &next).into_keys() {
            causes.entry(path).or_default().extend(rows.iter().filter(|row| row.since == version).cloned());
        }
        last = next;
    }
    let changed = differences(&first, &client.resolve(scene, to)).into_iter();
    changed
        .map(|(path, (before, after))| Changed { rows: causes.remove(&path).unwrap_or_default(), path, before, after })
        .collect()
}
