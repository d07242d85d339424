//! What is attached later, when the client's read tool opens a file.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use super::claims;
use super::loader::{Found, Loader, Pass};
use super::places::{Group, claude_file};
use crate::files::chain;
use crate::resolution::{Phase, Scope, Skip, Source, Trigger, Via};

/// What becomes of the `AGENTS.md` files of a project.
#[derive(PartialEq, Eq)]
pub(super) enum Agents {
    /// The client does not know the name.
    Unknown,
    /// They are read.
    Read,
    /// This Claude file is taken in their place.
    Shadowed(PathBuf),
}

/// A session: what was loaded so far, and what else there is to tell.
pub(super) struct Session<'a, 'b> {
    pub(super) loader: &'b mut Loader<'a>,
    pub(super) sources: Vec<Source>,
    agents: Agents,
    /// The conditional rules that the start came to.
    conditional: Vec<Found>,
    loaded: HashSet<PathBuf>,
    /// The imports that were told of, by the file that has them and where.
    imports: HashSet<(PathBuf, Option<usize>)>,
    /// The files that were told of, but for imports that do not load: whether each loads.
    places: HashMap<PathBuf, bool>,
}

impl<'a, 'b> Session<'a, 'b> {
    /// A session that starts with what was `found`.
    pub(super) fn start(loader: &'b mut Loader<'a>, found: Vec<Found>, agents: Agents) -> Self {
        let mut session = Self {
            loader,
            sources: Vec::new(),
            agents,
            conditional: Vec::new(),
            loaded: HashSet::new(),
            imports: HashSet::new(),
            places: HashMap::new(),
        };
        for found in found {
            if found.condition.is_some() && found.source.is_loaded() {
                session.conditional.push(found);
            } else {
                session.tell(found.source);
            }
        }
        session
    }

    /// Adds a source. A file that was told of already is not told of again in another role, unless only now it loads.
    fn tell(&mut self, source: Source) {
        if source.via == Via::Import {
            let from = source.from.as_ref().map(|from| (from.path.clone(), from.span.map(|span| span.start)));
            if from.is_some_and(|from| !self.imports.insert(from)) {
                return;
            }
        }
        let path = source.path().filter(|_| source.inline.is_none());
        if let Some(path) = path.filter(|_| source.is_loaded() || source.via != Via::Import) {
            match (source.is_loaded(), self.places.get(path)) {
                (false, Some(_)) => return,
                (true, Some(false)) => self.sources.retain(|known| known.is_loaded() || known.path() != Some(path)),
                (true, Some(true)) if source.via != Via::Import => return,
                _ => {}
            }
            self.places.insert(path.to_path_buf(), source.is_loaded());
        }
        if source.is_loaded() && source.inline.is_none() {
            self.loaded.extend(source.real.clone());
        }
        self.sources.push(source);
    }

    /// The client's read tool opens `path`, the `index`th file of the session.
    pub(super) fn read(&mut self, index: usize, path: &Path) {
        if has_binary_name(path) || !self.is_readable(path) {
            return;
        }
        let matching = |session: &Self, managed_or_user: bool| -> Vec<Found> {
            let of_scope = |found: &&Found| {
                matches!(found.source.scope, Scope::Managed | Scope::User) == managed_or_user && found.is_for(path)
            };
            session.conditional.iter().filter(of_scope).cloned().collect()
        };
        let mut pass = Pass::later();
        let dirs = self.dirs_below_start(path);
        if self.agents == Agents::Read {
            for dir in &dirs {
                self.loader.nested_agents(&mut pass, dir);
            }
        }
        self.attach(index, pass.found.drain(..).collect());
        self.attach(index, matching(self, true));
        for dir in dirs {
            if self.loader.passes_over(&dir, path) {
                continue;
            }
            self.loader.nested(&mut pass, &dir);
            let (plain, conditional): (Vec<Found>, Vec<Found>) =
                pass.found.drain(..).partition(|found| found.condition.is_none());
            self.attach(index, plain);
            self.attach(index, conditional.into_iter().filter(|found| found.is_for(path)).collect());
        }
        self.attach(index, matching(self, false));
    }

