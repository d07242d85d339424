use std::ops::Range;

use super::patterns::{Key, keys};
use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::front_matter::{excess, patterns, pieces};
use crate::markdown::{self, FrontMatter};
use crate::resolution::{Phase, Trigger, Via};
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "rule-always-loads",
    level: Level::Warning,
    summary: "a rule that is meant to be conditional and is loaded whatever is read",
    page: include_str!("rule_always_loads.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    let rules = lint.sources().filter(|(_, source)| {
        source.via == Via::Rule && source.is_loaded() && !matches!(source.phase, Phase::Lazy(Trigger::Patterns { .. }))
    });
    rules
        .filter_map(|(resolution, source)| {
            let path = source.path().filter(|path| !lint.is_foreign(path))?;
            let Cause { span, why, help } = cause(lint.content(path)?.text())?;
            let message = format!("{why}, so the rule is loaded whatever is read");
            Some(RULE.at(Place::at(path, span), message).for_sources([(resolution, source)]).help(help))
        })
        .collect()
}

/// Why a rule is not conditional.
#[derive(Debug)]
struct Cause {
    span: Range<usize>,
    why: String,
    help: String,
}

fn cause_at(span: Range<usize>, why: impl Into<String>, help: impl Into<String>) -> Option<Cause> {
    Some(Cause { span, why: why.into(), help: help.into() })
}

/// Keys by which other tools make a rule conditional, or that are nearly the right one.
const NEARLY: &[&str] = &["globs", "glob", "path", "applyto", "apply_to", "apply-to", "paths", "filepatterns"];

/// Why the rule `text`, which is not conditional, seems to be meant so; `None` when it does not.
fn cause(text: &str) -> Option<Cause> {
    let with_mark = || markdown::front_matter(text, true).filter(|front| !is_conditional(text, &front.yaml));
    match markdown::front_matter(text, false).or_else(with_mark) {
        Some(front) => in_front_matter(text, &front),
        None => no_front_matter(text),
    }
}

/// The text begins with no front matter, but something like one stands in it.
fn no_front_matter(text: &str) -> Option<Cause> {
    let first = text.split('\n').next().unwrap_or_default();
    if first.starts_with("---") {
        let rest = first.len() + 1..text.len();
        let above = text.get(rest.clone())?.find("\n---").map_or(text.len(), |at| rest.start + at);
        let is_meant = keys(text, &(rest.start..above)).iter().any(|key| key.name == "paths");
        let fence = 0..first.trim_end().len();
        return match first.trim_end() {
            _ if !is_meant => None,
            "---" => cause_at(fence, "the front matter is never closed", "end it with a line `---`"),
            _ => cause_at(fence, "the first line is not `---` alone", "write `---`, and nothing else on the line"),
        };
    }
    let start = text.len() - unled(text).len();
    let later = text[start..].starts_with("---").then(|| markdown::front_matter(&text[start..], false)).flatten()?;
    let yaml = later.yaml.start + start..later.yaml.end + start;
    if !is_conditional(text, &yaml) {
        return None;
    }
    if text.starts_with('\u{feff}') && start == '\u{feff}'.len_utf8() {
        return cause_at(
            0..start,
            "a byte order mark stands before the front matter",
            "save the file as UTF-8 without a byte order mark",
        );
    }
    let why = "the front matter is not at the very beginning";
    cause_at(start..start + 3, why, "move it to the first line, with nothing before it")
}

/// Whether the YAML at `yaml` makes a rule conditional, or is meant to.
fn is_conditional(text: &str, yaml: &Range<usize>) -> bool {
    patterns(&text[yaml.clone()]).is_some() || keys(text, yaml).iter().any(|key| key.name == "paths")
}

/// `text` without white space, byte order marks and comments at its beginning.
fn unled(text: &str) -> &str {
    let mut rest = text;
    loop {
        let bare = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        rest = match bare.strip_prefix("<!--").and_then(|comment| comment.split_once("-->")) {
            Some((_, behind)) => behind,
            None => return bare,
        };
    }
}

/// The text begins with a front matter without effective `paths`.
fn in_front_matter(text: &str, front: &FrontMatter) -> Option<Cause> {
    let yaml = &front.yaml;
    let own = keys(text, yaml);
    let paths = own.iter().rfind(|key| key.name == "paths");
    if excess(&text[yaml.clone()]).is_some() {
        return None;
    }
    match (pieces(&text[yaml.clone()]), paths) {
        (None, _) => broken(text, yaml, &own),
        (Some(_), Some(paths)) if text[paths.span.end..].trim_start().starts_with(':') && is_glued(paths) => {
            cause_at(paths.span.clone(), "no space stands behind `paths:`", "put a space behind the colon")
        }
        (Some(pieces), Some(paths)) if pieces.is_empty() => {
            cause_at(paths.span.clone(), "`paths` holds no pattern", "name the patterns, or take `paths` away")
        }
        (Some(_), Some(paths)) => {
            cause_at(paths.span.clone(), "`paths` takes in every file", "name the files, or take `paths` away")
        }
        (Some(_), None) => cut_short(text, front).or_else(|| nested(text, yaml)).or_else(|| nearly(&own)),
    }
}

