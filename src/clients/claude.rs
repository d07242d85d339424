//! Claude Code: what it loads, in the order of its documentation.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use self::history::{Behaviour, HISTORY};
use self::lazy::{Agents, Session};
use self::loader::{Found, Loader, Pass};
use self::places::{Group, claude_file};
use self::settings::Setup;
use crate::clients::{Client, PassedOver, Scene, Version, behaviour_at, rows};
use crate::discover::is_rule_place;
use crate::files::absolute;
use crate::markdown::{self, is_space};
use crate::resolution::{Inline, Outcome, Phase, Resolution, Scope, Skip, Source, Via};

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
    recorded: &[
        Version::Release(2, 1, 207),
        Version::Release(2, 1, 211),
        Version::Release(2, 1, 217),
        Version::Release(2, 1, 220),
        Version::Release(2, 1, 332),
    ],
    history: || rows(HISTORY),
    resolve,
    passed_over,
    arguments: &["--add-dir", "--bare", "--safe-mode", "--setting-sources", "--settings"],
    reads_below: true,
    shown: |text, _, version| {
        let bom = behaviour_at(HISTORY, version).bom_before_front_matter;
        shown::strip(text, &markdown::lex(text, bom))
    },
};

fn resolve(scene: &Scene<'_>, version: Version) -> Resolution {
    let behaviour = behaviour_at(HISTORY, version);
    let mut setup = Setup::new(scene, &behaviour);
    let mut resolution = Resolution::new(CLIENT.name, version);
    resolution.refusal = setup.refusal.take();
    resolution.ignored_config = std::mem::take(&mut setup.ignored);
    resolution.cut_short = std::mem::take(&mut setup.cut_short);
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
    resolution.cut_short.extend(loader.cut_short);
    resolution
}

