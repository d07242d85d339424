use std::cell::OnceCell;
use std::path::Path;

use super::imports::{Importers, hops, importers, left_out_of};
use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::resolution::{Resolution, Skip};
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
    let known = OnceCell::new();
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
            let importers = known.get_or_init(|| importers(resolution));
            let way = way(lint, importers, &import.at.path, import.source.real.as_deref());
            way.into_iter().fold(found, |found, place| found.also(place, "the way leads over this import")).help(help)
        })
        .collect()
}

/// The imports that lead from the file `top` to the one at `path`, the first one first.
fn way(lint: &Lint<'_>, importers: &Importers<'_>, path: &Path, top: Option<&Path>) -> Vec<Place> {
    let mut way = hops(importers, path, |at| lint.scene.files.real(at).as_deref() == top);
    way.reverse();
    way
}
