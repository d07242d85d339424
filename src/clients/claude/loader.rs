//! Coming to files: what becomes of each, and of what it imports.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::claims;
use super::history::Behaviour;
use super::imports::{self, MAX_HOPS};
use super::settings::Setup;
use super::shown;
use crate::clients::Scene;
use crate::files::{Entry, Unreadable};
use crate::front_matter::{self, MANY_PATTERNS, MAX_PATTERNS};
use crate::glob::gitignore::Patterns;
use crate::markdown;
use crate::resolution::{Phase, Refusal, Scope, Skip, Source, Trigger, Via};
use crate::text::Place;

/// The largest memory file that is read, in bytes. Rules and imports have no limit.
const MAX_MEMORY: u64 = 4 * 1024 * 1024;

/// Comes to files, each text lexed once.
pub(super) struct Loader<'a> {
    pub(super) scene: &'a Scene<'a>,
    pub(super) setup: &'a Setup,
    pub(super) behaviour: &'a Behaviour,
    /// What each path leads to: the real path, and the size when it is a file.
    targets: HashMap<PathBuf, Option<(PathBuf, Option<u64>)>>,
    documents: HashMap<PathBuf, Result<Rc<Document>, Unreadable>>,
    /// The rule directories that were not looked through to the end.
    pub(super) cut_short: Vec<Refusal>,
}

/// What a file says, as far as it matters here.
struct Document {
    blank: bool,
    /// The patterns of its front matter, for a rule.
    patterns: Option<Vec<String>>,
    /// Why its front matter was not parsed, with its bytes.
    excess: Option<(String, Range<usize>)>,
    imports: Vec<markdown::Mention>,
}

/// One traversal: each file is come to once, by its real path.
#[derive(Default)]
pub(super) struct Pass {
    visited: HashSet<PathBuf>,
    /// The files between the one that is looked at and the one by which the client came to it.
    above: Vec<PathBuf>,
    /// What was found, in the client's order.
    pub(super) found: Vec<Found>,
    /// Whether imports from outside are left out even where they are approved.
    lazy: bool,
    /// Whether imports are not followed at all.
    shallow: bool,
    /// For the files whose imports were followed before: at how many hops. They are not followed again.
    pub(super) followed: Option<HashMap<PathBuf, usize>>,
}

impl Pass {
    /// A traversal after the start.
    pub(super) fn later() -> Self {
        Self { lazy: true, ..Self::default() }
    }

    /// A traversal that only looks at the files themselves.
    pub(super) fn shallow() -> Self {
        Self { shallow: true, ..Self::default() }
    }

    /// What `look` finds, imports aside, from where this traversal is; it does not count as come to.
    pub(super) fn aside(&mut self, look: impl FnOnce(&mut Self)) -> Vec<Found> {
        let mut aside = Self { visited: std::mem::take(&mut self.visited), lazy: self.lazy, ..Self::shallow() };
        look(&mut aside);
        for found in aside.found.iter().filter(|found| found.source.is_loaded()) {
            found.source.real.as_ref().map(|real| aside.visited.remove(real));
        }
        self.visited = aside.visited;
        aside.found
    }

    /// Starts a traversal anew; what was followed is kept.
    pub(super) fn restart(&mut self) {
        self.visited.clear();
        self.found.clear();
    }
}

/// A file that the client came to.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) source: Source,
    /// The patterns under which it loads, for a conditional rule and what it imports.
    pub(super) condition: Option<Rc<Condition>>,
}

/// The patterns of a conditional rule.
pub(super) struct Condition {
    base: PathBuf,
    texts: Vec<String>,
    patterns: Patterns,
}

impl Condition {
    fn new(base: &Path, texts: &[String]) -> Self {
        let patterns = Patterns::new(texts.iter().map(String::as_str));
        Self { base: base.to_path_buf(), texts: texts.to_vec(), patterns }
    }

    pub(super) fn matches(&self, read: &Path) -> bool {
        let relative = read.strip_prefix(&self.base).ok().and_then(Path::to_str);
        relative.is_some_and(|relative| !relative.is_empty() && self.patterns.matches(relative))
    }

    /// Whether any path at all could match. A pattern that begins with the base itself is meant to be absolute, which
    /// no pattern is.
    fn can_match(&self) -> bool {
        let absolute = |text: &&String| Path::new(text).starts_with(&self.base) && self.base.parent().is_some();
        self.patterns.can_match() && !self.texts.iter().all(|text| absolute(&text))
    }

    fn trigger(&self) -> Trigger {
        Trigger::Patterns { patterns: self.texts.clone(), base: self.base.clone() }
    }
}

