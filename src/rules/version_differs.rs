use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{Lint, Rule, title};
use crate::clients::{Client, Version, client};
use crate::diagnostic::{Diagnostic, For, Level};
use crate::fates::differences;
use crate::resolution::Resolution;
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
        for other in others(lint, own) {
            for (path, (now, then)) in differences(own, &other) {
                if lint.is_foreign(path) {
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

/// The same project at the versions to compare with, one after the other: the newest known, and the manual.
fn others(lint: &Lint<'_>, own: &Resolution) -> impl Iterator<Item = Resolution> {
    client(own.client)
        .into_iter()
        .flat_map(|client| versions(client, own).into_iter().map(|version| client.resolve(lint.scene, version)))
}

fn versions(client: &Client, own: &Resolution) -> Vec<Version> {
    let mut manuals = client.recorded.iter().filter(|version| matches!(version, Version::Manual(..)));
    let mut versions = vec![client.newest()];
    versions.extend(manuals.next_back());
    // Between two versions without a change nothing differs.
    let history = (client.history)();
    let changed = |a: Version, b: Version| history.iter().any(|row| a.min(b) < row.since && row.since <= a.max(b));
    versions.retain(|version| changed(*version, own.version));
    versions.dedup();
    versions
}
