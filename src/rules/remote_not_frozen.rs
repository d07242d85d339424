use std::collections::BTreeMap;

use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::frozen::{Record, records};
use crate::resolution::Location;
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "remote-not-frozen",
    level: Level::Warning,
    summary: "an address whose text is fetched live into the prompt",
    page: include_str!("remote_not_frozen.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    let records = records(lint.scene.files, &lint.scene.project.root).unwrap_or_default();
    let known: BTreeMap<&str, &Record> = records.iter().rev().map(|record| (record.url.as_str(), record)).collect();
    let remote = lint.sources().filter_map(|(resolution, source)| match &source.location {
        Location::Url(url) => Some((resolution, source, url)),
        _ => None,
    });
    remote
        .map(|(resolution, source, url)| {
            let place = source.from.clone().unwrap_or_else(|| Place::whole(&lint.scene.project.root));
            let found = match known.get(url.as_str()) {
                Some(record) => RULE
                    .at(place, format!("`{url}` is frozen, but the client still fetches it live"))
                    .also(Place::whole(record.path(&lint.scene.project.root)), "the frozen copy")
                    .help(format!("name `{}` in the configuration instead", record.file)),
                None => RULE
                    .at(
                        place,
                        format!(
                            "`{url}` is fetched live at each start, so anybody who can change it can change the prompt"
                        ),
                    )
                    .help(format!("fetch and read it, then `rulecheck freeze {url} --from FILE`")),
            };
            found.for_sources([(resolution, source)])
        })
        .collect()
}
