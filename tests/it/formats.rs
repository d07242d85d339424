//! The formats of other programs, read back strictly: nothing in a project can forge or break them.

use serde_json::{Value, json};

use crate::binary::{Scratch, rulecheck};
use crate::holds::{sarif, workflow_command};

/// A project with names that would end a command, a property or a URI early.
fn hostile(name: &str) -> Scratch {
    let dir = Scratch::new(name);
    for odd in ["a,b", "c:d", "e%0Af", "g\n::error file=x::h", "día %20", "#?"] {
        let sub = dir.0.join(odd);
        std::fs::create_dir_all(&sub).unwrap();
        std::fs::write(sub.join(".claude.local.md"), "Private notes.\n").unwrap();
    }
    std::fs::write(dir.0.join("AGENTS.md"), "Notes.\n").unwrap();
    std::fs::write(dir.0.join("CLAUDE.md"), "@AGENTS.md\n\n@docs/gone.md\n").unwrap();
    dir
}

fn check(dir: &Scratch, format: &str) -> String {
    let output = rulecheck(&["check", ".", "--no-user", "--format", format], &dir.0);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn workflow_commands_cannot_be_forged() {
    let dir = hostile("github");
    let printed = check(&dir, "github");
    let commands: Vec<_> = printed.lines().map(workflow_command).collect();
    let files: Vec<&str> = commands.iter().map(|(_, properties, _)| properties[0].1.as_str()).collect();
    for file in [
        "a,b/.claude.local.md",
        "c:d/.claude.local.md",
        "e%0Af/.claude.local.md",
        "g\n::error file=x::h/.claude.local.md",
    ] {
        assert!(files.contains(&file), "{file:?} in {files:?}");
    }
    let words: Vec<&str> = commands.iter().map(|(name, ..)| name.as_str()).collect();
    assert!(words.is_sorted_by_key(|word| ["error", "warning", "notice"].iter().position(|known| known == word)));
}

#[test]
fn sarif_has_what_code_scanning_asks_for() {
    let dir = hostile("sarif");
    let log = check(&dir, "sarif");
    assert!(sarif(&log).len() >= 7);
    assert_eq!(log, check(&dir, "sarif"));
}

/// A variable is no file, and no host either.
#[test]
fn sarif_names_a_variable_by_its_name() {
    let dir = hostile("sarif-variable");
    let variable = ["check", ".", "--no-user", "--format", "sarif", "--env", "OPENCODE_CONFIG_CONTENT={"];
    let log: Value = serde_json::from_slice(&rulecheck(&variable, &dir.0).stdout).unwrap();
    let place = |result: &Value| result["locations"][0]["physicalLocation"]["artifactLocation"].clone();
    let mut results = log["runs"][0]["results"].as_array().unwrap().iter();
    assert!(results.any(|result| place(result) == json!({ "uri": "OPENCODE_CONFIG_CONTENT" })));
}

#[test]
fn a_listing_has_no_findings_to_print() {
    let dir = hostile("listing");
    assert_eq!(rulecheck(&["sources", ".", "--format", "sarif"], &dir.0).status.code(), Some(2));
}