    fn attach(&mut self, index: usize, found: Vec<Found>) {
        for mut found in found {
            if found.source.is_loaded() && found.source.real.as_ref().is_some_and(|real| !self.loaded.contains(real)) {
                found.source.activated_by = Some(index);
                self.tell(found.source);
            }
        }
    }

    /// Whether the client may open `path`, and takes it for a file below its start directory.
    fn is_readable(&mut self, path: &Path) -> bool {
        let cwd = &self.loader.scene.session.cwd;
        if !path.starts_with(cwd) {
            return false;
        }
        let files = self.loader.scene.files;
        let real = path.ancestors().find_map(|dir| files.real(dir));
        let added = self.loader.setup.readable.iter().filter_map(|dir| files.real(dir));
        real.is_some_and(|real| real.starts_with(cwd) || added.into_iter().any(|dir| real.starts_with(dir)))
    }

    /// The directories below the start directory down to the one that holds `path`, outermost first.
    fn dirs_below_start(&self, path: &Path) -> Vec<PathBuf> {
        let cwd = &self.loader.scene.session.cwd;
        let Some(dir) = path.parent().filter(|dir| dir.starts_with(cwd)) else { return Vec::new() };
        chain(cwd, dir).into_iter().skip(1).map(Path::to_path_buf).collect()
    }

    /// Tells of everything that a later read could load, the outermost first.
    pub(super) fn tell_possible(&mut self) {
        for found in std::mem::take(&mut self.conditional) {
            if found.source.real.as_ref().is_some_and(|real| !self.loaded.contains(real)) {
                self.tell(found.source);
            }
        }
        let mut pass = Pass::later();
        pass.followed = Some(HashMap::new());
        // The files that a read loads do not hinder each other here: which is first is not known.
        let loaded = self.loaded.clone();
        for dir in candidates(self.loader) {
            pass.restart();
            match &self.agents {
                Agents::Unknown => {}
                Agents::Read => self.loader.nested_agents(&mut pass, &dir),
                Agents::Shadowed(by) => {
                    let group = self.loader.agents_group(&dir);
                    self.loader.agents(&mut pass, &dir, &group, Some(by));
                }
            }
            self.loader.nested(&mut pass, &dir);
            for Found { source, .. } in std::mem::take(&mut pass.found) {
                let known = source.is_loaded() && source.real.as_ref().is_some_and(|real| loaded.contains(real));
                if known {
                    let mut source = source.skipped(Skip::Duplicate);
                    source.evidence = vec![claims::ONCE];
                    self.tell(source);
                } else {
                    self.tell(source);
                }
            }
        }
    }
}

impl Found {
    /// Whether a read of `path` asks for this conditional rule.
    fn is_for(&self, path: &Path) -> bool {
        self.condition.as_ref().is_some_and(|condition| condition.matches(path))
    }
}

