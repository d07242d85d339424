//! One case: lays it out, runs the client, and says which markers reached its model.

use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::clients::{MODELS, PATH, command};
use crate::layout::{Layout, markers, strings};
use crate::room::Room;
use crate::stub::Stub;

/// Whether the client can be asked at all. A version that has to be started in another way refuses every layout, and that
/// would look like an answer.
pub(crate) fn answers(client: &str, binary: &Path) -> Result<(), String> {
    let case = json!({"files": {"AGENTS.md": "agents", "CLAUDE.md": "claude"}});
    let observed = observe(client, binary, &case)?;
    if strings(&observed["startup"]).is_empty() {
        return Err(format!(
            "{} does not load the simplest layout: {observed}; is it still started so?",
            binary.display()
        ));
    }
    Ok(())
}

/// What `case` records as `observed`.
pub(crate) fn observe(client: &str, binary: &Path, case: &Value) -> Result<Value, String> {
    let room = Room::new()?;
    let stub = Stub::bind()?;
    let port = stub.port();
    let text = case.to_string().replace("{{PORT}}", &port.to_string());
    let mut case: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;

    // The layout's own repositories are only as real as a resolver in memory needs them.
    let repositories = case.get("git").map_or_else(|| vec![".".to_string()], strings);
    case["git"] = json!([]);
    let layout = Layout::new(&case, &room.base());
    let inside =
        |path: &Path| path.starts_with(room.base()) && !path.components().any(|part| part == Component::ParentDir);
    if let Some((path, _)) = layout.nodes.iter().find(|(path, _)| !inside(path)) {
        return Err(format!("the layout would write to {}", path.display()));
    }
    layout.disk(&room.base());
    for dir in &repositories {
        init(&layout.project.join(dir))?;
    }
    if client == "codex" {
        let codex = layout.home.join(".codex");
        // Where the case has put something else in its place, it stays.
        if codex.symlink_metadata().is_err() {
            std::fs::create_dir_all(&codex).map_err(|error| format!("{}: {error}", codex.display()))?;
        }
    }
    if client == "opencode" {
        let models = room.tmp().join(MODELS);
        std::fs::write(&models, "{}").map_err(|error| format!("{}: {error}", models.display()))?;
    }

    let remote: BTreeMap<String, String> = case["remote"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(path, text)| (path.clone(), text.as_str().unwrap_or_default().to_string()))
        .collect();
    let reads = layout.reads.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let stub = stub.serve(reads, remote);
    let finished = room.run(&mut command(client, binary, &layout, &room.tmp(), port))?;
    let prompts = match client {
        "codex" if finished.status.success() => {
            let input = serde_json::from_str(&finished.stdout).map_err(|error| format!("its output: {error}"))?;
            vec![texts(&input)]
        }
        "codex" => Vec::new(),
        _ => stub.requests().iter().map(|request| texts(&json!([request["system"], request["messages"]]))).collect(),
    };
    let Some((first, later)) = prompts.split_first() else {
        // A client that was killed, or that ended well without asking anything, has not answered.
        let refuses = finished.status.code().is_some_and(|code| code != 0);
        return if refuses { Ok(json!({"refuses_to_start": true})) } else { Err(finished.complaint()) };
    };
    let mut seen = markers(first);
    let mut observed = json!({ "startup": seen });
    if !layout.reads.is_empty() {
        if later.len() < layout.reads.len() {
            return Err(format!("it read {} of {} files; {}", later.len(), layout.reads.len(), finished.complaint()));
        }
        let mut lazy = Vec::new();
        for prompt in later {
            let new: Vec<String> = markers(prompt).into_iter().filter(|marker| !seen.contains(marker)).collect();
            seen.extend(new.iter().cloned());
            lazy.push(new);
        }
        observed["lazy"] = json!(lazy);
    }
    Ok(observed)
}

fn init(dir: &Path) -> Result<(), String> {
    let mut git = Command::new("git");
    // Neither templates nor configuration of this machine.
    git.args(["init", "-q", "--template="]).arg(dir).stdin(Stdio::null());
    git.env_clear().envs([("PATH", PATH), ("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")]);
    match git.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("git init: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Err(format!("git: {error}")),
    }
}

/// All strings in `value`, in order, each on lines of its own.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(items) => items.iter().map(texts).collect(),
        Value::Object(fields) => {
            let text: String = fields.values().map(texts).collect();
            // OpenCode loads an instruction file even when the model has just read it, so the reading itself does not
            // count. Claude Code does not load it again: that it was read is how it came to the model.
            let result = value["role"] == "tool";
            if result { text.split_inclusive('\n').filter(|line| !numbered(line)).collect() } else { text }
        }
        _ => String::new(),
    }
}

/// Whether a read tool has numbered the line: it is of the file that the model asked for.
fn numbered(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|character: char| character.is_ascii_digit());
    rest.len() < line.len() && rest.starts_with([':', '|', '\t', '\u{2192}'])
}
