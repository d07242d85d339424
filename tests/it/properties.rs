//! What holds for every project, tried on random ones: no panic, the same answer twice, an ordered and sound resolution,
//! and formats that parse. The random numbers are always the same.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rulecheck::clients::{CLIENTS, Scene, Session};
use rulecheck::discover::discover;
use rulecheck::files::{Files, Memory};
use rulecheck::report::human::Style;
use rulecheck::report::{Report, Start, github, human, json, sarif};
use rulecheck::resolution::{Outcome, Phase, Resolution};
use rulecheck::rules::{Lint, RULES, lint};
use rulecheck::secrets::Scanned;

/// A small generator: the tests need variety, not quality.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const DIRS: &[&str] =
    &["", "a/", "a/b/", ".claude/", ".claude/rules/", "a/.claude/rules/", "docs/", "a/b/c/", ".codex/", ".opencode/"];
const NAMES: &[&str] = &[
    "AGENTS.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.override.md",
    "CONTEXT.md",
    "r.md",
    "x.ts",
    ".claude.local.md",
    "config.toml",
    "opencode.json",
    "opencode.jsonc",
    "settings.json",
    "rules",
    "a",
    "rulecheck.yaml",
    "agents.md",
    "s.mdc",
];
const PIECES: &[&str] = &[
    "notes\n",
    "@AGENTS.md\n",
    "@docs/r.md",
    "@../CLAUDE.md ",
    "@a/b/../r.md.",
    "@",
    "@@",
    "@~/x.md",
    "@/etc/x.md",
    "---\n",
    "paths: \"**/*.ts\"\n",
    "paths: [a, {b,c}/**]\n",
    "paths: *x\n",
    "globs: a\n",
    "```\n",
    "`",
    "<!-- ",
    " -->",
    "<div>\n",
    "\n",
    "    ",
    "\t",
    "- ",
    "> ",
    "*",
    "_",
    "[x](",
    ")",
    "\\",
    "\u{feff}",
    "\u{202e}",
    "día",
    "\u{0}",
    "{",
    "}",
    "\"",
    "//",
    "/*",
    "\"instructions\": [\"**/*.md\", \"a\"]",
    "{\"instructions\":[\"docs/*.md\",\"https://x.y/z\"]}",
    "project_doc_max_bytes = 3\n",
    "project_doc_fallback_filenames = [\"CLAUDE.md\", \"../x\"]\n",
    "{\"claudeMdExcludes\":[\"**/a/**\"]}",
    "\r\n",
    "&amp;",
    "[[",
    "]]",
    "<!-- rulecheck: ignore[secret] x -->",
    "password = \"kT7rM2qWx9LpB4vZ\"\n",
];

/// Texts that mean something.
const WHOLE: &[&str] = &[
    "@AGENTS.md\n",
    "@docs/r.md.\n@a/x.ts, and @./r.md\n",
    "@docs/gone.md\n@../../../etc/x.md\n@logo.png\n@docs\n",
    "`@AGENTS.md`\n(@docs/r.md)\n[notes](AGENTS.md)\n",
    "@r.md\n@docs/r.md#part\n",
    "---\npaths: \"**/*.ts\"\n---\n@../../docs/r.md\n",
    "---\npaths: \"./src/**\"\n---\nnotes\n",
    "---\nglobs: \"**/*.ts\"\n---\nnotes\n",
    "---\npaths: \"gone/**\"\n---\nnotes\n",
    "{ \"instructions\": [\"docs/*.md\", \"gone/*.md\", \"https://example.com/style.md\"] }\n",
    "project_doc_max_bytes = 3\n",
    "<!-- rulecheck: ignore[client-gap] known -->\nnotes\n",
    "notes \u{fffd}\n",
];

fn project(random: &mut Random) -> Memory {
    let mut memory = Memory::default();
    memory.dir("/p").dir("/home/.codex").dir("/home/.claude");
    if random.below(3) > 0 {
        memory.file("/p/.git/HEAD", "ref: refs/heads/main\n").dir("/p/.git/objects").dir("/p/.git/refs");
    }
    for _ in 0..random.below(16) {
        let top = random.pick(&["/p/", "/p/", "/p/", "/home/", "/home/.config/opencode/", "/"]);
        let path = format!("{top}{}{}", random.pick(DIRS), random.pick(NAMES));
        let parent = Path::new(&path).parent().unwrap().to_path_buf();
        // A file may not stand where a directory is needed.
        if parent.ancestors().any(|dir| memory.entry(dir).is_some() && !memory.is_dir(dir))
            || memory.is_dir(Path::new(&path))
        {
            continue;
        }
        match random.below(14) {
            0 => memory.link(&path, random.pick(&["AGENTS.md", "../CLAUDE.md", ".", "..", "nothing", "/p/a", "a"])),
            1 => memory.dir(&path),
            2 => memory.denied(&path),
            3 => memory.other(&path),
            4 => memory.file(&path, b"notes \xff\n"),
            5..9 => memory.file(&path, random.pick(WHOLE)),
            _ => {
                let text: String = (0..random.below(12)).map(|_| random.pick(PIECES)).collect();
                memory.file(&path, text)
            }
        };
    }
    memory
}

