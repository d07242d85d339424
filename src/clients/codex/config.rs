//! Codex's configuration: its layers, what they say together, and what makes the client refuse to start.

use std::path::{Path, PathBuf};

use toml::de::DeTable;
use toml::{Table, Value};

use super::history::Behaviour;
use super::named;
use crate::clients::{Os, Scene};
use crate::files::{Unreadable, absolute};
use crate::resolution::Refusal;
use crate::text::Place;

const REFUSALS: &str = "codex/run-0.145.0#config-refusals";

/// The arguments that matter here.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    /// `-C DIR`: the start directory.
    pub(super) cd: Option<PathBuf>,
    profile: Option<String>,
    overrides: Vec<String>,
}

/// What all layers say together.
#[derive(Debug)]
pub(super) struct Config {
    pub(super) fallback_names: Vec<String>,
    pub(super) max_bytes: u64,
    /// The directory that the chain starts at; `None`: only the start directory counts.
    pub(super) root: Option<PathBuf>,
    /// Whether the client gave up the project's files at a root marker.
    pub(super) aborted: bool,
    /// Whether the user's configuration marks the start directory as untrusted.
    pub(super) untrusted: bool,
    pub(super) developer: Option<Setting>,
    pub(super) instructions: Option<Setting>,
    /// The file that replaces the client's own base instructions.
    pub(super) base_file: Option<(PathBuf, Setting)>,
    /// Settings in a table where the client does not look for them.
    pub(super) misplaced: Vec<Refusal>,
}

/// A text in a configuration, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) text: String,
    /// `None`: on the command line.
    pub(super) place: Option<Place>,
}

/// One configuration.
#[derive(Clone, Debug)]
struct Layer {
    /// The file; `None` is the command line.
    path: Option<PathBuf>,
    text: String,
    table: Table,
}

impl Arguments {
    pub(super) fn read(arguments: &[String]) -> Self {
        let mut read = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let (name, glued) = match argument.split_once('=') {
                Some((name, value)) if argument.starts_with("--") => (name, Some(value.to_string())),
                // A short option may have its value glued to it.
                _ if argument.len() > 2 && !argument.starts_with("--") && argument.is_char_boundary(2) => {
                    (&argument[..2], Some(argument[2..].trim_start_matches('=').to_string()))
                }
                _ => (argument.as_str(), None),
            };
            let mut value = || glued.clone().or_else(|| rest.next().cloned());
            match name {
                "-C" | "--cd" => read.cd = value().map(PathBuf::from),
                "-p" | "--profile" => read.profile = value(),
                "-c" | "--config" => read.overrides.extend(value()),
                _ => {}
            }
        }
        read
    }
}

