//! Claude Code: what it loads, in the order of its documentation.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use self::history::{Behaviour, HISTORY};
use self::lazy::Session;
use self::loader::{Found, Loader, Pass};
use self::places::{Group, claude_file};
use self::settings::Setup;
use crate::clients::{Client, PassedOver, Scene, Version, behaviour_at, rows};
use crate::discover::is_rule_place;
use crate::files::absolute;
use crate::markdown::{self, is_space};
use crate::resolution::{Outcome, Phase, Resolution, Scope, Skip, Source, Via};

mod claims;
mod excludes;
mod git;
mod history;
mod imports;
mod lazy;
mod loader;
mod places;
mod settings;
mod shown;

/// Claude Code, all versions.
pub static CLIENT: Client = Client {
    name: "claude",
    title: "Claude Code",
    default: Version::Release(2, 1, 220),
    recorded: &[Version::Release(2, 1, 220), Version::Release(2, 1, 332)],
    history: || rows(HISTORY),
    resolve,
    passed_over,
    reads_below: true,
    shown: |text, _, version| {
        let bom = behaviour_at(HISTORY, version).bom_before_front_matter;
        shown::strip(text, &markdown::lex(text, bom))
    },
};

fn resolve(scene: &Scene<'_>, version: Version) -> Resolution {
    let behaviour = behaviour_at(HISTORY, version);
    let mut setup = Setup::new(scene);
    let mut resolution = Resolution::new(CLIENT.name, version);
    resolution.refusal = setup.refusal.take();
    resolution.ignored_config = std::mem::take(&mut setup.ignored);
    if resolution.refusal.is_some() {
        return resolution;
    }
    let mut loader = Loader::new(scene, &setup, &behaviour);
    let (found, agents) = loader.start();
    let mut session = Session::start(&mut loader, found, agents);
    for (index, path) in scene.session.reads.iter().enumerate() {
        session.read(index, path);
    }
    session.tell_possible();
    resolution.sources = session.sources;
    resolution
}

