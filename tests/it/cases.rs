//! The cases of `fixtures/`: a directory each, with its expectation beside it.
//!
//! `case.yaml` says how the clients are started and which rules run, `fs/` is mounted at `/`, and `expected.snap` lists
//! each source with its fate and each finding. A case runs the rules that it names, and only those.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use rulecheck::clients::{Client, Scene, Session, Version, client};
use rulecheck::config::Config;
use rulecheck::diagnostic::Diagnostic;
use rulecheck::discover::discover;
use rulecheck::files::{Files, Memory, absolute};
use rulecheck::resolution::{Location, Outcome, Phase, Resolution, Source, Trigger};
use rulecheck::rules::{Lint, RULES, Rule, findings};
use rulecheck::secrets::Scanned;
use rulecheck::text::{Place, lossy, position};
use serde::Deserialize;

/// `case.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// What the case shows, one sentence.
    #[allow(dead_code, reason = "for readers")]
    about: String,
    #[serde(default = "project")]
    pub(crate) project: PathBuf,
    cwd: Option<PathBuf>,
    #[serde(default = "home")]
    pub(crate) home: PathBuf,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    args: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    reads: Vec<PathBuf>,
    #[serde(default = "clients")]
    pub(crate) clients: Vec<String>,
    #[serde(default)]
    rules: Vec<String>,
    /// Whether the example of a page is a repository; a case adds its own.
    #[serde(default = "yes")]
    pub(crate) git: bool,
    /// What a repository cannot hold: `.git`, empty or as `git init` makes it, links, empty directories, bytes.
    #[serde(default)]
    add: Vec<Add>,
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Add {
    Dir { dir: PathBuf },
    Git { git: PathBuf },
    Link { link: PathBuf, to: PathBuf },
    Pipe { pipe: PathBuf },
    Closed { closed: PathBuf },
    Repeat { file: PathBuf, repeat: String, times: usize },
    Hex { file: PathBuf, hex: String },
    Text { file: PathBuf, text: String },
}

fn yes() -> bool {
    true
}

fn project() -> PathBuf {
    "/proj".into()
}

fn home() -> PathBuf {
    "/home".into()
}

fn clients() -> Vec<String> {
    ["codex", "opencode", "claude"].map(String::from).to_vec()
}

#[test]
fn every_case_gives_what_it_expects() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut count = 0;
    let mut dirs: Vec<PathBuf> = Vec::new();
    case_dirs(&fixtures, &mut dirs);
    dirs.sort();
    for dir in dirs {
        count += 1;
        insta::with_settings!({
            snapshot_path => &dir,
            prepend_module_to_snapshot => false,
            snapshot_suffix => "",
            omit_expression => true,
        }, {
            insta::assert_snapshot!("expected", show(&dir));
        });
    }
    assert!(count > 0);
}

fn case_dirs(dir: &Path, found: &mut Vec<PathBuf>) {
    if dir.join("case.yaml").is_file() {
        found.push(dir.to_path_buf());
        return;
    }
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            case_dirs(&path, found);
        }
    }
}

/// What the program says of the case in `dir`.
fn show(dir: &Path) -> String {
    let text = std::fs::read_to_string(dir.join("case.yaml")).unwrap();
    let case: Case = serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let files = mount(dir, &case);
    let named: Vec<&Rule> = case
        .rules
        .iter()
        .map(|name| *RULES.iter().find(|rule| rule.name == name).unwrap_or_else(|| panic!("no rule {name}")))
        .collect();
    let Said { sources, findings } = say(&case, &files, &named);
    sources + &findings.into_iter().map(|(_, text)| text).collect::<String>()
}

