//! Stage 3: the rules judge the resolutions.
//!
//! A rule is one file, and its page beside it. It knows the resolutions and the files, never a client's internals.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::clients::{Scene, client};
use crate::config::Config;
use crate::diagnostic::{Diagnostic, For, Level, Repair};
use crate::files::absolute;
use crate::resolution::{Outcome, Resolution, Skip, Source};
use crate::secrets::Scanned;
use crate::suppress::Accepted;
use crate::text::{Content, Place, brief, path_text};

pub(crate) use self::repairs::has_imports;

mod broken_link;
mod client_gap;
mod conditional_import_at_launch;
mod config_invalid;
mod cut_short;
mod empty_source;
mod frozen_changed;
mod import_cycle;
mod import_ignored;
mod import_missing;
mod import_not_text;
mod import_outside_project;
mod import_too_deep;
mod imports;
mod instructions_match_nothing;
mod not_a_file;
mod not_utf8;
mod over_budget;
mod over_size;
mod patterns;
mod remote_not_frozen;
mod repairs;
mod rule_always_loads;
mod rule_matches_nothing;
mod rule_never_loads;
mod secret;
mod shadowed_source;
mod unsupported_name;
mod unused_suppression;
mod version_differs;

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
pub static RULES: &[&Rule] = &[
    &broken_link::RULE,
    &client_gap::RULE,
    &conditional_import_at_launch::RULE,
    &config_invalid::RULE,
    &cut_short::RULE,
    &empty_source::RULE,
    &frozen_changed::RULE,
    &import_cycle::RULE,
    &import_ignored::RULE,
    &import_missing::RULE,
    &import_not_text::RULE,
    &import_outside_project::RULE,
    &import_too_deep::RULE,
    &instructions_match_nothing::RULE,
    &not_a_file::RULE,
    &not_utf8::RULE,
    &over_budget::RULE,
    &over_size::RULE,
    &remote_not_frozen::RULE,
    &rule_always_loads::RULE,
    &rule_matches_nothing::RULE,
    &rule_never_loads::RULE,
    &secret::RULE,
    &shadowed_source::RULE,
    &unsupported_name::RULE,
    &unused_suppression::RULE,
    &version_differs::RULE,
];

/// What a rule may look at.
#[derive(Clone, Copy)]
pub struct Lint<'a> {
    /// The files, the session and the project.
    pub scene: &'a Scene<'a>,
    /// One resolution a selected client.
    pub resolutions: &'a [Resolution],
    /// The secrets in what they load.
    pub secrets: &'a Scanned,
}

/// The longest message of a finding, in bytes; of a longer one the start and the end stay.
const LONG_TEXT: usize = 600;

/// The findings of `rules`, sorted by place, then by rule. What is the same for several clients is one finding.
pub fn lint(rules: &[&Rule], lint: &Lint<'_>) -> Vec<Diagnostic> {
    let mut found = merged(rules.iter().flat_map(|rule| (rule.check)(lint)).collect());
    // A finding may quote what a rule came by; a value goes no further than this, and a long text in part only.
    let redactor = lint.secrets.redactor();
    for diagnostic in &mut found {
        let related = diagnostic.related.iter_mut().map(|(_, message)| message);
        for text in std::iter::once(&mut diagnostic.message).chain(&mut diagnostic.help).chain(related) {
            if let Cow::Owned(redacted) = redactor.redact(text) {
                *text = redacted;
            }
            if let Cow::Owned(ends) = brief(text, LONG_TEXT) {
                *text = ends;
            }
        }
    }
    found
}

/// Sorted, with equal findings made one.
fn merged(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    found.sort_by(|a, b| order(a).cmp(&order(b)));
    found.dedup_by(|next, kept| {
        let same = order(next) == order(kept);
        if same {
            kept.clients.append(&mut next.clients);
            kept.evidence.append(&mut next.evidence);
        }
        same
    });
    for diagnostic in &mut found {
        diagnostic.clients.sort();
        diagnostic.clients.dedup();
        // What says most comes first, and stays there.
        let mut seen = HashSet::new();
        diagnostic.evidence.retain(|id| seen.insert(*id));
    }
    found
}

/// What findings are sorted by.
pub fn order(diagnostic: &Diagnostic) -> (&Place, &str, &str) {
    (&diagnostic.place, diagnostic.rule, &diagnostic.message)
}

/// The findings of all starts, each once, at the levels of the configuration, without those that were accepted.
pub fn findings(rules: &[&Rule], starts: &[Lint<'_>], config: &Config) -> Vec<Diagnostic> {
    let Some(first) = starts.first() else { return Vec::new() };
    let mut all = merged(starts.iter().flat_map(|start| lint(rules, start)).collect());
    all.retain_mut(|diagnostic| match config.level(diagnostic.rule, diagnostic.level) {
        Some(level) => {
            diagnostic.level = level;
            true
        }
        None => false,
    });
    let paths = read_files(&all, starts);
    let mut accepted = Accepted::new(paths.iter().map(PathBuf::as_path).collect(), config, first.scene);
    all.retain(|diagnostic| !accepted.hides(diagnostic));
    if let Some(level) = config.level(unused_suppression::RULE.name, unused_suppression::RULE.level) {
        let mut unused: Vec<Diagnostic> = accepted.comments().iter().filter_map(unused_suppression::comment).collect();
        unused.retain(|diagnostic| !accepted.hides(diagnostic));
        let entries = accepted.idle_entries();
        unused.extend(entries.filter_map(|entry| unused_suppression::entry(entry, config, first.scene)));
        all.extend(unused.into_iter().map(|diagnostic| Diagnostic { level, ..diagnostic }));
        all.sort_by(|a, b| order(a).cmp(&order(b)));
    }
    all
}

/// The findings for entries of a baseline at `path` that nothing needs any more.
pub fn unused<'a>(config: &Config, path: &Path, entries: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Diagnostic> {
    let rule = &unused_suppression::RULE;
    let Some(level) = config.level(rule.name, rule.level) else { return Vec::new() };
    let at = |(name, file): (&str, &str)| {
        let message = format!("the baseline's {name} in `{file}` is mended");
        let found = rule.at(Place::whole(path), message).help("write the baseline anew with --write-baseline");
        Diagnostic { level, ..found }
    };
    entries.map(at).collect()
}

