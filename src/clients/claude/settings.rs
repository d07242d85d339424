//! How the client is started and set up: its arguments, its settings files, and the approvals it has recorded.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::claims;
use super::excludes::{Exclude, entries};
use super::git::{Repository, repository};
use super::history::Behaviour;
use crate::clients::{Os, Scene};
use crate::files::absolute;
use crate::glob::shell::braces::{MAX_BRANCHES, MAX_LENGTH};
use crate::resolution::Refusal;
use crate::text::{Place, lossy};

/// Everything that decides what is loaded, but for the instruction files themselves.
pub(super) struct Setup {
    /// The user's home directory.
    pub(super) home: Option<PathBuf>,
    /// Where the user's files are; `None` when they do not count.
    pub(super) config: Option<PathBuf>,
    /// Where the administrator's files are; `None` when they do not count.
    pub(super) managed: Option<PathBuf>,
    /// The repository around the start directory.
    pub(super) repository: Option<Repository>,
    /// Whether the user's, the project's and the local files are switched on.
    pub(super) user: bool,
    /// See `user`.
    pub(super) project: bool,
    /// See `user`.
    pub(super) local: bool,
    /// Whether a switch turns off everything.
    pub(super) disabled: bool,
    /// The directories that `--add-dir` adds, as given, where their memory files count.
    pub(super) added: Vec<String>,
    /// The directories that `--add-dir` lets the client read.
    pub(super) readable: Vec<PathBuf>,
    /// What is not to be loaded.
    pub(super) excludes: Vec<Exclude>,
    /// The text that the administrator's settings hold.
    pub(super) text: Option<(String, PathBuf)>,
    /// Whether imports from outside are approved.
    pub(super) approved: bool,
    /// Why the client does not start.
    pub(super) refusal: Option<Refusal>,
    /// The settings files that it passes over.
    pub(super) ignored: Vec<Refusal>,
    /// The exclusions that are not expanded.
    pub(super) cut_short: Vec<Refusal>,
}

impl Setup {
    pub(super) fn new(scene: &Scene<'_>, behaviour: &Behaviour) -> Self {
        let session = scene.session;
        let arguments = Arguments::new(session.args("claude"));
        let home = session.home.clone();
        let config = match session.env.get("CLAUDE_CONFIG_DIR") {
            Some(dir) => Some(absolute(&session.cwd, Path::new(dir))),
            None => home.as_ref().map(|home| home.join(".claude")),
        };
        let mut setup = Self {
            home,
            config: config.filter(|_| session.user),
            managed: session.user.then(|| managed_dir(session.os)),
            repository: repository(scene.files, &session.cwd),
            user: true,
            project: true,
            local: true,
            disabled: arguments.off,
            added: Vec::new(),
            readable: arguments.add_dir.iter().map(|dir| absolute(&session.cwd, Path::new(dir))).collect(),
            excludes: Vec::new(),
            text: None,
            approved: false,
            refusal: None,
            ignored: Vec::new(),
            cut_short: Vec::new(),
        };
        if let Some(sources) = &arguments.setting_sources {
            setup.choose_sources(sources, &session.cwd);
        }
        let mut env = session.env.clone();
        setup.read_settings(scene, behaviour, arguments.settings.as_deref(), &mut env);
        let on = |name: &str| env.get(name).is_some_and(|value| is_true(value));
        setup.disabled |= on("CLAUDE_CODE_DISABLE_CLAUDE_MDS");
        if on("CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD") {
            setup.added = arguments.add_dir;
        }
        setup.read_approval(scene);
        setup
    }

    /// The first entry that excludes the file with one of these spellings.
    pub(super) fn exclusion(&self, spellings: &[&str]) -> Option<&Exclude> {
        self.excludes.iter().find(|exclude| spellings.iter().any(|path| exclude.hits(path)))
    }

    fn choose_sources(&mut self, sources: &str, cwd: &Path) {
        let names: Vec<&str> = sources.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        self.user = names.contains(&"user");
        self.project = names.contains(&"project");
        self.local = names.contains(&"local");
        if let Some(name) = names.iter().find(|name| !["user", "project", "local"].contains(name)) {
            self.refusal = Some(Refusal {
                at: Place::whole(cwd),
                why: format!("`--setting-sources` does not know `{name}`; it knows user, project and local"),
                evidence: claims::SETTING_SOURCES,
            });
        }
    }