#[test]
fn every_project_has_a_sound_answer() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut rules: BTreeSet<&str> = BTreeSet::new();
    for _ in 0..400 {
        let files = project(&mut random);
        let cwd = ["/p", "/p/a", "/p/a/b"].map(PathBuf::from)[random.below(3)].clone();
        let cwd = files.real(&cwd).filter(|cwd| files.is_dir(cwd)).unwrap_or("/p".into());
        let mut session = Session::new(&cwd);
        session.home = Some("/home".into());
        session.env.insert("HOME".into(), "/home".into());
        session.reads =
            ["x.ts", "a/x.ts", "a/b/c/x.ts", "docs/r.md"].iter().map(|read| Path::new("/p").join(read)).collect();
        let walked = discover(&files, Path::new("/p"), &cwd);
        let scene = Scene { files: &files, session: &session, project: &walked };
        let resolve = || -> Vec<Resolution> {
            CLIENTS
                .iter()
                .flat_map(|client| client.recorded.iter().map(|version| client.resolve(&scene, *version)))
                .collect()
        };
        let resolutions = resolve();
        assert_eq!(format!("{resolutions:?}"), format!("{:?}", resolve()), "{files:?}");
        for resolution in &resolutions {
            sound(resolution, &files);
        }
        let secrets = Scanned::new(&files, "", &resolutions);
        let diagnostics = lint(RULES, &Lint { scene: &scene, resolutions: &resolutions, secrets: &secrets });
        for diagnostic in &diagnostics {
            rules.insert(diagnostic.rule);
            let text = &diagnostic.message;
            assert!(!text.is_empty() && !text.ends_with('.') && !text.contains('\n'), "{}: {text:?}", diagnostic.rule);
        }
        let starts = [Start { cwd: cwd.clone(), resolutions }];
        let report = Report::new(&files, secrets.redactor(), Path::new("/p"), &session.reads, &starts, &diagnostics);
        for text in [json::check(&report), json::sources(&report), sarif::check(&report)] {
            serde_json::from_str::<serde_json::Value>(&text).unwrap();
        }
        let people = human::check(&report, Style { color: false, width: 80, quiet: false });
        assert!(!people.contains(['\u{202e}', '\u{0}', '\u{1b}']));
        assert!(github::check(&report).lines().all(|line| line.starts_with("::")));
        assert!(!people.contains("kT7rM2qWx9"), "{people}");
    }
    assert!(rules.len() >= 15, "the projects are too tame: {rules:?}");
}

/// What holds for every resolution.
fn sound(resolution: &Resolution, files: &Memory) {
    let at = format!("{}@{}: {files:?}", resolution.client, resolution.version);
    let loaded = resolution.sources.iter().map(|source| source.is_loaded());
    assert!(loaded.is_sorted_by_key(|loaded| !loaded), "loaded sources come first: {at}");
    let phases = resolution.sources.iter().filter(|source| source.is_loaded()).map(|source| !source.at_startup());
    assert!(phases.is_sorted(), "startup comes before later: {at}");
    if resolution.refusal.is_some() {
        assert!(!resolution.sources.iter().any(|source| source.is_loaded()), "who does not start loads nothing: {at}");
    }
    let mut seen = BTreeSet::new();
    for source in &resolution.sources {
        assert!(
            !source.evidence.is_empty() && source.evidence.iter().all(|id| rulecheck::evidence::claim(id).is_some()),
            "{source:?}: {at}"
        );
        let key = (format!("{:?}", source.location), source.via, source.from.clone(), format!("{:?}", source.phase));
        assert!(seen.insert((key, source.is_loaded())), "twice: {source:?}: {at}");
        if let (Outcome::Shadowed { by }, Phase::Startup) = (&source.outcome, &source.phase) {
            assert!(files.entry(by).is_some(), "the winner exists: {source:?}: {at}");
        }
        if let (Some(cut), Some(bytes)) = (&source.cut, source.bytes) {
            assert!(cut.end as u64 <= bytes && cut.start <= cut.end, "{source:?}: {at}");
        }
    }
}
