//! How each client is started: with a clean environment, told to update, report and fetch nothing.

use std::path::{Path, PathBuf};
use std::process::Command;

use rulecheck::clients::Version;
use serde_json::{Value, json};

use crate::layout::Layout;
use crate::room::Room;

/// Where `git` and the like are found; nothing of the user's own path.
pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The command that asks the client called `name` one thing. The model it talks to answers at `port`.
pub(crate) fn command(name: &str, binary: &Path, layout: &Layout, tmp: &Path, port: u16) -> Command {
    let mut command = Command::new(binary);
    command.env_clear().envs([("PATH", PATH), ("LANG", "C.UTF-8"), ("TERM", "dumb")]);
    command.env("HOME", &layout.home).env("TMPDIR", tmp);
    // Nobody answers at this proxy: the client reaches loopback and nothing else.
    for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
        command.env(proxy, "http://127.0.0.1:9");
    }
    command.envs([("NO_PROXY", "127.0.0.1,localhost"), ("no_proxy", "127.0.0.1,localhost")]);
    command.current_dir(&layout.cwd);
    match name {
        "codex" => codex(&mut command, layout),
        "opencode" => opencode(&mut command, layout, tmp, port),
        _ => claude(&mut command, layout, port),
    }
    for (name, value) in &layout.env {
        match (name.as_str(), value) {
            ("OPENCODE_CONFIG_CONTENT", Some(content)) => command.env(name, with_stub(content, port)),
            (_, Some(value)) => command.env(name, value),
            (_, None) => command.env_remove(name),
        };
    }
    command
}

/// Codex prints what it would send, and asks no model.
fn codex(command: &mut Command, layout: &Layout) {
    command.args(&layout.args).args(["debug", "prompt-input", "hi"]);
}

/// The file, in the directory for temporary files, that OpenCode reads its list of models from.
pub(crate) const MODELS: &str = "models.json";

fn opencode(command: &mut Command, layout: &Layout, tmp: &Path, port: u16) {
    for name in ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"] {
        command.env(format!("OPENCODE_DISABLE_{name}"), "1");
    }
    command.env("OPENCODE_CONFIG_CONTENT", stub_config(port).to_string());
    // What costs time and loads nothing: the list of all models, and a question to the model for a title.
    command.env("OPENCODE_MODELS_PATH", tmp.join(MODELS));
    command.args(["run", "-m", "stub/m", "--title", "case"]).args(&layout.args).arg("hi");
}

fn claude(command: &mut Command, layout: &Layout, port: u16) {
    command.env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}")).env("ANTHROPIC_API_KEY", "sk-ant-dummy");
    let off = ["DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING"];
    command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").envs(off.map(|name| (name, "1")));
    command.args(["-p", "hi", "--model", "claude-sonnet-4-5", "--allowedTools", "Read"]).args(&layout.args);
}

/// OpenCode learns of the stub by the configuration in its environment.
fn stub_config(port: u16) -> Value {
    json!({
        "provider": { "stub": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "stub",
            "options": { "baseURL": format!("http://127.0.0.1:{port}/v1"), "apiKey": "x" },
            "models": { "m": { "name": "m", "tool_call": true, "limit": { "context": 200_000, "output": 8000 } } },
        } },
        "model": "stub/m",
        "small_model": "stub/m",
        "autoupdate": false,
        "share": "disabled",
        // The project's files are not copied into a repository of the client's own.
        "snapshot": false,
        "permission": { "*": "allow", "read": "allow", "external_directory": "allow" },
    })
}

/// A case's own configuration in the environment, and the stub beside it. What is not an object is left as it is.
fn with_stub(content: &str, port: u16) -> String {
    match (serde_json::from_str(content), stub_config(port)) {
        (Ok(Value::Object(own)), Value::Object(mut config)) => {
            config.extend(own);
            Value::Object(config).to_string()
        }
        _ => content.to_string(),
    }
}

/// The absolute path of a binary; an error when it is not `version`.
pub(crate) fn check(binary: &Path, version: Option<Version>) -> Result<PathBuf, String> {
    let path = binary.canonicalize().map_err(|error| format!("{}: {error}", binary.display()))?;
    let room = Room::new()?;
    let mut command = Command::new(&path);
    command.arg("--version").env_clear().envs([("PATH", PATH), ("LANG", "C.UTF-8")]);
    command.env("HOME", room.base()).env("TMPDIR", room.tmp()).current_dir(room.base());
    let said = room.run(&mut command)?.stdout;
    let is = said.split_whitespace().find_map(|word| word.parse::<Version>().ok());
    match (is, version) {
        (Some(is), Some(version)) if is != version => Err(format!("{} is {is}, not {version}", binary.display())),
        (None, Some(_)) => Err(format!("{} does not say which version it is", binary.display())),
        _ => Ok(path),
    }
}