impl Loader<'_> {
    /// Everything that the client comes to before the first model turn, and what becomes of `AGENTS.md`.
    fn start(&mut self) -> (Vec<Found>, Agents) {
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
            return (pass.found, Agents::Unknown);
        }
        // `AGENTS.md` is for projects without a Claude file.
        let winner = claude_file(&pass.found[..starts[chain.len()]]);
        self.agents_files(&mut pass, &chain, &starts, winner.as_deref());
        (pass.found, winner.map_or(Agents::Read, Agents::Shadowed))
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
            source.inline = Some(Inline(text.clone()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::Session;
    use crate::discover::discover;
    use crate::files::Memory;
    use crate::resolution::Trigger;

    /// What becomes of each source, told as `path: fate`.
    fn fates(files: &Memory, session: &Session, version: &str) -> Vec<String> {
        let project = discover(files, Path::new("/p"), &session.cwd);
        let scene = Scene { files, session, project: &project };
        let resolution = CLIENT.resolve(&scene, version.parse().unwrap());
        let fate = |source: &Source| match (&source.outcome, &source.phase) {
            (Outcome::Loaded, Phase::Startup) => "startup".to_string(),
            (Outcome::Loaded, Phase::Lazy(Trigger::Under(dir))) => format!("under {}", dir.display()),
            (Outcome::Loaded, Phase::Lazy(Trigger::Patterns { patterns, .. })) => format!("on {}", patterns.join(" ")),
            (Outcome::Skipped { why }, _) => why.word().to_string(),
            (Outcome::Shadowed { by }, _) => format!("shadowed by {}", by.display()),
            (Outcome::Unsupported { .. }, _) => "unsupported".to_string(),
        };
        let told = |source: &Source| Some(format!("{}: {}", source.path()?.display(), fate(source)));
        resolution.sources.iter().filter_map(told).collect()
    }

    fn session(cwd: &str) -> Session {
        let mut session = Session::new(cwd);
        session.home = Some("/h".into());
        session
    }

    #[test]
    fn every_import_has_a_fate() {
        let mut files = Memory::default();
        files.file("/p/CLAUDE.md", "@a.md @b.png @no.md @/o.md @d @~/h.md @gone.md @empty.md");
        files
            .file("/p/a.md", "@1.md @CLAUDE.md")
            .file("/p/b.png", "x")
            .file("/o.md", "x")
            .dir("/p/d")
            .file("/h/h.md", "x");
        files
            .link("/p/gone.md", "nowhere")
            .file("/p/empty.md", " \n")
            .file("/p/1.md", "@2.md")
            .file("/p/2.md", "@3.md @a.md");
        files.file("/p/3.md", "@4.md").file("/p/4.md", "x");
        let want = [
            "/p/CLAUDE.md: startup",
            "/p/a.md: startup",
            "/p/1.md: startup",
            "/p/2.md: startup",
            "/p/3.md: startup",
            "/h/h.md: outside-project",
            "/o.md: outside-project",
            "/p/4.md: too-deep",
            "/p/CLAUDE.md: cycle",
            "/p/a.md: cycle",
            "/p/b.png: not-text",
            "/p/d: not-a-file",
            "/p/empty.md: empty",
            "/p/gone.md: broken-link",
            "/p/no.md: missing",
        ];
        assert_eq!(fates(&files, &session("/p"), "2.1.220"), want);
        let mut approved = session("/p");
        approved.allowed.insert("/o.md".into());
        assert!(fates(&files, &approved, "2.1.220").contains(&"/o.md: startup".to_string()));
    }

    #[test]
    fn what_is_lazy_says_what_loads_it() {
        let mut files = Memory::default();
        files.file("/p/.claude/rules/c.md", "---\npaths: src/**\n---\nx @t.md").file("/p/.claude/rules/t.md", "x");
        files.file("/p/.claude/rules/n.md", "---\npaths: ./src\n---\nx").file("/p/.claude/rules/m.mdc", "x");
        files.file("/p/a/CLAUDE.md", "@../b/t.md").file("/p/b/CLAUDE.md", "@t.md").file("/p/b/t.md", "x");
        files.file("/p/AGENTS.md", "x");
        let lazy = [
            "/p/.claude/rules/t.md: startup",
            "/p/.claude/rules/c.md: on src",
            "/p/a/CLAUDE.md: under /p/a",
            "/p/b/t.md: under /p/a",
            "/p/b/CLAUDE.md: under /p/b",
            "/p/b/t.md: under /p/b",
            "/p/.claude/rules/m.mdc: unsupported",
            "/p/.claude/rules/n.md: never-matches",
            "/p/AGENTS.md: unsupported",
        ];
        assert_eq!(fates(&files, &session("/p"), "2.1.220"), lazy);
        let from_a = fates(&files, &session("/p/a"), "2.1.220");
        assert!(from_a.contains(&"/p/b/CLAUDE.md: not-in-chain".to_string()), "{from_a:?}");
    }

    #[test]
    fn agents_files_load_where_no_claude_file_is() {
        let mut files = Memory::default();
        files
            .file("/p/AGENTS.md", "x")
            .file("/p/a/AGENTS.md", "x")
            .file("/p/b/AGENTS.md", "x")
            .file("/p/b/CLAUDE.md", "x");
        let want = [
            "/p/AGENTS.md: startup",
            "/p/a/AGENTS.md: under /p/a",
            "/p/b/CLAUDE.md: under /p/b",
            "/p/b/AGENTS.md: shadowed by /p/b/CLAUDE.md",
        ];
        assert_eq!(fates(&files, &session("/p"), "2.1.332"), want);
        files.file("/p/CLAUDE.md", "x");
        let shadowed = fates(&files, &session("/p"), "2.1.332");
        assert_eq!(shadowed[0], "/p/CLAUDE.md: startup");
        assert!(shadowed.contains(&"/p/AGENTS.md: shadowed by /p/CLAUDE.md".to_string()), "{shadowed:?}");
        assert!(shadowed.contains(&"/p/a/AGENTS.md: shadowed by /p/CLAUDE.md".to_string()), "{shadowed:?}");
    }

    #[test]
    fn rules_without_end_are_cut_short() {
        let mut files = Memory::default();
        files.link("/p/.claude/rules", "/many");
        for number in 0..=20_000 {
            files.file(format!("/many/{number}"), "x");
        }
        let session = session("/p");
        let project = discover(&files, Path::new("/p"), &session.cwd);
        let scene = Scene { files: &files, session: &session, project: &project };
        assert_eq!(CLIENT.resolve(&scene, Version::Release(2, 1, 220)).cut_short.len(), 1);
    }

    #[test]
    fn settings_and_switches() {
        let mut files = Memory::default();
        files.file("/p/CLAUDE.md", "x").file("/p/CLAUDE.local.md", "x").file("/h/.claude/CLAUDE.md", "x");
        files.file("/p/.claude/settings.json", "{\"claudeMdExcludes\": [\"**/p/CLAUDE.md\"]}");
        let want = ["/h/.claude/CLAUDE.md: startup", "/p/CLAUDE.local.md: startup", "/p/CLAUDE.md: excluded"];
        assert_eq!(fates(&files, &session("/p"), "2.1.220"), want);
        let mut alone = session("/p");
        alone.user = false;
        assert_eq!(fates(&files, &alone, "2.1.220"), want[1..]);
        let mut off = session("/p");
        off.env.insert("CLAUDE_CODE_DISABLE_CLAUDE_MDS".into(), "true".into());
        let disabled = ["/h/.claude/CLAUDE.md: disabled", "/p/CLAUDE.local.md: disabled", "/p/CLAUDE.md: excluded"];
        assert_eq!(fates(&files, &off, "2.1.220"), disabled);
    }
}
