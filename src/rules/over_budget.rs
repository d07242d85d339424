use std::path::Path;

use super::{Lint, Rule, title};
use crate::diagnostic::{Diagnostic, Level};
use crate::resolution::Skip;
use crate::text::{Place, lossy};

pub(super) static RULE: Rule = Rule {
    name: "over-budget",
    level: Level::Warning,
    summary: "a file that is cut or dropped because the byte budget is spent",
    page: include_str!("over_budget.md"),
    check,
};

const HELP: &str = "shorten the files, or raise `project_doc_max_bytes` in Codex's configuration";

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    for (resolution, source) in lint.sources() {
        if let (Some(path), Some(cut), Some(bytes)) = (source.path(), &source.cut, source.bytes)
            && !lint.is_foreign(path)
            && !is_blank_from(lint, path, cut.end)
        {
            let place = Place::at(path, cut.end..cut.end);
            let message = format!("{} stops reading here, after {} of {bytes} bytes", title(resolution), cut.len());
            found.push(RULE.at(place, message).for_sources([(resolution, source)]).help(HELP));
        }
    }
    for (resolution, source, path) in lint.skipped(Skip::OverBudget) {
        let bytes = source.bytes.map_or(String::new(), |bytes| format!(" of its {bytes} bytes"));
        let message = format!("{} reads none{bytes}: the files before it spend the budget", title(resolution));
        found.push(RULE.at(Place::whole(path), message).for_sources([(resolution, source)]).help(HELP));
    }
    found
}

/// Whether nothing but white space is cut off.
fn is_blank_from(lint: &Lint<'_>, path: &Path, end: usize) -> bool {
    let bytes = lint.scene.files.read(path);
    bytes.is_ok_and(|bytes| bytes.get(end..).is_some_and(|rest| lossy(rest).trim().is_empty()))
}
