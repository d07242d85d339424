//! What becomes of each file, in one word, so that two versions can be compared.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use crate::clients::{Client, Row, Scene, Version};
use crate::resolution::{Outcome, Phase, Resolution, Source};

/// The fate of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate<'a> {
    /// What the client does: `loads it at startup`, `loads a part of it at startup`, `loads it later`, `does not load it`.
    pub word: &'static str,
    /// The claims it rests on.
    pub evidence: &'a [&'static str],
}

/// The words, the best fate first.
const WORDS: [&str; 4] = ["loads it at startup", "loads a part of it at startup", "loads it later", "does not load it"];

/// The fate of a file that is not named at all.
const UNNAMED: Fate<'static> = Fate { word: WORDS[3], evidence: &[] };

fn word(source: &Source) -> &'static str {
    match (&source.outcome, &source.phase) {
        (Outcome::Loaded, _) if source.cut.is_some() => WORDS[1],
        (Outcome::Loaded, Phase::Startup) => WORDS[0],
        (Outcome::Loaded, Phase::Lazy(_)) => WORDS[2],
        _ => WORDS[3],
    }
}

/// The fate of every file of a resolution; the best one where it has several.
fn fates(resolution: &Resolution) -> HashMap<&Path, Fate<'_>> {
    let rank = |word: &str| WORDS.iter().position(|known| *known == word);
    let mut fates: HashMap<&Path, Fate<'_>> = HashMap::new();
    for source in &resolution.sources {
        let Some(path) = source.path().filter(|_| source.inline.is_none()) else { continue };
        let fate = Fate { word: word(source), evidence: &source.evidence };
        if fates.get(path).is_none_or(|known| rank(fate.word) < rank(known.word)) {
            fates.insert(path, fate);
        }
    }
    fates
}

/// The files that fare differently in two resolutions, with their fate in each.
pub fn differences<'a>(a: &'a Resolution, b: &'a Resolution) -> BTreeMap<&'a Path, (Fate<'a>, Fate<'a>)> {
    let (before, after) = (fates(a), fates(b));
    let of = |fates: &HashMap<&'a Path, Fate<'a>>, path| fates.get(path).copied().unwrap_or(UNNAMED);
    let paths = before.keys().chain(after.keys());
    let both = paths.map(|path| (*path, (of(&before, path), of(&after, path))));
    both.filter(|(_, (before, after))| before.word != after.word).collect()
}

/// A file that two versions of a client treat differently.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The file, absolute.
    pub path: PathBuf,
    /// Its fate at the first version, in a word as [`Fate`] has it.
    pub before: &'static str,
    /// Its fate at the second.
    pub after: &'static str,
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
            causes
                .entry(path.to_path_buf())
                .or_default()
                .extend(rows.iter().filter(|row| row.since == version).cloned());
        }
        last = next;
    }
    let then = client.resolve(scene, to);
    let changed = |(path, (before, after)): (&Path, (Fate<'_>, Fate<'_>))| Changed {
        rows: causes.get(path).cloned().unwrap_or_default(),
        path: path.to_path_buf(),
        before: before.word,
        after: after.word,
    };
    differences(&first, &then).into_iter().map(changed).collect()
}
