use std::collections::BTreeMap;
use std::path::Path;

use super::{Lint, Rule};
use crate::clients::Version;
use crate::diagnostic::{Diagnostic, Level};
use crate::resolution::{Outcome, Skip, Via};
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "empty-source",
    level: Level::Warning,
    summary: "an empty instruction file, which contributes nothing and may keep another from being read",
    page: include_str!("empty_source.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    let kept_out = kept_out(lint);
    lint.skipped(Skip::Empty)
        .filter(|(_, source, _)| source.via != Via::Import)
        .map(|(resolution, source, path)| {
            let of_client = kept_out.get(&(resolution.client, resolution.version, path));
            let kept = of_client.map_or(&[] as &[&Path], Vec::as_slice);
            let names: Vec<String> = kept.iter().map(|path| format!("`{}`", lint.name(path))).collect();
            let message = match names.as_slice() {
                [] => "the file is empty, so nothing of it is loaded".to_string(),
                names => format!("the file is empty, and keeps {} from being read", names.join(" and ")),
            };
            let found = RULE.at(Place::whole(path), message).for_sources([(resolution, source)]);
            let found = kept.iter().fold(found, |found, path| found.also(Place::whole(*path), "this file is not read"));
            found.help("write something into it, or take it away")
        })
        .collect()
}

/// The files that lose to another one, by the client and the winner.
fn kept_out<'a>(lint: &Lint<'a>) -> BTreeMap<(&'a str, Version, &'a Path), Vec<&'a Path>> {
    let mut kept = BTreeMap::<_, Vec<&Path>>::new();
    for (resolution, source) in lint.sources() {
        if let (Outcome::Shadowed { by }, Some(path)) = (&source.outcome, source.path()) {
            kept.entry((resolution.client, resolution.version, by.as_path())).or_default().push(path);
        }
    }
    kept
}
