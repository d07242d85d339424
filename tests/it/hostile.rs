//! Bad input, through the real program: a clear error or a clear source, never a panic, a hang, or silence.

use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::rc::Rc;

use rulecheck::clients::{CLIENTS, Scene, Session};
use rulecheck::diagnostic::Diagnostic;
use rulecheck::discover::discover;
use rulecheck::files::{Entry, Files, Memory, Unreadable};
use rulecheck::resolution::Resolution;
use rulecheck::rules::{Lint, RULES, lint};
use rulecheck::secrets::Scanned;
use rulecheck::text::Content;

use crate::binary::{Scratch, rulecheck};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs `sources` in `dir` and gives what it prints.
fn sources(dir: &Path, more: &[&str]) -> String {
    let mut args = vec!["sources", ".", "--no-user"];
    args.extend(more);
    let output = rulecheck(&args, dir);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn fails(output: &Output, cause: &str) {
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    let said = text(&output.stderr);
    assert!(said.contains(cause) && said.lines().count() == 2 && said.contains("\nhelp: "), "{said}");
}

#[test]
fn a_path_that_is_not_a_project() {
    let dir = Scratch::new("paths");
    std::fs::write(dir.0.join("file"), "x").unwrap();
    symlink("loop", dir.0.join("loop")).unwrap();
    fails(&rulecheck(&["sources", "nothing"], &dir.0), "PATH `nothing` does not exist");
    fails(&rulecheck(&["sources", "loop"], &dir.0), "PATH `loop` does not exist");
    fails(&rulecheck(&["sources", ".", "--cwd", "nothing"], &dir.0), "--cwd `nothing` does not exist");
    fails(&rulecheck(&["sources", ".", "--home", "file"], &dir.0), "--home `file` is not a directory");
    fails(&rulecheck(&["sources", ".", "--client-args", "vim=-u"], &dir.0), "no client is called `vim`");
}

#[test]
fn a_configuration_that_cannot_be_used() {
    let dir = Scratch::new("config");
    std::fs::write(dir.0.join("rulecheck.yaml"), "clinets: []\n").unwrap();
    let output = rulecheck(&["check", "."], &dir.0);
    fails(&output, "unknown key `clinets`");
    assert!(text(&output.stderr).contains("did you mean `clients`?"));
    std::fs::write(dir.0.join("rulecheck.yaml"), "a: [\n").unwrap();
    fails(&rulecheck(&["check", "."], &dir.0), "it is not valid YAML");
}

#[test]
fn the_clients_own_configurations_broken() {
    let dir = Scratch::new("broken");
    let home = dir.0.join("home");
    for (path, broken) in
        [(".codex/config.toml", "a = "), (".config/opencode/opencode.json", "{"), (".claude.json", "{")]
    {
        let path = home.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, broken).unwrap();
    }
    let project = dir.0.join("project");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("AGENTS.md"), "nouns\n").unwrap();
    let output = rulecheck(&["check", ".", "--home", "../home"], &project);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stdout);
    for client in ["Codex", "OpenCode", "Claude Code"] {
        assert!(said.contains(&format!("{client} does not start")), "{client}\n{said}");
    }
}

#[test]
fn loops_of_links() {
    let dir = Scratch::new("loops");
    symlink("CLAUDE.md", dir.0.join("CLAUDE.md")).unwrap();
    symlink(".", dir.0.join("again")).unwrap();
    std::fs::create_dir_all(dir.0.join(".claude/rules")).unwrap();
    symlink("..", dir.0.join(".claude/rules/up")).unwrap();
    std::fs::write(dir.0.join(".claude/rules/a.md"), "nouns\n").unwrap();
    let said = sources(&dir.0, &[]);
    assert!(said.contains("CLAUDE.md  (project; left out: broken-link"), "{said}");
    assert!(said.contains(".claude/rules/a.md"), "{said}");
}

