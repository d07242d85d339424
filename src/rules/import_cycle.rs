use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;

use super::imports::left_out_of;
use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::resolution::{Resolution, Skip, Via};
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "import-cycle",
    level: Level::Warning,
    summary: "an import that leads back to a file on the way to it",
    page: include_str!("import_cycle.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    lint.resolutions.iter().flat_map(|resolution| cycles(lint, resolution)).collect()
}

fn cycles(lint: &Lint<'_>, resolution: &Resolution) -> Vec<Diagnostic> {
    let importers = OnceCell::new();
    left_out_of(*lint, resolution)
        .filter(|import| import.why == Skip::Cycle)
        .map(|import| {
            let files = lint.scene.files;
            let (from, to) = (files.real(&import.at.path), import.source.real.clone());
            let help = "take one of the imports of the circle away";
            if from == to {
                let message = if from.as_deref() == Some(&import.at.path) {
                    "the file imports itself".into()
                } else {
                    format!("the file imports itself: it is a link to `{}`", lint.name(import.target))
                };
                let found = RULE.at(import.at.clone(), message).for_sources([(import.resolution, import.source)]);
                return found.help("take the import away: the text is there already");
            }
            let message = format!("this import leads back to `{}`, which is loaded already", lint.name(import.target));
            let found = RULE.at(import.at.clone(), message).for_sources([(import.resolution, import.source)]);
            let importers = importers.get_or_init(|| self::importers(resolution));
            let way = way(lint, importers, &import.at.path, import.source.real.as_deref());
            way.into_iter().fold(found, |found, place| found.also(place, "the way leads over this import")).help(help)
        })
        .collect()
}

/// By which import the client came to each imported file.
type Importers<'a> = BTreeMap<&'a Path, &'a Place>;

pub(super) fn importers(resolution: &Resolution) -> Importers<'_> {
    let imported = resolution.sources.iter().filter(|source| source.via == Via::Import && source.is_loaded());
    // The first one counts, and the last one that is put in stays.
    imported.rev().filter_map(|source| Some((source.path()?, source.from.as_ref()?))).collect()
}

/// The imports that lead from the file `top` to the one at `path`, the first one first.
fn way(lint: &Lint<'_>, importers: &Importers<'_>, path: &Path, top: Option<&Path>) -> Vec<Place> {
    let mut way = hops(importers, path, |at| lint.scene.files.real(at).as_deref() == top);
    way.reverse();
    way
}

/// The imports by which the client came to the file at `path`, the last one first, up to the file that is the `top`.
pub(super) fn hops(importers: &Importers<'_>, path: &Path, top: impl Fn(&Path) -> bool) -> Vec<Place> {
    let mut hops: Vec<Place> = Vec::new();
    let mut at = path;
    while hops.len() < 8 && !top(at) {
        let Some(from) = importers.get(at) else { break };
        hops.push(Place::clone(from));
        at = &from.path;
    }
    hops
}
