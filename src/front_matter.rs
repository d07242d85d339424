//! The `paths` of a rule: what its front matter says, and the patterns that the client makes of it.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The patterns into which the braces of one rule expand at most.
pub const MAX_PATTERNS: usize = 1000;

/// The same for versions that have no limit of their own, and so can be kept busy without end.
pub const MANY_PATTERNS: usize = 4096;

/// The bytes that the patterns of one rule may have.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The longest front matter that is parsed, in bytes.
const MAX_YAML: usize = 64 * 1024;

/// The most brackets that may stand open at once in YAML that is parsed: the parser's work grows with them and with the
/// length at once. It takes no more than 128 levels anyway.
const MAX_OPEN: usize = 500;

/// Why `yaml`, the text of a front matter, is not parsed; `None` when it is.
pub fn excess(yaml: &str) -> Option<String> {
    excess_over(MAX_YAML, yaml)
}

/// Why `yaml` is not parsed where `most` bytes are; `None` when it is.
pub fn excess_over(most: usize, yaml: &str) -> Option<String> {
    if yaml.len() > most {
        return Some(format!("it has more than {most} bytes"));
    }
    let mut open = 0_usize;
    let too_many = yaml.bytes().any(|byte| {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        open > MAX_OPEN
    });
    too_many.then(|| format!("more than {MAX_OPEN} brackets are open at once in it"))
}

/// The patterns that `yaml`, the text of a front matter, asks for; `None` when the rule is not conditional.
pub fn patterns(yaml: &str) -> Option<Vec<String>> {
    patterns_within(yaml, MAX_PATTERNS)
}

/// The same where braces expand into `most` patterns.
pub fn patterns_within(yaml: &str, most: usize) -> Option<Vec<String>> {
    let pieces = pieces_within(yaml, most)?;
    let patterns: Vec<String> = pieces.into_iter().flat_map(|piece| piece.patterns).collect();
    (!patterns.iter().all(|pattern| pattern == "**")).then_some(patterns)
}

/// One of the texts between the commas of `paths`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// As it is written, white space around it taken off.
    pub text: String,
    /// What the client makes of it: braces expanded, `/**` at the end cut off, none for what takes in everything.
    pub patterns: Vec<String>,
    /// Whether its braces stayed as they are, because they make too many patterns.
    pub over_budget: bool,
}

/// The pieces of the `paths` in `yaml`, the text of a front matter; `None` when the client finds no YAML in it, and when
/// it is not parsed.
pub fn pieces(yaml: &str) -> Option<Vec<Piece>> {
    pieces_within(yaml, MAX_PATTERNS)
}

fn pieces_within(yaml: &str, most: usize) -> Option<Vec<Piece>> {
    if excess(yaml).is_some() {
        return None;
    }
    let value = read(yaml).or_else(|| read(&quoted(yaml)))?;
    let mut texts = Vec::new();
    value.texts(&mut texts);
    let mut budget = most;
    let piece = |text: String| {
        let expanded = expand(&text, &mut budget);
        let over_budget = expanded == [text.as_str()] && pair(&text).is_some();
        let cut = |pattern: String| pattern.strip_suffix("/**").map(str::to_string).unwrap_or(pattern);
        let patterns = expanded.into_iter().map(cut).filter(|pattern| !pattern.is_empty()).collect();
        Piece { text, patterns, over_budget }
    };
    Some(texts.into_iter().flat_map(split).map(piece).collect())
}

/// The `paths` in `yaml`; `None` when it is no YAML.
fn read(yaml: &str) -> Option<Value> {
    let lines: Vec<String> = yaml.split('\n').map(tolerant).collect();
    serde_yaml::from_str::<Data>(&lines.join("\n")).ok().map(|data| data.paths)
}

