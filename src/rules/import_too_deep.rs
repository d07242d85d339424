use super::imports::{hops, importers, left_out_of, loaded};
use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::resolution::{Resolution, Skip};

pub(super) static RULE: Rule = Rule {
    name: "import-too-deep",
    level: Level::Warning,
    summary: "an import that is more hops away than the client follows",
    page: include_str!("import_too_deep.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    lint.resolutions.iter().flat_map(|resolution| too_deep(lint, resolution)).collect()
}

fn too_deep(lint: &Lint<'_>, resolution: &Resolution) -> Vec<Diagnostic> {
    let mut imports = left_out_of(*lint, resolution).filter(|import| import.why == Skip::TooDeep).peekable();
    if imports.peek().is_none() {
        return Vec::new();
    }
    let (loaded, importers) = (loaded(resolution), importers(resolution));
    imports
        .filter(|import| !import.source.real.as_deref().is_some_and(|real| loaded.contains(real)))
        .map(|import| {
            let hops = hops(&importers, &import.at.path, |_| false);
            let message = format!(
                "`{}` is {} imports away from where the client starts, so it is not loaded",
                lint.name(import.target),
                hops.len() + 1
            );
            let found = RULE.at(import.at.clone(), message).for_sources([(import.resolution, import.source)]);
            let named = hops.into_iter().rev().enumerate();
            let found = named.fold(found, |found, (at, place)| found.also(place, format!("hop {}", at + 1)));
            found.help("import it in a file that is nearer to the start")
        })
        .collect()
}
