use super::import_cycle::hops;
use super::imports::{left_out, loaded};
use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::resolution::Skip;

pub(super) static RULE: Rule = Rule {
    name: "import-too-deep",
    level: Level::Warning,
    summary: "an import that is more hops away than the client follows",
    page: include_str!("import_too_deep.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    left_out(lint)
        .filter(|import| import.why == Skip::TooDeep)
        .filter(|import| !import.source.real.as_deref().is_some_and(|real| loaded(import.resolution).contains(real)))
        .map(|import| {
            let hops = hops(import.resolution, &import.at.path, |_| false);
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
