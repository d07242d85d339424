//! The configuration: where it is, how it is read, and the `instructions` that come out of it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::history::Behaviour;
use super::keys;
use super::setting::{self, Setting};
use super::substitute::Substituted;
use crate::clients::Scene;
use crate::files::Unreadable;
use crate::resolution::Refusal;
use crate::text::{Place, clamp, lossy};

/// What the client calls a configuration that is no file.
const CONTENT: &str = "OPENCODE_CONFIG_CONTENT";

/// One entry of an `instructions` list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) text: String,
    /// Where it is written; `None` in a configuration that is no file.
    pub(super) from: Option<Place>,
}

/// All configurations together.
#[derive(Debug, Default)]
pub(super) struct Config {
    /// The `instructions`, in the client's order, each text once.
    pub(super) instructions: Vec<Entry>,
    /// Entries whose text stands before them already.
    pub(super) repeated: Vec<Entry>,
    /// Lists that the client passes over.
    pub(super) ignored: Vec<Refusal>,
    /// The texts so far.
    texts: BTreeSet<String>,
}

/// Reads every configuration, in the client's order.
///
/// # Errors
/// The first one with which the client refuses to start.
pub(super) fn read(scene: &Scene<'_>, setting: &Setting, behaviour: &Behaviour) -> Result<Config, Refusal> {
    let reader = Reader { scene, setting, behaviour, ignored: RefCell::default() };
    let mut config = Config::default();
    if let Some(refusal) = setting::fault(scene).filter(|_| behaviour.refuses_unknown_values) {
        return Err(refusal);
    }
    if scene.session.user {
        reader.global(&mut config)?;
    }
    for path in reader.layers() {
        config.add(reader.file(&path)?);
    }
    if let Some(content) = &setting.content {
        config.add(reader.content(content)?);
    }
    for path in setting.managed.iter().flat_map(|dir| both(dir)) {
        config.add(reader.file(&path)?);
    }
    config.ignored.extend(reader.ignored.take());
    Ok(config)
}

impl Config {
    fn add(&mut self, entries: Option<Vec<Entry>>) {
        for entry in entries.unwrap_or_default() {
            let new = self.texts.insert(entry.text.clone());
            if new { &mut self.instructions } else { &mut self.repeated }.push(entry);
        }
    }
}

struct Reader<'a> {
    scene: &'a Scene<'a>,
    setting: &'a Setting,
    behaviour: &'a Behaviour,
    /// The configurations that may not be read.
    ignored: RefCell<Vec<Refusal>>,
}