impl Config {
    /// Reads every layer, later ones over earlier ones: the system's, the user's, the profile's, the project's
    /// from the root down to `cwd`, the command line's, the managed one.
    pub(super) fn read(
        scene: &Scene<'_>,
        behaviour: &Behaviour,
        home: Option<&Path>,
        cwd: &Path,
        arguments: &Arguments,
    ) -> Result<Self, Refusal> {
        let files = scene.files;
        let mut below: Vec<Layer> = Vec::new();
        below.extend(Layer::system(scene, "config.toml")?);
        // Requirements never change what loads, but have to be TOML.
        Layer::system(scene, "requirements.toml")?;
        if let Some(home) = home.filter(|_| scene.session.user) {
            let user = Layer::read(scene, &home.join("config.toml"))?;
            let profile = arguments.profile.as_ref().filter(|_| !behaviour.profile_is_a_table);
            let profile = profile.map(|profile| profile_layer(scene, home, profile, user.as_ref())).transpose()?;
            below.extend(user.into_iter().chain(profile.flatten()));
        }
        let mut above = vec![Layer::command_line(&arguments.overrides)];
        above.extend(Layer::system(scene, "managed_config.toml")?);

        // The root and the trust come from everything but the project itself.
        let outside: Vec<Layer> = below.iter().chain(&above).cloned().collect();
        if !behaviour.profile_is_a_table {
            outside.iter().try_for_each(Layer::retired_profile)?;
        }
        let markers = names(&outside, "project_root_markers")?.unwrap_or_else(|| vec![".git".to_string()]);
        let (root, marker_lost) = project_root(scene, behaviour, cwd, &markers);
        let trust = Trust::read(outside.iter().filter(|layer| behaviour.managed_trust_counts || !layer.is_managed()))?;
        let keys = [
            root.clone().unwrap_or_else(|| cwd.to_path_buf()),
            main_checkout(scene, cwd).unwrap_or_else(|| cwd.to_path_buf()),
        ];

        let mut layers = below;
        for dir in crate::files::chain(root.as_deref().unwrap_or(cwd), cwd) {
            let path = dir.join(".codex/config.toml");
            // The home's own configuration is the user's, wherever the client starts.
            if home
                .is_some_and(|home| files.real(&home.join("config.toml")) == files.real(&path) && files.is_file(&path))
            {
                continue;
            }
            let trusted = trust.of(dir, &keys) == Some(true);
            match Layer::read(scene, &path) {
                Ok(Some(layer)) if trusted && behaviour.project_chooses => layers.push(layer),
                Ok(Some(layer)) if trusted => layers.push(layer.without_choices()),
                Ok(_) => {}
                // What is not TOML at all does no harm in a project that is not trusted; what cannot be read does.
                Err(refusal) if trusted || refusal.at.span.is_none() => return Err(refusal),
                Err(_) => {}
            }
        }
        layers.extend(above);
        check_types(&layers)?;
        if behaviour.profile_is_a_table {
            layers.extend(profile_tables(&layers, arguments.profile.as_deref())?);
            check_types(&layers)?;
        }
        check_provider(&layers)?;

        let base_file = setting(&layers, "model_instructions_file")?.map(|setting| {
            let dir = setting.place.as_ref().and_then(|place| place.path.parent()).unwrap_or(cwd);
            let path = match (setting.text.strip_prefix("~/"), &scene.session.home) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => absolute(dir, Path::new(&setting.text)),
            };
            (path, setting)
        });
        if let Some((path, setting)) = &base_file {
            let blank = |bytes: &[u8]| std::str::from_utf8(bytes).is_ok_and(|text| !text.trim().is_empty());
            if !files.read(path).is_ok_and(|bytes| blank(&bytes)) {
                return Err(Refusal {
                    at: setting.place.clone().unwrap_or_else(|| Place::whole(path)),
                    why: format!(
                        "`model_instructions_file` names {}, which is missing, blank or not UTF-8",
                        path.display()
                    ),
                    evidence: REFUSALS,
                });
            }
        }
        Ok(Self {
            fallback_names: names(&layers, "project_doc_fallback_filenames")?.unwrap_or_default(),
            max_bytes: max_bytes(&layers)?,
            root,
            aborted: marker_lost && behaviour.marker_errors_abort,
            untrusted: trust.of(cwd, &keys) == Some(false),
            developer: setting(&layers, "developer_instructions")?,
            instructions: setting(&layers, "instructions")?,
            base_file,
            misplaced: layers.iter().flat_map(Layer::misplaced).collect(),
        })
    }
}

impl Layer {
    /// A configuration of the machine's administrator.
    fn system(scene: &Scene<'_>, name: &str) -> Result<Option<Self>, Refusal> {
        if !scene.session.user || scene.session.os == Os::Windows {
            return Ok(None);
        }
        Self::read(scene, &Path::new("/etc/codex").join(name))
    }

    fn is_managed(&self) -> bool {
        self.path.as_ref().is_some_and(|path| path.ends_with("managed_config.toml"))
    }

    /// The configuration at `path`; `None` when nothing is there.
    fn read(scene: &Scene<'_>, path: &Path) -> Result<Option<Self>, Refusal> {
        let refuse = |why: String| Refusal { at: Place::whole(path), why, evidence: REFUSALS };
        let bytes = match scene.files.read(path) {
            Ok(bytes) => bytes,
            Err(Unreadable::Missing | Unreadable::NotADirectory) => return Ok(None),
            Err(why) => return Err(refuse(format!("the configuration cannot be read: {why}"))),
        };
        let text = std::str::from_utf8(&bytes).map_err(|_| refuse("the configuration is not UTF-8".into()))?;
        let table = text.strip_prefix('\u{feff}').unwrap_or(text).parse::<Table>().map_err(|error| Refusal {
            at: Place::at(path, error.span().unwrap_or(0..0)),
            why: format!("the configuration is not valid TOML: {}", error.message().lines().next().unwrap_or_default()),
            evidence: REFUSALS,
        })?;
        Ok(Some(Self { path: Some(path.to_path_buf()), text: text.to_string(), table }))
    }

