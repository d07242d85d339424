//! Codex: what it loads, in the order of its manual.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::clients::{Client, PassedOver, Scene, Version, behaviour_at, rows};
use crate::files::{Entry, Unreadable, absolute, chain};
use crate::resolution::{Inline, Location, Outcome, Refusal, Resolution, Scope, Skip, Source, Via};
use crate::text::{Place, lossy};

mod config;
mod history;

use config::{Arguments, Config, Setting};
use history::{Behaviour, HISTORY};

/// Codex, all versions.
pub static CLIENT: Client = Client {
    name: "codex",
    title: "Codex",
    default: Version::Manual(2026, 7, 31),
    recorded: &[
        Version::Manual(2026, 7, 31),
        Version::Release(0, 122, 0),
        Version::Release(0, 129, 0),
        Version::Release(0, 133, 0),
        Version::Release(0, 134, 0),
        Version::Release(0, 142, 0),
        Version::Release(0, 145, 0),
        Version::Release(0, 149, 0),
        Version::Release(0, 150, 0),
        Version::Release(0, 156, 0),
        Version::Release(0, 164, 0),
        Version::Release(0, 171, 0),
    ],
    history: || rows(HISTORY),
    resolve,
    passed_over,
    arguments: &["-C", "--cd", "-c", "--config", "-p", "--profile"],
    reads_below: false,
    shown: |text, _, _| text.to_string(),
};

/// The byte budget of the project's files when no configuration sets another.
const MAX_BYTES: u64 = 32 * 1024;

const OVERRIDE: &str = "AGENTS.override.md";
const AGENTS: &str = "AGENTS.md";

const GLOBAL: &str = "codex/manual-2026-07-31#global";
const CHAIN: &str = "codex/manual-2026-07-31#project-chain";
const BUDGET: &str = "codex/manual-2026-07-31#budget";
const NO_DESCENDANTS: &str = "codex/manual-2026-07-31#no-descendants";
const NATIVE_NAMES: &str = "codex/manual-2026-07-31#native-names";

fn resolve(scene: &Scene<'_>, version: Version) -> Resolution {
    let behaviour = behaviour_at(HISTORY, version);
    let mut resolution = Resolution::new(CLIENT.name, version);
    let arguments = Arguments::read(scene.session.args(CLIENT.name));
    let cwd = start_directory(scene, &arguments);
    let read = home(scene).and_then(|home| {
        let config = Config::read(scene, &behaviour, home.as_deref(), &cwd, &arguments)?;
        Ok((home, config))
    });
    let (home, config) = match read {
        Ok(read) => read,
        Err(refusal) => {
            resolution.sources = not_started(scene, &refusal);
            resolution.refusal = Some(refusal);
            return resolution;
        }
    };
    base_instructions(scene, &behaviour, &config, &mut resolution.sources);
    resolution.sources.extend(config.developer.iter().filter_map(|text| inline(text, "developer_instructions")));
    if let Some(home) = home.filter(|_| scene.session.user) {
        global(scene, &behaviour, &home, &mut resolution.sources);
    }
    project_chain(scene, &behaviour, &config, &cwd, &mut resolution.sources);
    resolution.ignored_config = config.misplaced;
    resolution
}

/// The start directory: `-C DIR`, else where the client is run.
fn start_directory(scene: &Scene<'_>, arguments: &Arguments) -> PathBuf {
    let cwd = &scene.session.cwd;
    match &arguments.cd {
        Some(dir) => {
            let dir = absolute(cwd, dir);
            scene.files.real(&dir).unwrap_or(dir)
        }
        None => cwd.clone(),
    }
}

/// `$CODEX_HOME`, which must exist when it is set, else `~/.codex`.
fn home(scene: &Scene<'_>) -> Result<Option<PathBuf>, Refusal> {
    match scene.session.var("CODEX_HOME") {
        Some(home) => {
            let home = absolute(&scene.session.cwd, Path::new(home));
            if scene.files.is_dir(&home) {
                return Ok(Some(home));
            }
            Err(Refusal {
                at: Place::whole(home),
                why: "`CODEX_HOME` names a directory that does not exist".into(),
                evidence: "codex/run-0.145.0#home",
            })
        }
        None => Ok(scene.session.home.as_ref().map(|home| home.join(".codex"))),
    }
}

/// The text of `model_instructions_file`, or else of `instructions`, in place of the client's own base instructions.
fn base_instructions(scene: &Scene<'_>, behaviour: &Behaviour, config: &Config, sources: &mut Vec<Source>) {
    let source = match (&config.base_file, &config.instructions) {
        (Some((path, setting)), _) => {
            let mut source =
                Source::file(path, Scope::Configured, Via::Config, "codex/run-0.164.0#base-instructions-show");
            source.real = scene.files.real(path);
            source.bytes = scene.files.read(path).ok().map(|bytes| bytes.len() as u64);
            source.from.clone_from(&setting.place);
            Some(source)
        }
        (None, Some(setting)) => inline(setting, "instructions"),
        (None, None) => None,
    };
    sources.extend(source.map(|source| match behaviour.base_instructions_show {
        true => source,
        false => source.skipped(Skip::NotObserved),
    }));
}

