//! `rulecheck.yaml`, at the root of the project only.
//!
//! ```yaml
//! clients: [codex@0.145.0, claude]
//! rules:
//!   client-gap: off
//! suppress:
//!   - path: fixtures/**
//!     rule: unsupported-name
//!     reason: test data
//! allow-external: [../shared/team.md]
//! ```

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::json;
use serde_yaml::Value;

use crate::clients::{self, CLIENTS, Client, Version};
use crate::diagnostic::{FailOn, Level};
use crate::files::{Files, Unreadable};
use crate::front_matter::excess_over;
use crate::glob::shell::braces::{MAX_BRANCHES, expand};
use crate::rules::RULES;
use crate::text::lossy;

/// The name of the configuration.
pub const FILE: &str = "rulecheck.yaml";

/// The longest configuration that is parsed, in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// How it is written, for people.
pub const PAGE: &str = include_str!("config.md");

/// What the configuration says.
#[derive(Debug, Default)]
pub struct Config {
    /// The file, if there is one.
    pub path: Option<PathBuf>,
    /// The clients that are checked when the command line names none.
    pub clients: Vec<Selected>,
    /// The level of a rule; `None` turns it off.
    pub levels: Vec<(&'static str, Option<Level>)>,
    /// The level that makes a run fail when the command line names none.
    pub fail_on: Option<FailOn>,
    /// Findings that are accepted.
    pub suppressions: Vec<Entry>,
    /// What the fingerprints of secrets are made with, so that they cannot be tried against a list of passwords.
    pub fingerprint_key: String,
    /// Files outside the project that may be read as imports, as written.
    pub allow_external: Vec<PathBuf>,
}

/// A client at a version.
#[derive(Clone, Copy)]
pub struct Selected {
    /// The client.
    pub client: &'static Client,
    /// Its version.
    pub version: Version,
}

impl std::fmt::Debug for Selected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.client.name, self.version)
    }
}

impl std::str::FromStr for Selected {
    type Err = String;

    /// Reads `NAME[@VERSION]`; the version `latest` is the newest one that was recorded.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, version) = text.split_once('@').map_or((text, None), |(name, version)| (name, Some(version)));
        let client = clients::client(name).ok_or_else(|| {
            let known: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
            format!("no client is called `{name}`; the known ones are {}", known.join(", "))
        })?;
        let version = match version {
            None => client.default,
            Some("latest") => client.newest(),
            Some(version) => client.known(version.parse()?)?,
        };
        Ok(Self { client, version })
    }
}

/// One accepted finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where: a path relative to the project, `*` and `**` allowed. `None` for a secret.
    pub path: Option<String>,
    /// Which rules.
    pub rules: Vec<&'static str>,
    /// Which secret, by its fingerprint.
    pub fingerprint: Option<String>,
    /// Why it is accepted.
    pub reason: String,
    /// The line of the configuration, from 1.
    pub line: usize,
}

/// A configuration that cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub struct Invalid {
    /// What is wrong.
    pub cause: String,
    /// What to do.
    pub help: String,
}

const KEYS: &[&str] = &["allow-external", "clients", "fail-on", "fingerprint-key", "rules", "suppress"];
const FAIL_LEVELS: &[&str] = &["error", "never", "note", "warning"];
const ENTRY_KEYS: &[&str] = &["fingerprint", "path", "reason", "rule"];

/// The JSON schema of the configuration, for editors.
pub fn schema() -> String {
    let rules: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
    let levels: serde_json::Map<String, serde_json::Value> = RULES
        .iter()
        .map(|rule| (rule.name.to_string(), json!({ "description": rule.summary, "$ref": "#/$defs/level" })))
        .collect();
    let client = json!({ "type": "string", "pattern": format!("^({})(@.+)?$", names().join("|")) });
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": FILE,
        "type": ["object", "null"],
        "additionalProperties": false,
        "properties": {
            "clients": { "anyOf": [
                { "type": "array", "items": client },
                { "type": "object", "propertyNames": { "enum": names() }, "additionalProperties": { "type": "string" } },
            ] },
            "rules": { "type": "object", "additionalProperties": false, "properties": levels },
            "suppress": { "type": "array", "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["reason"],
                "properties": {
                    "path": { "type": "string" },
                    "rule": { "anyOf": [{ "enum": rules }, { "type": "array", "items": { "enum": rules } }] },
                    "fingerprint": { "type": "string" },
                    "reason": { "type": "string", "minLength": 1 },
                },
            } },
            "fail-on": { "enum": FAIL_LEVELS },
            "fingerprint-key": { "type": "string" },
            "allow-external": { "type": "array", "items": { "type": "string" } },
        },
        "$defs": { "level": { "enum": ["off", "note", "warning", "error", false] } },
    });
    format!("{schema:#}\n")
}

