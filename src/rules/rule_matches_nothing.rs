use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use memchr::memmem::{self, Finder};

use super::patterns::{Conditional, conditional};
use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::discover::Project;
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

/// The names of the files of the project, relative, in lower case: patterns ignore case, so a name in lower case is as
/// good as the name itself.
struct Names<'a> {
    project: &'a Project,
    /// The directories called so, in lower case, by their number.
    dirs: HashMap<String, Vec<usize>>,
    /// The links to directories, relative: what is below them is not known.
    links: Vec<String>,
    /// For each directory that was asked for, the names of the files below it in one text, a NUL behind each.
    texts: RefCell<HashMap<usize, Rc<str>>>,
}

impl<'a> Names<'a> {
    fn new(lint: &Lint<'a>) -> Self {
        let project = lint.scene.project;
        let mut names = Self { project, dirs: HashMap::new(), links: Vec::new(), texts: RefCell::default() };
        for (number, dir) in project.dirs.iter().enumerate() {
            if let Some(name) = names.relative(&dir.path) {
                names.dirs.entry(prefix(name).to_ascii_lowercase()).or_default().push(number);
            }
        }
        let to_dirs = project.links.iter().filter(|link| lint.scene.files.is_dir(link));
        names.links = to_dirs.filter_map(|link| names.relative(link)).map(str::to_ascii_lowercase).collect();
        names
    }

    fn relative<'p>(&self, path: &'p Path) -> Option<&'p str> {
        path.strip_prefix(&self.project.root).ok().and_then(Path::to_str)
    }

    /// The names of the files below directory `number`.
    fn text(&self, number: usize) -> Rc<str> {
        let mut texts = self.texts.borrow_mut();
        let text = texts.entry(number).or_insert_with(|| {
            let mut text = String::new();
            let dirs = &self.project.dirs[number..];
            for dir in dirs.iter().take_while(|dir| dir.path.starts_with(&dirs[0].path)) {
                let Some(above) = self.relative(&dir.path).map(prefix) else { continue };
                for name in dir.files() {
                    text.push_str(&above);
                    text.push_str(name);
                    text.push('\0');
                }
            }
            text.make_ascii_lowercase();
            text.into()
        });
        text.clone()
    }

    /// Whether a file matches the patterns of `rule`, or may do so behind a link.
    fn hold_any(&self, lint: &Lint<'_>, rule: &Conditional<'_>) -> bool {
        let patterns = Patterns::new(rule.patterns.iter().map(String::as_str));
        let base = rule.base.strip_prefix(&lint.scene.project.root).ok().and_then(Path::to_str).unwrap_or_default();
        let base = prefix(base).to_ascii_lowercase();
        let behind_a_link = |pattern: &String| {
            let path = format!("{base}{}", pattern.trim_start_matches('/').to_ascii_lowercase());
            self.links.iter().any(|link| Path::new(&path).starts_with(link))
        };
        let positive = || rule.patterns.iter().filter(|pattern| !pattern.starts_with('!'));
        let parts = positive().flat_map(|pattern| {
            let above = base.clone() + &fixed(pattern).to_ascii_lowercase();
            let dirs = self.dirs.get(&above).into_iter().flatten();
            dirs.map(move |number| (pattern, self.text(*number)))
        });
        let parts: Vec<(&String, Rc<str>)> = parts.collect();
        let mut dirs = HashMap::new();
        let mut names = parts.iter().flat_map(|(pattern, text)| candidates(text, pattern));
        let mut holds = || {
            names.any(|name| {
                let name = name.strip_prefix(base.as_str());
                name.is_some_and(|name| patterns.takes_in(name) || is_below(name, &patterns, &mut dirs))
            })
        };
        positive().any(behind_a_link) || holds()
    }
}

/// The names of `text` that hold what is literal in `pattern`, and so may match it.
fn candidates<'n>(text: &'n str, pattern: &str) -> Box<dyn Iterator<Item = &'n str> + 'n> {
    let mut literals: Vec<String> = literals(pattern).into_iter().map(str::to_ascii_lowercase).collect();
    literals.sort_by_key(String::len);
    // Most patterns that match nothing name something that is nowhere at all.
    if literals.iter().any(|literal| memmem::find(text.as_bytes(), literal.as_bytes()).is_none()) {
        return Box::new(std::iter::empty());
    }
    let Some(longest) = literals.pop() else { return Box::new(text.split_terminator('\0')) };
    let finder = Finder::new(&longest).into_owned();
    let mut at = 0;
    Box::new(std::iter::from_fn(move || {
        loop {
            let hit = at + finder.find(&text.as_bytes()[at..])?;
            let start = text[..hit].rfind('\0').map_or(0, |end| end + 1);
            let name = text[start..].split('\0').next()?;
            at = start + name.len();
            if literals.iter().all(|part| name.contains(part.as_str())) {
                return Some(name);
            }
        }
    }))
}

/// `dir` as it stands before what is in it.
fn prefix(dir: &str) -> String {
    if dir.is_empty() { String::new() } else { format!("{dir}/") }
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

/// The directories, each with its `/`, that a pattern with a `/` within it begins with.
fn fixed(pattern: &str) -> &str {
    let mut end = pattern.len() - pattern.trim_start_matches('/').len();
    let start = end;
    while let Some((dir, behind)) = pattern[end..].split_once('/') {
        // A pattern of one part stands at any depth.
        if dir.is_empty() || !dir.chars().all(is_plain) || (end == 0 && behind.is_empty()) {
            break;
        }
        end += dir.len() + 1;
    }
    &pattern[start..end]
}

fn is_plain(c: char) -> bool {
    c.is_ascii() && !c.is_ascii_control() && !"*?[]{}\\!# ".contains(c)
}

/// The parts of a pattern that stand in every name that it matches.
fn literals(pattern: &str) -> Vec<&str> {
    // A class may hold anything.
    if pattern.contains('[') {
        return Vec::new();
    }
    pattern.split(|c| !is_plain(c)).map(|run| run.trim_matches('/')).filter(|run| !run.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_parts() {
        assert_eq!(literals("src/**/x.ts"), ["src", "x.ts"]);
        assert_eq!(literals("/src/app/*.ts"), ["src/app", ".ts"]);
        assert_eq!(
            ["a/b/*.ts", "/a/b", "a/", "/a/", "*.ts", "a/**/b", "a b/c"].map(fixed),
            ["a/b/", "a/", "", "a/", "", "a/", ""]
        );
        assert!(literals("**/*").is_empty() && literals("[abc]/x").is_empty());
    }
}
