//! The compact recordings of Claude Code: which reads load a rule, which fragments import a file, and which names an import
//! can have. Many rows are asked in one run, each marked and in a place of its own.

use std::path::Path;

use rulecheck::clients::{Client, Version};
use serde_json::{Map, Value, json};

use crate::layout::strings;
use crate::observe::observe;
use crate::recorded::{place, read, read_one, recorded, write, write_one};

/// How many fragments stand above one another in one run.
const FRAGMENTS: usize = 40;

pub(crate) fn record(client: &Client, version: Version, binary: &Path) -> Result<(), String> {
    let (before, rows) = load(client, version)?;
    let mut now = rows.ask(client, binary)?;
    rows.report(before, &now);
    let version_now = json!(version.to_string());
    now.rules[0]["version"] = version_now.clone();
    now.imports[0]["version"] = version_now.clone();
    now.names["version"] = version_now;
    write(&place(client, version, "paths.jsonl"), &now.rules)?;
    write(&place(client, version, "imports.jsonl"), &now.imports)?;
    write_one(&place(client, version, "extensions.json"), &now.names)
}

/// Whether the binary answers as recorded.
pub(crate) fn compare(client: &Client, version: Version, binary: &Path) -> Result<bool, String> {
    let (before, rows) = load(client, version)?;
    Ok(rows.report(before, &rows.ask(client, binary)?) == 0)
}

/// The three files of one version.
struct Dialects {
    /// First the lists of reads, then the rules.
    rules: Vec<Value>,
    /// First the version, then the fragments.
    imports: Vec<Value>,
    names: Value,
}

/// Runs a case: what it records as `observed`.
type Ask<'a> = dyn Fn(Value) -> Result<Value, String> + 'a;

fn has(seen: &Value, marker: &str) -> bool {
    seen.as_array().is_some_and(|seen| seen.iter().any(|known| known == marker))
}

/// What is recorded of `version`, or else of the newest that has these recordings.
fn load(client: &Client, version: Version) -> Result<(Version, Dialects), String> {
    let mut versions: Vec<Version> = recorded(client)?.iter().map(|rows| rows.version).collect();
    versions.push(version);
    let found = versions.into_iter().rev().find(|version| place(client, *version, "paths.jsonl").is_file());
    let version = found.ok_or_else(|| format!("{} has no compact recordings", client.name))?;
    let rules = read(&place(client, version, "paths.jsonl"))?;
    let imports = read(&place(client, version, "imports.jsonl"))?;
    if rules.is_empty() || imports.is_empty() {
        return Err(format!("the compact recordings of {} {version} have no first line", client.name));
    }
    Ok((version, Dialects { rules, imports, names: read_one(&place(client, version, "extensions.json"))? }))
}

impl Dialects {
    fn ask(&self, client: &Client, binary: &Path) -> Result<Self, String> {
        let ask = |case: Value| observe(client.name, binary, &case);
        Ok(Self { rules: self.rules(&ask)?, imports: self.imports(&ask)?, names: self.names(&ask)? })
    }

    /// All rules of one list of reads lie in one directory, and each read has a run.
    fn rules(&self, ask: &Ask<'_>) -> Result<Vec<Value>, String> {
        let mut rows = self.rules.clone();
        for (list, reads) in self.rules[0]["reads"].as_object().into_iter().flatten() {
            let reads = strings(reads);
            let mut files: Map<String, Value> =
                reads.iter().map(|read| (read.clone(), json!({"raw": "x\n"}))).collect();
            let mine: Vec<usize> = (1..rows.len()).filter(|at| rows[*at]["reads"] == **list).collect();
            for at in &mine {
                let text = format!("{}\nMARK<rule:{at}>\n", rows[*at]["rule"].as_str().unwrap_or_default());
                files.insert(format!(".claude/rules/r{at}.md"), json!({ "raw": text }));
                rows[*at]["activated_by"] = json!([]);
            }
            for read in &reads {
                let seen = ask(json!({"files": files, "reads": [read]}))?;
                for at in &mine {
                    let marker = format!("rule:{at}");
                    rows[*at]["at_launch"] = json!(has(&seen["startup"], &marker));
                    if let (true, Some(activated)) =
                        (has(&seen["lazy"][0], &marker), rows[*at]["activated_by"].as_array_mut())
                    {
                        activated.push(json!(read));
                    }
                }
            }
        }
        Ok(rows)
    }

    /// Each fragment is the `CLAUDE.md` of a directory below the start directory, on the way to the file that is read, with
    /// nothing in the directory between. Above the start directory an import would need an approval.
    fn imports(&self, ask: &Ask<'_>) -> Result<Vec<Value>, String> {
        let mut rows = self.imports.clone();
        for chunk in rows[1..].chunks_mut(FRAGMENTS) {
            let mut files = Map::new();
            let mut dir = "d".to_string();
            for (at, row) in chunk.iter().enumerate() {
                dir += "/a/b";
                files.insert(format!("{dir}/CLAUDE.md"), json!({ "raw": row["markdown"] }));
                files.insert(format!("{dir}/FILE.md"), json!({ "raw": format!("MARK<file:{at}>") }));
            }
            let read = format!("{dir}/x.ts");
            files.insert(read.clone(), json!({"raw": "x\n"}));
            let seen = ask(json!({"files": files, "reads": [read]}))?;
            for (at, row) in chunk.iter_mut().enumerate() {
                row["loads_FILE.md"] = json!(has(&seen["lazy"][0], &format!("file:{at}")));
            }
        }
        Ok(rows)
    }

    /// One file imports all names.
    fn names(&self, ask: &Ask<'_>) -> Result<Value, String> {
        let lists =
            [("imported_extensions", "not_imported_extensions", "a."), ("imported_names", "not_imported_names", "")];
        let both = |yes, no| [strings(&self.names[yes]), strings(&self.names[no])].concat();
        let mut files = Map::new();
        let mut text = String::new();
        for (yes, no, before) in lists {
            for name in both(yes, no).iter().map(|name| format!("{before}{name}")) {
                text += &format!("@{name}\n");
                files.insert(name.clone(), json!({ "raw": format!("MARK<name:{name}>") }));
            }
        }
        files.insert("CLAUDE.md".into(), json!({ "raw": text }));
        let seen = ask(json!({ "files": files }))?;
        let mut names = self.names.clone();
        for (yes, no, before) in lists {
            let (imported, not): (Vec<String>, Vec<String>) =
                both(yes, no).into_iter().partition(|name| has(&seen["startup"], &format!("name:{before}{name}")));
            names[yes] = json!(imported);
            names[no] = json!(not);
        }
        Ok(names)
    }

    /// Prints where `now` is not this, and says in how many rows.
    fn report(&self, version: Version, now: &Self) -> usize {
        let before = self.rules.iter().chain(&self.imports).chain([&self.names]);
        let after = now.rules.iter().chain(&now.imports).chain([&now.names]);
        let different: Vec<(&Value, &Value)> = before.zip(after).filter(|(before, after)| before != after).collect();
        for (before, after) in &different {
            println!("recorded {before}\nnow      {after}");
        }
        println!("the compact recordings: {} rows are not as in {version}", different.len());
        different.len()
    }
}