    /// The settings files, later ones over earlier ones; lists add up.
    fn read_settings(
        &mut self,
        scene: &Scene<'_>,
        behaviour: &Behaviour,
        argument: Option<&str>,
        env: &mut BTreeMap<String, String>,
    ) {
        let cwd = &scene.session.cwd;
        let mut paths = Vec::new();
        if self.user {
            paths.extend(self.config.as_ref().map(|dir| dir.join("settings.json")));
        }
        if self.project {
            paths.push(cwd.join(".claude/settings.json"));
        }
        if self.local {
            let main = self.repository.as_ref().map(|repository| repository.main.clone());
            let main = main.filter(|_| behaviour.local_settings_of_main);
            paths.extend(main.filter(|main| main != cwd).map(|main| main.join(".claude/settings.local.json")));
            paths.push(cwd.join(".claude/settings.local.json"));
        }
        for path in paths {
            if let Ok(bytes) = scene.files.read(&path) {
                self.add_settings(scene, &path, &lossy(&bytes), env);
            }
        }
        match argument {
            Some(json) if json.trim_start().starts_with('{') => self.add_settings(scene, cwd, json, env),
            Some(path) => {
                let path = absolute(cwd, Path::new(path));
                if let Ok(bytes) = scene.files.read(&path) {
                    self.add_settings(scene, &path, &lossy(&bytes), env);
                }
            }
            None => {}
        }
        for path in self.managed_settings(scene) {
            if let Ok(bytes) = scene.files.read(&path) {
                self.add_managed(scene, &path, &lossy(&bytes), env);
            }
        }
    }

    fn managed_settings(&self, scene: &Scene<'_>) -> Vec<PathBuf> {
        let Some(dir) = &self.managed else { return Vec::new() };
        let more = dir.join("managed-settings.d");
        let names = scene.files.list(&more).unwrap_or_default();
        let shown = |name: &OsStr| name.to_str().is_some_and(|name| name.ends_with(".json") && !name.starts_with('.'));
        let more = names.into_iter().filter(|name| shown(name)).map(|name| more.join(name));
        [dir.join("managed-settings.json")].into_iter().chain(more).collect()
    }

    /// One settings file; it counts as a whole or not at all.
    fn add_settings(&mut self, scene: &Scene<'_>, path: &Path, text: &str, env: &mut BTreeMap<String, String>) {
        match object(text).and_then(|object| well_typed(&object).map(|()| object)) {
            Ok(object) => self.add_object(scene, path, text, &object, env),
            Err(why) => self.ignore(path, why),
        }
    }

    /// The administrator's settings: only what has a wrong type is left out.
    fn add_managed(&mut self, scene: &Scene<'_>, path: &Path, text: &str, env: &mut BTreeMap<String, String>) {
        match object(text) {
            Ok(mut object) => {
                if let Err(why) = well_typed(&object) {
                    self.ignore(path, why);
                    object.retain(|key, value| has_type(key, value));
                }
                if let Some(Value::String(own)) = object.get("claudeMd") {
                    self.text = Some((own.clone(), path.to_path_buf()));
                }
                self.add_object(scene, path, text, &object, env);
            }
            Err(why) => self.ignore(path, why),
        }
    }

