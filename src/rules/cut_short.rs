use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, For, Level};

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
    limits
        .map(|(resolution, limit)| {
            let mut found = RULE.at(limit.at.clone(), limit.why.clone());
            found.clients.push(For { client: resolution.client, version: resolution.version, phase: "startup" });
            found.evidence.push(limit.evidence);
            found.help("name the files one by one, start in a repository, let a link lead to less, or write fewer and shorter patterns")
        })
        .collect()
}
