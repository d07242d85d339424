use std::collections::BTreeSet;
use std::path::Path;

use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::resolution::{Phase, Resolution, Source, Trigger, Via};

pub(super) static RULE: Rule = Rule {
    name: "conditional-import-at-launch",
    level: Level::Note,
    summary: "an import of a conditional rule, which is loaded whatever its `paths`",
    page: include_str!("conditional_import_at_launch.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    lint.resolutions.iter().flat_map(|resolution| imports(lint, resolution)).collect()
}

fn imports(lint: &Lint<'_>, resolution: &Resolution) -> Vec<Diagnostic> {
    let is_conditional =
        |source: &&Source| source.via == Via::Rule && matches!(source.phase, Phase::Lazy(Trigger::Patterns { .. }));
    let rules: BTreeSet<&Path> = resolution.sources.iter().filter(is_conditional).filter_map(Source::path).collect();
    let imported = resolution.sources.iter().filter(|source| source.via == Via::Import && source.is_loaded());
    imported
        .filter_map(|source| {
            let from = source.from.as_ref().filter(|from| rules.contains(from.path.as_path()))?;
            let name = lint.name(source.path()?);
            let when = match &source.phase {
                Phase::Startup => "at the start".to_string(),
                Phase::Lazy(Trigger::Under(dir)) => format!("with the first read below `{}`", lint.name(dir)),
                Phase::Lazy(Trigger::Patterns { .. }) => return None,
            };
            if lint.is_foreign(&from.path) {
                return None;
            }
            let message = format!("`{name}` is loaded {when}, whatever the `paths` of this rule");
            let found = RULE.at(from.clone(), message).for_sources([(resolution, source)]);
            Some(found.help("put its text into the rule, or make it a rule with the same `paths`"))
        })
        .collect()
}