/// A text that stands in the configuration itself; a blank one is nothing.
fn inline(setting: &Setting, key: &str) -> Option<Source> {
    if setting.text.trim().is_empty() {
        return None;
    }
    let mut source = Source::file("", Scope::Inline, Via::Config, "codex/run-0.145.0#developer-instructions");
    source.location = match &setting.place {
        Some(place) => Location::File(place.path.clone()),
        None => Location::Argument(format!("-c {key}")),
    };
    source.from.clone_from(&setting.place);
    source.bytes = Some(setting.text.len() as u64);
    source.inline = Some(Inline(setting.text.clone()));
    Some(source)
}

/// In the home directory, the first of `AGENTS.override.md` and `AGENTS.md` that is not empty. Only one.
fn global(scene: &Scene<'_>, behaviour: &Behaviour, home: &Path, sources: &mut Vec<Source>) {
    let mut taken: Option<PathBuf> = None;
    for name in [OVERRIDE, AGENTS] {
        let path = home.join(name);
        let Some(mut source) = candidate(scene, &path, Scope::User, GLOBAL) else { continue };
        if let Some(by) = &taken {
            source = source.shadowed(by);
        } else if source.is_loaded() {
            match scene.files.read(&path) {
                Ok(bytes) if behaviour.global_must_be_utf8 && std::str::from_utf8(&bytes).is_err() => {
                    source = source.skipped(Skip::NotText);
                    source.evidence.push("codex/run-0.122.0#global-utf8");
                }
                Ok(bytes) if lossy(&bytes).trim().is_empty() => source = source.skipped(Skip::Empty),
                Ok(_) => taken = Some(path),
                Err(_) => source = source.skipped(Skip::Unreadable),
            }
        }
        sources.push(source);
    }
}

/// From the project root down to the start directory, at most one file a directory, until the budget is spent.
fn project_chain(scene: &Scene<'_>, behaviour: &Behaviour, config: &Config, cwd: &Path, sources: &mut Vec<Source>) {
    let names = candidate_names(behaviour, config);
    let mut chosen: Vec<Source> = Vec::new();
    let mut rest: Vec<Source> = Vec::new();
    let mut aborted = config.aborted;
    let top = config.root.as_deref().unwrap_or(cwd);
    for dir in chain(top, cwd) {
        aborted |= !choose(scene, behaviour, dir, &names, &mut chosen, &mut rest);
    }
    let untrusted = behaviour.untrusted_supplies_nothing && config.untrusted;
    let mut budget = config.max_bytes;
    for source in &mut chosen {
        if untrusted {
            *source = source.clone().skipped(Skip::Untrusted);
            source.evidence.push("codex/run-0.150.0#untrusted-supplies-nothing");
        } else if aborted {
            *source = source.clone().skipped(Skip::Aborted);
        } else if config.max_bytes == 0 {
            *source = source.clone().skipped(Skip::Disabled);
        } else {
            spend(scene, source, &mut budget);
        }
    }
    sources.extend(chosen);
    sources.extend(rest);
    sources.extend(beside_the_chain(scene, &names, sources));
}

/// `AGENTS.override.md`, `AGENTS.md`, then the fallback names of the configuration, each once.
fn candidate_names(behaviour: &Behaviour, config: &Config) -> Vec<String> {
    let mut names: Vec<String> = vec![OVERRIDE.into(), AGENTS.into()];
    for name in &config.fallback_names {
        let name = name.trim();
        let plain = !name.contains('/') && !name.contains('\0');
        if !name.is_empty() && (plain || !behaviour.plain_fallbacks_only) && !names.iter().any(|known| known == name) {
            names.push(name.into());
        }
    }
    names
}

/// Where `name` is, seen from `dir`.
fn named(scene: &Scene<'_>, behaviour: &Behaviour, dir: &Path, name: &str) -> PathBuf {
    let home = scene.session.home.as_deref().filter(|_| behaviour.tilde_is_home);
    match (home, name.strip_prefix('~')) {
        (Some(home), Some(rest)) if rest.is_empty() || rest.starts_with('/') => {
            absolute(home, Path::new(rest.trim_start_matches('/')))
        }
        _ => absolute(dir, Path::new(name)),
    }
}

