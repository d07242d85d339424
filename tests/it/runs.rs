//! The recorded runs of the released clients, replayed in memory: what the real client loaded, this one loads.
//!
//! A run with a `known_difference` says why it is not met; one that is met all the same is an error.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rulecheck::clients::{CLIENTS, Client, Scene, Session, Version};
use rulecheck::discover::discover;
use rulecheck::files::{Files, absolute};
use rulecheck::resolution::Resolution;
use serde_json::Value;

use crate::layout::{Layout, markers, strings};

/// The recorded layouts of every client and version.
#[test]
fn recorded_layouts() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (client, version, path) in recordings() {
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            let observed = match case.get("known_difference") {
                Some(why) if replay(client, version, &case) == expected(&case) => format!("is met now: {why}"),
                Some(_) => continue,
                None => difference(&expected(&case), &replay(client, version, &case)),
            };
            count += 1;
            if !observed.is_empty() {
                wrong.push(format!("{}@{version} {}: {observed}", client.name, case["id"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} runs differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 0);
}

/// Every `evidence/<client>/runs/<version>.jsonl`.
pub(crate) fn recordings() -> Vec<(&'static Client, Version, PathBuf)> {
    let evidence = Path::new(env!("CARGO_MANIFEST_DIR")).join("evidence");
    let mut found = Vec::new();
    for client in CLIENTS {
        for entry in std::fs::read_dir(evidence.join(client.name).join("runs")).into_iter().flatten() {
            let path = entry.unwrap().path();
            let file = path.file_name().unwrap().to_str().unwrap();
            if let Some(version) = file.strip_suffix(".jsonl").and_then(|version| version.parse().ok()) {
                found.push((*client, version, path));
            }
        }
    }
    found.sort_by(|a, b| a.2.cmp(&b.2));
    found
}

/// What was seen, or that the client did not start.
#[derive(Debug, PartialEq)]
pub(crate) struct Seen {
    refuses: bool,
    /// The start, then each read; a step is groups of markers whose order among themselves is open.
    pub(crate) steps: Vec<Vec<Vec<String>>>,
}

pub(crate) fn expected(case: &Value) -> Seen {
    let observed = &case["observed"];
    let step = |list: &Value| strings(list).into_iter().map(|marker| vec![marker]).collect::<Vec<_>>();
    let mut steps = vec![step(&observed["startup"])];
    steps.extend(observed["lazy"].as_array().into_iter().flatten().map(step));
    while steps.len() > 1 && steps.last().is_some_and(Vec::is_empty) {
        steps.pop();
    }
    Seen { refuses: observed["refuses_to_start"] == true, steps }
}

/// What this program says, with the markers of the texts that would be loaded.
pub(crate) fn replay(client: &'static Client, version: Version, case: &Value) -> Seen {
    let layout = Layout::new(case, Path::new("/base"));
    let files = layout.memory();
    let resolution = resolve(&layout, &files, client, version);
    if resolution.refusal.is_some() {
        return Seen { refuses: true, steps: vec![Vec::new()] };
    }
    let remote: BTreeMap<String, String> = case["remote"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(path, text)| {
            (format!("http://127.0.0.1:1{}", path.trim_end_matches('/')), text.as_str().unwrap().to_string())
        })
        .collect();
    let mut seen: Vec<String> = Vec::new();
    let mut steps = Vec::new();
    for step in 0..=layout.reads.len() {
        let mut groups: Vec<Vec<String>> = Vec::new();
        let mut open = false;
        for source in resolution.sources.iter().filter(|source| source.is_loaded()) {
            let now = if step == 0 { source.at_startup() } else { source.activated_by == Some(step - 1) };
            if !now {
                continue;
            }
            let text = match &source.location {
                rulecheck::resolution::Location::Url(url) => remote.get(fetched(url)).cloned().unwrap_or_default(),
                _ => client.text(&files, version, source).unwrap_or_default(),
            };
            let new: Vec<String> = markers(&text).into_iter().filter(|marker| !seen.contains(marker)).collect();
            seen.extend(new.iter().cloned());
            if source.order_unspecified && open {
                groups.last_mut().unwrap().extend(new);
            } else if source.order_unspecified {
                groups.push(new);
            } else {
                groups.extend(new.into_iter().map(|marker| vec![marker]));
            }
            open = source.order_unspecified;
        }
        groups.retain(|group| !group.is_empty());
        steps.push(groups);
    }
    while steps.len() > 1 && steps.last().is_some_and(Vec::is_empty) {
        steps.pop();
    }
    Seen { refuses: false, steps }
}

/// What a client asks a server for when it is told to fetch `url`.
fn fetched(url: &str) -> &str {
    url.split('#').next().unwrap_or_default().trim_end().trim_end_matches('/')
}

fn resolve(layout: &Layout, files: &dyn Files, client: &'static Client, version: Version) -> Resolution {
    let cwd = files.real(&layout.cwd).unwrap();
    let mut session = Session::new(&cwd);
    session.env.insert("HOME".into(), layout.home.to_string_lossy().into_owned());
    for (name, value) in &layout.env {
        match value {
            Some(value) => session.env.insert(name.clone(), value.clone()),
            None => session.env.remove(name),
        };
    }
    session.home = session.var("HOME").map(|home| absolute(&cwd, Path::new(home)));
    session.args.insert(client.name.into(), layout.args.clone());
    session.reads = layout.reads.clone();
    let project = discover(files, &layout.project, &cwd);
    client.resolve(&Scene { files, session: &session, project: &project }, version)
}

/// Where `got` is not `want`; empty when they agree.
pub(crate) fn difference(want: &Seen, got: &Seen) -> String {
    let flat: Vec<Vec<&String>> = want.steps.iter().map(|step| step.iter().flatten().collect()).collect();
    let agree = want.refuses == got.refuses
        && flat.len() == got.steps.len()
        && flat.iter().zip(&got.steps).all(|(want, got)| {
            let mut rest = want.as_slice();
            got.iter().all(|group| {
                if rest.len() < group.len() {
                    return false;
                }
                let (head, tail) = rest.split_at(group.len());
                rest = tail;
                let (mut head, mut group): (Vec<_>, Vec<_>) = (head.to_vec(), group.iter().collect());
                head.sort();
                group.sort();
                head == group
            }) && rest.is_empty()
        });
    if agree { String::new() } else { format!("\n  want {want:?}\n  got  {got:?}") }
}
