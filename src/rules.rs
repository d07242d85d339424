//! Stage 3: the rules judge the resolutions.
//!
//! A rule is one file, and its page beside it. It knows the resolutions and the files, never a client's internals.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::clients::Scene;
use crate::config::Config;
use crate::diagnostic::{Diagnostic, For, Level};
use crate::resolution::{Resolution, Source};
use crate::suppress;
use crate::text::Place;

mod unsupported_name;
mod unused_suppression;

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
pub static RULES: &[&Rule] = &[&unsupported_name::RULE, &unused_suppression::RULE];

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
    found.sort_by(|a, b| order(a).cmp(&order(b)));
    found
}

fn order(diagnostic: &Diagnostic) -> (&Place, &str, &str) {
    (&diagnostic.place, diagnostic.rule, &diagnostic.message)
}

/// The findings of all starts, each once, at the levels of the configuration, without those that were accepted.
pub fn findings(rules: &[&Rule], starts: &[Lint<'_>], config: &Config) -> Vec<Diagnostic> {
    let Some(first) = starts.first() else { return Vec::new() };
    let mut all: Vec<Diagnostic> = Vec::new();
    for start in starts {
        all.extend(lint(rules, start));
    }
    all.sort_by(|a, b| order(a).cmp(&order(b)));
    all.dedup_by(|next, kept| {
        let same = order(next) == order(kept);
        if same {
            kept.clients.append(&mut next.clients);
            kept.clients.sort();
            kept.clients.dedup();
        }
        same
    });
    all.retain_mut(|diagnostic| match config.level(diagnostic.rule, diagnostic.level) {
        Some(level) => {
            diagnostic.level = level;
            true
        }
        None => false,
    });
    let paths = read_files(&all, starts, first.scene);
    let applied = suppress::apply(all, paths.iter().map(PathBuf::as_path), config, first.scene);
    let mut found = applied.remaining;
    if let Some(level) = config.level(unused_suppression::RULE.name, unused_suppression::RULE.level) {
        let comments = applied.comments.iter().filter_map(unused_suppression::comment);
        let entries = applied.idle.iter().filter_map(|entry| unused_suppression::entry(entry, config, first.scene));
        found.extend(comments.chain(entries).map(|diagnostic| Diagnostic { level, ..diagnostic }));
        found.sort_by(|a, b| order(a).cmp(&order(b)));
    }
    found
}

/// The files that may hold a suppressing comment: every source that exists, instruction file, and place of a finding.
fn read_files(found: &[Diagnostic], starts: &[Lint<'_>], scene: &Scene<'_>) -> BTreeSet<PathBuf> {
    let sources = starts.iter().flat_map(|start| start.resolutions).flat_map(|resolution| &resolution.sources);
    let opened = sources.filter(|source| source.real.is_some()).filter_map(Source::path).map(Path::to_path_buf);
    let places = found.iter().map(|diagnostic| diagnostic.place.path.clone());
    opened
        .chain(scene.project.instructions.iter().cloned())
        .chain(places)
        .filter(|path| scene.files.is_file(path))
        .collect()
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
            fingerprint: None,
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
