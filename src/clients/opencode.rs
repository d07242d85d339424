//! OpenCode: what it loads, in the order of its documentation.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use self::history::HISTORY;
use self::setting::Setting;
use crate::clients::{Client, PassedOver, Scene, Version, behaviour_at, rows};
use crate::files::Files;
use crate::resolution::{Outcome, Resolution, Scope, Skip, Source, Via};

mod config;
mod file;
mod history;
mod instructions;
mod keys;
mod lazy;
mod next;
mod reading;
mod setting;
mod substitute;
mod walk;

/// OpenCode, all versions.
pub static CLIENT: Client = Client {
    name: "opencode",
    title: "OpenCode",
    default: Version::Release(1, 18, 7),
    recorded: &[
        Version::Release(1, 15, 13),
        Version::Release(1, 17, 0),
        Version::Release(1, 17, 9),
        Version::Release(1, 17, 11),
        Version::Release(1, 17, 19),
        Version::Release(1, 18, 3),
        Version::Release(1, 18, 7),
        Version::Release(1, 18, 16),
        Version::Release(1, 18, 23),
        Version::Release(1, 18, 24),
        Version::Release(1, 18, 33),
    ],
    history: || rows(HISTORY),
    resolve,
    passed_over,
    arguments: &["--dir"],
    reads_below: true,
    shown: |text, _, _| text.to_string(),
};

/// The names of an instruction file, first choice first.
const NAMES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "CONTEXT.md"];

fn resolve(scene: &Scene<'_>, version: Version) -> Resolution {
    let behaviour = behaviour_at(HISTORY, version);
    let setting = Setting::new(scene);
    let mut resolution = Resolution::new(CLIENT.name, version);
    let config = config::read(scene, &setting, &behaviour).unwrap_or_else(|refusal| {
        resolution.refusal = Some(refusal);
        config::Config::default()
    });
    resolution.ignored_config.extend(config.ignored.iter().cloned());
    // The paths that are loaded at the start: each counts once, by its spelling.
    let mut seen = BTreeSet::new();
    resolution.sources.extend(global(scene, &setting, &mut seen));
    resolution.sources.extend(ancestors(scene, &setting, &mut seen));
    instructions::resolve(scene, &setting, &config, &mut seen, &mut resolution);
    resolution.sources.extend(lazy::resolve(scene, &setting, &seen));
    if resolution.refusal.is_some() {
        for source in resolution.sources.iter_mut().filter(|source| source.is_loaded()) {
            source.outcome = Outcome::Skipped { why: Skip::NoStart };
        }
    }
    resolution
}

/// The user's file: `AGENTS.md` in the configuration directory, else Claude's.
fn global(scene: &Scene<'_>, setting: &Setting, seen: &mut BTreeSet<PathBuf>) -> Vec<Source> {
    if !scene.session.user {
        return Vec::new();
    }
    let source = |path: &Path, claim| {
        let mut source = Source::file(path, Scope::User, Via::Place, "opencode/source-1.18.7#global");
        source.evidence.push(claim);
        file::filled(scene.files, source)
    };
    let there = |path: &PathBuf| scene.files.entry(path).is_some();
    let places = setting.custom.iter().chain(&setting.global).map(|dir| dir.join("AGENTS.md"));
    let mut places = places.collect::<Vec<_>>().into_iter();
    let mut sources = Vec::new();
    let mut taken: Option<PathBuf> = None;
    if let Some(first) = places.next().filter(there) {
        sources.push(source(&first, "opencode/run-1.18.7#global-file"));
        taken = scene.files.target(&first).map(|_| first);
    }
    // With `OPENCODE_CONFIG_DIR`, the usual place is not looked at.
    let passed = places.filter(there).filter(|path| Some(path) != taken.as_ref());
    sources.extend(passed.map(|path| source(&path, "opencode/run-1.18.7#config-directory").skipped(Skip::NotInChain)));
    let claude = setting.home.as_ref().map(|home| home.join(".claude/CLAUDE.md")).filter(there);
    if let Some(claude) = claude {
        let source = source(&claude, "opencode/run-1.18.7#global-fallback");
        sources.push(match &taken {
            _ if !setting.compatible => source.skipped(Skip::Disabled),
            Some(by) => source.shadowed(by),
            None => source,
        });
        if taken.is_none() && setting.compatible && scene.files.target(&claude).is_some() {
            taken = Some(claude);
        }
    }
    seen.extend(taken);
    sources
}