/// `line` without what the client's parser takes and ours does not: a tab that indents, odd characters, a value that
/// begins with a comma, an anchor with a name of signs.
fn tolerant(line: &str) -> String {
    let body = line.trim_start_matches([' ', '\t']);
    let indent = line[..line.len() - body.len()].replace('\t', " ");
    let is_odd =
        |c: char| matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') || (c.is_control() && !"\t\r\0".contains(c));
    let body = body.replace(is_odd, "\u{a0}");
    let Some((key, value)) = body.split_once(": ") else { return indent + &body };
    let value = match value.trim_start() {
        text if text.starts_with(',') => format!("'{}'", text.replace('\'', "''")),
        text if text.starts_with('&') => {
            let (anchor, rest) = text[1..].split_at(text[1..].find(char::is_whitespace).unwrap_or(text.len() - 1));
            format!("&{}{rest}", anchor.replace(|c: char| !c.is_ascii_alphanumeric(), "-"))
        }
        _ => value.to_string(),
    };
    format!("{indent}{key}: {value}")
}

/// `yaml` with every value quoted that could not stand unquoted, as the client tries it a second time.
fn quoted(yaml: &str) -> String {
    let lines: Vec<String> = yaml.split('\n').map(|line| quote(line).unwrap_or_else(|| line.to_string())).collect();
    lines.join("\n")
}

