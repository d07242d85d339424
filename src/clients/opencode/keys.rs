//! The configuration keys of OpenCode and the values that they take: the types of its published package, of which the
//! top-level ones, and a sample below them, were tried on the client.

use std::ops::Range;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;

use super::history::Behaviour;
use super::next;

/// What the client does not accept: its bytes, and what should be there.
pub(super) type Fault = (Range<usize>, String);

/// A kind of value.
pub(super) enum Kind {
    /// Any value at all.
    Any,
    Text,
    /// `true` or `false`.
    Flag,
    /// `false`.
    Off,
    Number,
    /// A whole number, at least this.
    Whole(i64),
    /// One of these texts.
    Word(&'static [&'static str]),
    /// A text without these characters, and not an empty one.
    Without(&'static str),
    /// A list of such values.
    List(&'static Self),
    /// A list of exactly such values.
    Tuple(&'static [Self]),
    /// An object with such values under any names.
    Record(&'static Self),
    /// An object in which these names, when they are there, have such values; others are not looked at.
    Fields(&'static [(&'static str, Self)]),
    /// An object that must have these names too.
    Needs(&'static [&'static str], &'static [(&'static str, Self)]),
    /// One of these.
    Either(&'static [Self]),
    /// Language servers by name: one that the client does not know must say its file endings.
    Servers,
    /// One of these shared ones.
    Same(&'static Self),
}

use Kind::{
    Any, Either, Fields, Flag, List, Needs, Number, Off, Record, Same, Servers, Text, Tuple, Whole, Without, Word,
};

static OBJECT: Kind = Fields(&[]);
pub(super) static TEXTS: Kind = List(&Text);
static ANSWER: Kind = Word(&["ask", "allow", "deny"]);
/// One answer for all, or one for each tool, or one for each pattern of a tool.
static PERMISSION: Kind = Either(&[Same(&ANSWER), Record(&Either(&[Same(&ANSWER), Record(&ANSWER)]))]);

static AGENT: Kind = Fields(&[
    ("color", Text),
    ("description", Text),
    ("disable", Flag),
    ("hidden", Flag),
    ("maxSteps", Number),
    ("mode", Word(&["subagent", "primary", "all"])),
    ("model", Text),
    ("options", Same(&OBJECT)),
    ("permission", Same(&PERMISSION)),
    ("prompt", Text),
    ("steps", Number),
    ("temperature", Number),
    ("tools", Record(&Flag)),
    ("top_p", Number),
    ("variant", Text),
]);

pub(super) static MCP: Kind = Either(&[
    Needs(
        &["type", "command"],
        &[
            ("type", Word(&["local"])),
            ("command", Same(&TEXTS)),
            ("environment", Record(&Text)),
            ("enabled", Flag),
            ("timeout", Number),
        ],
    ),
    Needs(
        &["type", "url"],
        &[
            ("type", Word(&["remote"])),
            ("url", Text),
            ("headers", Record(&Text)),
            ("enabled", Flag),
            ("oauth", Either(&[Flag, Same(&OBJECT)])),
            ("timeout", Number),
        ],
    ),
    Needs(&["enabled"], &[("enabled", Flag)]),
]);

static FORMATTER: Kind = Fields(&[
    ("disabled", Flag),
    ("command", Same(&TEXTS)),
    ("environment", Record(&Text)),
    ("extensions", Same(&TEXTS)),
]);

pub(super) static LSP: Kind = Either(&[
    Needs(
        &["command"],
        &[("command", Same(&TEXTS)), ("extensions", Same(&TEXTS)), ("disabled", Flag), ("env", Record(&Text))],
    ),
    Needs(&["disabled"], &[("disabled", Flag)]),
]);

/// The language servers that the client knows, sorted.
static SERVERS: &[&str] = &[
    "astro",
    "bash",
    "biome",
    "clangd",
    "clojure-lsp",
    "csharp",
    "dart",
    "deno",
    "dockerfile",
    "elixir-ls",
    "eslint",
    "fsharp",
    "gleam",
    "gopls",
    "haskell-language-server",
    "jdtls",
    "julials",
    "kotlin-ls",
    "lua-ls",
    "nixd",
    "ocaml-lsp",
    "oxlint",
    "php intelephense",
    "prisma",
    "pyright",
    "razor",
    "ruby-lsp",
    "rust",
    "sourcekit-lsp",
    "svelte",
    "terraform",
    "texlab",
    "tinymist",
    "ty",
    "typescript",
    "vue",
    "yaml-ls",
    "zls",
];

/// The top-level keys of 1.18.7, sorted.
static KEYS: &[(&str, Kind)] = &[
    ("$schema", Text),
    ("agent", Record(&AGENT)),
    ("attachment", Same(&OBJECT)),
    ("autoshare", Flag),
    ("autoupdate", Either(&[Flag, Word(&["notify"])])),
    (
        "command",
        Record(&Needs(
            &["template"],
            &[
                ("template", Text),
                ("description", Text),
                ("agent", Text),
                ("model", Text),
                ("variant", Text),
                ("subtask", Flag),
            ],
        )),
    ),
    (
        "compaction",
        Fields(&[
            ("auto", Flag),
            ("prune", Flag),
            ("preserve_recent_tokens", Number),
            ("reserved", Number),
            ("tail_turns", Number),
        ]),
    ),
    ("default_agent", Text),
    ("disabled_providers", Same(&TEXTS)),
    ("enabled_providers", Same(&TEXTS)),
    ("enterprise", Fields(&[("url", Text)])),
    (
        "experimental",
        Fields(&[
            ("batch_tool", Flag),
            ("continue_loop_on_deny", Flag),
            ("disable_paste_summary", Flag),
            ("mcp_timeout", Number),
            ("openTelemetry", Flag),
            ("primary_tools", Same(&TEXTS)),
        ]),
    ),
    ("formatter", Either(&[Flag, Record(&FORMATTER)])),
    ("instructions", Same(&TEXTS)),
    ("keybinds", Any),
    ("layout", Word(&["auto", "stretch"])),
    ("logLevel", Word(&["DEBUG", "INFO", "WARN", "ERROR"])),
    ("lsp", Either(&[Flag, Servers])),
    ("mcp", Record(&MCP)),
    ("mode", Record(&AGENT)),
    ("model", Text),
    ("permission", Same(&PERMISSION)),
    ("plugin", List(&Either(&[Text, Tuple(&[Text, Same(&OBJECT)])]))),
    ("provider", Record(&OBJECT)),
    ("reference", Record(&Either(&[Text, Same(&OBJECT)]))),
    ("references", Record(&Either(&[Text, Same(&OBJECT)]))),
    (
        "server",
        Fields(&[("cors", Same(&TEXTS)), ("hostname", Text), ("mdns", Flag), ("mdnsDomain", Text), ("port", Whole(1))]),
    ),
    ("share", Word(&["manual", "auto", "disabled"])),
    ("shell", Text),
    ("skills", Fields(&[("paths", Same(&TEXTS)), ("urls", Same(&TEXTS))])),
    ("small_model", Text),
    ("snapshot", Flag),
    ("subagent_depth", Whole(0)),
    ("theme", Any),
    ("tool_output", Fields(&[("max_bytes", Number), ("max_lines", Number)])),
    ("tools", Record(&Flag)),
    ("tui", Any),
    ("username", Text),
    ("watcher", Fields(&[("ignore", Same(&TEXTS))])),
];

/// The first thing in a configuration that the client does not accept: its bytes, what is wrong, and the claim.
pub(super) fn fault(config: &Object<'_>, behaviour: &Behaviour) -> Option<(Range<usize>, String, &'static str)> {
    let refused = next::permissions(config).filter(|_| behaviour.refuses_next_permissions);
    if let Some(permissions) = refused {
        let at = permissions.name.start()..permissions.name.end();
        let why = "`permissions` is for OpenCode 2, and keeps this version from starting".to_string();
        return Some((at, why, "opencode/run-1.18.24#next-permissions-refuse"));
    }
    config.properties.iter().find_map(|property| {
        let name = property.name.as_str();
        let known = KEYS.iter().find(|(known, _)| *known == name && !behaviour.later_keys.contains(known));
        if let Some((_, kind)) = known {
            let value = &property.value;
            let fault = if behaviour.translates_next { next::fault(name, value, kind) } else { kind.fault(value) };
            let (at, wanted) = fault?;
            return Some((
                at,
                format!("in `{name}`, there must be {wanted} here"),
                "opencode/run-1.18.7#wrong-type-refuses",
            ));
        }
        let at = property.name.start()..property.name.end();
        let why = format!("`{name}` is not a configuration key that the client knows");
        behaviour.refuses_unknown_keys.then_some((at, why, "opencode/run-1.18.7#unknown-key-refuses"))
    })
}

impl Kind {
    /// Whether `value` is of this kind.
    pub(super) fn fits(&self, value: &Value<'_>) -> bool {
        self.fault(value).is_none()
    }

    /// The first value in `value` that is not of this kind.
    pub(super) fn fault(&self, value: &Value<'_>) -> Option<Fault> {
        let here = |wanted: &str| Some((value.start()..value.end(), wanted.to_string()));
        match (self, value) {
            (Any, _) | (Text, Value::StringLit(_)) | (Flag, Value::BooleanLit(_)) | (Number, Value::NumberLit(_)) => {
                None
            }
            (Text, _) => here("a text"),
            (Flag, _) => here("`true` or `false`"),
            (Off, Value::BooleanLit(flag)) if !flag.value => None,
            (Off, _) => here("`false`"),
            (Without(marks), Value::StringLit(text))
                if !text.value.is_empty() && !text.value.contains(|mark| marks.contains(mark)) =>
            {
                None
            }
            (Without(marks), _) => here(&format!("a text without any of `{marks}`")),
            (Number, _) => here("a number"),
            (Whole(least), Value::NumberLit(number))
                if number.value.parse::<f64>().is_ok_and(|number| number.fract() == 0.0 && number >= *least as f64) =>
            {
                None
            }
            (Whole(least), _) => here(&format!("a whole number, at least {least}")),
            (Word(words), Value::StringLit(text)) if words.contains(&text.value.as_ref()) => None,
            (Word(words), _) => {
                here(&format!("one of {}", words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")))
            }
            (List(kind), Value::Array(list)) => list.elements.iter().find_map(|value| kind.fault(value)),
            (Tuple(kinds), Value::Array(list)) if list.elements.len() == kinds.len() => {
                kinds.iter().zip(&list.elements).find_map(|(kind, value)| kind.fault(value))
            }
            (List(_) | Tuple(_), _) => here("a list"),
            (Record(kind), Value::Object(object)) => {
                object.properties.iter().find_map(|property| kind.fault(&property.value))
            }
            (Fields(fields), Value::Object(object)) => fields_fault(fields, object),
            (Needs(names, fields), Value::Object(object)) => match names.iter().find(|name| object.get(name).is_none())
            {
                Some(name) => here(&format!("an object with `{name}`")),
                None => fields_fault(fields, object),
            },
            (Record(_) | Fields(_) | Needs(..), _) => here("an object"),
            (Either(kinds), _) => {
                let mut faults = kinds.iter().map(|kind| kind.fault(value)).collect::<Option<Vec<_>>>()?;
                // The one that came furthest says best what is wrong.
                faults.sort_by_key(|(at, _)| at.start);
                faults.pop()
            }
            (Servers, Value::Object(servers)) => servers.properties.iter().find_map(|server| {
                if let Some(fault) = LSP.fault(&server.value) {
                    return Some(fault);
                }
                let options = server.value.as_object()?;
                let known = SERVERS.contains(&server.name.as_str());
                let off = options.get_boolean("disabled").is_some_and(|disabled| disabled.value);
                let fine = known || off || options.get_array("extensions").is_some();
                let wanted = "an object with `extensions`, since the client does not know this server";
                (!fine).then(|| (server.value.start()..server.value.end(), wanted.to_string()))
            }),
            (Servers, _) => here("an object"),
            (Same(kind), _) => kind.fault(value),
        }
    }
}

fn fields_fault(fields: &[(&str, Kind)], object: &Object<'_>) -> Option<Fault> {
    object.properties.iter().find_map(|property| {
        let (_, kind) = fields.iter().find(|(name, _)| *name == property.name.as_str())?;
        kind.fault(&property.value)
    })
}
