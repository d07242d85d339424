//! `claudeMdExcludes`: patterns on absolute paths, in the dialect of the npm package `picomatch`.

use std::path::Path;

use super::settings::without_bom;
use crate::clients::Scene;
use crate::files::absolute;
use crate::glob::shell::braces::MAX_LENGTH;
use crate::glob::shell::{Glob, Options};
use crate::text::Place;

/// An entry of `claudeMdExcludes`.
pub(super) struct Exclude {
    /// Whether it excludes what does not match.
    negative: bool,
    /// The pattern, and the same with the links of its directory resolved.
    patterns: Vec<(String, Glob)>,
    /// Where it is written.
    pub(super) at: Place,
}

impl Exclude {
    /// `None` when the pattern is longer, or its braces make more, than is expanded.
    pub(super) fn new(pattern: &str, at: Place, scene: &Scene<'_>) -> Option<Self> {
        if pattern.len() > MAX_LENGTH {
            return None;
        }
        // A backslash is a slash here, so nothing can be escaped.
        let pattern = pattern.replace('\\', "/");
        let mut body = pattern.as_str();
        while let Some(rest) = body.strip_prefix('!').filter(|rest| !rest.starts_with('(')) {
            body = rest;
        }
        let negative = (pattern.len() - body.len()) % 2 == 1;
        let spelled = [Some(body.to_string()), resolved(body, scene)].into_iter().flatten();
        let patterns = spelled.map(|text| compile(&text).map(|glob| (text, glob))).collect::<Option<_>>()?;
        Some(Self { negative, patterns, at })
    }

    /// Whether it excludes the file spelled `path`.
    pub(super) fn hits(&self, path: &str) -> bool {
        // No wildcard stands for `..`.
        let climbs = path.starts_with("..");
        let hit =
            |(text, glob): &(String, Glob)| text == path || (climbs <= text.starts_with("..") && glob.is_match(path));
        self.patterns.iter().any(hit) != self.negative
    }
}

/// `pattern` with the directory before its first wildcard resolved, where that makes a difference.
fn resolved(pattern: &str, scene: &Scene<'_>) -> Option<String> {
    let fixed = &pattern[..pattern.find(['*', '?', '{', '[']).unwrap_or(pattern.len())];
    let dir = &fixed[..fixed.trim_end_matches('/').rfind('/').filter(|at| *at > 0 && pattern.starts_with('/'))?];
    let real = scene.files.real(&absolute(Path::new("/"), Path::new(dir)))?.to_string_lossy().into_owned();
    (real != dir).then(|| real + &pattern[dir.len()..])
}

fn compile(pattern: &str) -> Option<Glob> {
    Glob::new(&translate(pattern), Options { dot: true, empty_tail: true, ..Options::default() })
}

/// What sets `picomatch` apart, in terms of our own globs: a plain parenthesis groups, `[!a]` does not negate, and a
/// class of plain characters matches its own text too.
fn translate(pattern: &str) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let class = rest.strip_prefix('[').and_then(|inside| inside.split_once(']'));
        match class {
            Some((members, behind)) if !members.is_empty() && !members.contains(['[', '/']) => {
                let negated = members.strip_prefix('!').map(|rest| format!("\\!{rest}"));
                let class = format!("[{}]", negated.as_deref().unwrap_or(members));
                let plain = !members.contains(|c: char| "-*+?.^${}(|)".contains(c));
                out += &if plain { format!("@({class}|\\[{members}\\])") } else { class };
                rest = behind;
                continue;
            }
            _ if c == '(' && !out.ends_with(['?', '*', '+', '@', '!']) => out.push_str("@("),
            _ => out.push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// The entries of `claudeMdExcludes` in the settings `text`, each with its place.
pub(super) fn entries(path: &Path, text: &str) -> Vec<(String, Place)> {
    let skipped = text.len() - without_bom(text).len();
    let parsed = jsonc_parser::parse_to_ast(without_bom(text), &Default::default(), &Default::default());
    let Some(jsonc_parser::ast::Value::Object(object)) = parsed.ok().and_then(|parsed| parsed.value) else {
        return Vec::new();
    };
    let property = object.properties.iter().rfind(|property| property.name.as_str() == "claudeMdExcludes");
    let list = property.and_then(|property| property.value.as_array());
    list.into_iter()
        .flat_map(|list| &list.elements)
        .filter_map(|element| element.as_string_lit())
        .map(|entry| {
            let span = entry.range.start + skipped..entry.range.end + skipped;
            (entry.value.to_string(), Place::at(path, span))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, yes: &[&str], no: &[&str]) {
        let glob = compile(pattern).unwrap();
        for path in yes {
            assert!(glob.is_match(path), "{pattern} should match {path}");
        }
        for path in no {
            assert!(!glob.is_match(path), "{pattern} should not match {path}");
        }
    }

    #[test]
    fn the_dialect() {
        check("**/CLAUDE.md", &["/p/CLAUDE.md", "/.p/a/CLAUDE.md"], &["/p/CLAUDE.local.md"]);
        check("**/(a|b).md", &["/p/a.md"], &["/p/(a|b).md", "/p/c.md"]);
        check("**/[z].md", &["/p/z.md", "/p/[z].md"], &["/p/y.md"]);
        check("**/[!1].md", &["/p/1.md", "/p/!.md"], &["/p/2.md"]);
        check("**/[^1].md", &["/p/2.md"], &["/p/1.md"]);
        check("**/!(a).md", &["/p/b.md"], &["/p/a.md"]);
        check("**/a.md/**", &["/p/a.md"], &["/p/b.md"]);
        check("**/{a,b/c}.md", &["/p/a.md", "/p/b/c.md"], &["/p/c.md"]);
    }

    #[test]
    fn entries_have_places() {
        let text = "\u{feff}{\"claudeMdExcludes\": [\"a\"], \"claudeMdExcludes\": [\"b\"]}";
        let found = entries(Path::new("/s"), text);
        assert_eq!(found.len(), 1);
        let span: std::ops::Range<usize> = found[0].1.span.unwrap().into();
        assert_eq!((&found[0].0[..], &text[span]), ("b", "\"b\""));
    }
}
