use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::{Lint, Rule, title};
use crate::clients::{Client, Version, client};
use crate::diagnostic::{Diagnostic, For, Level};
use crate::resolution::{Outcome, Phase, Resolution, Source};
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "version-differs",
    level: Level::Note,
    summary: "a file that another version of the client treats differently",
    page: include_str!("version_differs.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    let mut found: BTreeMap<(PathBuf, &str), Diagnostic> = BTreeMap::new();
    for own in lint.resolutions {
        let now_all = fates(own);
        for other in others(lint, own) {
            let then_all = fates(&other);
            for path in other.sources.iter().filter_map(Source::path) {
                let Some(then) = then_all.get(path) else { continue };
                let none = Fate { word: "does not load it", evidence: &[] };
                let now = now_all.get(path).unwrap_or(&none);
                if now.word == then.word || lint.is_foreign(path) {
                    continue;
                }
                let message = format!("{} {}, {} {}", other.version, then.word, own.version, now.word);
                let mut note = RULE.at(Place::whole(path), format!("{} {message}", title(own)));
                note.clients.push(For { client: own.client, version: own.version, phase: "startup" });
                note.evidence.extend(then.evidence.iter().chain(now.evidence));
                found.entry((path.to_path_buf(), own.client)).or_insert(note);
            }
        }
    }
    let help = "check with `--client` which version you run, and do not rely on the difference";
    found.into_values().map(|note| note.help(help)).collect()
}

/// The same project at the versions to compare with, one after the other: the newest known, and the manual against the
/// release.
fn others(lint: &Lint<'_>, own: &Resolution) -> impl Iterator<Item = Resolution> {
    client(own.client)
        .into_iter()
        .flat_map(|client| versions(client, own).into_iter().map(|version| client.resolve(lint.scene, version)))
}

fn versions(client: &Client, own: &Resolution) -> Vec<Version> {
    let is_manual = |version: &Version| matches!(version, Version::Manual(..));
    let counterpart = client.recorded.iter().find(|version| is_manual(version) != is_manual(&own.version));
    let has_manual = client.recorded.iter().any(is_manual);
    let mut versions = vec![client.newest()];
    versions.extend(counterpart.filter(|_| has_manual));
    // Between two versions without a change nothing differs.
    let history = (client.history)();
    let changed = |a: Version, b: Version| history.iter().any(|row| a.min(b) < row.since && row.since <= a.max(b));
    versions.retain(|version| changed(*version, own.version));
    versions.dedup();
    versions
}

/// What becomes of a file, as far as it matters here.
struct Fate<'a> {
    word: &'static str,
    evidence: &'a [&'static str],
}

/// The fate of every file of a resolution; the best one where it has several.
fn fates(resolution: &Resolution) -> HashMap<&Path, Fate<'_>> {
    let mut fates: HashMap<&Path, Fate<'_>> = HashMap::new();
    for source in &resolution.sources {
        let Some(path) = source.path().filter(|_| source.inline.is_none()) else { continue };
        let fate = Fate { word: word(source), evidence: &source.evidence };
        let known = fates.get(path).map(|known| known.word);
        if known.is_none_or(|known| rank(fate.word) < rank(known)) {
            fates.insert(path, fate);
        }
    }
    fates
}

fn word(source: &Source) -> &'static str {
    match (&source.outcome, &source.phase) {
        (Outcome::Loaded, _) if source.cut.is_some() => "loads a part of it at startup",
        (Outcome::Loaded, Phase::Startup) => "loads it at startup",
        (Outcome::Loaded, Phase::Lazy(_)) => "loads it later",
        _ => "does not load it",
    }
}

fn rank(word: &str) -> usize {
    ["loads it at startup", "loads a part of it at startup", "loads it later", "does not load it"]
        .iter()
        .position(|known| *known == word)
        .unwrap_or(usize::MAX)
}