fn quote(line: &str) -> Option<String> {
    let (key, rest) = line.split_once(':')?;
    let value = rest.trim_start();
    let simple_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphabetic() || b"_-".contains(&byte));
    let one_line = !rest.contains(['\r', '\u{2028}', '\u{2029}']);
    let special =
        value.contains(['{', '}', '[', ']', '*', '&', '#', '!', '|', '>', '%', '@', '`']) || value.contains(": ");
    let in_quotes = ['"', '\''].iter().any(|quote| value.starts_with(*quote) && value.ends_with(*quote));
    let is_list = value.starts_with('[') && value.ends_with(']') && serde_yaml::from_str::<Value>(value).is_ok();
    if !simple_key || !one_line || value.len() == rest.len() || !special || in_quotes || is_list {
        return None;
    }
    Some(format!("{key}: \"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// The parts of `text` between commas outside braces.
fn split(text: String) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0_i32;
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts.iter().map(|part| trim(part).to_string()).filter(|part| !part.is_empty()).collect()
}

/// `pattern` with its braces expanded: each `{` with the next `}`, so braces do not nest. Over the budget it stays.
fn expand(pattern: &str, budget: &mut usize) -> Vec<String> {
    let mut done = Vec::new();
    let mut todo = vec![pattern.to_string()];
    while let Some(next) = todo.pop() {
        match pair(&next) {
            None => done.push(next),
            Some((before, inside, after)) => {
                let choices = inside.split(',').rev().map(|choice| format!("{before}{}{after}", trim(choice)));
                todo.extend(choices);
            }
        }
        let count = done.len() + todo.len();
        if count > 1 && (count > *budget || count * pattern.len() > MAX_BYTES) {
            return vec![pattern.to_string()];
        }
    }
    if done.len() > 1 {
        *budget -= done.len();
    }
    done
}

/// What is before, between and behind the first braces of `pattern`; `None` when there is nothing to expand.
fn pair(pattern: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = pattern.split_once('{')?;
    let (inside, after) = rest.split_once('}')?;
    (!inside.is_empty()).then_some((before, inside, after))
}

fn trim(text: &str) -> &str {
    text.trim_matches(crate::markdown::is_space)
}

/// A front matter: of its keys only `paths` counts, the last one, then one that is merged in.
#[derive(Default)]
struct Data {
    paths: Value,
}

/// The value of `paths`.
#[derive(Default)]
enum Value {
    Text(String),
    List(Vec<Self>),
    #[default]
    Other,
}

impl Value {
    fn texts(self, texts: &mut Vec<String>) {
        match self {
            Self::Text(text) => texts.push(text),
            Self::List(values) => values.into_iter().for_each(|value| value.texts(texts)),
            Self::Other => {}
        }
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Top;
        impl<'de> Visitor<'de> for Top {
            type Value = Data;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a front matter")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Data, A::Error> {
                let mut own = None;
                let mut merged = None;
                while let Some(key) = map.next_key::<Value>()? {
                    match key {
                        Value::Text(key) if key == "paths" => own = Some(map.next_value()?),
                        Value::Text(key) if key == "<<" => merged = Some(map.next_value::<Data>()?.paths),
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(Data { paths: own.or(merged).unwrap_or_default() })
            }

            fn visit_unit<E>(self) -> Result<Data, E> {
                Ok(Data::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Data, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Data::default())
            }

            fn visit_str<E>(self, _: &str) -> Result<Data, E> {
                Ok(Data::default())
            }
        }
        deserializer.deserialize_any(Top)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Text(text.to_string()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                Ok(Value::List(values))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Value::Other)
            }

            fn visit_enum<A: serde::de::EnumAccess<'de>>(self, data: A) -> Result<Value, A::Error> {
                // A tag says nothing here.
                use serde::de::VariantAccess;
                let (_, value) = data.variant::<IgnoredAny>()?;
                value.newtype_variant()
            }

            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Other)
            }

            fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
                Ok(Value::Other)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
                Ok(Value::Other)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Value, E> {
                Ok(Value::Other)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
                Ok(Value::Other)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(yaml: &str, want: &[&str]) {
        assert_eq!(
            patterns(yaml).as_deref(),
            Some(want.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice())
        );
    }

    #[test]
    fn values_become_patterns() {
        check("paths: src/**, lib/*\n", &["src", "lib/*"]);
        check("paths:\n  - a\n  - [b, 5, null, 'c,d']\n", &["a", "b", "c", "d"]);
        check("paths: '{a,b}/{c,d}'\n", &["a/c", "a/d", "b/c", "b/d"]);
        check("paths: '*.{ts,{js,jsx}}'\n", &["*.ts}", "*.js", "*.jsx}"]);
        check("paths: ['**', a]\n", &["**", "a"]);
        check("paths: a\npaths: b\n", &["b"]);
    }

    #[test]
    fn what_is_no_yaml_is_quoted_once() {
        check("paths: **/*.ts\n", &["**/*.ts"]);
        check("x: [\npaths: {a,b}/**\n", &["a", "b"]);
        check("x: *y\npaths: [a, b/**]\n", &["a", "b"]);
        check("x: *y\npaths: [a, *b]\n", &["[a", "*b]"]);
        check("paths: \"src/**\n", &["\"src"]);
        for launch in ["paths:\n  - *.ts\n", "x: \"y\npaths: a\n", "paths: **/*.ts\r\n", "paths\n"] {
            assert_eq!(patterns(launch), None, "{launch:?}");
        }
    }

    #[test]
    fn no_pattern_means_no_condition() {
        for launch in ["", "paths:\n", "paths: 5\n", "paths: {a: b}\n", "paths: '**'\n", "paths: '/**'\n", "Paths: a\n"]
        {
            assert_eq!(patterns(launch), None, "{launch:?}");
        }
    }

    #[test]
    fn pieces_keep_their_texts() {
        let found = pieces("paths: ['src/**, {a,b}/x', '**/']\n").unwrap();
        let texts: Vec<&str> = found.iter().map(|piece| piece.text.as_str()).collect();
        assert_eq!(texts, ["src/**", "{a,b}/x", "**/"]);
        assert_eq!(found[1].patterns, ["a/x", "b/x"]);
        assert!(!found.iter().any(|piece| piece.over_budget));
        assert!(pieces(&format!("paths: '{}'\n", "{a,b}".repeat(10))).unwrap()[0].over_budget);
        assert_eq!(pieces("paths:\n  - *.ts\n"), None);
    }

    #[test]
    fn what_would_never_end_is_not_parsed() {
        check(&format!("paths: '{}'\n", "[".repeat(MAX_OPEN)), &["[".repeat(MAX_OPEN).as_str()]);
        for yaml in ["paths: ".to_string() + &"[".repeat(100_000), "paths: a\n".repeat(8_000)] {
            assert_eq!(patterns(&yaml), None);
            assert!(excess(&yaml).is_some());
        }
    }

    #[test]
    fn too_many_braces_stay() {
        let many = "{a,b}".repeat(10);
        check(&format!("paths: '{many}'\n"), &[many.as_str()]);
        assert_eq!(patterns(&format!("paths: '{}'\n", "{a,b}".repeat(9))).map(|all| all.len()), Some(512));
    }
}