/// Chooses the file of one directory. False when a path cannot be followed, at which the client gives up the chain.
fn choose(
    scene: &Scene<'_>,
    behaviour: &Behaviour,
    dir: &Path,
    names: &[String],
    chosen: &mut Vec<Source>,
    rest: &mut Vec<Source>,
) -> bool {
    let mut taken: Option<PathBuf> = None;
    let mut followed = true;
    for (at, name) in names.iter().enumerate() {
        let path = named(scene, behaviour, dir, name);
        let evidence = if behaviour.blank_is_taken { "codex/run-0.145.0#blank-is-taken" } else { CHAIN };
        if taken.is_none() && name.contains('\0') {
            followed = false;
            break;
        }
        let source = candidate(scene, &path, if at < 2 { Scope::Project } else { Scope::Configured }, evidence);
        let Some(mut source) = source else {
            if taken.is_none() && !matches!(scene.files.read(&path), Err(Unreadable::Missing | Unreadable::NotAFile)) {
                followed = false;
                break;
            }
            continue;
        };
        source.via = if at < 2 { Via::Place } else { Via::Config };
        if let Some(by) = &taken {
            rest.push(source.shadowed(by));
            continue;
        }
        if !source.is_loaded() {
            followed &= source.outcome != (Outcome::Skipped { why: Skip::Unreadable });
            rest.push(source);
            if !followed {
                break;
            }
            continue;
        }
        match scene.files.read(&path) {
            Ok(bytes) if lossy(&bytes).trim().is_empty() && !behaviour.blank_is_taken => {
                rest.push(source.skipped(Skip::Empty));
            }
            Ok(_) => {
                taken = Some(path);
                chosen.push(source);
            }
            Err(_) => {
                followed = false;
                rest.push(source.skipped(Skip::Unreadable));
                break;
            }
        }
    }
    followed
}

/// What stands at the place of a candidate; `None` when nothing does.
fn candidate(scene: &Scene<'_>, path: &Path, scope: Scope, evidence: &'static str) -> Option<Source> {
    let mut source = Source::file(path, scope, Via::Place, evidence);
    match scene.files.entry(path)? {
        Entry::File { len } => source.bytes = Some(len),
        Entry::Link => match scene.files.target(path) {
            Some(Entry::File { len }) => source.bytes = Some(len),
            Some(_) => source = source.skipped(Skip::NotAFile),
            None if scene.files.read(path).is_err_and(|why| why == Unreadable::Lost) => {
                source = source.skipped(Skip::Unreadable)
            }
            None => source = source.skipped(Skip::BrokenLink),
        },
        Entry::Dir | Entry::Other => source = source.skipped(Skip::NotAFile),
    }
    source.real = scene.files.real(path);
    Some(source)
}

/// Takes the bytes of one file out of the budget: what does not fit is cut, and a blank rest costs nothing.
fn spend(scene: &Scene<'_>, source: &mut Source, budget: &mut u64) {
    let Some(Ok(bytes)) = source.path().map(|path| scene.files.read(path)) else { return };
    if *budget == 0 {
        *source = source.clone().skipped(if lossy(&bytes).trim().is_empty() { Skip::Empty } else { Skip::OverBudget });
        source.evidence.push(BUDGET);
        return;
    }
    let room = usize::try_from(*budget).unwrap_or(usize::MAX).min(bytes.len());
    source.bytes = Some(bytes.len() as u64);
    if lossy(&bytes[..room]).trim().is_empty() {
        *source = source.clone().skipped(Skip::Empty);
        return;
    }
    if room < bytes.len() {
        source.cut = Some(0..room);
        source.evidence.push(BUDGET);
    }
    *budget -= room as u64;
}

/// Files of a name that the client reads, in directories that it does not look at.
fn beside_the_chain(scene: &Scene<'_>, names: &[String], sources: &[Source]) -> Vec<Source> {
    let seen: BTreeSet<&Path> = sources.iter().filter_map(Source::path).collect();
    let fallbacks: Vec<&OsStr> = names.iter().skip(2).map(OsStr::new).collect();
    let aside = |path: &&PathBuf| {
        path.file_name().is_some_and(|name| fallbacks.contains(&name)) && !seen.contains(path.as_path())
    };
    let files = scene.project.instructions.iter().filter(aside);
    files
        .map(|path| {
            let mut source = Source::file(path, Scope::Configured, Via::Config, NO_DESCENDANTS);
            source.real = scene.files.real(path);
            source.skipped(Skip::NotInChain)
        })
        .collect()
}

/// A client that does not start loads nothing: its own names are listed all the same.
fn not_started(scene: &Scene<'_>, refusal: &Refusal) -> Vec<Source> {
    let native = |path: &&PathBuf| path.file_name().is_some_and(|name| name == OVERRIDE || name == AGENTS);
    let files = scene.project.instructions.iter().filter(native);
    files
        .map(|path| {
            let mut source = Source::file(path, Scope::Project, Via::Place, refusal.evidence);
            source.real = scene.files.real(path);
            source.skipped(Skip::NoStart)
        })
        .collect()
}

fn passed_over(_scene: &Scene<'_>, _version: Version, path: &Path) -> PassedOver {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    if name == AGENTS || name == OVERRIDE {
        return PassedOver { outcome: Outcome::Skipped { why: Skip::NotInChain }, evidence: NO_DESCENDANTS };
    }
    let why = "Codex reads `AGENTS.override.md`, `AGENTS.md` and the names in `project_doc_fallback_filenames`";
    PassedOver { outcome: Outcome::Unsupported { why: why.into() }, evidence: NATIVE_NAMES }
}