    /// The overrides of the command line, `key.key=value`; a value that is no TOML is a text.
    fn command_line(overrides: &[String]) -> Self {
        let mut table = Table::new();
        for text in overrides {
            let Some((key, value)) = text.split_once('=') else { continue };
            let value = format!("value = {value}")
                .parse::<Table>()
                .ok()
                .and_then(|mut table| table.remove("value"))
                .unwrap_or_else(|| Value::String(value.trim().trim_matches(['"', '\'']).to_string()));
            let mut at = &mut table;
            let mut keys = key.trim().split('.').peekable();
            while let Some(key) = keys.next() {
                if keys.peek().is_none() {
                    at.insert(key.to_string(), value);
                    break;
                }
                let inner = at.entry(key.to_string()).or_insert_with(|| Value::Table(Table::new()));
                if !inner.is_table() {
                    *inner = Value::Table(Table::new());
                }
                match inner {
                    Value::Table(inner) => at = inner,
                    _ => break,
                }
            }
        }
        Self { path: None, text: String::new(), table }
    }

    /// Where the value of `key` stands.
    fn place(&self, key: &str) -> Option<Place> {
        let path = self.path.as_deref()?;
        // The byte order mark is not part of what was parsed, but it is of the file.
        let skipped = self.text.len() - self.text.trim_start_matches('\u{feff}').len();
        let parsed = DeTable::parse(&self.text[skipped..]).ok();
        let span = parsed.and_then(|table| table.get_ref().get(key).map(|value| value.span()));
        Some(span.map_or_else(|| Place::whole(path), |span| Place::at(path, span.start + skipped..span.end + skipped)))
    }

    fn refuse(&self, key: &str, why: impl Into<String>) -> Refusal {
        let at = self.place(key).unwrap_or_else(|| Place::whole("-c"));
        Refusal { at, why: why.into(), evidence: REFUSALS }
    }

    /// Keys of the top level that stand in a table of another name, where they do nothing.
    fn misplaced(&self) -> Vec<Refusal> {
        const KEYS: [&str; 4] = [
            "developer_instructions",
            "project_doc_fallback_filenames",
            "project_doc_max_bytes",
            "project_root_markers",
        ];
        let tables = self.table.iter().filter(|(name, _)| *name != "profiles");
        let tables = tables.filter_map(|(name, value)| Some((name, value.as_table()?)));
        let wrong = tables
            .flat_map(|(name, table)| KEYS.iter().filter(|key| table.contains_key(**key)).map(move |key| (name, *key)));
        wrong
            .map(|(name, key)| {
                self.refuse(name, format!("`{key}` does nothing below `[{name}]`: it belongs at the top level"))
            })
            .collect()
    }

    /// Without what is not a project's to choose.
    fn without_choices(mut self) -> Self {
        self.table.retain(|key, _| !["model_provider", "model_providers", "profile", "profiles"].contains(&key));
        self
    }

    fn retired_profile(&self) -> Result<(), Refusal> {
        match self.table.get("profile") {
            Some(_) => Err(self.refuse("profile", "the top-level key `profile` is retired")),
            None => Ok(()),
        }
    }
}

/// `--profile NAME`: the file `NAME.config.toml` in the home directory, over the user's configuration.
fn profile_layer(
    scene: &Scene<'_>,
    home: &Path,
    profile: &str,
    user: Option<&Layer>,
) -> Result<Option<Layer>, Refusal> {
    let refuse =
        |why: &str| Refusal { at: Place::whole(home.join("config.toml")), why: why.into(), evidence: REFUSALS };
    if profile.contains(['/', '\\']) {
        return Err(refuse("the name of a profile cannot hold a path separator"));
    }
    if let Some(user) = user
        && user.table.get("profiles").and_then(|profiles| profiles.get(profile)).is_some()
    {
        return Err(user.refuse(
            "profiles",
            format!("the table `profiles.{profile}` is retired where `--profile {profile}` is given"),
        ));
    }
    Layer::read(scene, &home.join(format!("{profile}.config.toml")))
}

