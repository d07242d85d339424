//! Stage 3: the rules judge the resolutions.
//!
//! A rule is one file, and its page beside it. It knows the resolutions and the files, never a client's internals.

use crate::clients::Scene;
use crate::diagnostic::{Diagnostic, For, Level};
use crate::resolution::{Resolution, Source};
use crate::text::Place;

mod unsupported_name;

/// One rule.
pub struct Rule {
    /// Its name: the thing that it finds.
    pub name: &'static str,
    /// How bad a finding is unless the configuration says otherwise.
    pub level: Level,
    /// What it finds, one line without a full stop.
    pub summary: &'static str,
    /// Its page, Markdown.
    pub page: &'static str,
    /// Finds it.
    pub check: fn(&Lint<'_>) -> Vec<Diagnostic>,
}

/// All rules, sorted by name.
pub static RULES: &[&Rule] = &[&unsupported_name::RULE];

/// What a rule may look at.
pub struct Lint<'a> {
    /// The files, the session and the project.
    pub scene: &'a Scene<'a>,
    /// One resolution a selected client.
    pub resolutions: &'a [Resolution],
}

/// The findings of `rules`, sorted by place, then by rule.
pub fn lint(rules: &[&Rule], lint: &Lint<'_>) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = rules.iter().flat_map(|rule| (rule.check)(lint)).collect();
    found.sort_by(|a, b| (&a.place, a.rule, &a.message).cmp(&(&b.place, b.rule, &b.message)));
    found
}

impl Rule {
    /// A finding of this rule, with nothing in it but the place and the message.
    fn at(&self, place: Place, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            rule: self.name,
            level: self.level,
            message: message.into(),
            place,
            related: Vec::new(),
            help: None,
            clients: Vec::new(),
            evidence: Vec::new(),
        }
    }
}

impl Diagnostic {
    /// The same finding, with what to do.
    #[must_use]
    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same finding, for these sources of these clients, on the evidence of the sources.
    #[must_use]
    fn for_sources<'a>(mut self, sources: impl IntoIterator<Item = (&'a Resolution, &'a Source)>) -> Self {
        for (resolution, source) in sources {
            let phase = if source.at_startup() { "startup" } else { "lazy" };
            self.clients.push(For { client: resolution.client, version: resolution.version, phase });
            self.evidence.extend(&source.evidence);
        }
        self.clients.dedup();
        self.evidence.sort_unstable();
        self.evidence.dedup();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_sorted_and_named_like_their_pages() {
        assert!(RULES.is_sorted_by_key(|rule| rule.name));
        for rule in RULES {
            assert!(rule.page.starts_with(&format!("# {}\n", rule.name)), "{}", rule.name);
        }
    }
}