/// The files that may hold a suppressing comment: every file that some client loads, and the place of every finding.
/// No other file is opened for that.
fn read_files(found: &[Diagnostic], starts: &[Lint<'_>]) -> BTreeSet<PathBuf> {
    let sources = starts.iter().flat_map(Lint::sources).map(|(_, source)| source);
    let loaded = sources.filter(|source| source.is_loaded()).filter_map(Source::path);
    let places = found.iter().map(|diagnostic| diagnostic.place.path.as_path());
    loaded.chain(places).map(Path::to_path_buf).collect()
}

/// Sources by their paths, as reached and with links resolved.
type ByPath<'a> = HashMap<&'a Path, Vec<(&'a Resolution, &'a Source)>>;

fn by_path<'a>(sources: impl Iterator<Item = (&'a Resolution, &'a Source)>) -> ByPath<'a> {
    let mut known = ByPath::new();
    for (resolution, source) in sources {
        let real = source.real.as_deref();
        let path = source.path().filter(|path| Some(*path) != real);
        for path in path.into_iter().chain(real) {
            known.entry(path).or_default().push((resolution, source));
        }
    }
    known
}

impl<'a> Lint<'a> {
    /// Every source of every client.
    fn sources(&self) -> impl Iterator<Item = (&'a Resolution, &'a Source)> {
        self.resolutions.iter().flat_map(|resolution| resolution.sources.iter().map(move |source| (resolution, source)))
    }

    /// The sources that `why` says were left out.
    fn skipped(&self, why: Skip) -> impl Iterator<Item = (&'a Resolution, &'a Source, &'a Path)> {
        let left_out = move |source: &Source| source.outcome == Outcome::Skipped { why };
        self.sources().filter(move |(_, source)| left_out(source)).filter_map(|(resolution, source)| {
            source.path().filter(|path| !self.is_foreign(path)).map(|path| (resolution, source, path))
        })
    }

    /// What is in a file; `None` when it cannot be read.
    fn content(&self, path: &Path) -> Option<Rc<Content>> {
        self.scene.files.read(path).ok()
    }

    /// The real paths of the files that `importer` imports as Claude Code reads imports; whether it is selected does not
    /// matter.
    fn imported(&self, importer: &Path) -> impl Iterator<Item = PathBuf> {
        let files = self.scene.files;
        let importer = self.content(importer).zip(files.real(importer));
        importer.into_iter().flat_map(move |(content, importer)| {
            let dir = importer.parent().unwrap_or(&importer);
            let imports = content.markdown(false).mentions.iter().filter(|mention| mention.ignored.is_none());
            let real = imports.filter_map(|mention| files.real(&absolute(dir, Path::new(&mention.path))));
            real.collect::<Vec<_>>()
        })
    }

    /// Whether `importer` imports the file at `path`, links followed.
    fn imports(&self, importer: &Path, path: &Path) -> bool {
        self.scene.files.real(path).is_some_and(|real| self.imported(importer).any(|target| target == real))
    }

    /// Whether `path` lies in a directory of the project that package managers fill, or in another checkout: what is
    /// wrong there is not mended here.
    fn is_foreign(&self, path: &Path) -> bool {
        is_foreign(&self.scene.project.root, path)
    }

    /// `path` as it is called in a message: relative to the project, or whole.
    fn name(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.scene.project.root).ok().filter(|path| !path.as_os_str().is_empty());
        let name = path_text(inside.unwrap_or(path));
        if cfg!(windows) { name.replace('\\', "/") } else { name.into_owned() }
    }
}

/// As [`Lint::is_foreign`], in the project at `root`.
pub(crate) fn is_foreign(root: &Path, path: &Path) -> bool {
    const FOREIGN: &[&str] =
        &["node_modules", "bower_components", "site-packages", ".venv", "venv", ".tox", "vendor", ".worktrees"];
    let inside = path.strip_prefix(root).unwrap_or(path);
    inside.iter().any(|part| FOREIGN.iter().any(|name| part == *name))
        || inside.ancestors().any(|dir| dir.ends_with(".claude/worktrees"))
}

/// The name of a client in a message.
fn title(resolution: &Resolution) -> &'static str {
    client(resolution.client).map_or(resolution.client, |client| client.title)
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
            repair: None,
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

    /// The same finding, with what mends it.
    #[must_use]
    fn mended_by(mut self, repair: Option<Repair>) -> Self {
        self.repair = repair;
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
        self
    }

    /// The same finding, with another place that belongs to it.
    #[must_use]
    fn also(mut self, place: Place, message: impl Into<String>) -> Self {
        self.related.push((place, message.into()));
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
