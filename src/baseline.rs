//! `rulecheck-baseline.json`: the findings that an old project starts with, by fingerprints that outlive moved lines.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::files::{Files, Unreadable};

/// The name of the file, at the root of the project.
pub const FILE: &str = "rulecheck-baseline.json";

/// The rules that are not taken into a baseline unless that is asked for: what they find is not to be lived with.
pub const NEVER_ALONE: &[&str] = &["secret", "unsupported-name"];

/// The findings that are known.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The form of this file.
    pub schema: String,
    /// The findings.
    pub findings: Vec<Known>,
}

/// One known finding.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// Its rule.
    pub rule: String,
    /// Its file, for people.
    pub path: String,
    /// What tells it from others.
    pub fingerprint: String,
    /// How many there are.
    pub count: usize,
}

impl Baseline {
    /// The baseline of the project at `root`; `None` when there is none.
    ///
    /// # Errors
    /// Says what is wrong with the file.
    pub fn read(files: &dyn Files, root: &Path) -> Result<Option<Self>, String> {
        match files.read(&root.join(FILE)) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| error.to_string()),
            Err(Unreadable::Missing) => Ok(None),
            Err(why) => Err(why.to_string()),
        }
    }

    /// A baseline of `findings`, each with its fingerprint and the name of its file.
    pub fn of<'a>(findings: impl Iterator<Item = (&'a Diagnostic, String, String)>, all: bool) -> Self {
        let mut known: BTreeMap<(String, String, String), usize> = BTreeMap::new();
        for (diagnostic, fingerprint, path) in findings {
            if all || !NEVER_ALONE.contains(&diagnostic.rule) {
                *known.entry((path, diagnostic.rule.to_string(), fingerprint)).or_default() += 1;
            }
        }
        let known =
            known.into_iter().map(|((path, rule, fingerprint), count)| Known { rule, path, fingerprint, count });
        Self { schema: "rulecheck.baseline/1".into(), findings: known.collect() }
    }

    /// Whether a finding is known; each entry hides as many as it counts.
    pub fn hides(&mut self, rule: &str, fingerprint: &str) -> bool {
        let fits = |known: &&mut Known| known.count > 0 && known.rule == rule && known.fingerprint == fingerprint;
        self.findings.iter_mut().find(fits).map(|known| known.count -= 1).is_some()
    }

    /// The entries that are left over when every finding was asked for: they are mended.
    pub fn left_over(&self) -> impl Iterator<Item = &Known> {
        self.findings.iter().filter(|known| known.count > 0)
    }

    /// The file's text.
    pub fn to_text(&self) -> String {
        format!("{}\n", serde_json::to_string_pretty(self).unwrap_or_default())
    }
}
