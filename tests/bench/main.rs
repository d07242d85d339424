//! How long each part of a run takes, on small, large and pathological input. `cargo bench` prints it; nothing fails.

use std::path::Path;

use divan::{Bencher, black_box};
use rulecheck::clients::{CLIENTS, Scene, Session, client};
use rulecheck::config::Config;
use rulecheck::discover::{Project, discover};
use rulecheck::files::Memory;
use rulecheck::glob::gitignore::Patterns;
use rulecheck::glob::shell::{Glob, Options};
use rulecheck::report::human::{self, Style};
use rulecheck::report::{Report, Start, json};
use rulecheck::resolution::Resolution;
use rulecheck::rules::{Lint, RULES, findings};
use rulecheck::secrets::{Scanned, scan};
use rulecheck::{front_matter, markdown};

fn main() {
    divan::main();
}

/// The sizes of a project, in directories.
const SIZES: &[usize] = &[4, 400];

/// A project of `dirs` directories with ten files each, instructions in every second one, a rule for every fourth, and
/// one import a directory, of which half lead nowhere.
fn project(dirs: usize) -> Memory {
    let mut files = Memory::default();
    let mut imports = String::from("# Project\n\n");
    for at in 0..dirs {
        let dir = format!("/p/pkg{}/lib{at}", at % 20);
        for file in 0..10 {
            files.file(format!("{dir}/file{file}.ts"), "export {};\n");
        }
        if at % 2 == 0 {
            files.file(format!("{dir}/AGENTS.md"), rules(8));
            files.file(format!("{dir}/CLAUDE.md"), "@AGENTS.md\n");
        }
        if at % 4 == 0 {
            let paths = format!("---\npaths: \"pkg{}/lib{at}/**/*.ts\"\n---\n\n", at % 20);
            files.file(format!("/p/.claude/rules/r{at}.md"), paths + &rules(4));
        }
        files.file(format!("/p/docs/d{at}.md"), rules(4));
        imports += &format!("- See @docs/{}{at}.md\n", if at % 2 == 0 { "d" } else { "gone" });
    }
    files.file("/p/CLAUDE.md", imports).file("/p/AGENTS.md", rules(40)).file("/p/AGENTS.local.md", rules(4));
    files.file("/p/opencode.json", "{\"instructions\": [\"docs/**/*.md\"]}");
    files
}

fn rules(lines: usize) -> String {
    "- Build the module with care, and run `make test` before each commit.\n".repeat(lines)
}

fn session() -> Session {
    let mut session = Session::new("/p");
    session.home = Some("/home/me".into());
    session
}

fn walked(files: &Memory) -> Project {
    discover(files, Path::new("/p"), Path::new("/p"))
}

fn resolved(scene: &Scene<'_>) -> Vec<Resolution> {
    CLIENTS.iter().map(|client| client.resolve(scene, client.default)).collect()
}

#[divan::bench(args = SIZES)]
fn walk(bencher: Bencher<'_, '_>, dirs: usize) {
    let files = project(dirs);
    bencher.bench_local(|| walked(&files));
}

#[divan::bench(args = [("codex", 4), ("codex", 400), ("opencode", 4), ("opencode", 400), ("claude", 4), ("claude", 400)])]
fn resolve(bencher: Bencher<'_, '_>, (name, dirs): (&str, usize)) {
    let (files, session) = (project(dirs), session());
    let project = walked(&files);
    let scene = Scene { files: &files, session: &session, project: &project };
    let Some(client) = client(name) else { return };
    bencher.bench_local(|| client.resolve(&scene, client.default));
}

#[divan::bench(args = SIZES)]
fn rules_of_all_clients(bencher: Bencher<'_, '_>, dirs: usize) {
    let (files, session, config) = (project(dirs), session(), Config::default());
    let project = walked(&files);
    let scene = Scene { files: &files, session: &session, project: &project };
    let resolutions = resolved(&scene);
    let secrets = Scanned::new(&files, "", &resolutions);
    let lint = Lint { scene: &scene, resolutions: &resolutions, secrets: &secrets };
    bencher.bench_local(|| findings(RULES, &[lint], &config));
}

#[divan::bench(args = [("human", 4), ("human", 400), ("json", 4), ("json", 400)])]
fn format(bencher: Bencher<'_, '_>, (format, dirs): (&str, usize)) {
    let (files, session, config) = (project(dirs), session(), Config::default());
    let project = walked(&files);
    let scene = Scene { files: &files, session: &session, project: &project };
    let resolutions = resolved(&scene);
    let secrets = Scanned::new(&files, "", &resolutions);
    let found = findings(RULES, &[Lint { scene: &scene, resolutions: &resolutions, secrets: &secrets }], &config);
    let starts = [Start { cwd: "/p".into(), resolutions }];
    let style = Style { color: false, width: 100, quiet: false };
    bencher.bench_local(|| {
        let report = Report::new(&files, secrets.redactor(), Path::new("/p"), &[], &starts, &found);
        if format == "json" { json::check(&report) } else { human::check(&report, style) }
    });
}

/// Texts to be lexed and scanned: one of a usual size, a large one, and two that are made to be slow.
fn text(name: &str) -> String {
    match name {
        "small" => rules(40),
        "large" => rules(40_000),
        "mentions" => (0..200_000).map(|at| format!("@docs/d{at}.md ")).collect(),
        _ => "api_key = ".repeat(100_000),
    }
}

const TEXTS: &[&str] = &["small", "large", "mentions", "keywords"];

#[divan::bench(args = TEXTS)]
fn lex(bencher: Bencher<'_, '_>, name: &str) {
    let text = text(name);
    bencher.counter(divan::counter::BytesCount::of_str(&text)).bench_local(|| markdown::lex(black_box(&text), false));
}

#[divan::bench(args = TEXTS)]
fn secrets(bencher: Bencher<'_, '_>, name: &str) {
    let text = text(name);
    bencher.counter(divan::counter::BytesCount::of_str(&text)).bench_local(|| scan(black_box(&text)));
}

/// Patterns, each on a long path: a usual one, and one that backtracking would take forever for.
const PATTERNS: &[&str] = &["src/**/*.{ts,tsx}", "**/*a*a*a*a*a*a*a*a*b"];

fn path() -> String {
    format!("src/{}/file.ts", "a".repeat(200))
}

#[divan::bench(args = PATTERNS)]
fn gitignore(bencher: Bencher<'_, '_>, pattern: &str) {
    let (patterns, path) = (Patterns::new([pattern]), path());
    bencher.bench_local(|| patterns.matches(black_box(&path)));
}

#[divan::bench(args = PATTERNS)]
fn shell(bencher: Bencher<'_, '_>, pattern: &str) {
    let (glob, path) = (Glob::new(pattern, Options::default()).expect("within the limits"), path());
    bencher.bench_local(|| glob.is_match(black_box(&path)));
}

#[divan::bench]
fn paths_of_a_rule() -> Option<Vec<String>> {
    front_matter::patterns(black_box("paths:\n  - \"src/**/*.{ts,tsx}\"\n  - lib/**\n"))
}