/// The front matter is no YAML.
fn broken(text: &str, yaml: &Range<usize>, own: &[Key<'_>]) -> Option<Cause> {
    let Some(key) = own.iter().find(|key| key.name == "paths") else { return nearly(own) };
    let help = if text[yaml.clone()].contains("\r\n") && !key.value.trim().starts_with(['"', '\'']) {
        "put the pattern in quotes, or end the lines with a line feed alone"
    } else {
        "put each pattern in quotes"
    };
    cause_at(key.span.clone(), "the front matter is not valid YAML", help)
}

fn is_glued(key: &Key<'_>) -> bool {
    !key.value.starts_with([' ', '\t', '\r', '\n']) && !key.value.is_empty()
}

/// A `---` within a line ends the front matter before its `paths`.
fn cut_short(text: &str, front: &FrontMatter) -> Option<Cause> {
    let close = front.yaml.end;
    let rest = &text[close + 3..];
    let is_mid_line = !text[..close].ends_with('\n') || rest.starts_with(|c: char| !c.is_whitespace());
    let end = close + 3 + rest.find("\n---")?;
    let has_paths = keys(text, &(close + 3..end)).iter().any(|key| key.name == "paths");
    if !is_mid_line || !has_paths {
        return None;
    }
    cause_at(close..close + 3, "the front matter ends here, before its `paths`", "write no `---` within a line above")
}

/// `paths` is a key of something else.
fn nested(text: &str, yaml: &Range<usize>) -> Option<Cause> {
    let mut at = yaml.start;
    for line in text[yaml.clone()].split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        if indent > 0 && line[indent..].starts_with("paths:") {
            let span = at + indent..at + indent + "paths".len();
            return cause_at(
                span,
                "`paths` is not a key of the front matter itself",
                "write it at the start of the line",
            );
        }
        at += line.len();
    }
    None
}

/// A key that another tool knows, or that is spelled otherwise.
fn nearly(own: &[Key<'_>]) -> Option<Cause> {
    let value = |key: &Key<'_>| key.value.trim().trim_matches(['"', '\'']).to_string();
    let always = own.iter().find(|key| key.name.eq_ignore_ascii_case("alwaysApply"));
    if always.is_some_and(|key| value(key) == "true") {
        return None;
    }
    let is_named = |key: &&Key<'_>| NEARLY.contains(&key.name.to_lowercase().as_str());
    let is_empty = |key: &&Key<'_>| ["", "[]", "null", "~"].contains(&value(key).as_str());
    if let Some(key) = own.iter().find(|key| is_named(key) && !is_empty(key)) {
        if ["*", "**", "**/*"].contains(&value(key).as_str()) {
            return None;
        }
        let why = format!("`{}` is no key that makes a rule conditional", key.name);
        return cause_at(key.span.clone(), why, "call it `paths`");
    }
    let key = always.filter(|key| value(key) == "false")?;
    cause_at(key.span.clone(), "`alwaysApply` is not known", "say in `paths` for which files the rule is")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_a_rule_from_being_conditional() {
        for (text, at) in [
            ("---\nglobs: a\n---\n", "globs"),
            ("---\nPaths: a\n---\n", "Paths"),
            ("---\nalwaysApply: false\n---\n", "alwaysApply"),
            ("---\nglobs:\nalwaysApply: false\n---\n", "alwaysApply"),
            ("---\nglobs: *.ts\r\n---\n", "globs"),
            ("---\npaths:\n  - *.ts\n---\n", "paths"),
            ("---\npaths: '**'\n---\n", "paths"),
            ("---\npaths: []\n---\n", "paths"),
            ("---\npaths:\n---\n", "paths"),
            ("---\npaths: 5\n---\n", "paths"),
            ("---\npaths:src/**\n---\n", "paths"),
            ("---\npaths: a\n", "---"),
            ("--- # x\npaths: a\n---\n", "--- # x"),
            ("\n---\npaths: a\n---\n", "---"),
            ("\u{feff}---\npaths: a\n---\n", "\u{feff}"),
            ("\u{feff}---\nglobs: a\n---\n", "globs"),
            ("<!-- x -->\n---\npaths: a\n---\n", "---"),
            ("---\nx: a --- b\npaths: a\n---\n", "---"),
            ("---\nx:\n  paths: a\n---\n", "paths"),
        ] {
            let cause = cause(text).unwrap_or_else(|| panic!("{text:?}"));
            assert_eq!(&text[cause.span], at, "{text:?}");
        }
        for text in [
            "text\n",
            "---\ntitle: x\n---\n",
            "---\nglobs: a\nalwaysApply: true\n---\n",
            "---\nglobs:\n---\n",
            "---\napplyTo: '**'\n---\n",
            "text\n\n---\n\npaths: a\n",
            "---\ntext\n",
            "",
            "---",
        ] {
            assert!(cause(text).is_none(), "{text:?}");
        }
    }
}
