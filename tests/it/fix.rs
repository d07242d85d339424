//! `rulecheck fix`: what holds for every fixture, and the real program on real directories.

use std::fmt::Write as _;
use std::path::Path;

use rulecheck::clients::Session;
use rulecheck::config::{Config, Selected};
use rulecheck::files::{Disk, Files};
use rulecheck::fix::{Plan, Setting};

use crate::binary::{Scratch, rulecheck};
use crate::cases;
use crate::holds::mended;

#[test]
fn every_case_is_mended_once_and_loses_nothing() {
    let mut wrong = String::new();
    let mut changed = 0;
    for (dir, case, files) in cases::all() {
        let session = cases::session(&case, &files);
        let selected: Vec<Selected> = case.clients.iter().map(|name| name.parse().unwrap()).collect();
        let config = Config::of_project(&files, &case.project).unwrap_or_else(|invalid| panic!("{}", invalid.cause));
        let root = files.real(&case.project).unwrap();
        let sessions = std::slice::from_ref(&session);
        let setting = Setting { root: &root, sessions, selected: &selected, config: &config, only: None };
        for migrate in [false, true] {
            match mended(&files, setting, migrate) {
                Ok(changes) => changed += changes,
                Err(why) => {
                    let _ = writeln!(wrong, "{} {}: {why}", dir.display(), if migrate { "migrated" } else { "" });
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(changed > 50, "{changed}");
}

/// A project on disk.
fn project(name: &str, files: &[(&str, &str)]) -> Scratch {
    let scratch = Scratch::new(name);
    for (path, text) in
        [(".git/HEAD", "ref: refs/heads/main\n"), (".git/objects/x", ""), (".git/refs/x", "")].iter().chain(files)
    {
        let path = scratch.0.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    scratch
}

/// Runs `fix` and gives its exit code, what it prints, and what it complains of.
fn fix(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let output = rulecheck(&[&["fix", "--no-user"], args].concat(), dir);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn read(dir: &Path, path: &str) -> String {
    std::fs::read_to_string(dir.join(path)).unwrap()
}

/// The names in a directory, sorted.
fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn it_shows_and_then_writes() {
    let scratch = project("fix-writes", &[("agents.md", "oak\r\nelm\r\n"), ("a/CLAUDE.md", "linen\n")]);
    let dir = &scratch.0;
    let (code, out, _) = fix(dir, &[]);
    assert_eq!(code, 1);
    assert!(out.contains("rename from agents.md\nrename to AGENTS.md\n") && out.contains("+@AGENTS.md"), "{out}");
    assert!(out.ends_with("4 changes, 2 of them with --write, 2 need --migrate.\n"), "{out}");
    assert!(!out.contains('\u{1b}'));
    assert_eq!(names(dir), [".git", "a", "agents.md"]);

    let (code, out, _) = fix(dir, &["--write"]);
    assert_eq!(code, 1, "a migration is left: {out}");
    assert_eq!(names(dir), [".git", "AGENTS.md", "CLAUDE.md", "a"]);
    assert_eq!((read(dir, "AGENTS.md"), read(dir, "CLAUDE.md")), ("oak\r\nelm\r\n".into(), "@AGENTS.md\r\n".into()));

    let (code, out, _) = fix(dir, &["--write", "--migrate"]);
    assert_eq!(code, 0, "{out}");
    assert_eq!((read(dir, "a/AGENTS.md"), read(dir, "a/CLAUDE.md")), ("linen\n".into(), "@AGENTS.md\n".into()));
    for args in [&[][..], &["--write"], &["--migrate"]] {
        assert_eq!(fix(dir, args), (0, "Nothing to change.\n".into(), String::new()));
    }
    // What is left is a note on a version to come.
    let check = rulecheck(&["check", "--no-user", "--fail-on", "warning"], dir);
    assert_eq!(check.status.code(), Some(0), "{}", String::from_utf8_lossy(&check.stdout));
}

#[test]
fn it_limits_itself_to_a_path() {
    let scratch = project("fix-path", &[("a/AGENTS.md", "oak\n"), ("b/AGENTS.md", "elm\n")]);
    let (code, out, _) = fix(&scratch.0, &["--write", "a/AGENTS.md"]);
    assert_eq!(code, 0, "{out}");
    assert_eq!((names(&scratch.0.join("a")).len(), names(&scratch.0.join("b")).len()), (2, 1));
}

#[test]
fn programs_can_read_it() {
    let scratch = project("fix-json", &[("AGENTS.md", "oak\n"), (".agents.local.md", "elm\n")]);
    let (code, out, _) = fix(&scratch.0, &["--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &json["schema"], &json["changes"][0]["kind"]), (1, &"rulecheck.fix/1".into(), &"create".into()));
    assert_eq!(
        (&json["changes"][0]["path"], &json["left"][0]["path"]),
        (&"CLAUDE.md".into(), &".agents.local.md".into())
    );
}

/// A value stands in a file that is edited, and in one that no client loads.
#[test]
fn no_secret_is_shown() {
    let token = format!("ghp_{}", "Zx8Kq2Lm7Rt5Vw3Yb9Nc1Hd6Jf4Pg0Ts8Aa2");
    let text = format!("token: {token}\nMore in @x.md.\n\u{1b}[31m\n");
    let scratch = project("fix-secret", &[("CLAUDE.md", &text), ("x.md", "oak\n")]);
    let (_, out, _) = fix(&scratch.0, &["--color", "always"]);
    assert!(out.contains("[REDACTED]") && !out.contains(&token[10..20]), "{out}");
    assert!(out.contains("\\u{1b}[31m") && out.contains("\u{1b}[32m+"), "{out}");
}

#[test]
fn what_changes_meanwhile_is_an_error() {
    let scratch = project("fix-meanwhile", &[("AGENTS.md", "oak\n"), (".claude.local.md", "elm\n")]);
    let dir = scratch.0.as_path();
    let (sessions, config) = ([Session::new(dir)], Config::default());
    let selected: Vec<Selected> = ["codex", "opencode", "claude"].map(|name| name.parse().unwrap()).to_vec();
    let setting = Setting { root: dir, sessions: &sessions, selected: &selected, config: &config, only: None };
    let plan = Plan::new(&Disk::default(), setting, false);
    let before = names(dir);

    std::fs::write(dir.join("CLAUDE.md"), "ivy\n").unwrap();
    let refused = plan.write().unwrap_err().to_string();
    assert!(refused.contains("CLAUDE.md` cannot be changed: something of this name is there"), "{refused}");
    assert!(refused.ends_with("nothing is changed"), "{refused}");
    std::fs::remove_file(dir.join("CLAUDE.md")).unwrap();
    assert_eq!(names(dir), before);

    std::fs::write(dir.join(".claude.local.md"), "yew\n").unwrap();
    let refused = plan.write().unwrap_err().to_string();
    assert!(refused.contains("it has changed since it was read"), "{refused}");
    assert_eq!((names(dir), read(dir, ".claude.local.md")), (before, "yew\n".into()));
}

#[cfg(unix)]
mod unix {
    use std::fs::{Permissions, metadata, set_permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(dir: &Path, path: &str) -> u32 {
        metadata(dir.join(path)).unwrap().permissions().mode() & 0o7777
    }

    fn set_mode(path: impl AsRef<Path>, mode: u32) {
        set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn permissions_and_line_ends_are_kept() {
        let text = "\u{feff}oak\r\n\r\nMore in @x.md.\r\nelm";
        let files = [("CLAUDE.md", text), ("x.md", "oak\n"), (".claude/rules/r.mdc", "ash")];
        let scratch = project("fix-modes", &files);
        let dir = &scratch.0;
        set_mode(dir.join("CLAUDE.md"), 0o640);
        set_mode(dir.join(".claude/rules/r.mdc"), 0o751);
        assert_eq!(fix(dir, &["--write", "--migrate"]).0, 0);
        assert_eq!(read(dir, "AGENTS.md"), "\u{feff}oak\r\n\r\nMore in @x.md\r\nelm");
        assert_eq!(read(dir, "CLAUDE.md"), "@AGENTS.md");
        assert_eq!((mode(dir, "AGENTS.md"), mode(dir, "CLAUDE.md")), (0o640, 0o640));
        assert_eq!(mode(dir, ".claude/rules/r.md"), 0o751);
        assert_eq!(names(dir), [".claude", ".git", "AGENTS.md", "CLAUDE.md", "x.md"]);
    }

    #[test]
    fn what_may_not_be_written_stops_everything() {
        let files = [("a/AGENTS.md", "oak\n"), ("b/AGENTS.md", "elm\n"), ("b/CLAUDE.md", "ash\n")];
        let scratch = project("fix-read-only", &files);
        let dir = &scratch.0;
        set_mode(dir.join("b/CLAUDE.md"), 0o444);
        let (code, out, err) = fix(dir, &["--write"]);
        assert_eq!((code, out.as_str()), (2, ""));
        assert!(err.contains("b/CLAUDE.md` cannot be changed: it may not be written; nothing is changed"), "{err}");
        assert_eq!((names(&dir.join("a")), names(&dir.join("b")).len()), (vec!["AGENTS.md".to_string()], 2));
    }

    #[test]
    fn a_directory_that_may_not_be_written_stops_everything() {
        let scratch = project("fix-closed", &[("a/AGENTS.md", "oak\n"), ("b/AGENTS.md", "elm\n")]);
        let dir = &scratch.0;
        set_mode(dir.join("b"), 0o555);
        // To the administrator nothing is closed.
        if std::fs::write(dir.join("b/probe"), "").is_err() {
            let (code, _, err) = fix(dir, &["--write"]);
            assert!(code == 2 && err.contains("does not allow writing there; nothing is changed"), "{code} {err}");
            assert_eq!(names(&dir.join("a")), ["AGENTS.md"]);
        }
        set_mode(dir.join("b"), 0o755);
    }

    #[test]
    fn links_are_followed_inside_the_project_and_never_out_of_it() {
        let rule = "---\npaths: ./src/**\n---\noak\n";
        let scratch = project("fix-links", &[("p/rules/in.md", rule), ("out.md", rule), ("p/src/x", "")]);
        let dir = scratch.0.join("p");
        std::fs::create_dir_all(dir.join(".claude/rules")).unwrap();
        symlink("../../rules/in.md", dir.join(".claude/rules/in.md")).unwrap();
        symlink("../../../out.md", dir.join(".claude/rules/out.md")).unwrap();
        std::fs::write(dir.join("AGENTS.md"), "elm\n").unwrap();
        symlink("AGENTS.md", dir.join("CLAUDE.md")).unwrap();
        let (_, out, err) = fix(&dir, &["--write", "--migrate"]);
        assert_eq!(read(&dir, "rules/in.md"), rule.replace("./", ""), "{out}{err}");
        assert_eq!(read(&scratch.0, "out.md"), rule);
        for link in ["CLAUDE.md", ".claude/rules/in.md", ".claude/rules/out.md"] {
            assert!(dir.join(link).is_symlink(), "{link}");
        }
    }
}
