//! A suppression that hid nothing. Only [`crate::suppress`] knows which those are, so this rule finds nothing by itself.

use super::{RULES, Rule};
use crate::clients::Scene;
use crate::config::{Config, Entry, nearest};
use crate::diagnostic::{Diagnostic, Level};
use crate::suppress::Comment;
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "unused-suppression",
    level: Level::Warning,
    summary: "a suppression that hid nothing, gives no reason, or names no rule",
    page: include_str!("unused_suppression.md"),
    check: |_| Vec::new(),
};

/// The finding for a comment, if there is one.
pub(super) fn comment(comment: &Comment) -> Option<Diagnostic> {
    let known: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
    let at = |message: String| RULE.at(comment.place.clone(), message);
    if let Some(name) = comment.rules.iter().find(|name| !known.contains(&name.as_str())) {
        // Only what is close to a rule's name is repeated: a key may have slipped into the bracket.
        return Some(match nearest(name, &known) {
            Some(near) => at(format!("there is no rule `{name}`")).help(format!("did you mean `{near}`?")),
            None => at("this names no rule".into()).help("`rulecheck explain` lists the rules"),
        });
    }
    if comment.rules.iter().any(|name| name == "secret") {
        return Some(
            at("a secret cannot be suppressed by a comment".into())
                .help("take it out, or accept its fingerprint in `rulecheck.yaml`"),
        );
    }
    if comment.reason.is_empty() {
        return Some(
            at("the suppression gives no reason, so it hides nothing".into())
                .help("write the reason behind the bracket"),
        );
    }
    (comment.hid == 0)
        .then(|| at(format!("the suppression of {} hides nothing", comment.rules.join(", "))).help("take it out"))
}

/// The finding for an entry of the configuration that hid nothing.
pub(super) fn entry(entry: &Entry, config: &Config, scene: &Scene<'_>) -> Option<Diagnostic> {
    let config = config.path.as_ref()?;
    let content = scene.files.read(config).ok()?;
    let start = content.lines().start(entry.line)?;
    let line = content.text()[start..].lines().next().unwrap_or_default();
    let indent = line.len() - line.trim_start().len();
    let place = Place::at(config, start + indent..start + line.len());
    Some(RULE.at(place, format!("this suppression of {} hides nothing", entry.rules.join(", "))).help("take it out"))
}