impl Loader<'_> {
    /// Everything that the client comes to before the first model turn, and whether `AGENTS.md` is read, too.
    fn start(&mut self) -> (Vec<Found>, bool) {
        let mut pass = Pass::default();
        self.managed_files(&mut pass);
        self.user_files(&mut pass);
        let cwd = &self.scene.session.cwd;
        let mut chain: Vec<&Path> = cwd.ancestors().collect();
        chain.reverse();
        let mut starts = Vec::new();
        for dir in &chain {
            starts.push(pass.found.len());
            self.project_files(&mut pass, dir);
        }
        starts.push(pass.found.len());
        self.added_files(&mut pass);
        if !self.behaviour.agents_md {
            return (pass.found, false);
        }
        // `AGENTS.md` is for projects without a Claude file.
        let winner = claude_file(&pass.found[..starts[chain.len()]]);
        self.agents_files(&mut pass, &chain, &starts, winner.as_deref());
        (pass.found, winner.is_none())
    }

    /// The `AGENTS.md` files of `chain`: each stands before the first file of a directory further down, and those of
    /// the start directory at the end. `starts` says where the files of each directory begin.
    fn agents_files(&mut self, pass: &mut Pass, chain: &[&Path], starts: &[usize], winner: Option<&Path>) {
        let group = Group { evidence: claims::AGENTS_FAMILY, ..self.group(Scope::Project, self.setup.project, "") };
        let mut all = std::mem::take(&mut pass.found);
        let mut own = Vec::new();
        for dir in chain {
            self.agents(pass, dir, &group, winner);
            own.push(std::mem::take(&mut pass.found));
        }
        let mut place = all.len();
        for (range, own) in starts.windows(2).zip(own).rev() {
            all.splice(place..place, own);
            let first = all[range[0]..range[1]].iter().position(|found| found.source.is_loaded());
            place = first.map_or(place, |first| range[0] + first);
        }
        pass.found = all;
    }

    /// The administrator's: a file, a text in the settings, and rules.
    fn managed_files(&mut self, pass: &mut Pass) {
        let Some(dir) = self.setup.managed.clone() else { return };
        let group = self.group(Scope::Managed, true, claims::MANAGED);
        self.memory(pass, dir.join("CLAUDE.md"), &group);
        if let Some((text, path)) = &self.setup.text
            && !text.trim_matches(is_space).is_empty()
        {
            let mut source = Source::file(path, Scope::Inline, Via::Config, claims::MANAGED_TEXT);
            source.real = self.real(path);
            source.bytes = Some(text.len() as u64);
            source.inline = Some(text.clone());
            let source = if group.off { source.skipped(Skip::Disabled) } else { source };
            pass.found.push(Found { source, condition: None });
        }
        let cwd = &self.scene.session.cwd;
        self.rules(pass, &dir.join(".claude/rules"), cwd, &group);
    }

    /// The user's: a file and rules.
    fn user_files(&mut self, pass: &mut Pass) {
        let Some(dir) = self.setup.config.clone() else { return };
        let group = self.group(Scope::User, self.setup.user, claims::USER);
        self.memory(pass, dir.join("CLAUDE.md"), &group);
        let cwd = &self.scene.session.cwd;
        self.rules(pass, &dir.join("rules"), cwd, &group);
    }

    /// Those of the start directory or one above it.
    fn project_files(&mut self, pass: &mut Pass, dir: &Path) {
        let project = self.group(Scope::Project, self.setup.project, claims::LAUNCH);
        let local = self.group(Scope::Local, self.setup.local, claims::LAUNCH);
        let replaced = self.setup.repository.as_ref().is_some_and(|repository| repository.replaces(dir));
        // The user's own directory counts for nothing where the user's files do not.
        let of_user = !self.scene.session.user && self.setup.home.as_deref() == Some(dir);
        let mut own = Pass::default();
        let place = if replaced { &mut own } else { &mut *pass };
        self.memory(place, dir.join("CLAUDE.md"), &project);
        if !of_user {
            self.memory(place, dir.join(".claude/CLAUDE.md"), &project);
            self.rules(place, &dir.join(".claude/rules"), dir, &project);
        }
        for found in own.found {
            pass.found.extend(self.replaced(found));
        }
        self.memory(pass, dir.join("CLAUDE.local.md"), &local);
    }

    /// A file that a worktree has in its own version. The conditional rules stay, in some versions.
    fn replaced(&self, mut found: Found) -> Option<Found> {
        if found.condition.is_some() && !self.behaviour.worktrees_drop_conditional {
            return Some(found);
        }
        if found.source.is_loaded() {
            found.condition = None;
            found.source = found.source.skipped(Skip::NotInChain);
            found.source.evidence = vec![claims::WORKTREES];
        }
        (found.source.via != Via::Import).then_some(found)
    }

    /// Those of the directories that `--add-dir` adds: what would be lazy there never loads.
    fn added_files(&mut self, pass: &mut Pass) {
        let setup = self.setup;
        for given in &setup.added {
            let dir = self.added_dir(given);
            let before = pass.found.len();
            let group = self.group(Scope::Configured, true, claims::ADDED);
            for name in ["CLAUDE.md", ".claude/CLAUDE.md"] {
                self.memory_spelled(pass, dir.join(name), self.spelled(given, name), &group);
            }
            self.rules(pass, &dir.join(".claude/rules"), &dir, &group);
            let local = self.group(Scope::Configured, setup.local, claims::ADDED);
            self.memory_spelled(pass, dir.join("CLAUDE.local.md"), self.spelled(given, "CLAUDE.local.md"), &local);
            for found in &mut pass.found[before..] {
                if found.condition.take().is_some() && found.source.is_loaded() {
                    found.source.outcome = Outcome::Skipped { why: Skip::NotInChain };
                    found.source.evidence = vec![claims::ADDED];
                }
            }
        }
    }

    /// The directory that `--add-dir` was `given`.
    fn added_dir(&self, given: &str) -> PathBuf {
        let home = self.setup.home.as_deref().filter(|_| self.behaviour.normalizes_added);
        match (given.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => absolute(home, Path::new(rest)),
            _ => absolute(&self.scene.session.cwd, Path::new(given)),
        }
    }

    /// The path of `name` in an added directory as exclusions see it, where that is not the file's: relative to the
    /// start directory when it was `given` so.
    fn spelled(&self, given: &str, name: &str) -> Option<String> {
        if self.behaviour.normalizes_added || given.starts_with('/') {
            return None;
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in given.split('/').chain(name.split('/')) {
            match part {
                "" | "." => {}
                ".." if parts.last().is_some_and(|last| *last != "..") => {
                    parts.pop();
                }
                part => parts.push(part),
            }
        }
        Some(parts.join("/"))
    }

    fn group(&self, scope: Scope, on: bool, evidence: &'static str) -> Group {
        Group { scope, phase: Phase::Startup, off: self.setup.disabled || !on, evidence }
    }
}

/// What becomes of an instruction-like file that the start and later reads do not come to.
fn passed_over(_scene: &Scene<'_>, version: Version, path: &Path) -> PassedOver {
    let behaviour: Behaviour = behaviour_at(HISTORY, version);
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let in_claude = path.parent().and_then(Path::file_name) == Some(OsStr::new(".claude"));
    let unsupported =
        |why: &str, evidence| PassedOver { outcome: Outcome::Unsupported { why: why.to_string() }, evidence };
    let elsewhere = PassedOver { outcome: Outcome::Skipped { why: Skip::NotInChain }, evidence: claims::NOT_IN_CHAIN };
    if is_rule_place(path) {
        return if name.ends_with(".md") {
            elsewhere
        } else {
            unsupported("a rule's name ends in `.md`, in lower case", claims::RULE_NAMES)
        };
    }
    match name {
        "CLAUDE.md" => elsewhere,
        "CLAUDE.local.md" if !in_claude => elsewhere,
        "CLAUDE.local.md" => unsupported("`CLAUDE.local.md` is read beside `.claude`, not in it", claims::NAMES),
        "AGENTS.md" if behaviour.agents_md => elsewhere,
        "AGENTS.md" => unsupported("`AGENTS.md` is read only through an import in `CLAUDE.md`", claims::AGENTS_UNREAD),
        _ if name.to_ascii_lowercase().contains(".local.") => {
            unsupported("the only local file that is read is `CLAUDE.local.md`", claims::NAMES)
        }
        _ => unsupported("the file that is read is called `CLAUDE.md`, in exactly this case", claims::NAMES),
    }
}