/// How the client comes to a file.
#[derive(Clone)]
pub(super) struct Reach<'r> {
    pub(super) path: PathBuf,
    /// The real path, where it is known already.
    pub(super) real: Option<PathBuf>,
    /// The path as exclusions see it, where that is another.
    pub(super) spelled: Option<String>,
    pub(super) scope: Scope,
    pub(super) via: Via,
    pub(super) evidence: &'static str,
    pub(super) phase: Phase,
    /// The directory to which the patterns of a rule are relative.
    pub(super) rule_base: Option<&'r Path>,
    /// Whether a switch turns the file off.
    pub(super) off: bool,
    pub(super) from: Option<Place>,
    pub(super) hop: usize,
}

impl Reach<'_> {
    /// Whether it may lie anywhere, links or not.
    fn is_free(&self) -> bool {
        self.scope == Scope::User
    }
}

impl<'a> Loader<'a> {
    pub(super) fn new(scene: &'a Scene<'a>, setup: &'a Setup, behaviour: &'a Behaviour) -> Self {
        Self { scene, setup, behaviour, targets: HashMap::new(), documents: HashMap::new(), cut_short: Vec::new() }
    }

    /// The real path that `path` leads to.
    pub(super) fn real(&mut self, path: &Path) -> Option<PathBuf> {
        self.target(path).map(|(real, _)| real)
    }

    fn target(&mut self, path: &Path) -> Option<(PathBuf, Option<u64>)> {
        if let Some(known) = self.targets.get(path) {
            return known.clone();
        }
        let files = self.scene.files;
        let target = files.real(path).map(|real| match files.target(&real) {
            Some(Entry::File { len }) => (real, Some(len)),
            _ => (real, None),
        });
        self.targets.insert(path.to_path_buf(), target.clone());
        target
    }

    /// Comes to a file, and then to what it imports.
    pub(super) fn visit(&mut self, pass: &mut Pass, reach: &Reach<'_>) {
        let mut source = Source::file(&reach.path, reach.scope, reach.via, reach.evidence);
        source.phase = reach.phase.clone();
        source.from = reach.from.clone();
        source.order_unspecified = reach.rule_base.is_some();
        match self.admit(pass, reach, &mut source) {
            Ok(None) => {}
            Ok(Some((real, document))) => self.load(pass, reach, source, &real, &document),
            Err(why) => pass.found.push(Found { source: source.skipped(why), condition: None }),
        }
    }

    /// Whether the file is to be loaded; if so, its real path and what it says. `None`: there is nothing to tell.
    fn admit(
        &mut self,
        pass: &mut Pass,
        reach: &Reach<'_>,
        source: &mut Source,
    ) -> Result<Option<(PathBuf, Rc<Document>)>, Skip> {
        let imported = reach.via == Via::Import;
        if imported && !self.is_allowed(pass, reach, &reach.path) {
            source.evidence = vec![claims::EXTERNAL_IMPORTS];
            return Err(Skip::OutsideProject);
        }
        if imported && !imports::is_text(&reach.path) {
            source.evidence = vec![claims::IMPORT_ENDINGS];
            return Err(Skip::NotText);
        }
        let Some((real, len)) = self.target(reach.real.as_deref().unwrap_or(&reach.path)) else {
            return match self.scene.files.entry(&reach.path) {
                Some(Entry::Link) => Err(Skip::BrokenLink),
                _ if imported => Err(Skip::Missing),
                _ => Ok(None),
            };
        };
        let Some(len) = len else {
            source.real = Some(real);
            return Err(Skip::NotAFile);
        };
        if self.behaviour.links_out_are_external
            && (imported || reach.via == Via::Rule)
            && reach.scope != Scope::Configured
            && real != reach.path
            && !self.is_allowed(pass, reach, &real)
        {
            source.evidence = vec![claims::LINKS_OUT];
            return Err(Skip::OutsideProject);
        }
        source.real = Some(real.clone());
        if pass.visited.contains(&real) {
            let cycle = pass.above.contains(&real);
            source.evidence = vec![if cycle { claims::IMPORT_CYCLES } else { claims::ONCE }];
            return Err(if cycle { Skip::Cycle } else { Skip::Duplicate });
        }
        if reach.hop > MAX_HOPS {
            source.evidence = vec![claims::IMPORT_HOPS];
            return Err(Skip::TooDeep);
        }
        if let Some(place) = self.exclusion(reach, &real) {
            source.evidence = vec![claims::EXCLUDES];
            source.from = source.from.take().or(Some(place));
            return Err(Skip::Excluded);
        }
        source.bytes = Some(len);
        if reach.via == Via::Place && len > MAX_MEMORY {
            source.evidence = vec![claims::SIZE];
            return Err(Skip::OverSize);
        }
        let document = self.document(&real).map_err(|error| match error {
            Unreadable::TooLarge => Skip::OverSize,
            _ => Skip::Unreadable,
        })?;
        if reach.off && !document.blank && !self.is_on_all_the_same(reach, &document) {
            source.evidence = vec![claims::SWITCHES];
            return Err(Skip::Disabled);
        }
        pass.visited.insert(real.clone());
        Ok(Some((real, document)))
    }

