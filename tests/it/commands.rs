//! The commands that do more than look, through the real program: baseline, freeze, evidence, prompt, and where output goes.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::binary::{Scratch, rulecheck};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)))
}

/// A project of an `AGENTS.md` that Claude Code does not see, a private file of an invented name, and an address.
fn project(name: &str) -> Scratch {
    let dir = Scratch::new(name);
    std::fs::create_dir_all(dir.0.join(".git/objects")).unwrap();
    std::fs::create_dir_all(dir.0.join(".git/refs")).unwrap();
    std::fs::write(dir.0.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(dir.0.join("AGENTS.md"), "Notes.\n").unwrap();
    std::fs::write(dir.0.join(".claude.local.md"), "Private notes.\n").unwrap();
    std::fs::write(dir.0.join("opencode.json"), "{ \"instructions\": [\"https://example.com/style.md\"] }\n").unwrap();
    dir
}

fn rules(dir: &Path) -> Vec<String> {
    let output = rulecheck(&["check", ".", "--no-user", "--format", "json"], dir);
    let found = json(&output)["diagnostics"].clone();
    found.as_array().unwrap().iter().map(|one| one["rule"].as_str().unwrap().to_string()).collect()
}

#[test]
fn a_baseline_hides_what_is_known_and_says_what_is_mended() {
    let dir = project("baseline");
    assert_eq!(rules(&dir.0), ["unsupported-name", "client-gap", "version-differs", "remote-not-frozen"]);
    let written = rulecheck(&["check", ".", "--no-user", "--write-baseline"], &dir.0);
    assert!(text(&written.stdout).starts_with("3 findings written"), "{}", text(&written.stdout));
    assert_eq!(rules(&dir.0), ["unsupported-name"]);
    let said = text(&rulecheck(&["check", ".", "--no-user"], &dir.0).stdout);
    assert!(said.contains("1 error, 0 warnings, 0 notes, 3 more in the baseline. "), "{said}");
    // Moved lines change nothing.
    std::fs::write(dir.0.join("opencode.json"), "\n\n{ \"instructions\": [\"https://example.com/style.md\"] }\n")
        .unwrap();
    assert_eq!(rules(&dir.0), ["unsupported-name"]);
    std::fs::write(dir.0.join("opencode.json"), "{}\n").unwrap();
    assert_eq!(rules(&dir.0), ["unsupported-name", "unused-suppression"]);
    rulecheck(&["check", ".", "--no-user", "--write-baseline", "--include-secrets"], &dir.0);
    assert_eq!(rules(&dir.0), [""; 0]);
    std::fs::write(dir.0.join("rulecheck-baseline.json"), "{").unwrap();
    assert_eq!(rulecheck(&["check", ".", "--no-user"], &dir.0).status.code(), Some(2));
}

#[test]
fn a_frozen_copy_is_recorded_and_verified() {
    let dir = project("freeze");
    std::fs::write(dir.0.join("copy"), "Style notes.\n").unwrap();
    let url = "https://example.com/style.md";
    let frozen = rulecheck(&["freeze", url, "--from", "copy"], &dir.0);
    let said = text(&frozen.stdout);
    assert!(
        frozen.status.success() && said.contains("In opencode.json, line 1, put"),
        "{said}{}",
        text(&frozen.stderr)
    );
    let copy = said.lines().next().unwrap().to_string();
    assert_eq!(std::fs::read_to_string(dir.0.join(&copy)).unwrap(), "Style notes.\n");
    assert!(rules(&dir.0).contains(&"remote-not-frozen".into()));
    std::fs::write(dir.0.join("opencode.json"), format!("{{ \"instructions\": [\"{copy}\"] }}\n")).unwrap();
    assert!(!rules(&dir.0).iter().any(|rule| rule == "remote-not-frozen" || rule == "frozen-changed"));
    std::fs::write(dir.0.join(&copy), "Other notes.\n").unwrap();
    assert!(rules(&dir.0).contains(&"frozen-changed".into()));
    std::fs::remove_file(dir.0.join(&copy)).unwrap();
    assert!(rules(&dir.0).contains(&"frozen-changed".into()));
    let refused = rulecheck(&["freeze", "ftp://example.com/style.md", "--from", "copy"], &dir.0);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn a_copy_with_a_secret_is_refused() {
    let dir = project("freeze-secret");
    let value: String = "kT7rM2qWx9LpB4vZ".chars().rev().collect();
    std::fs::write(dir.0.join("copy"), format!("registry_password = \"{value}\"\n")).unwrap();
    let refused = rulecheck(&["freeze", "https://example.com/style.md", "--from", "copy"], &dir.0);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("the copy holds a secret") && !text(&refused.stderr).contains(&value));
    assert!(!dir.0.join(".rulecheck").exists());
}

#[test]
fn a_copy_of_an_observation_is_verified_by_its_hash() {
    let dir = project("evidence");
    assert!(text(&rulecheck(&["evidence"], &dir.0).stdout).contains("claude/memory-2026-07-28"));
    let differs = rulecheck(&["evidence", "verify", "AGENTS.md", "claude/memory-2026-07-28"], &dir.0);
    assert_eq!(differs.status.code(), Some(1));
    assert!(text(&differs.stdout).contains("is not what was observed"));
    for id in ["claude/nothing", "vim/x", "x", "claude/run-2.1.220"] {
        assert_eq!(rulecheck(&["evidence", "verify", "AGENTS.md", id], &dir.0).status.code(), Some(2), "{id}");
    }
}

#[test]
fn a_prompt_is_what_sources_lists() {
    let dir = project("prompt");
    std::fs::write(dir.0.join("CLAUDE.md"), "---\nkey: value\n---\n<!-- hidden -->\n\n@AGENTS.md\n").unwrap();
    let shared = ["--no-user", "--client", "claude", "--format", "json"];
    let prompt = json(&rulecheck(&[&["prompt", "."], &shared[..]].concat(), &dir.0));
    let sources = json(&rulecheck(&[&["sources", "."], &shared[..]].concat(), &dir.0));
    let paths = |list: &Value| -> Vec<String> {
        let list = list.as_array().unwrap().iter().filter(|one| one["outcome"] == "loaded");
        list.map(|one| one["path"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(paths(&prompt["parts"]), ["CLAUDE.md", "AGENTS.md"]);
    assert_eq!(paths(&prompt["parts"]), paths(&sources["clients"][0]["sources"]));
    assert_eq!(prompt["parts"][0]["text"].as_str().unwrap().trim(), "@AGENTS.md");
    let total =
        prompt["parts"].as_array().unwrap().iter().map(|part| part["text_bytes"].as_u64().unwrap()).sum::<u64>();
    assert_eq!(prompt["parts"][1]["total_bytes"], total);
    assert_eq!(rulecheck(&["prompt", "."], &dir.0).status.code(), Some(2));
}

#[test]
fn output_goes_to_a_file_in_one_step() {
    let dir = project("output");
    let output = rulecheck(&["check", ".", "--no-user", "--format", "json", "--output", "report.json"], &dir.0);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    serde_json::from_slice::<Value>(&std::fs::read(dir.0.join("report.json")).unwrap()).unwrap();
    assert!(
        !std::fs::read_dir(&dir.0).unwrap().any(|one| one
            .unwrap()
            .file_name()
            .to_string_lossy()
            .ends_with(".rulecheck"))
    );
    let nowhere = rulecheck(&["check", ".", "--no-user", "--output", "no/where.json"], &dir.0);
    assert_eq!(nowhere.status.code(), Some(2));
}

#[test]
fn what_shells_and_editors_are_given() {
    let dir = project("shells");
    assert!(text(&rulecheck(&["completions", "bash"], &dir.0).stdout).contains("_rulecheck"));
    assert!(text(&rulecheck(&["man"], &dir.0).stdout).contains(".TH rulecheck 1"));
    let schema = json(&rulecheck(&["schema"], &dir.0));
    assert_eq!(schema["properties"]["rules"]["additionalProperties"], false);
    for name in ["secret", "rulecheck.yaml", "matrix", "claude/run-2.1.220#native-names", "claude@2.1.220", "codex"] {
        assert!(rulecheck(&["explain", name], &dir.0).status.success(), "{name}");
    }
    let older = text(&rulecheck(&["explain", "claude@2.1.212"], &dir.0).stdout);
    assert!(older.contains("launch-files: ") && !older.contains("run-2.1.332 ("), "{older}");
    assert!(older.contains("Not yet in this version, which is told by 2.1.220\n  since 2.1.217: "), "{older}");
    assert!(text(&rulecheck(&["explain", "secrets"], &dir.0).stderr).contains("did you mean `secret`?"));
}

#[test]
fn annotations_name_files_from_where_the_check_was_started() {
    let dir = project("annotations");
    let above = dir.0.parent().unwrap();
    let name = dir.0.file_name().unwrap().to_str().unwrap();
    let github = text(&rulecheck(&["check", name, "--no-user", "--format", "github"], above).stdout);
    assert!(github.contains(&format!("file={name}/AGENTS.md,")), "{github}");
    let sarif = json(&rulecheck(&["check", name, "--no-user", "--format", "sarif"], above));
    let at =
        |sarif: &Value| sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"].clone();
    assert_eq!(at(&sarif)["uri"], format!("{name}/.claude.local.md"));
    let inside = json(&rulecheck(&["check", "--no-user", "--format", "sarif"], &dir.0));
    assert_eq!(at(&inside)["uri"], ".claude.local.md");
}

#[test]
fn the_configuration_says_what_fails() {
    let dir = project("fails");
    std::fs::write(dir.0.join("rulecheck.yaml"), "fail-on: never\n").unwrap();
    let code = |arguments: &[&str]| rulecheck(&[&["check", "--no-user"], arguments].concat(), &dir.0).status.code();
    assert_eq!((code(&[]), code(&["--fail-on", "error"])), (Some(0), Some(1)));
}

#[test]
fn what_is_found_in_many_places_is_said_once() {
    let dir = project("many");
    for part in ["a", "b"] {
        std::fs::create_dir(dir.0.join(part)).unwrap();
        std::fs::write(dir.0.join(part).join("AGENTS.md"), "Oak.\n").unwrap();
    }
    let said = text(&rulecheck(&["check", ".", "--no-user", "--client", "claude@2.1.220"], &dir.0).stdout);
    // The one at the root is missed at startup, the others later.
    assert_eq!(said.matches("Claude Code does not read this file, and nothing imports it").count(), 2, "{said}");
    assert!(said.contains("╭─[a/AGENTS.md:1:1]") && said.contains("        also: b/AGENTS.md\n"), "{said}");
}

#[test]
fn a_diff_names_the_change_that_does_it() {
    let dir = project("diff");
    let diff = |versions: &str| text(&rulecheck(&["diff", "--client", versions, ".", "--no-user"], &dir.0).stdout);
    let said = diff("claude@2.1.220..latest");
    assert!(
        said.starts_with("AGENTS.md\n  2.1.220 does not load it\n  2.1.332 loads it at startup\n  since 2.1.281: "),
        "{said}"
    );
    assert!(diff("claude@2.1.220..2.1.280").contains("load the same files"));
    assert!(diff("claude@2.1.280..2.1.281").contains("since 2.1.281"));
    for wrong in ["claude", "claude@2.1.332..2.1.220", "vim@1.0.0..2.0.0", "claude@2.1.220.."] {
        assert_eq!(rulecheck(&["diff", "--client", wrong, "."], &dir.0).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn a_later_version_is_resolved_as_the_newest_known_and_says_so_once() {
    let dir = project("later");
    let said = text(&rulecheck(&["check", ".", "--no-user", "--client", "claude@2.1.999"], &dir.0).stdout);
    assert_eq!(said.matches("(as 2.1.332, the newest known)").count(), 1, "{said}");
    let sources = json(&rulecheck(&["sources", ".", "--client", "claude@2.1.999", "--format", "json"], &dir.0));
    assert_eq!(sources["clients"][0]["resolved_as"], "2.1.332");
}

/// A wrong argument is an error like any other: two lines, and no key that slipped in.
#[test]
fn wrong_arguments_are_said_in_two_lines() {
    let key = ["ghp", "_", "v2NNw4B0M6wDq5OMfR2mgptW3xW3lDSI7IWE"].concat();
    let wrong: [&[&str]; 5] = [&["--nope"], &["why"], &["--client", "x"], &["--env", &key], &["freeze"]];
    for args in wrong {
        let output = rulecheck(args, Path::new("."));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.lines().count()), (Some(2), 2), "{said}");
        assert!(said.starts_with("error: ") && said.contains("\nhelp: ") && !said.contains(&key));
    }
}