impl Loader<'_> {
    /// Whether a read of `path` passes over the files of `dir`, because of a worktree in its usual place between them.
    fn passes_over(&self, dir: &Path, path: &Path) -> bool {
        let is_worktrees = |dir: &Path| dir.ends_with(".claude/worktrees");
        let into_one = || path.strip_prefix(dir).is_ok_and(|below| below.components().count() > 1);
        self.behaviour.reads_skip_worktree_roots
            && ((is_worktrees(dir) && into_one()) || dir.parent().is_some_and(is_worktrees))
    }

    /// The files of `dir`, somewhere below the start directory. Here the local file comes before the rules.
    fn nested(&mut self, pass: &mut Pass, dir: &Path) {
        self.nested_memory(pass, dir);
        let group = self.nested_group(dir, Scope::Project);
        self.rules(pass, &dir.join(".claude/rules"), dir, &group);
    }

    fn nested_memory(&mut self, pass: &mut Pass, dir: &Path) {
        let project = self.nested_group(dir, Scope::Project);
        self.memory(pass, dir.join("CLAUDE.md"), &project);
        self.memory(pass, dir.join(".claude/CLAUDE.md"), &project);
        self.memory(pass, dir.join("CLAUDE.local.md"), &self.nested_group(dir, Scope::Local));
    }

    /// The `AGENTS.md` files of `dir`, when it holds no Claude file.
    fn nested_agents(&mut self, pass: &mut Pass, dir: &Path) {
        let mut own = Pass::shallow();
        self.nested_memory(&mut own, dir);
        let winner = claude_file(&own.found);
        let group = self.agents_group(dir);
        self.agents(pass, dir, &group, winner.as_deref());
    }

    fn agents_group(&self, dir: &Path) -> Group {
        Group { evidence: claims::AGENTS_FAMILY, ..self.nested_group(dir, Scope::Project) }
    }

    fn nested_group(&self, dir: &Path, scope: Scope) -> Group {
        let on = if scope == Scope::Local { self.setup.local } else { self.setup.project };
        Group {
            scope,
            phase: Phase::Lazy(Trigger::Under(dir.to_path_buf())),
            off: self.setup.disabled || !on,
            evidence: claims::DESCENDANTS,
        }
    }
}

/// The directories below the start directory that hold anything to load.
fn candidates(loader: &Loader<'_>) -> BTreeSet<PathBuf> {
    let cwd = &loader.scene.session.cwd;
    let project = loader.scene.project;
    let below = (Bound::Excluded(cwd.clone()), Bound::Unbounded);
    let files = project.instructions.range(below).take_while(|path| path.starts_with(cwd));
    let is_config =
        |path: &&PathBuf| path.file_name() == Some(OsStr::new(".claude")) || path.ends_with(".claude/rules");
    files
        .chain(project.links.iter().filter(is_config))
        .flat_map(|path| holders(path))
        .filter(|dir| *dir != cwd && dir.starts_with(cwd) && !loader.passes_over(dir, dir))
        .map(Path::to_path_buf)
        .collect()
}

/// The directories whose memory file or rule `path` could be.
fn holders(path: &Path) -> impl Iterator<Item = &Path> {
    let is_own =
        matches!(path.file_name().and_then(OsStr::to_str), Some("CLAUDE.md" | "CLAUDE.local.md" | "AGENTS.md"));
    let config = path.ancestors().filter(|dir| dir.file_name() == Some(OsStr::new(".claude")));
    config.filter_map(Path::parent).chain(path.parent().filter(|_| is_own))
}

/// Whether the client takes the file for binary by its name, and does not open it as a text.
fn has_binary_name(path: &Path) -> bool {
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase();
    BINARY.binary_search(&ending.as_str()).is_ok()
}

/// The endings of the names of binary files, besides those that the client can show: images and PDF.
const BINARY: &[&str] = &[
    "7z", "a", "aac", "ai", "aiff", "app", "avi", "bin", "bmp", "bz2", "class", "dat", "data", "db", "deb", "dll",
    "dmg", "doc", "docx", "dylib", "ear", "eot", "exe", "fla", "flac", "flv", "gz", "ico", "idx", "iso", "jar", "lib",
    "lockb", "m4a", "m4v", "mdb", "mkv", "mov", "mp3", "mp4", "mpeg", "mpg", "msi", "node", "o", "obj", "odp", "ods",
    "odt", "ogg", "opus", "otf", "pkg", "ppt", "pptx", "psd", "pyc", "pyo", "rar", "rlib", "rpm", "so", "sqlite",
    "sqlite3", "swf", "tar", "tgz", "tif", "tiff", "ttf", "war", "wasm", "wav", "webm", "wma", "wmv", "woff", "woff2",
    "xls", "xlsx", "xz", "z", "zip",
];