    /// Whether the file loads although the source it belongs to is left out, as some versions have it: a rule of the
    /// project, once a read asks for it.
    fn is_on_all_the_same(&self, reach: &Reach<'_>, document: &Document) -> bool {
        let by_read = reach.phase != Phase::Startup || document.patterns.is_some();
        let rule = reach.scope == Scope::Project && reach.rule_base.is_some();
        !self.behaviour.sources_limit_later_rules && !self.setup.disabled && rule && by_read
    }

    /// Whether an import or a rule may lie at `path`: below the start directory, or anywhere once that is approved.
    fn is_allowed(&self, pass: &Pass, reach: &Reach<'_>, path: &Path) -> bool {
        let approved = self.setup.approved || self.scene.session.allowed.contains(path);
        reach.is_free() || path.starts_with(&self.scene.session.cwd) || (approved && !pass.lazy)
    }

    /// The setting that excludes the file.
    fn exclusion(&self, reach: &Reach<'_>, real: &Path) -> Option<Place> {
        if reach.scope == Scope::Managed || self.setup.excludes.is_empty() {
            return None;
        }
        let written = reach.spelled.clone().unwrap_or_else(|| reach.path.to_string_lossy().into_owned());
        // A rule is known by what its link leads to.
        let resolved = (reach.via == Via::Rule).then(|| real.to_string_lossy().into_owned());
        let spellings: &[&str] = match &resolved {
            None => &[&written],
            Some(resolved) if self.behaviour.excludes_rules_as_reached => &[&written, resolved],
            Some(resolved) => &[resolved],
        };
        self.setup.exclusion(spellings).map(|exclude| exclude.at.clone())
    }

    fn load(&mut self, pass: &mut Pass, reach: &Reach<'_>, source: Source, real: &Path, document: &Document) {
        let condition = match (reach.rule_base, &document.patterns) {
            (Some(base), Some(texts)) => Some(Rc::new(Condition::new(base, texts))),
            _ => None,
        };
        if let (Some(_), Some((excess, yaml))) = (reach.rule_base, &document.excess) {
            let why = format!("the front matter is not parsed, so its `paths` are not known: {excess}");
            self.cut_short.push(Refusal {
                at: Place::at(&reach.path, yaml.clone()),
                why,
                evidence: claims::CONDITIONAL,
            });
        }
        let mut source = source;
        if let Some(condition) = &condition {
            source.phase = Phase::Lazy(condition.trigger());
            source.evidence.push(claims::CONDITIONAL);
        }
        if document.blank {
            source.evidence = vec![claims::BLANK];
            source = source.skipped(Skip::Empty);
        } else if condition.as_ref().is_some_and(|condition| !condition.can_match()) {
            source.evidence = vec![claims::PATTERNS];
            source = source.skipped(Skip::NeverMatches);
        }
        pass.found.push(Found { source, condition });
        if pass.shallow {
            return;
        }
        if let Some(followed) = &mut pass.followed {
            let hop = followed.entry(real.to_path_buf()).or_insert(usize::MAX);
            if *hop <= reach.hop {
                return;
            }
            *hop = reach.hop;
        }
        pass.above.push(real.to_path_buf());
        let base = real.parent().unwrap_or(real);
        for import in &document.imports {
            let Some(path) = imports::target(&import.path, base, self.setup.home.as_deref()) else { continue };
            let next = Reach {
                path,
                real: None,
                spelled: None,
                via: Via::Import,
                evidence: claims::IMPORTS,
                from: Some(Place::at(&reach.path, import.span.clone())),
                hop: reach.hop + 1,
                ..reach.clone()
            };
            self.visit(pass, &next);
        }
        pass.above.pop();
    }

    fn document(&mut self, real: &Path) -> Result<Rc<Document>, Unreadable> {
        if let Some(known) = self.documents.get(real) {
            return known.clone();
        }
        let most = if self.behaviour.limits_braces { MAX_PATTERNS } else { MANY_PATTERNS };
        let document = self.scene.files.read(real).map(|content| {
            let markdown = content.markdown(self.behaviour.bom_before_front_matter);
            let front_matter = markdown.front_matter.as_ref();
            Rc::new(Document {
                blank: shown::is_blank(content.text(), markdown),
                patterns: front_matter
                    .and_then(|front| front_matter::patterns_within(&content.text()[front.yaml.clone()], most)),
                excess: front_matter.and_then(|front| {
                    Some((front_matter::excess(&content.text()[front.yaml.clone()])?, front.yaml.clone()))
                }),
                imports: markdown.mentions.iter().filter(|mention| mention.ignored.is_none()).cloned().collect(),
            })
        });
        self.documents.insert(real.to_path_buf(), document.clone());
        document
    }
}