#[test]
fn a_huge_file_and_a_pipe() {
    let dir = Scratch::new("huge");
    std::fs::write(dir.0.join("CLAUDE.md"), "nouns and nouns\n".repeat(100 * 1024 * 64)).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(dir.0.join("AGENTS.md")).status().unwrap().success());
    let said = sources(&dir.0, &[]);
    assert!(said.contains("CLAUDE.md  (project; left out: over-size)"), "{said}");
    assert!(said.contains("AGENTS.md  (project; left out: not-a-file)"), "{said}");
    let output = rulecheck(&["check", ".", "--no-user", "--fail-on", "never"], &dir.0);
    assert!(output.status.success() && text(&output.stdout).contains("over-size"));
}

#[test]
fn names_that_are_not_text_or_forge_output() {
    use std::os::unix::ffi::OsStrExt;
    let dir = Scratch::new("names");
    let odd = dir.0.join(std::ffi::OsStr::from_bytes(b"a\xff"));
    std::fs::create_dir(&odd).unwrap();
    std::fs::write(odd.join("CLAUDE.md"), "nouns\n").unwrap();
    let forged = dir.0.join("b\n\u{1b}[31m\u{202e}");
    std::fs::create_dir(&forged).unwrap();
    std::fs::write(forged.join(".claude.local.md"), "nouns\n").unwrap();
    let output = rulecheck(&["check", ".", "--no-user"], &dir.0);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("b\\u{a}\\u{1b}[31m\\u{202e}/.claude.local.md"), "{said}");
    assert!(!said.contains('\u{1b}') && !said.contains('\u{202e}'), "{said}");
    let json = rulecheck(&["check", ".", "--no-user", "--format", "json"], &dir.0);
    serde_json::from_slice::<serde_json::Value>(&json.stdout).unwrap();
}

