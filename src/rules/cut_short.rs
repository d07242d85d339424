use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, For, Level};
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "cut-short",
    level: Level::Note,
    summary: "a search that ended at a limit of rulecheck, so that something may be missing",
    page: include_str!("cut_short.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    let limits = lint
        .resolutions
        .iter()
        .flat_map(|resolution| resolution.cut_short.iter().map(move |limit| (resolution, limit)));
    let closed = lint.scene.project.closed.iter().filter(|dir| !lint.is_foreign(dir)).map(|dir| {
        RULE.at(Place::whole(dir), "this directory cannot be listed, so what lies below it is not known")
            .help("let whoever runs rulecheck list it")
    });
    limits
        .map(|(resolution, limit)| {
            let mut found = RULE.at(limit.at.clone(), limit.why.clone());
            found.clients.push(For { client: resolution.client, version: resolution.version, phase: "startup" });
            found.evidence.push(limit.evidence);
            found.help(
                "name the files one by one, start in a repository, let a link lead to less, or write fewer and shorter \
                 patterns",
            )
        })
        .chain(closed)
        .collect()
}
