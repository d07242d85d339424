use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use regex::Regex;

use super::patterns::{Conditional, conditional};
use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::glob::gitignore::Patterns;
use crate::resolution::Scope;
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "rule-matches-nothing",
    level: Level::Warning,
    summary: "a rule whose `paths` match no file of the project",
    page: include_str!("rule_matches_nothing.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    let names = OnceCell::new();
    let root = &lint.scene.project.root;
    conditional(lint)
        .filter(|rule| rule.source.is_loaded() && !rule.pieces.is_empty())
        // The user's own rules are for all projects.
        .filter(|rule| rule.source.scope == Scope::Project && rule.base.starts_with(root))
        .filter(|rule| rule.problems().iter().all(Option::is_none))
        .filter(|rule| !names.get_or_init(|| Names::new(lint)).hold_any(lint, rule))
        .map(|rule| {
            let span = match rule.pieces.as_slice() {
                [(_, span)] => span.clone(),
                _ => rule.key.clone(),
            };
            let what = if rule.pieces.len() == 1 { "the pattern matches" } else { "these patterns match" };
            let where_from =
                if rule.base == root { String::new() } else { format!(" below `{}`", lint.name(rule.base)) };
            RULE.at(Place::at(rule.path, span), format!("{what} no file{where_from}"))
                .for_sources([(rule.resolution, rule.source)])
                .help(advice(lint, &rule))
        })
        .collect()
}

fn advice(lint: &Lint<'_>, rule: &Conditional<'_>) -> String {
    let base = lint.name(rule.base);
    let whole = rule.base != &lint.scene.project.root
        && rule.patterns.iter().any(|pattern| pattern.trim_start_matches('/').starts_with(&format!("{base}/")));
    if whole {
        format!("patterns are relative to `{base}`: leave `{base}/` out")
    } else {
        "name files that exist, or take the rule away".into()
    }
}

/// The names of all files of the project in one text, relative, in lower case, a line each. Patterns ignore case, so a
/// name in lower case is as good as the name itself.
struct Names {
    text: String,
    /// The links to directories, relative: what is below them is not known.
    links: Vec<String>,
}

impl Names {
    fn new(lint: &Lint<'_>) -> Self {
        let project = lint.scene.project;
        let relative = |path: &'_ PathBuf| path.strip_prefix(&project.root).ok()?.to_str().map(lower);
        let mut names = Self { text: String::new(), links: Vec::new() };
        for name in project.files.iter().filter_map(relative) {
            names.text += &name;
            names.text.push('\n');
        }
        let to_dir = |link: &&PathBuf| lint.scene.files.is_dir(link);
        names.links = project.links.iter().filter(to_dir).filter_map(relative).collect();
        names
    }

    /// Whether a file matches the patterns of `rule`, or may do so behind a link.
    fn hold_any(&self, lint: &Lint<'_>, rule: &Conditional<'_>) -> bool {
        let patterns = Patterns::new(rule.patterns.iter().map(String::as_str));
        let base = rule.base.strip_prefix(&lint.scene.project.root).ok().and_then(Path::to_str).unwrap_or_default();
        let base = if base.is_empty() { String::new() } else { lower(base) + "/" };
        let behind_a_link = |pattern: &String| {
            let path = format!("{base}{}", lower(pattern.trim_start_matches('/')));
            self.links.iter().any(|link| Path::new(&path).starts_with(link))
        };
        let positive = || rule.patterns.iter().filter(|pattern| !pattern.starts_with('!'));
        let mut dirs = HashMap::new();
        let mut names = positive().flat_map(|pattern| self.candidates(pattern));
        let mut holds = || {
            names.any(|name| {
                let name = name.strip_prefix(base.as_str());
                name.is_some_and(|name| patterns.takes_in(name) || is_below(name, &patterns, &mut dirs))
            })
        };
        positive().any(behind_a_link) || holds()
    }

    /// The names that hold what is literal in `pattern`, and so may match it.
    fn candidates<'n>(&'n self, pattern: &str) -> Box<dyn Iterator<Item = &'n str> + 'n> {
        let mut literals: Vec<String> = literals(pattern).into_iter().map(lower).collect();
        literals.sort_by_key(String::len);
        let finder = |literal: &String| Regex::new(&regex::escape(literal)).ok();
        // Most patterns that match nothing name something that is nowhere at all.
        if literals.iter().filter_map(finder).any(|finder| !finder.is_match(&self.text)) {
            return Box::new(std::iter::empty());
        }
        let Some(finder) = literals.pop().as_ref().and_then(finder) else { return Box::new(self.text.lines()) };
        let mut at = 0;
        Box::new(std::iter::from_fn(move || {
            loop {
                let hit = finder.find_at(&self.text, at)?.start();
                let start = self.text[..hit].rfind('\n').map_or(0, |end| end + 1);
                let name = self.text[start..].lines().next()?;
                at = start + name.len();
                if literals.iter().all(|part| name.contains(part.as_str())) {
                    return Some(name);
                }
            }
        }))
    }
}

/// `text` in lower case, on one line.
fn lower(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { ' ' } else { c.to_ascii_lowercase() }).collect()
}

/// Whether a directory above the file `name` is taken in. What is known of directories is kept in `dirs`.
fn is_below<'n>(name: &'n str, patterns: &Patterns, dirs: &mut HashMap<&'n str, bool>) -> bool {
    let Some(end) = name.rfind('/') else { return false };
    if let Some(known) = dirs.get(&name[..end]) {
        return *known;
    }
    let taken = patterns.takes_in(&name[..=end]) || is_below(&name[..end], patterns, dirs);
    dirs.insert(&name[..end], taken);
    taken
}

/// The parts of a pattern that stand in every name that it matches.
fn literals(pattern: &str) -> Vec<&str> {
    // A class may hold anything.
    if pattern.contains('[') {
        return Vec::new();
    }
    let plain = |c: char| c.is_ascii() && !c.is_ascii_control() && !"*?]{}\\!# ".contains(c);
    pattern.split(|c| !plain(c)).map(|run| run.trim_matches('/')).filter(|run| !run.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_parts() {
        assert_eq!(literals("src/**/x.ts"), ["src", "x.ts"]);
        assert_eq!(literals("/src/app/*.ts"), ["src/app", ".ts"]);
        assert!(literals("**/*").is_empty() && literals("[abc]/x").is_empty());
    }
}