impl Reader<'_> {
    /// The user's three files, and the legacy one: the last list replaces the others.
    fn global(&self, config: &mut Config) -> Result<(), Refusal> {
        let Some(dir) = &self.setting.global else { return Ok(()) };
        let mut lists = Vec::new();
        for name in ["config.json", "opencode.json", "opencode.jsonc"] {
            lists.extend(self.file(&dir.join(name))?);
        }
        lists.extend(self.legacy(&dir.join("config")));
        let last = lists.pop();
        for place in lists.iter().filter_map(|list| list.first()?.from.clone()) {
            config.ignored.push(Refusal {
                at: place,
                why: "a later configuration of the same directory has `instructions` too, which replace these".into(),
                evidence: "opencode/run-1.18.7#global-lists-replace",
            });
        }
        config.add(last);
        Ok(())
    }

    /// The files that add to what the user's configuration says, in order.
    fn layers(&self) -> Vec<PathBuf> {
        let setting = self.setting;
        let mut files: Vec<PathBuf> = setting.config.iter().cloned().collect();
        let mut dirs = Vec::new();
        if setting.project {
            files.extend(setting.chain.iter().rev().flat_map(|dir| both(dir)));
            dirs.extend(setting.chain.iter().map(|dir| dir.join(".opencode")));
        }
        if self.scene.session.user {
            dirs.extend(setting.home.iter().map(|home| home.join(".opencode")));
        }
        // Set and empty, it names no configuration.
        dirs.extend(setting.custom.iter().filter(|_| self.scene.session.var("OPENCODE_CONFIG_DIR").is_some()).cloned());
        let mut seen = Vec::new();
        for dir in dirs {
            if !seen.contains(&dir) {
                files.extend(both(&dir));
                seen.push(dir);
            }
        }
        files
    }

    /// The `instructions` of the file at `path`; `None` when it has none or is not there.
    fn file(&self, path: &Path) -> Result<Option<Vec<Entry>>, Refusal> {
        let bytes = match self.scene.files.read(path) {
            Ok(bytes) => bytes,
            Err(Unreadable::Missing) => return Ok(None),
            Err(why @ Unreadable::Denied) => {
                self.ignored.borrow_mut().push(Refusal {
                    evidence: "opencode/run-1.18.7#unreadable-config-passes",
                    ..unreadable(path, &why.to_string())
                });
                return Ok(None);
            }
            Err(why) => return Err(unreadable(path, &why.to_string())),
        };
        let text = lossy(&bytes);
        if text.is_empty() {
            return Ok(None);
        }
        let dir = path.parent().unwrap_or(path);
        self.parse(&text, dir, &|span| Place::at(path, clamp(&text, span))).map(|entries| {
            entries.map(|list| list.into_iter().map(|(text, from)| Entry { text, from: Some(from) }).collect())
        })
    }

    /// The `instructions` of a configuration in the environment.
    fn content(&self, text: &str) -> Result<Option<Vec<Entry>>, Refusal> {
        let entries = self.parse(text, &self.setting.cwd, &|_| Place::whole(CONTENT))?;
        Ok(entries.map(|list| list.into_iter().map(|(text, _)| Entry { text, from: None }).collect()))
    }

    /// Parses a configuration and checks it. `place` makes bytes of `text` a place.
    fn parse(
        &self,
        text: &str,
        dir: &Path,
        place: &dyn Fn(Range<usize>) -> Place,
    ) -> Result<Option<Vec<(String, Place)>>, Refusal> {
        let refuse = |at: Range<usize>, why: String| Refusal {
            at: place(at),
            why,
            evidence: "opencode/run-1.18.7#invalid-config-refuses",
        };
        let Scene { files, session, .. } = self.scene;
        let substituted = Substituted::new(text, dir, self.setting.home.as_deref(), &session.env, *files)
            .map_err(|(at, why)| refuse(at, why))?;
        let (start, json) = match substituted.text().strip_prefix('\u{feff}') {
            Some(rest) => ('\u{feff}'.len_utf8(), rest),
            None => (0, substituted.text()),
        };
        let origin = |at: Range<usize>| substituted.origin(at.start + start..at.end + start);
        let parsed = parse_to_ast(json, &CollectOptions { tokens: true, ..CollectOptions::default() }, &jsonc())
            .map_err(|error| {
                let range = error.range();
                refuse(origin(range.start..range.end), format!("this is not valid JSON: {}", error.kind()))
            })?;
        // The parser lets control characters in texts pass; the client does not.
        let texts = parsed.tokens.iter().flatten().filter(|token| matches!(token.token, Token::String(_)));
        for at in texts.map(|token| token.start()..token.end()) {
            if json.get(at.clone()).is_some_and(|text| text.bytes().any(|byte| byte < b' ')) {
                return Err(refuse(origin(at), "this is not valid JSON: a control character in a text".into()));
            }
        }
        let object = match parsed.value {
            Some(Value::Object(object)) => object,
            Some(other) => {
                return Err(refuse(origin(other.start()..other.end()), "a configuration must be an object".into()));
            }
            None => return Err(refuse(0..text.len(), "there is no configuration in this file".into())),
        };
        if let Some((at, why, evidence)) = keys::fault(&object, self.behaviour) {
            return Err(Refusal { at: place(origin(at)), why, evidence });
        }
        // Of a key that is there twice, the last one counts.
        let list = object.properties.iter().rev().find(|property| property.name.as_str() == "instructions");
        let Some(Value::Array(list)) = list.map(|property| &property.value) else { return Ok(None) };
        let entries = list.elements.iter().filter_map(Value::as_string_lit);
        Ok(Some(
            entries.map(|entry| (entry.value.to_string(), place(origin(entry.range.start..entry.range.end)))).collect(),
        ))
    }

    /// The `instructions` of the user's legacy TOML file. One that is not valid is passed over.
    fn legacy(&self, path: &Path) -> Option<Vec<Entry>> {
        let bytes = self.scene.files.read(path).ok()?;
        let text = lossy(&bytes);
        let table: toml::Table = toml::from_str(&text).ok()?;
        let list = table.get("instructions")?.as_array()?;
        Some(
            list.iter()
                .filter_map(|entry| Some(Entry { text: entry.as_str()?.to_string(), from: Some(Place::whole(path)) }))
                .collect(),
        )
    }
}

fn unreadable(path: &Path, why: &str) -> Refusal {
    Refusal {
        at: Place::whole(path),
        why: format!("the configuration cannot be read: {why}"),
        evidence: "opencode/run-1.18.7#invalid-config-refuses",
    }
}