/// The table of `profiles` that `--profile`, or else the key `profile`, selects, as each layer has it. It stands over all
/// of them, but not for the keys that choose files.
fn profile_tables(layers: &[Layer], argument: Option<&str>) -> Result<Vec<Layer>, Refusal> {
    const KEYS: [&str; 5] = ["approval_policy", "model", "model_instructions_file", "model_provider", "sandbox_mode"];
    let key = setting(layers, "profile")?;
    let (name, at) = match (argument, &key) {
        (Some(name), _) => (name, Place::whole("--profile")),
        (None, Some(key)) => (key.text.as_str(), key.place.clone().unwrap_or_else(|| Place::whole("-c"))),
        (None, None) => return Ok(Vec::new()),
    };
    let table = |layer: &Layer| {
        let table = layer.table.get("profiles")?.get(name)?.as_table()?;
        let known = table.iter().filter(|(key, _)| KEYS.contains(&key.as_str()));
        let table = known.map(|(key, value)| (key.clone(), value.clone())).collect();
        Some(Layer { path: layer.path.clone(), text: String::new(), table })
    };
    let tables: Vec<Layer> = layers.iter().filter_map(table).collect();
    if tables.is_empty() {
        let why = format!("there is no table `profiles.{name}`");
        return Err(Refusal { at, why, evidence: "codex/run-0.122.0#profile-tables" });
    }
    Ok(tables)
}

/// The value of `key` in the last layer that has it. The project cannot set its own root markers.
fn last<'a>(layers: &'a [Layer], key: &str) -> Option<(&'a Layer, &'a Value)> {
    layers.iter().rev().find_map(|layer| Some((layer, layer.table.get(key)?)))
}

fn names(layers: &[Layer], key: &str) -> Result<Option<Vec<String>>, Refusal> {
    let Some((layer, value)) = last(layers, key) else { return Ok(None) };
    let list = value.as_array().and_then(|list| list.iter().map(|item| item.as_str().map(str::to_string)).collect());
    list.map(Some).ok_or_else(|| layer.refuse(key, format!("`{key}` must be a list of texts")))
}

fn max_bytes(layers: &[Layer]) -> Result<u64, Refusal> {
    const KEY: &str = "project_doc_max_bytes";
    let Some((layer, value)) = last(layers, KEY) else { return Ok(super::MAX_BYTES) };
    let number = value.as_integer().and_then(|number| u64::try_from(number).ok());
    number.ok_or_else(|| layer.refuse(KEY, format!("`{KEY}` must be a whole number of bytes, not negative")))
}

fn setting(layers: &[Layer], key: &str) -> Result<Option<Setting>, Refusal> {
    let Some((layer, value)) = last(layers, key) else { return Ok(None) };
    let text = value.as_str().ok_or_else(|| layer.refuse(key, format!("`{key}` must be a text")))?;
    Ok(Some(Setting { text: text.to_string(), place: layer.place(key) }))
}

/// Whether the client takes a value.
type Accepts = fn(&Value) -> bool;

/// The other keys whose wrong values were seen to stop the client: each with what it must be.
static TYPES: &[(&str, &str, Accepts)] = &[
    ("approval_policy", "`untrusted`, `on-failure`, `on-request`, `never` or a table", |value| {
        value.is_table()
            || value.as_str().is_some_and(|word| ["untrusted", "on-failure", "on-request", "never"].contains(&word))
    }),
    ("features", "a table of true and false", |value| {
        value.as_table().is_some_and(|table| table.values().all(|value| value.is_bool() || value.is_table()))
    }),
    ("mcp_servers", "a table of servers, each with `command` or `url`", |value| {
        let server = |value: &Value| value.get("command").is_some() || value.get("url").is_some();
        value.as_table().is_some_and(|table| table.values().all(server))
    }),
    ("model", "a text", Value::is_str),
    ("profiles", "a table of tables, each with values of the right types", |value| {
        let fits = |profile: &Table| TYPES.iter().all(|(key, _, accepts)| profile.get(*key).is_none_or(*accepts));
        value.as_table().is_some_and(|table| table.values().all(|profile| profile.as_table().is_some_and(fits)))
    }),
    ("projects", "a table of tables", |value| {
        value.as_table().is_some_and(|table| table.values().all(Value::is_table))
    }),
    ("sandbox_mode", "`read-only`, `workspace-write` or `danger-full-access`", |value| {
        value.as_str().is_some_and(|word| ["read-only", "workspace-write", "danger-full-access"].contains(&word))
    }),
    ("tui", "a table", Value::is_table),
];

