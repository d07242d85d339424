//! When a client's answer to one case changed: a binary search over the versions at hand.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rulecheck::clients::{Client, Version};
use serde_json::{Value, json};

use crate::observe::{answers, observe};
use crate::recorded::recorded;
use crate::runs::expected;

/// Finds the first version between `good` and `bad` whose answer is not that of `good`.
pub(crate) fn bisect(client: &Client, id: &str, good: Version, bad: Version, binaries: &Path) -> Result<bool, String> {
    if good >= bad {
        return Err(format!("--good {good} is not before --bad {bad}"));
    }
    let all = recorded(client)?;
    let case = all
        .iter()
        .rev()
        .flat_map(|rows| &rows.rows)
        .find(|row| row["id"] == id)
        .ok_or_else(|| format!("no case of {} is called {id}", client.name))?;
    if case.get("etc").is_some() {
        return Err(format!("{id} needs a machine of its own with files in /etc"));
    }
    let found = find(client.name, binaries)?;
    let names: Vec<String> = found.keys().map(Version::to_string).collect();
    println!("{} in {}: {}", client.name, binaries.display(), names.join(", "));
    if let Some(missing) = [good, bad].into_iter().find(|version| !found.contains_key(version)) {
        return Err(format!("there is no {} {missing} in {}", client.name, binaries.display()));
    }
    let versions: Vec<(&Version, &PathBuf)> = found.range(good..=bad).collect();
    let ask = |at: usize| {
        let (version, binary) = versions[at];
        let seen = answers(client.name, binary)
            .and_then(|()| observe(client.name, binary, case))
            .map_err(|why| format!("{version}: no answer: {why}"))?;
        println!("{version} {seen}");
        Ok::<Value, String>(seen)
    };
    let same = |a: &Value, b: &Value| expected(&json!({ "observed": a })) == expected(&json!({ "observed": b }));

    let (mut old, mut new) = (0, versions.len() - 1);
    let before = ask(old)?;
    let after = ask(new)?;
    if same(&before, &after) {
        return Err(format!("{good} and {bad} answer alike"));
    }
    let mut answer = after;
    while new - old > 1 {
        let middle = old + (new - old) / 2;
        let seen = ask(middle)?;
        if same(&seen, &before) {
            old = middle;
        } else {
            (new, answer) = (middle, seen);
        }
    }
    println!(
        "{} is the last with the old answer, {} the first with a new one: {answer}",
        versions[old].0, versions[new].0
    );
    Ok(true)
}

/// The binaries of the client called `name` in `dir`, by version: an entry with a version in its name is the program, or a
/// directory that holds it, as an unpacked npm package does.
fn find(name: &str, dir: &Path) -> Result<BTreeMap<Version, PathBuf>, String> {
    let entries = std::fs::read_dir(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let mut found = BTreeMap::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let entry = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let version = entry.split('-').find_map(|part| match part.parse() {
            Ok(version @ Version::Release(..)) => Some(version),
            _ => None,
        });
        let program = if path.is_dir() {
            let files = walkdir::WalkDir::new(&path).sort_by_file_name().into_iter().flatten();
            files
                .map(walkdir::DirEntry::into_path)
                .find(|path| path.file_name().is_some_and(|file| file == name) && runs(path))
        } else {
            Some(path).filter(|path| entry.contains(name) && runs(path))
        };
        if let (Some(version), Some(program)) = (version, program) {
            found.insert(version, program);
        }
    }
    Ok(found)
}

fn runs(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
