//! The recordings: `evidence/<client>/runs/<version>.jsonl`, one case a line.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rulecheck::clients::{Client, Version};
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use crate::runs::recordings;

/// What was recorded of one version.
pub(crate) struct Rows {
    pub(crate) version: Version,
    pub(crate) rows: Vec<Value>,
}

/// What was recorded of `client`, oldest version first.
pub(crate) fn recorded(client: &Client) -> Result<Vec<Rows>, String> {
    let mut all = Vec::new();
    for (_, version, path) in recordings().into_iter().filter(|(known, ..)| known.name == client.name) {
        all.push(Rows { version, rows: read(&path)? });
    }
    all.sort_by_key(|rows| rows.version);
    Ok(all)
}

/// The lines of a recording.
pub(crate) fn read(path: &Path) -> Result<Vec<Value>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.lines()
        .map(|line| serde_json::from_str(line).map_err(|error| format!("{}: {error}", path.display())))
        .collect()
}

/// A recording that is one value, not lines.
pub(crate) fn read_one(path: &Path) -> Result<Value, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Where a recording of a version is; its ending is `jsonl`, or that of a compact one.
pub(crate) fn place(client: &Client, version: Version, ending: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("evidence/{}/runs/{version}.{ending}", client.name))
}

pub(crate) fn write(path: &Path, rows: &[Value]) -> Result<(), String> {
    let mut text = Vec::new();
    for row in rows {
        text.extend(formatted(row, Spaced));
        text.push(b'\n');
    }
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes one value, each part on its own line.
pub(crate) fn write_one(path: &Path, value: &Value) -> Result<(), String> {
    let text = formatted(value, PrettyFormatter::with_indent(b" "));
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn formatted(value: &Value, formatter: impl Formatter) -> Vec<u8> {
    let mut text = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut text, formatter)).expect("a value can be written to memory");
    text
}

/// On one line, with a space behind each comma and colon, so that a line can be read.
struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { to.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { to.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        to.write_all(b": ")
    }
}