    fn add_object(
        &mut self,
        scene: &Scene<'_>,
        path: &Path,
        text: &str,
        object: &Map<String, Value>,
        env: &mut BTreeMap<String, String>,
    ) {
        if let Some(Value::Object(more)) = object.get("env") {
            let more = more.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_string())));
            env.extend(more);
        }
        for (pattern, at) in entries(path, text) {
            match Exclude::new(&pattern, at.clone(), scene) {
                Some(exclude) => self.excludes.push(exclude),
                None => {
                    let why = format!(
                        "this has more than {MAX_LENGTH} bytes, or braces that make more than {MAX_BRANCHES} patterns; it \
                         is taken to exclude nothing"
                    );
                    self.cut_short.push(Refusal { at, why, evidence: claims::EXCLUDES });
                }
            }
        }
    }

    fn ignore(&mut self, path: &Path, why: String) {
        self.ignored.push(Refusal { at: Place::whole(path), why, evidence: claims::SETTINGS_IGNORED });
    }

    /// Whether the client has recorded that this project may import from outside.
    fn read_approval(&mut self, scene: &Scene<'_>) {
        let (Some(config), Some(home)) = (&self.config, &self.home) else { return };
        let own = scene.session.var("CLAUDE_CONFIG_DIR").map_or(home, |_| config);
        let other = config.join(".config.json");
        let path = if scene.files.is_file(&other) { other } else { own.join(".claude.json") };
        let Ok(bytes) = scene.files.read(&path) else { return };
        let text = lossy(&bytes);
        let state: Value = match serde_json::from_str(without_bom(&text)) {
            Ok(state) => state,
            Err(error) => {
                self.refusal.get_or_insert(Refusal {
                    at: Place::whole(path),
                    why: format!("it is not JSON: {error}"),
                    evidence: claims::STATE_FILE,
                });
                return;
            }
        };
        let project = self.repository.as_ref().map_or(&scene.session.cwd, |repository| &repository.main);
        let approval = &state["projects"][&*project.to_string_lossy()]["hasClaudeMdExternalIncludesApproved"];
        self.approved = is_truthy(approval);
    }
}

/// The arguments that matter here.
#[derive(Default)]
struct Arguments {
    off: bool,
    add_dir: Vec<String>,
    setting_sources: Option<String>,
    settings: Option<String>,
}

impl Arguments {
    fn new(args: &[String]) -> Self {
        let mut found = Self::default();
        let mut args = args.iter().peekable();
        while let Some(arg) = args.next() {
            let (name, value) = match arg.split_once('=') {
                Some((name, value)) => (name, Some(value.to_string())),
                None => (arg.as_str(), None),
            };
            match name {
                "--bare" | "--safe-mode" => found.off = true,
                "--setting-sources" => found.setting_sources = value.or_else(|| args.next().cloned()),
                "--settings" => found.settings = value.or_else(|| args.next().cloned()),
                "--add-dir" => {
                    found.add_dir.extend(value);
                    while let Some(dir) = args.next_if(|next| !next.starts_with('-')) {
                        found.add_dir.push(dir.clone());
                    }
                }
                _ => {}
            }
        }
        found
    }
}

/// Where the administrator's files are.
fn managed_dir(os: Os) -> PathBuf {
    PathBuf::from(match os {
        Os::Linux => "/etc/claude-code",
        Os::MacOs => "/Library/Application Support/ClaudeCode",
        Os::Windows => "C:\\Program Files\\ClaudeCode",
    })
}

fn is_true(value: &str) -> bool {
    ["1", "true", "yes", "on"].iter().any(|word| value.trim().eq_ignore_ascii_case(word))
}

/// What JavaScript takes for true.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

pub(super) fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(without_bom(text)) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("it is not an object".to_string()),
        Err(error) => Err(format!("it is not JSON: {error}")),
    }
}

type Test = fn(&Value) -> bool;

/// The types of the settings whose wrong type was seen to spoil a file.
const TYPES: &[(&str, Test, &str)] = &[
    ("claudeMdExcludes", is_texts, "a list of texts"),
    ("claudeMd", Value::is_string, "a text"),
    ("env", Value::is_object, "an object"),
    ("permissions", Value::is_object, "an object"),
];

fn is_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(Value::is_string))
}

fn has_type(key: &str, value: &Value) -> bool {
    TYPES.iter().all(|(name, is_right, _)| *name != key || is_right(value))
}

fn well_typed(object: &Map<String, Value>) -> Result<(), String> {
    let wrong = TYPES.iter().find(|(name, is_right, _)| object.get(*name).is_some_and(|value| !is_right(value)));
    wrong.map_or(Ok(()), |(name, _, kind)| Err(format!("`{name}` is not {kind}")))
}
