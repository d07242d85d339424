//! What the entries of `instructions` load.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::config::{Config, Entry};
use super::file;
use super::setting::Setting;
use super::walk::{MAX_DIRECTORIES, MAX_NAMES, Pattern, Walker};
use crate::clients::Scene;
use crate::files::{Entry as Node, absolute};
use crate::glob::shell::braces::{MAX_BRANCHES, MAX_LENGTH};
use crate::resolution::{Location, Refusal, Resolution, Scope, Skip, Source, Via};
use crate::text::Place;

/// The entries in order, files before addresses. `seen` holds the paths that are loaded already.
pub(super) fn resolve(
    scene: &Scene<'_>,
    setting: &Setting,
    config: &Config,
    seen: &mut BTreeSet<PathBuf>,
    resolution: &mut Resolution,
) {
    let walker = Walker::new(scene);
    let mut addresses = Vec::new();
    for entry in &config.instructions {
        if is_address(&entry.text) {
            addresses.push(address(entry));
        } else {
            let sources = Search { scene, setting, walker: &walker }.entry(entry, seen, resolution);
            resolution.sources.extend(sources);
        }
    }
    resolution.sources.extend(addresses);
    for entry in &config.repeated {
        let source = if is_address(&entry.text) {
            address(entry)
        } else {
            let path = as_written(setting, &setting.cwd, &entry.text);
            named(&path, entry, "opencode/run-1.18.7#instructions-each-path-once")
        };
        resolution.sources.push(source.skipped(Skip::Duplicate));
    }
}

/// Whether an entry is an address: the scheme must be in lower case, and at the very start.
fn is_address(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

fn address(entry: &Entry) -> Source {
    let mut source = named(Path::new(""), entry, "opencode/run-1.18.7#instructions-addresses");
    source.location = Location::Url(entry.text.clone());
    source.scope = Scope::Remote;
    source
}

/// A source that `entry` names.
fn named(path: &Path, entry: &Entry, evidence: &'static str) -> Source {
    let mut source = Source::file(path, Scope::Configured, Via::Config, evidence);
    source.evidence.push("opencode/source-1.18.7#configured-additions");
    source.from.clone_from(&entry.from);
    source
}

/// The path of an entry that is not looked up, as it is written.
fn as_written(setting: &Setting, base: &Path, text: &str) -> PathBuf {
    match (&setting.home, text.strip_prefix("~/")) {
        (Some(home), Some(rest)) => home.join(rest),
        _ => base.join(text),
    }
}

struct Search<'a> {
    scene: &'a Scene<'a>,
    setting: &'a Setting,
    walker: &'a Walker<'a>,
}

impl Search<'_> {
    /// The files of one entry: from each directory that it is looked up in, nearest first.
    fn entry(&self, entry: &Entry, seen: &mut BTreeSet<PathBuf>, resolution: &mut Resolution) -> Vec<Source> {
        let (pattern, dirs, evidence) = self.lookup(&entry.text);
        let pattern = Pattern::new(&pattern);
        let spent = self.walker.is_spent();
        let mut sources = Vec::new();
        let mut passed = false;
        for dir in &dirs {
            // Without a repository this would be a search of the whole disk.
            if pattern.is_deep() && self.setting.root.is_none() && self.setting.cwd != *dir && dirs.len() > 1 {
                passed = true;
                continue;
            }
            let found = self.walker.find(&pattern, dir);
            let several = found.len() > 1;
            for path in found {
                let source = file::filled(self.scene.files, named(&path, entry, evidence));
                let mut source = if seen.insert(path) { source } else { source.skipped(Skip::Duplicate) };
                source.order_unspecified = several && source.is_loaded();
                sources.push(source);
            }
        }
        let mut note = |why: String, evidence| {
            let at = entry.from.clone().unwrap_or_else(|| Place::whole(&self.setting.cwd));
            resolution.cut_short.push(Refusal { at, why, evidence });
        };
        if pattern.is_excessive {
            note(
                format!(
                    "this has more than {MAX_LENGTH} bytes, or braces that make more than {MAX_BRANCHES} patterns; nothing was \
                     searched for"
                ),
                "opencode/run-1.18.7#instructions-relative",
            );
        }
        if passed {
            note(
                "there is no git repository, so the client searches the whole disk for this; only the start directory \
                 and what is below it was searched here"
                    .into(),
                "opencode/run-1.18.7#instructions-whole-disk",
            );
        }
        if !spent && self.walker.is_spent() {
            note(
                format!("the search for this ended after {MAX_DIRECTORIES} directories or {MAX_NAMES} names"),
                "opencode/run-1.18.7#instructions-relative",
            );
        }
        if sources.is_empty() {
            sources.push(self.nothing(&pattern, entry, &dirs, evidence));
        }
        sources
    }

    /// The pattern of an entry, and the directories that it is looked up in, nearest first.
    fn lookup(&self, text: &str) -> (String, Vec<PathBuf>, &'static str) {
        let setting = self.setting;
        let home = setting.home.as_ref().zip(text.strip_prefix("~/"));
        let path = home.map_or_else(|| PathBuf::from(text), |(home, rest)| absolute(home, Path::new(rest)));
        if path.is_absolute() {
            // Only the last component is a pattern.
            let text = path.to_string_lossy();
            let (dir, name) = text.trim_end_matches('/').rsplit_once('/').unwrap_or(("", ""));
            let dir = absolute(Path::new("/"), Path::new(dir));
            return (name.to_string(), vec![dir], "opencode/run-1.18.7#instructions-absolute");
        }
        let dirs = if setting.project {
            setting.chain.clone()
        } else {
            setting.custom.iter().chain(&setting.global).take(1).cloned().collect()
        };
        (text.to_string(), dirs, "opencode/run-1.18.7#instructions-relative")
    }

    /// The source for an entry without a match.
    fn nothing(&self, pattern: &Pattern, entry: &Entry, dirs: &[PathBuf], evidence: &'static str) -> Source {
        let files = self.scene.files;
        let there = dirs.iter().filter_map(|dir| pattern.literal(dir)).find(|path| files.entry(path).is_some());
        if let Some(path) = there {
            let why = if files.entry(&path) == Some(Node::Dir) { Skip::NotAFile } else { Skip::BrokenLink };
            return named(&path, entry, evidence).skipped(why);
        }
        let base = dirs.first().unwrap_or(&self.setting.cwd);
        let path = as_written(self.setting, base, &entry.text);
        let mut source = named(&path, entry, evidence).skipped(Skip::Missing);
        source.evidence.push("opencode/run-1.18.7#instructions-missing");
        source
    }
}