/// What the program says: the sources of each client, and each finding with its rule.
pub(crate) struct Said {
    pub(crate) sources: String,
    pub(crate) findings: Vec<(&'static str, String)>,
}

/// What the program says of `case`, whose files are `files`.
pub(crate) fn say(case: &Case, files: &Memory, rules: &[&Rule]) -> Said {
    let session = session(case, files);
    let project = discover(files, &case.project, &session.cwd);
    let scene = Scene { files, session: &session, project: &project };
    let resolutions: Vec<Resolution> = case.clients.iter().map(|name| resolve(&scene, name)).collect();
    let mut sources = String::new();
    for resolution in &resolutions {
        list(case, resolution, &mut sources);
    }
    let secrets = Scanned::new(files, "", &resolutions);
    let config = Config::of_project(files, &case.project).unwrap_or_else(|invalid| panic!("{}", invalid.cause));
    let mut findings =
        findings(rules, &[Lint { scene: &scene, resolutions: &resolutions, secrets: &secrets }], &config);
    findings.retain(|found| rules.iter().any(|rule| rule.name == found.rule));
    let told = |diagnostic: &Diagnostic| {
        let mut out = String::new();
        finding(case, files, diagnostic, &mut out);
        (diagnostic.rule, out)
    };
    Said { sources, findings: findings.iter().map(told).collect() }
}

/// How the clients of `case` are started.
pub(crate) fn session(case: &Case, files: &Memory) -> Session {
    let cwd = files.real(case.cwd.as_deref().unwrap_or(&case.project)).unwrap();
    let mut session = Session::new(&cwd);
    session.home = Some(case.home.clone());
    session.env = case.env.clone();
    session.env.insert("HOME".into(), case.home.to_string_lossy().into_owned());
    session.args = case.args.clone();
    session.reads = case.reads.iter().map(|read| absolute(&case.project, read)).collect();
    session
}

/// Every case with its files, by its directory.
pub(crate) fn all() -> Vec<(PathBuf, Case, Memory)> {
    let mut dirs = Vec::new();
    case_dirs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"), &mut dirs);
    dirs.sort();
    let case = |dir: PathBuf| {
        let case: Case = serde_yaml::from_str(&std::fs::read_to_string(dir.join("case.yaml")).unwrap()).unwrap();
        let files = mount(&dir, &case);
        (dir, case, files)
    };
    dirs.into_iter().map(case).collect()
}

fn resolve(scene: &Scene<'_>, name: &str) -> Resolution {
    let (name, version) = name.split_once('@').map_or((name, None), |(name, version)| (name, Some(version)));
    let client: &Client = client(name).unwrap();
    let version: Version = version.map_or(client.default, |version| version.parse().unwrap());
    client.resolve(scene, version)
}

fn mount(dir: &Path, case: &Case) -> Memory {
    let mut memory = Memory::default();
    memory.dir(&case.project).dir(&case.home);
    let fs = dir.join("fs");
    if fs.is_dir() {
        copy(&fs, Path::new("/"), &mut memory);
    }
    add(case, &mut memory);
    memory
}

/// Adds what a repository cannot hold.
pub(crate) fn add(case: &Case, memory: &mut Memory) {
    for add in &case.add {
        match add {
            Add::Dir { dir } => memory.dir(dir),
            Add::Git { git } => {
                let git = git.join(".git");
                memory.file(git.join("HEAD"), "ref: refs/heads/main\n").dir(git.join("objects")).dir(git.join("refs"))
            }
            Add::Link { link, to } => memory.link(link, to),
            Add::Pipe { pipe } => memory.other(pipe),
            Add::Closed { closed } => memory.denied(closed),
            Add::Repeat { file, repeat, times } => memory.file(file, repeat.repeat(*times)),
            Add::Hex { file, hex } => {
                let bytes = (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap());
                memory.file(file, bytes.collect::<Vec<u8>>())
            }
            Add::Text { file, text } => memory.file(file, text),
        };
    }
}

fn copy(from: &Path, to: &Path, memory: &mut Memory) {
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            memory.dir(&target);
            copy(&path, &target, memory);
        } else {
            memory.file(&target, std::fs::read(&path).unwrap());
        }
    }
}