#[test]
fn a_directory_that_may_not_be_looked_into() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Scratch::new("denied");
    let shut = dir.0.join("shut");
    std::fs::create_dir(&shut).unwrap();
    std::fs::write(dir.0.join("AGENTS.md"), "nouns\n").unwrap();
    std::fs::set_permissions(&shut, std::fs::Permissions::from_mode(0o000)).unwrap();
    let said = sources(&dir.0, &[]);
    assert!(said.contains("AGENTS.md"), "{said}");
    std::fs::set_permissions(&shut, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn what_is_long_is_shown_by_its_ends() {
    let dir = Scratch::new("long");
    let long = "a".repeat(300_000);
    std::fs::create_dir_all(dir.0.join(".claude/rules")).unwrap();
    std::fs::write(dir.0.join("CLAUDE.md"), format!("{long} @gone.md {long} @gone/{long}.md {long}\n")).unwrap();
    std::fs::write(
        dir.0.join(".claude/rules/a.md"),
        format!("---\npaths: [\"b/{0}\", \"./{0}\"]\n---\nnouns\n", &long[..30_000]),
    )
    .unwrap();
    std::fs::write(dir.0.join("opencode.json"), format!("{{\"instructions\": [\"{long}.md\"]}}")).unwrap();
    for format in ["human", "github", "sarif"] {
        let output = rulecheck(&["check", ".", "--no-user", "--format", format], &dir.0);
        let said = text(&output.stdout);
        for rule in ["import-missing", "instructions-match-nothing", "rule-never-loads"] {
            assert!(said.contains(rule), "{rule} in {format}: {} bytes", said.len());
        }
        assert!(!said.contains(&long[..2000]), "{format}: {} bytes", said.len());
    }
    assert!(!sources(&dir.0, &[]).contains(&long[..2000]));
}

/// What `check` says of `dir`, with the findings of cut-short.
fn cut_short(dir: &Path) -> String {
    let output = rulecheck(&["check", ".", "--no-user", "--format", "github"], dir);
    let said = text(&output.stdout);
    assert!(said.contains("cut-short"), "{said}");
    said
}

#[test]
fn yaml_without_end() {
    let dir = Scratch::new("yaml");
    let rules = dir.0.join(".claude/rules");
    std::fs::create_dir_all(&rules).unwrap();
    let deep = "[".repeat(100_000);
    for (name, yaml) in [
        ("flow", format!("paths: {deep}")),
        ("maps", "a: {".repeat(30_000)),
        ("block", format!("paths: {}a", "- ".repeat(100_000))),
    ] {
        std::fs::write(rules.join(format!("{name}.md")), format!("---\n{yaml}\n---\nnouns\n")).unwrap();
        let said = cut_short(&dir.0);
        assert!(said.contains("500 brackets") || said.contains("65536 bytes"), "{said}");
        assert!(!said.contains("rule-always-loads"), "{said}");
        std::fs::remove_file(rules.join(format!("{name}.md"))).unwrap();
    }
    let aliases: String =
        (1..40).map(|at| format!("a{at}: &a{at} [*a{before}, *a{before}, *a{before}]\n", before = at - 1)).collect();
    let bomb = format!("---\na0: &a0 [x]\n{aliases}paths: *a39\n---\nnouns\n");
    std::fs::write(rules.join("bomb.md"), bomb).unwrap();
    assert!(sources(&dir.0, &[]).contains("bomb.md"));
    std::fs::write(dir.0.join("rulecheck.yaml"), format!("ignore: {deep}")).unwrap();
    fails(&rulecheck(&["check", "."], &dir.0), "more than 500 brackets are open");
    std::fs::write(dir.0.join("rulecheck.yaml"), format!("suppress:\n{aliases}")).unwrap();
    assert_eq!(rulecheck(&["check", "."], &dir.0).status.code(), Some(2));
}

#[test]
fn configurations_of_clients_without_end() {
    let dir = Scratch::new("deep");
    let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
    std::fs::create_dir_all(dir.0.join(".claude")).unwrap();
    std::fs::create_dir_all(dir.0.join("home/.codex")).unwrap();
    std::fs::write(dir.0.join("opencode.json"), format!("{{\"x\": {open}{close}}}")).unwrap();
    std::fs::write(dir.0.join(".claude/settings.json"), format!("{{\"x\": {open}{close}}}")).unwrap();
    std::fs::write(dir.0.join("home/.codex/config.toml"), format!("x = {open}{close}")).unwrap();
    let said = text(&rulecheck(&["check", ".", "--home", "home", "-q"], &dir.0).stdout);
    for client in ["Codex", "OpenCode", "Claude Code"] {
        assert!(said.contains(&format!("⚠ {client}")) || said.contains(&format!("× {client}")), "{client}\n{said}");
    }
}

#[test]
fn braces_without_end() {
    let dir = Scratch::new("braces");
    std::fs::create_dir_all(dir.0.join(".claude/rules")).unwrap();
    std::fs::write(dir.0.join("CLAUDE.md"), "nouns\n").unwrap();
    for braces in ["{a,b}".repeat(1_000_000), "{a,b}".repeat(13), "${a,b}".repeat(200_000), "[".repeat(1_000_000)] {
        std::fs::write(dir.0.join("opencode.json"), format!("{{\"instructions\": [\"{braces}\"]}}")).unwrap();
        assert!(cut_short(&dir.0).contains("4096 patterns"));
        std::fs::remove_file(dir.0.join("opencode.json")).unwrap();
        let settings = format!("{{\"claudeMdExcludes\": [\"{braces}\"]}}");
        std::fs::write(dir.0.join(".claude/settings.json"), settings).unwrap();
        assert!(cut_short(&dir.0).contains("taken to exclude nothing"));
        std::fs::remove_file(dir.0.join(".claude/settings.json")).unwrap();
    }
    let rule = format!("---\npaths: \"{}\"\n---\nnouns\n", "{a,b}".repeat(1_000_000));
    std::fs::write(dir.0.join(".claude/rules/a.md"), rule).unwrap();
    cut_short(&dir.0);
    let suppress = format!("suppress: [{{path: \"{}\", rule: client-gap, reason: x}}]", "{a,b}".repeat(13));
    std::fs::write(dir.0.join("rulecheck.yaml"), suppress).unwrap();
    fails(&rulecheck(&["check", "."], &dir.0), "entry 1 stands for more than 4096 paths");
}

#[test]
fn what_hides_in_names_and_texts_comes_out_escaped() {
    let dir = Scratch::new("hidden");
    for name in ["AGENTS.md ", "\u{202e}CLAUDE.md", "AGE\u{200b}NTS.md"] {
        std::fs::write(dir.0.join(name), "nouns\n").unwrap();
    }
    std::fs::write(dir.0.join("CLAUDE.md"), "@go\u{202e}ne\u{2066}/\u{200b}a.md\n").unwrap();
    for format in ["human", "json", "sarif", "github"] {
        let said = text(&rulecheck(&["check", ".", "--no-user", "--format", format], &dir.0).stdout);
        assert!(!said.contains(['\u{202e}', '\u{2066}', '\u{200b}']), "{format}\n{said}");
        assert!(said.contains("u{202e}") || said.contains("\\u202e"), "{format}\n{said}");
    }
    let json: serde_json::Value =
        serde_json::from_slice(&rulecheck(&["check", ".", "--no-user", "--format", "json"], &dir.0).stdout).unwrap();
    let found = json["diagnostics"].as_array().unwrap().iter().filter(|found| found["rule"] == "unsupported-name");
    let paths: Vec<&str> = found.map(|found| found["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["AGENTS.md ", "AGE\u{200b}NTS.md", "\u{202e}CLAUDE.md"]);
}

#[test]
fn names_that_are_not_text_stay_apart() {
    use std::os::unix::ffi::OsStrExt;
    let dir = Scratch::new("apart");
    for name in [b"a\xff", b"a\xfe"] {
        let odd = dir.0.join(std::ffi::OsStr::from_bytes(name));
        std::fs::create_dir(&odd).unwrap();
        std::fs::write(odd.join("CLAUDE.md"), "nouns\n").unwrap();
    }
    let said = sources(&dir.0, &["--format", "json"]);
    assert!(said.contains(r#""a\\xff/CLAUDE.md""#) && said.contains(r#""a\\xfe/CLAUDE.md""#), "{said}");
}

#[test]
fn slips_in_arguments_are_told() {
    let dir = Scratch::new("slips");
    std::fs::write(dir.0.join("AGENTS.md"), "nouns\n").unwrap();
    let why = rulecheck(&["why", "gone.md", "--no-user"], &dir.0);
    assert!(why.status.success() && text(&why.stdout).starts_with("gone.md does not exist.\n"));
    let json = rulecheck(&["why", "gone.md", "--no-user", "--format", "json"], &dir.0);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["file"], serde_json::json!({ "path": "gone.md", "exists": false }));
    let there = rulecheck(&["why", "AGENTS.md", "--no-user"], &dir.0);
    assert!(!text(&there.stdout).contains("does not exist"));
    let args = ["sources", ".", "--no-user", "--read", "gone.md", "--read", "AGENTS.md", "--client-args"];
    let output = rulecheck(&[&args[..], &["codex=-cx=1 --nonsense=2 -C ."]].concat(), &dir.0);
    let said = text(&output.stderr);
    assert!(output.status.success() && said.lines().count() == 2, "{said}");
    assert!(
        said.contains("note: --read `gone.md` is no file") && said.contains("`--nonsense` is passed over"),
        "{said}"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_goes_nowhere() {
    let dir = Scratch::new("full");
    std::fs::write(dir.0.join("AGENTS.md"), "nouns\n").unwrap();
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for args in [&["--help"][..], &["--version"], &["check", "--help"], &["check", "."], &["explain"]] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rulecheck"));
        command.args(args).current_dir(&dir.0).env_clear().stdout(full()).stderr(std::process::Stdio::piped());
        fails(&command.output().unwrap(), "standard output cannot be written");
    }
    fails(&rulecheck(&["check", ".", "--output", "/dev/full"], &dir.0), "`/dev/full` cannot be written");
    // A device stays one.
    assert!(rulecheck(&["sources", ".", "--output", "/dev/null"], &dir.0).status.success());
    for device in ["/dev/full", "/dev/null"] {
        assert!(!std::fs::metadata(device).unwrap().is_file());
    }
    fails(&rulecheck(&["sources", ".", "--output", "."], &dir.0), "cannot be written");
}

#[test]
fn a_closed_pipe_is_quiet() {
    let dir = Scratch::new("pipe");
    std::fs::write(dir.0.join("CLAUDE.md"), "@gone.md nouns\n".repeat(2000)).unwrap();
    for format in ["human", "json", "sarif", "github"] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rulecheck"));
        command.args(["check", ".", "--no-user", "--format", format]).current_dir(&dir.0).env_clear();
        let piped = std::process::Stdio::piped;
        let mut child = command.stdout(piped()).stderr(piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{format}");
    }
}

#[test]
fn every_directory_as_a_start_lists_what_it_sees() {
    let dir = Scratch::new("each");
    let make = |path: String| {
        std::fs::create_dir_all(dir.0.join(&path)).unwrap();
        std::fs::write(dir.0.join(path).join("AGENTS.md"), "nouns\n").unwrap();
    };
    ["", "a", "a/b", "c"].iter().for_each(|path| make((*path).into()));
    let said = sources(&dir.0, &["--cwd-each", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&said).unwrap();
    let paths = |start: &serde_json::Value| {
        let sources = start["clients"][0]["sources"].as_array().unwrap();
        let mut paths: Vec<String> = sources.iter().map(|source| source["path"].as_str().unwrap().into()).collect();
        paths.sort();
        paths
    };
    assert_eq!(paths(&json).len(), 4);
    let starts: Vec<Vec<String>> = json["starts"].as_array().unwrap().iter().map(paths).collect();
    let deep = ["AGENTS.md", "a/AGENTS.md", "a/b/AGENTS.md"];
    assert_eq!(starts, [&deep[..], &deep, &["AGENTS.md", "c/AGENTS.md"]]);
    let length = || rulecheck(&["check", ".", "--no-user", "--cwd-each", "--format", "json"], &dir.0).stdout.len();
    (0..20).for_each(|number| make(format!("d{number}")));
    let few = length();
    (20..200).for_each(|number| make(format!("d{number}")));
    assert!(length() < 10 * few, "{few} {}", length());
}

/// Files of which one is looked at and then cannot be read or listed.
struct Odd {
    files: Memory,
    path: PathBuf,
    why: Unreadable,
}

impl Odd {
    fn unless<T>(&self, path: &Path, get: impl FnOnce() -> Result<T, Unreadable>) -> Result<T, Unreadable> {
        if path == self.path { Err(self.why) } else { get() }
    }
}

impl Files for Odd {
    fn entry(&self, path: &Path) -> Option<Entry> {
        self.files.entry(path)
    }
    fn target(&self, path: &Path) -> Option<Entry> {
        self.files.target(path)
    }
    fn is_barred(&self, path: &Path) -> bool {
        self.files.is_barred(path)
    }
    fn real(&self, path: &Path) -> Option<PathBuf> {
        self.files.real(path)
    }
    fn read(&self, path: &Path) -> Result<Rc<Content>, Unreadable> {
        self.unless(path, || self.files.read(path))
    }
    fn list(&self, dir: &Path) -> Result<Vec<OsString>, Unreadable> {
        self.unless(dir, || self.files.list(dir))
    }
    fn entries(&self, dir: &Path) -> Result<Vec<(OsString, Entry)>, Unreadable> {
        self.unless(dir, || self.files.entries(dir))
    }
}

/// What is resolved and found in `/p`.
fn judge(files: &dyn Files) -> (Vec<Resolution>, Vec<Diagnostic>) {
    let session = Session::new("/p");
    let project = discover(files, Path::new("/p"), Path::new("/p"));
    let scene = Scene { files, session: &session, project: &project };
    let resolutions: Vec<Resolution> = CLIENTS.iter().map(|client| client.resolve(&scene, client.default)).collect();
    let secrets = Scanned::new(files, "", &resolutions);
    let found = lint(RULES, &Lint { scene: &scene, resolutions: &resolutions, secrets: &secrets });
    (resolutions, found)
}

#[test]
fn what_cannot_be_read_or_vanishes_is_told() {
    for why in [Unreadable::Denied, Unreadable::Lost, Unreadable::Missing] {
        for path in ["/p/AGENTS.md", "/p/CLAUDE.md", "/p/.claude/rules/r.md", "/p/part.md", "/p/shut"] {
            let mut files = Memory::default();
            files.file("/p/.git/HEAD", "ref: refs/heads/main\n").dir("/p/.git/objects").dir("/p/.git/refs");
            files
                .file("/p/AGENTS.md", "nouns\n")
                .file("/p/CLAUDE.md", "@AGENTS.md\n@part.md\n")
                .file("/p/part.md", "nouns\n");
            files.file("/p/.claude/rules/r.md", "nouns\n").file("/p/shut/x", "nouns\n");
            let (resolutions, found) = judge(&Odd { files, path: path.into(), why });
            let loaded = |resolution: &Resolution| resolution.at(Path::new(path)).any(|source| source.is_loaded());
            assert!(!resolutions.iter().any(loaded), "{path} {why:?}");
            let of_it = |found: &&Diagnostic| {
                found.place.path == Path::new(path) || found.message.contains(path.trim_start_matches("/p/"))
            };
            assert!(found.iter().any(|found| of_it(&found)), "{path} {why:?}: {found:#?}");
        }
    }
}

#[test]
fn deep_and_wide_projects() {
    let dir = Scratch::new("wide");
    let deep = dir.0.join("d/".repeat(500));
    std::fs::create_dir_all(&deep).unwrap();
    std::fs::write(deep.join("CLAUDE.md"), "nouns\n").unwrap();
    assert!(sources(&dir.0, &["--cwd", &deep.to_string_lossy()]).contains("d/d/CLAUDE.md  (project; "));
    for number in 0..10_000 {
        std::fs::write(dir.0.join(format!("{number}.txt")), "").unwrap();
    }
    // Each is imported, and imports the next: they cross.
    let imports: String = (0..2_000).map(|number| format!("@i/{number}.md\n")).collect();
    std::fs::create_dir(dir.0.join("i")).unwrap();
    for number in 0..2_000 {
        std::fs::write(dir.0.join(format!("i/{number}.md")), format!("@{}.md\n", number + 1)).unwrap();
    }
    std::fs::write(dir.0.join("CLAUDE.md"), imports).unwrap();
    let output = rulecheck(&["check", ".", "--no-user", "-q"], &dir.0);
    assert!(output.status.success() && text(&output.stdout).contains("i/2000.md"), "{}", text(&output.stderr));
}

#[test]
fn sparse_files_and_sockets() {
    let dir = Scratch::new("sparse");
    std::fs::File::create(dir.0.join("CLAUDE.md")).unwrap().set_len(1 << 30).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(dir.0.join("AGENTS.md")).unwrap();
    let output = rulecheck(&["check", ".", "--no-user", "-q"], &dir.0);
    let said = text(&output.stdout);
    assert!(said.contains("over-size") && said.contains("not-a-file"), "{said}");
}

#[test]
fn a_home_that_is_none_and_another_file_system() {
    let dir = Scratch::new("home");
    std::fs::write(dir.0.join("AGENTS.md"), "nouns\n").unwrap();
    for home in ["/nonexistent", "/dev/null", ""] {
        let said = sources(&dir.0, &["--env", &format!("HOME={home}")]);
        assert!(said.contains("AGENTS.md"), "{home}: {said}");
    }
    let shared = Path::new("/dev/shm");
    if shared.is_dir() {
        let other = shared.join(format!("rulecheck-test-{}", std::process::id()));
        std::fs::create_dir_all(&other).unwrap();
        std::fs::write(other.join("CLAUDE.md"), "@AGENTS.md\n").unwrap();
        symlink(dir.0.join("AGENTS.md"), other.join("AGENTS.md")).unwrap();
        let said = sources(&other, &[]);
        std::fs::remove_dir_all(&other).unwrap();
        assert!(said.contains("CLAUDE.md") && said.contains("AGENTS.md"), "{said}");
    }
}