/// The two configuration files of a directory, in order.
fn both(dir: &Path) -> [PathBuf; 2] {
    [dir.join("opencode.json"), dir.join("opencode.jsonc")]
}

/// JSON with comments and trailing commas, and nothing else besides.
fn jsonc() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::CLIENT;
    use super::super::history::HISTORY;
    use super::*;
    use crate::clients::{Session, behaviour_at};
    use crate::discover::Project;
    use crate::files::Memory;

    /// What `opencode.json` with `text` gives at 1.18.7: its entries with their bytes, or the bytes at fault.
    fn read_json(text: &str) -> Result<Vec<(String, String)>, (String, String)> {
        let mut files = Memory::default();
        files.file("/p/opencode.json", text).file("/p/name.txt", " b.md\n").file("/p/.git/HEAD", "ref: refs/heads/m");
        files.dir("/p/.git/objects").dir("/p/.git/refs");
        let mut session = Session::new("/p");
        session.env.insert("NAME".into(), "a.md".into());
        let project = Project::default();
        let scene = Scene { files: &files, session: &session, project: &project };
        let written = |place: Option<Place>| {
            let span = place.and_then(|place| place.span).map_or(0..0, Range::from);
            text[span].to_string()
        };
        match read(&scene, &Setting::new(&scene), &behaviour_at(HISTORY, CLIENT.default)) {
            Ok(config) => Ok(config.instructions.into_iter().map(|entry| (entry.text, written(entry.from))).collect()),
            Err(refusal) => Err((written(Some(refusal.at)), refusal.why)),
        }
    }

    #[test]
    fn entries_know_where_they_are_written() {
        let text = r#"{ // day
            "username": "{env:NAME}", "instructions": ["x.md", "{env:NAME}", "{file:name.txt}", "é{env:NAME}", "y.md",], }"#;
        let want = [
            ("x.md", r#""x.md""#),
            ("a.md", r#""{env:NAME}""#),
            ("b.md", r#""{file:name.txt}""#),
            ("éa.md", r#""é{env:NAME}""#),
            ("y.md", r#""y.md""#),
        ];
        assert_eq!(read_json(text).unwrap(), want.map(|(text, from)| (text.to_string(), from.to_string())));
    }

    #[test]
    fn a_byte_order_mark_and_a_repeated_key_do_no_harm() {
        let text = "\u{feff}{\"instructions\": [\"x.md\"], \"instructions\": [\"y.md\"]}";
        assert_eq!(read_json(text).unwrap(), [("y.md".to_string(), "\"y.md\"".to_string())]);
        assert_eq!(read_json("").unwrap(), []);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_bytes() {
        for (text, at) in [
            (r#"{"zork": 1}"#, r#""zork""#),
            (r#"{"instructions": "x.md"}"#, r#""x.md""#),
            (r#"{"instructions": ["x.md", 5]}"#, "5"),
            (r#"{"model": null}"#, "null"),
            (r#"{"username": "{env:NAME}", "share": "{env:NAME}"}"#, r#""{env:NAME}""#),
            (r#"{"permission": {"edit": "never"}}"#, r#""never""#),
            (r#"{"mcp": {"x": {"type": "local", "command": "y"}}}"#, r#""y""#),
            (r#"{"lsp": {"zork": {"command": ["x"]}}}"#, r#"{"command": ["x"]}"#),
            (r#"{"instructions": ["{file:none.txt}"]}"#, "{file:none.txt}"),
            ("{\"username\": \"a\tb\"}", "\"a\tb\""),
            ("[]", "[]"),
            (" \n", " \n"),
        ] {
            let (found, why) = read_json(text).expect_err(text);
            assert_eq!(found, at, "{text}: {why}");
        }
        for text in ["{", "{'a': 1}", "{a: 1}", "{} x", "# c\n{}", "{\"share\": \"auto\",,}", "{\"port\": 0x1}"] {
            assert!(read_json(text).is_err(), "{text}");
        }
    }

    #[test]
    fn known_keys_are_sorted_and_pass() {
        let text = r#"{"$schema": "x", "autoupdate": "notify", "lsp": {"rust": {"command": ["x"]}, "y": {"disabled": true}},
            "permission": {"bash": {"git *": "ask"}, "edit": "allow"}, "plugin": ["x", ["y", {}]], "theme": 5,
            "server": {"port": 1, "zork": 2}, "mcp": {"x": {"enabled": false}}, "subagent_depth": 0}"#;
        assert_eq!(read_json(text).unwrap(), []);
    }
}