fn names() -> Vec<&'static str> {
    CLIENTS.iter().map(|client| client.name).collect()
}

impl Config {
    /// The configuration at `path`.
    ///
    /// # Errors
    /// Says what is wrong with it, and what was probably meant. A missing file is an error too.
    pub fn read(files: &dyn Files, path: &Path) -> Result<Self, Invalid> {
        let bytes = files.read(path).map_err(|why| Invalid {
            cause: format!("{} cannot be read: {why}", path.display()),
            help: "name a file that can be read".into(),
        })?;
        let mut config = Self::parse(&lossy(&bytes))
            .map_err(|invalid| Invalid { cause: format!("{}: {}", path.display(), invalid.cause), ..invalid })?;
        config.path = Some(path.to_path_buf());
        Ok(config)
    }

    /// The configuration at the root of a project; nothing at all when there is none.
    ///
    /// # Errors
    /// As [`Config::read`], but for a missing file.
    pub fn of_project(files: &dyn Files, root: &Path) -> Result<Self, Invalid> {
        let path = root.join(FILE);
        match files.read(&path) {
            Err(Unreadable::Missing) => Ok(Self::default()),
            _ => Self::read(files, &path),
        }
    }

    fn parse(text: &str) -> Result<Self, Invalid> {
        if let Some(excess) = excess_over(MAX_BYTES, text) {
            return Err(Invalid {
                cause: format!("it is not parsed: {excess}"),
                help: "take out what does not belong there; a pattern in `suppress` stands for many files".into(),
            });
        }
        let value: Value = serde_yaml::from_str(text).map_err(|error| Invalid {
            cause: format!("it is not valid YAML: {error}"),
            help: "mend the line that is named".into(),
        })?;
        let mut config = Self::default();
        if value.is_null() {
            return Ok(config);
        }
        for (key, value) in map(&value, "the configuration", text)? {
            match key {
                "clients" => config.clients = clients_of(value, text)?,
                "fail-on" => {
                    let word = string(value, key, text)?;
                    let level = FailOn::from_str(&word, false);
                    config.fail_on = Some(level.map_err(|_| unknown("level", &word, FAIL_LEVELS, text))?);
                }
                "fingerprint-key" => config.fingerprint_key = string(value, key, text)?,
                "rules" => config.levels = levels(value, text)?,
                "suppress" => {
                    let mut lines = entry_lines(text);
                    for (number, entry) in list(value, "suppress", text)?.iter().enumerate() {
                        let line = lines.next().unwrap_or(1);
                        config.suppressions.push(suppression(entry, number, line, text)?);
                    }
                }
                "allow-external" => {
                    for path in list(value, "allow-external", text)? {
                        config.allow_external.push(string(path, "allow-external", text)?.into());
                    }
                }
                other => return Err(unknown("key", other, KEYS, text)),
            }
        }
        Ok(config)
    }

    /// The level of a rule here; `None` when it is off.
    pub fn level(&self, rule: &str, default: Level) -> Option<Level> {
        self.levels.iter().rev().find(|(name, _)| *name == rule).map_or(Some(default), |(_, level)| *level)
    }
}