/// The files of one name in the start directory and above it: of the first name that is there at all.
fn ancestors(scene: &Scene<'_>, setting: &Setting, seen: &mut BTreeSet<PathBuf>) -> Vec<Source> {
    let files = scene.files;
    let in_chain = |name: &str| setting.chain.iter().map(|dir| dir.join(name)).collect::<Vec<_>>();
    let there = |path: &PathBuf| files.target(path).is_some();
    // Where the client cannot look at one of them, it finds none of that name.
    let found = |name: &str| {
        let paths = in_chain(name);
        paths.iter().any(there) && !paths.iter().any(|path| files.is_barred(path))
    };
    let family = setting.names().iter().find(|name| setting.project && found(name));
    let taken: Vec<PathBuf> = family.map(|name| in_chain(name)).unwrap_or_default().into_iter().filter(there).collect();
    let mut sources = Vec::new();
    for name in NAMES {
        for path in in_chain(name).into_iter().filter(|path| files.entry(path).is_some() && !seen.contains(path)) {
            let mut source = Source::file(&path, Scope::Project, Via::Place, "opencode/source-1.18.7#startup-family");
            source.evidence.push("opencode/run-1.18.7#family");
            let source = file::filled(files, source);
            let by = taken.iter().find(|by| by.parent() == path.parent()).or(taken.first());
            sources.push(match by {
                _ if !setting.project => disabled(source, "opencode/run-1.18.7#project-switch"),
                _ if name == "CLAUDE.md" && !setting.compatible => {
                    disabled(source, "opencode/run-1.18.7#compatibility-switch")
                }
                _ if taken.contains(&path) || !there(&path) => source,
                Some(by) => source.shadowed(by),
                // The client found none of this name, since it could not look at one of them.
                None => source.skipped(Skip::Aborted),
            });
        }
    }
    seen.extend(taken);
    sources
}

/// The file that is taken in `dir` when the client looks at that directory alone.
fn chosen(files: &dyn Files, setting: &Setting, dir: &Path) -> Option<PathBuf> {
    setting.names().iter().map(|name| dir.join(name)).find(|path| files.target(path).is_some())
}

fn disabled(mut source: Source, claim: &'static str) -> Source {
    source.evidence.push(claim);
    source.skipped(Skip::Disabled)
}

fn passed_over(_scene: &Scene<'_>, _version: Version, path: &Path) -> PassedOver {
    let name = path.file_name().unwrap_or_default();
    let inside = |dir: &str| path.parent().and_then(Path::file_name).is_some_and(|parent| parent == dir);
    let unsupported = |why: &str| PassedOver {
        outcome: Outcome::Unsupported { why: why.into() },
        evidence: "opencode/run-1.18.7#not-read",
    };
    if crate::discover::is_rule_place(path) {
        unsupported(
            "OpenCode does not read `.claude/rules`; it reads files that `instructions` in `opencode.json` names",
        )
    } else if inside(".claude") && name == "CLAUDE.md" {
        unsupported("OpenCode does not read `.claude/CLAUDE.md` of a project; it reads a `CLAUDE.md` beside `.claude`")
    } else if inside(".opencode") && name == "AGENTS.md" {
        unsupported("OpenCode does not read `.opencode/AGENTS.md`; it reads an `AGENTS.md` beside `.opencode`")
    } else if NAMES.iter().any(|known| name == *known) {
        PassedOver { outcome: Outcome::Skipped { why: Skip::NotInChain }, evidence: "opencode/run-1.18.7#chain" }
    } else {
        unsupported(
            "OpenCode does not read this name; it reads `AGENTS.md`, else `CLAUDE.md`, else `CONTEXT.md`, and files \
             that `instructions` in `opencode.json` names",
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::claim;

    /// Every claim that the resolver names is in the evidence.
    #[test]
    fn claims_exist() {
        let texts = [
            include_str!("opencode.rs"),
            include_str!("opencode/config.rs"),
            include_str!("opencode/history.rs"),
            include_str!("opencode/instructions.rs"),
            include_str!("opencode/keys.rs"),
            include_str!("opencode/lazy.rs"),
            include_str!("opencode/next.rs"),
            include_str!("opencode/setting.rs"),
        ];
        let name = regex::Regex::new("\"(opencode/[a-z0-9.-]+#[a-z-]+)\"").unwrap();
        let mut count = 0;
        for found in texts.iter().flat_map(|text| name.captures_iter(text)) {
            assert!(claim(&found[1]).is_some(), "{} is not a claim", &found[1]);
            count += 1;
        }
        assert!(count > 20);
    }
}
