//! The places where Claude Code looks: the groups of files of a directory, and the rules of a `.claude/rules`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::claims;
use super::loader::{Found, Loader, Pass, Reach};
use crate::files::Entry;
use crate::resolution::{Outcome, Phase, Refusal, Scope, Skip, Via};
use crate::text::Place;

/// How many files and directories of one rules directory are looked at: a link in it may lead to the whole disk.
const MAX_ENTRIES: usize = 20_000;

/// A group of files: who put them there, when they load, and whether a switch turns them off.
#[derive(Clone)]
pub(super) struct Group {
    pub(super) scope: Scope,
    pub(super) phase: Phase,
    pub(super) off: bool,
    pub(super) evidence: &'static str,
}

impl Loader<'_> {
    /// A memory file, by its place.
    pub(super) fn memory(&mut self, pass: &mut Pass, path: PathBuf, group: &Group) {
        self.memory_spelled(pass, path, None, group);
    }

    /// A memory file whose path exclusions see as `spelled`.
    pub(super) fn memory_spelled(&mut self, pass: &mut Pass, path: PathBuf, spelled: Option<String>, group: &Group) {
        self.visit(pass, &Reach { spelled, ..reach(path, Via::Place, group) });
    }

    /// The `AGENTS.md` files of `dir`; the Claude file `winner`, if there is one, is taken in their place.
    pub(super) fn agents(&mut self, pass: &mut Pass, dir: &Path, group: &Group, winner: Option<&Path>) {
        for name in ["AGENTS.md", ".claude/AGENTS.md"] {
            let path = dir.join(name);
            let Some(by) = winner else {
                self.memory(pass, path, group);
                continue;
            };
            // It is looked at, not come to: an import may still load it.
            for mut found in pass.aside(|aside| self.memory(aside, path, group)) {
                if found.source.is_loaded() {
                    found.source.outcome = Outcome::Shadowed { by: by.to_path_buf() };
                }
                pass.found.push(found);
            }
        }
    }

    /// The rules in `dir`, at any depth, through links; their patterns are relative to `base`.
    pub(super) fn rules(&mut self, pass: &mut Pass, dir: &Path, base: &Path, group: &Group) {
        let Some(real) = self.real(dir) else { return };
        let mut seen = HashSet::from([real.clone()]);
        let mut todo = vec![(dir.to_path_buf(), real)];
        let mut left = MAX_ENTRIES;
        while let Some((dir, real_dir)) = todo.pop() {
            let mut below = Vec::new();
            let names = self.scene.files.list(&real_dir).unwrap_or_default();
            if names.len() > left {
                self.leave_rest(&dir);
                return;
            }
            left -= names.len();
            for name in names {
                let path = dir.join(&name);
                let ends_in_md = name.as_encoded_bytes().ends_with(b".md");
                let (real, entry) = match self.scene.files.entry(&real_dir.join(&name)) {
                    Some(Entry::Link) => {
                        (self.real(&real_dir.join(&name)), self.scene.files.target(&real_dir.join(&name)))
                    }
                    entry => (Some(real_dir.join(&name)), entry),
                };
                match (real, entry) {
                    (Some(real), Some(Entry::Dir)) if seen.insert(real.clone()) => below.push((path, real)),
                    (_, Some(Entry::Dir)) => {}
                    (real, _) if ends_in_md => {
                        let reach = Reach { real, rule_base: Some(base), ..reach(path, Via::Rule, group) };
                        self.visit(pass, &reach);
                    }
                    _ => {}
                }
            }
            todo.extend(below.into_iter().rev());
        }
    }

    /// Notes that the rules in `dir` and what comes after it are not looked at.
    fn leave_rest(&mut self, dir: &Path) {
        if self.cut_short.iter().all(|known| known.at.path != dir) {
            let why =
                format!("more than {MAX_ENTRIES} files and directories count as rules; from here on none is looked at");
            self.cut_short.push(Refusal { at: Place::whole(dir), why, evidence: claims::RULES });
        }
    }
}

/// The first Claude file of a project among `found`. One that a switch turns off counts; one that is blank or excluded
/// does not.
pub(super) fn claude_file(found: &[Found]) -> Option<PathBuf> {
    let counts = |found: &&Found| {
        found.source.via == Via::Place
            && matches!(found.source.scope, Scope::Project | Scope::Local)
            && matches!(found.source.outcome, Outcome::Loaded | Outcome::Skipped { why: Skip::Disabled })
    };
    found.iter().find(counts).and_then(|found| found.source.path()).map(Path::to_path_buf)
}

fn reach<'r>(path: PathBuf, via: Via, group: &Group) -> Reach<'r> {
    Reach {
        path,
        real: None,
        spelled: None,
        scope: group.scope,
        via,
        evidence: if via == Via::Rule { claims::RULES } else { group.evidence },
        phase: group.phase.clone(),
        rule_base: None,
        off: group.off,
        from: None,
        hop: 0,
    }
}