/// `[codex@0.145.0, claude]`, or `{codex: 0.145.0}`.
fn clients_of(value: &Value, text: &str) -> Result<Vec<Selected>, Invalid> {
    let names: Vec<String> = match value {
        Value::Mapping(_) => map(value, "clients", text)?
            .into_iter()
            .map(|(name, version)| Ok(format!("{name}@{}", string(version, name, text)?)))
            .collect::<Result<_, Invalid>>()?,
        _ => list(value, "clients", text)?
            .iter()
            .map(|name| string(name, "clients", text))
            .collect::<Result<_, Invalid>>()?,
    };
    let selected = names.iter().map(|name| name.parse().map_err(|cause: String| wrong("clients", cause, text)));
    selected.collect()
}

fn levels(value: &Value, text: &str) -> Result<Vec<(&'static str, Option<Level>)>, Invalid> {
    map(value, "rules", text)?
        .into_iter()
        .map(|(name, level)| {
            let rule = rule(name, text)?;
            let level = match level {
                Value::Bool(false) => None,
                other => match string(other, name, text)?.as_str() {
                    "off" => None,
                    "note" => Some(Level::Note),
                    "warning" => Some(Level::Warning),
                    "error" => Some(Level::Error),
                    word => return Err(unknown("level", word, &["error", "note", "off", "warning"], text)),
                },
            };
            Ok((rule, level))
        })
        .collect()
}

fn suppression(value: &Value, number: usize, line: usize, text: &str) -> Result<Entry, Invalid> {
    let mut path = None;
    let mut names: Vec<&'static str> = Vec::new();
    let mut fingerprint = None;
    let mut reason = None;
    for (key, value) in map(value, "an entry of `suppress`", text)? {
        match key {
            "path" => {
                let pattern = string(value, key, text)?;
                if expand(&pattern).is_none() {
                    let why = format!("entry {} stands for more than {MAX_BRANCHES} paths", number + 1);
                    return Err(wrong("suppress", why, text));
                }
                path = Some(pattern);
            }
            "rule" => match value {
                Value::Sequence(list) => {
                    for name in list {
                        names.push(rule(&string(name, key, text)?, text)?);
                    }
                }
                _ => names.push(rule(&string(value, key, text)?, text)?),
            },
            "fingerprint" => fingerprint = Some(string(value, key, text)?),
            "reason" => reason = Some(string(value, key, text)?).filter(|reason| !reason.trim().is_empty()),
            other => return Err(unknown("key", other, ENTRY_KEYS, text)),
        }
    }
    let missing = |key: &str| wrong("suppress", format!("entry {} has no `{key}`", number + 1), text);
    let reason = reason.ok_or_else(|| missing("reason"))?;
    if names.is_empty() && fingerprint.is_none() {
        return Err(missing("rule"));
    }
    if names.is_empty() {
        names.push("secret");
    }
    if names.contains(&"secret") && fingerprint.is_none() {
        return Err(missing("fingerprint"));
    }
    if path.is_none() && fingerprint.is_none() {
        return Err(missing("path"));
    }
    Ok(Entry { path, rules: names, fingerprint, reason, line })
}

/// The rule called `name`.
fn rule(name: &str, text: &str) -> Result<&'static str, Invalid> {
    let known: Vec<&'static str> = RULES.iter().map(|rule| rule.name).collect();
    known.iter().find(|known| **known == name).copied().ok_or_else(|| unknown("rule", name, &known, text))
}

fn map<'a>(value: &'a Value, what: &str, text: &str) -> Result<Vec<(&'a str, &'a Value)>, Invalid> {
    let pairs =
        value.as_mapping().and_then(|map| map.iter().map(|(key, value)| Some((key.as_str()?, value))).collect());
    pairs.ok_or_else(|| wrong(what, "it must be a map of names", text))
}

fn list<'a>(value: &'a Value, what: &str, text: &str) -> Result<&'a Vec<Value>, Invalid> {
    value.as_sequence().ok_or_else(|| wrong(what, "it must be a list", text))
}

fn string(value: &Value, what: &str, text: &str) -> Result<String, Invalid> {
    value.as_str().map(str::to_string).ok_or_else(|| wrong(what, "it must be a text", text))
}

fn wrong(what: &str, why: impl std::fmt::Display, text: &str) -> Invalid {
    Invalid {
        cause: format!("{}{what}: {why}", line_of(text, what)),
        help: "`rulecheck explain rulecheck.yaml` shows what may stand there".into(),
    }
}

