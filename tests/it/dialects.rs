//! The recorded dialects of Claude Code, replayed in memory: the patterns of rules, and the imports.

use std::path::Path;

use rulecheck::clients::{Version, client};
use serde_json::{Value, json};

use crate::layout::strings;
use crate::runs::{Seen, replay};

/// The recorded rule files of Claude Code: at launch or not, and which reads load them.
#[test]
fn recorded_rule_patterns() {
    let mut wrong = Vec::new();
    for (version, lines) in claude("paths.jsonl") {
        let (head, rows) = lines.split_first().unwrap();
        for row in rows {
            let rule = row["rule"].as_str().unwrap();
            let reads = strings(&head["reads"][row["reads"].as_str().unwrap()]);
            let mut files: serde_json::Map<String, Value> =
                reads.iter().map(|read| (read.clone(), json!({"raw": "x\n"}))).collect();
            files.insert(".claude/rules/r.md".into(), json!({"raw": format!("{rule}\nMARK<rule>\n")}));
            let at_launch = loads(&json!({"files": files}), version, "rule").0;
            let activated: Vec<String> = reads
                .iter()
                .filter(|read| loads(&json!({"files": files, "reads": [read]}), version, "rule").1)
                .cloned()
                .collect();
            if row["at_launch"] != at_launch || activated != strings(&row["activated_by"]) {
                wrong.push(format!(
                    "{rule:?}\n  want {} {}\n  got  {at_launch} {activated:?}",
                    row["at_launch"], row["activated_by"]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} rules differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The recorded Markdown fragments of Claude Code: whether the file beside them is imported.
#[test]
fn recorded_imports() {
    let mut wrong = Vec::new();
    for (version, lines) in claude("imports.jsonl") {
        for row in &lines[1..] {
            let case = json!({"files": {"CLAUDE.md": {"raw": row["markdown"]}, "FILE.md": {"raw": "MARK<file>"}}});
            let got = loads(&case, version, "file").0;
            if (row["loads_FILE.md"] == got) == row.get("known_difference").is_some() {
                wrong.push(format!("{} imports: {got}", row["markdown"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} fragments differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The recorded file names that Claude Code imports, and those that it does not.
#[test]
fn recorded_import_extensions() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("evidence/claude/runs/2.1.220.extensions.json");
    let names: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let version = names["version"].as_str().unwrap().parse().unwrap();
    let imports = |name: &str| {
        let mut files = serde_json::Map::from_iter([("CLAUDE.md".to_string(), json!({"raw": format!("@{name}")}))]);
        files.insert(name.to_string(), json!({"raw": "MARK<file>"}));
        loads(&json!({"files": files}), version, "file").0
    };
    let wrong: Vec<String> = [
        ("imported_extensions", "a.", true),
        ("not_imported_extensions", "a.", false),
        ("imported_names", "", true),
        ("not_imported_names", "", false),
    ]
    .into_iter()
    .flat_map(|(list, before, want)| {
        strings(&names[list]).into_iter().map(move |name| (format!("{before}{name}"), want))
    })
    .filter(|(name, want)| imports(name) != *want)
    .map(|(name, want)| format!("{name}: imported should be {want}"))
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The lines of every `evidence/claude/runs/<version>.<ending>`.
fn claude(ending: &str) -> Vec<(Version, Vec<Value>)> {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("evidence/claude/runs");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(runs).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if let Some(version) = name.strip_suffix(ending).and_then(|name| name.strip_suffix('.')) {
            let text = std::fs::read_to_string(&path).unwrap();
            let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            found.push((version.parse().unwrap(), lines));
        }
    }
    assert!(!found.is_empty());
    found
}

/// Whether Claude Code loads the text marked `mark` at the start, and by the reads.
fn loads(case: &Value, version: Version, mark: &str) -> (bool, bool) {
    let Seen { steps, .. } = replay(client("claude").unwrap(), version, case);
    let has = |step: &Vec<Vec<String>>| step.iter().flatten().any(|marker| marker == mark);
    (steps.first().is_some_and(has), steps.iter().skip(1).any(has))
}
