use super::{Lint, Rule, title};
use crate::diagnostic::{Diagnostic, For, Level};
use crate::resolution::{Refusal, Resolution};

pub(super) static RULE: Rule = Rule {
    name: "config-invalid",
    level: Level::Error,
    summary: "a configuration with which a client refuses to start, or which it passes over",
    page: include_str!("config_invalid.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    let refused = lint.resolutions.iter().flat_map(|resolution| {
        resolution.refusal.iter().map(move |refusal| finding(resolution, refusal, "does not start"))
    });
    let ignored = lint.resolutions.iter().flat_map(|resolution| {
        resolution.ignored_config.iter().map(move |refusal| finding(resolution, refusal, "passes this over"))
    });
    refused.chain(ignored).collect()
}

fn finding(resolution: &Resolution, refusal: &Refusal, what: &str) -> Diagnostic {
    let mut found = RULE.at(refusal.at.clone(), format!("{} {what}: {}", title(resolution), refusal.why));
    found.clients.push(For { client: resolution.client, version: resolution.version, phase: "startup" });
    found.evidence.push(refusal.evidence);
    found.help("mend the configuration")
}