fn unknown(kind: &str, name: &str, known: &[&str], text: &str) -> Invalid {
    let line = line_of(text, name);
    // Only what is close to a known word is repeated: it may be a key that slipped in.
    let (cause, help) = match nearest(name, known) {
        Some(near) => (format!("{line}unknown {kind} `{name}`"), format!("did you mean `{near}`?")),
        None => (format!("{line}unknown {kind}"), format!("known are {}", known.join(", "))),
    };
    Invalid { cause, help }
}

/// `line N: `, for the first line on which `name` stands as a word of its own.
fn line_of(text: &str, name: &str) -> String {
    let is_word = |line: &str| {
        line.split([' ', ':', '[', ']', ',', '{', '}', '"', '\'', '-']).any(|word| word == name)
            || line.contains(&format!("{name}:"))
    };
    text.lines().position(is_word).map_or(String::new(), |at| format!("line {}: ", at + 1))
}

/// The lines of the entries of `suppress`, in order, from 1.
fn entry_lines(text: &str) -> impl Iterator<Item = usize> {
    let after = text.lines().position(|line| line.starts_with("suppress")).unwrap_or(0);
    let items = text.lines().enumerate().skip(after + 1).filter(|(_, line)| line.trim_start().starts_with("- "));
    // Where they stand on no lines of their own, that of the key.
    items.map(|(at, _)| at + 1).chain(std::iter::repeat(after + 1))
}

/// The known name that is spelled most like `name`, if one is near enough to be meant.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let (distance, near) = known.iter().map(|known| (distance(name, known), *known)).min()?;
    (distance <= 1 + name.chars().count() / 4).then_some(near)
}

/// How many characters have to be put in, taken out or changed to make one text of the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut before = i;
        row[0] = i + 1;
        for (j, b) in b.iter().enumerate() {
            let changed = before + usize::from(a != *b);
            before = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(before + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_configuration_is_read() {
        let text = "clients: [codex@0.145.0, claude]\nrules:\n  unsupported-name: warning\nsuppress:\n  - path: a/**\n    rule: unsupported-name\n    reason: test data\nallow-external: [../x.md]\nfail-on: never\n";
        let config = Config::parse(text).unwrap();
        assert_eq!(format!("{:?}", config.clients), "[codex@0.145.0, claude@2.1.220]");
        assert_eq!(config.level("unsupported-name", Level::Error), Some(Level::Warning));
        assert_eq!((config.suppressions[0].line, config.fail_on), (5, Some(FailOn::Never)));
        assert_eq!(config.allow_external, [PathBuf::from("../x.md")]);
        assert_eq!(format!("{:?}", Config::parse("clients: {claude: 2.1.220}").unwrap().clients), "[claude@2.1.220]");
    }

    #[test]
    fn what_is_wrong_is_named_with_what_was_meant() {
        for (text, cause, help) in [
            ("client: []", "line 1: unknown key `client`", "did you mean `clients`?"),
            (
                "rules:\n  unsuported-name: off",
                "line 2: unknown rule `unsuported-name`",
                "did you mean `unsupported-name`?",
            ),
            ("rules:\n  unsupported-name: of", "line 2: unknown level `of`", "did you mean `off`?"),
            ("fail-on: warnin", "line 1: unknown level `warnin`", "did you mean `warning`?"),
            ("suppress:\n  - rule: unsupported-name\n    path: x", "line 1: suppress: entry 1 has no `reason`", ""),
            ("suppress:\n  - rule: unsupported-name\n    reason: y", "line 1: suppress: entry 1 has no `path`", ""),
            ("clients: claude", "line 1: clients: it must be a list", ""),
            ("- a", "the configuration: it must be a map of names", ""),
        ] {
            let invalid = Config::parse(text).unwrap_err();
            assert_eq!(invalid.cause, cause);
            assert!(help.is_empty() || invalid.help == help, "{}", invalid.help);
        }
    }

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        assert_eq!(nearest("claud", &["claude", "codex"]), Some("claude"));
        assert_eq!(nearest("cursor", &["claude", "codex"]), None);
    }
}