/// Types are checked on what all layers say together, so a wrong value that a later layer replaces does no harm.
fn check_types(layers: &[Layer]) -> Result<(), Refusal> {
    for (key, wanted, accepts) in TYPES {
        if let Some((layer, value)) = last(layers, key)
            && !accepts(value)
        {
            return Err(layer.refuse(key, format!("`{key}` must be {wanted}")));
        }
    }
    // A project's markers are ignored, but not when they are of the wrong type.
    names(layers, "project_root_markers")?;
    Ok(())
}

/// The provider has to be one that the client or a configuration defines.
fn check_provider(layers: &[Layer]) -> Result<(), Refusal> {
    if let Some((layer, Value::String(provider))) = last(layers, "model_provider")
        && !["openai", "ollama", "lmstudio", "oss", "amazon-bedrock"].contains(&provider.as_str())
        && !layers
            .iter()
            .any(|layer| layer.table.get("model_providers").and_then(|known| known.get(provider)).is_some())
    {
        return Err(
            layer.refuse("model_provider", format!("`model_provider` names `{provider}`, which is not defined"))
        );
    }
    Ok(())
}

/// The nearest directory from `cwd` upward that holds any of the markers, and whether one on the way could not be followed.
fn project_root(scene: &Scene<'_>, behaviour: &Behaviour, cwd: &Path, markers: &[String]) -> (Option<PathBuf>, bool) {
    let mut lost = false;
    for dir in cwd.ancestors() {
        for marker in markers.iter().map(|marker| named(scene, behaviour, dir, marker)) {
            if scene.files.target(&marker).is_some() {
                return (Some(dir.to_path_buf()), lost);
            }
            lost |= matches!(scene.files.read(&marker), Err(Unreadable::Lost | Unreadable::NotADirectory));
        }
    }
    (None, lost)
}

/// What the user's configuration says of each project: trusted, untrusted, or nothing.
struct Trust(Vec<(PathBuf, bool)>);

impl Trust {
    fn read<'a>(layers: impl Iterator<Item = &'a Layer>) -> Result<Self, Refusal> {
        let mut known = Vec::new();
        for layer in layers {
            for (path, project) in layer.table.get("projects").and_then(Value::as_table).into_iter().flatten() {
                match project.get("trust_level").map(|level| level.as_str()) {
                    Some(Some("trusted")) => known.push((PathBuf::from(path), true)),
                    Some(Some("untrusted")) => known.push((PathBuf::from(path), false)),
                    Some(_) => return Err(layer.refuse("projects", "`trust_level` must be `trusted` or `untrusted`")),
                    None => {}
                }
            }
        }
        Ok(Self(known))
    }

    /// The word on `dir`: its own, else the first of `keys` that has one. Paths are compared as they are spelled.
    fn of(&self, dir: &Path, keys: &[PathBuf]) -> Option<bool> {
        std::iter::once(dir).chain(keys.iter().map(PathBuf::as_path)).find_map(|key| {
            self.0.iter().rev().find(|(path, _)| path.as_os_str() == key.as_os_str()).map(|(_, trusted)| *trusted)
        })
    }
}

/// The root of the git repository that holds `cwd`; for a worktree, that of its main checkout.
fn main_checkout(scene: &Scene<'_>, cwd: &Path) -> Option<PathBuf> {
    let root = cwd.ancestors().find(|dir| scene.files.target(&dir.join(".git")).is_some())?;
    let linked = || {
        let text = scene.files.read(&root.join(".git")).ok()?;
        let target = std::str::from_utf8(&text).ok()?.trim().strip_prefix("gitdir:")?.trim();
        let git_dir = absolute(root, Path::new(target));
        let worktrees = git_dir.parent().filter(|dir| dir.ends_with("worktrees"))?;
        worktrees.parent()?.parent().map(Path::to_path_buf)
    };
    Some(linked().unwrap_or_else(|| root.to_path_buf()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_may_be_glued() {
        let read = Arguments::read(&["-pwork", "--config=a=1", "-c", "b=2", "-C", "sub", "hi"].map(String::from));
        assert_eq!(read.profile.as_deref(), Some("work"));
        assert_eq!(read.overrides, ["a=1", "b=2"]);
        assert_eq!(read.cd, Some(PathBuf::from("sub")));
    }

    #[test]
    fn a_place_is_the_value() {
        let text = "\u{feff}a = 1\nmodel = \"x\"\n";
        let layer = Layer { path: Some("/c".into()), text: text.into(), table: Table::new() };
        let span = layer.place("model").unwrap().span.unwrap();
        assert_eq!(&text[span.start..span.end], "\"x\"");
    }
}
