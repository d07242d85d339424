use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "secret",
    level: Level::Error,
    summary: "a secret value in text that goes into every prompt",
    page: include_str!("secret.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    let sources = lint
        .sources()
        .flat_map(|(resolution, source)| lint.secrets.of(source).iter().map(move |found| (resolution, source, found)));
    sources
        .map(|(resolution, source, found)| {
            let detector = found.secret.detector;
            let place = found.place.clone().unwrap_or_else(|| Place::whole(&lint.scene.project.root));
            let help = format!(
                "take it out and revoke it; {}, or name it by its environment variable, `{}`",
                detector.advice, detector.instead
            );
            let message = format!("{} in text that goes into every prompt", detector.title);
            let mut secret = RULE.at(place, message).for_sources([(resolution, source)]).help(help);
            secret.fingerprint = Some(found.fingerprint.clone());
            secret
        })
        .collect()
}