/// One line a source, what loads first.
fn list(case: &Case, resolution: &Resolution, out: &mut String) {
    let _ = writeln!(out, "{} {}", resolution.client, resolution.version);
    if let Some(refusal) = &resolution.refusal {
        let _ = writeln!(out, "  does not start: {}: {}", short(case, &refusal.at.path), refusal.why);
    }
    for source in &resolution.sources {
        let _ = writeln!(out, "  {}", line(case, source));
    }
}

fn line(case: &Case, source: &Source) -> String {
    let fate = match &source.outcome {
        Outcome::Loaded => "loaded".into(),
        Outcome::Shadowed { by } => format!("shadowed by {}", short(case, by)),
        Outcome::Unsupported { .. } => "unsupported".into(),
        Outcome::Skipped { why } => format!("skipped {}", why.word()),
    };
    let name = match &source.location {
        Location::File(path) => short(case, path),
        Location::Url(text) | Location::Argument(text) => text.clone(),
    };
    let mut line = format!("{name}: {fate}");
    match &source.phase {
        Phase::Startup => {}
        Phase::Lazy(Trigger::Under(dir)) => {
            let _ = write!(line, ", lazy under {}", short(case, dir));
        }
        Phase::Lazy(Trigger::Patterns { patterns, .. }) => {
            let _ = write!(line, ", lazy for {}", patterns.join(" "));
        }
    }
    if let Some(read) = source.activated_by {
        let _ = write!(line, ", by reading {}", case.reads[read].display());
    }
    if let Some(cut) = &source.cut {
        let _ = write!(line, ", bytes {}..{}", cut.start, cut.end);
    }
    line
}

fn finding(case: &Case, files: &Memory, diagnostic: &Diagnostic, out: &mut String) {
    let at = |place: &Place| {
        let text = files.read(&place.path).map(|bytes| lossy(&bytes).into_owned()).unwrap_or_default();
        let start = place.span.map(|span| position(&text, span.start));
        let lines = start.map_or(String::new(), |start| format!(":{}:{}", start.line, start.column));
        format!("{}{lines}", short(case, &place.path))
    };
    let _ =
        writeln!(out, "{}[{}] {}: {}", diagnostic.level, diagnostic.rule, at(&diagnostic.place), diagnostic.message);
    let whom: Vec<String> =
        diagnostic.clients.iter().map(|whom| format!("{}@{} {}", whom.client, whom.version, whom.phase)).collect();
    let _ = writeln!(out, "  for {}", whom.join(", "));
    for (place, message) in &diagnostic.related {
        let _ = writeln!(out, "  {}: {message}", at(place));
    }
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(out, "  help: {help}");
    }
}

fn short(case: &Case, path: &Path) -> String {
    path.strip_prefix(&case.project).unwrap_or(path).to_string_lossy().into_owned()
}

/// Each change of a client has a case that differs at its version and not before: `history/<client>-<version>-…`, with the
/// versions on both sides.
#[test]
fn every_change_of_a_client_shows_in_a_case() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/history");
    let names: Vec<String> =
        std::fs::read_dir(&dir).unwrap().map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
    for client in rulecheck::clients::CLIENTS {
        let mut rows: BTreeMap<String, usize> = BTreeMap::new();
        for row in (client.history)().into_iter().filter(|row| row.since > client.recorded[0]) {
            *rows.entry(format!("{}-{}-", client.name, row.since)).or_default() += 1;
        }
        for (start, count) in rows {
            let cases: Vec<&String> = names.iter().filter(|name| name.starts_with(&start)).collect();
            assert_eq!(cases.len(), count, "{start}");
        }
    }
    for name in names {
        let listed = std::fs::read_to_string(dir.join(&name).join("expected.snap")).unwrap();
        let version = |line: &str| ["codex ", "opencode ", "claude "].iter().any(|client| line.starts_with(client));
        let mut halves: Vec<Vec<&str>> = Vec::new();
        for line in listed.lines().skip_while(|line| !version(line)) {
            if version(line) {
                halves.push(Vec::new());
            } else {
                halves.last_mut().unwrap().push(line);
            }
        }
        assert!(halves.len() == 2 && halves[0] != halves[1], "{name}: {listed}");
    }
}
