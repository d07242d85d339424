//! The front matter of rule files, for the rules that judge it.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::Lint;
use crate::diagnostic::Repair;
use crate::front_matter::{Piece, pieces};
use crate::glob::gitignore::Patterns;
use crate::markdown;
use crate::resolution::{Outcome, Phase, Resolution, Skip, Source, Trigger, Via};

/// The most patterns that a rule may have for them to be mended: every way is tried on the whole front matter.
const MAX_TRIED: usize = 200;

/// A rule file that is conditional.
pub(super) struct Conditional<'a> {
    pub(super) resolution: &'a Resolution,
    pub(super) source: &'a Source,
    pub(super) path: &'a Path,
    /// The directory to which its patterns are relative.
    pub(super) base: &'a PathBuf,
    pub(super) patterns: &'a [String],
    /// The pieces of its `paths`, each with its place in the text.
    pub(super) pieces: Vec<(Piece, Range<usize>)>,
    /// The place of the key.
    pub(super) key: Range<usize>,
    text: String,
    yaml: Range<usize>,
}

impl Conditional<'_> {
    /// What is wrong with each of the pieces.
    pub(super) fn problems(&self) -> Vec<Option<Problem>> {
        self.pieces.iter().map(|(piece, _)| problem(piece, self.base)).collect()
    }

    /// What puts the patterns that are meant in the place of piece number `index`, with or without quotes: the front
    /// matter must then say just that, and all else as before.
    pub(super) fn repair(&self, index: usize, problem: &Problem) -> Option<Repair> {
        let Instead { len, patterns } = problem.instead.as_ref()?;
        let (piece, span) = self.pieces.get(index)?;
        let old = self.text.get(span.clone()).filter(|old| *old == piece.text)?.get(..*len)?;
        let span = span.start..span.start + len;
        let mut meant: Vec<&str> = self.pieces.iter().map(|(piece, _)| piece.text.as_str()).collect();
        meant.splice(index..=index, patterns.iter().map(String::as_str));
        let says = |new: &String| {
            let yaml = [&self.text[self.yaml.start..span.start], new, &self.text[span.end..self.yaml.end]].concat();
            pieces(&yaml).is_some_and(|pieces| pieces.iter().map(|piece| piece.text.as_str()).eq(meant.iter().copied()))
        };
        if self.pieces.len() > MAX_TRIED {
            return None;
        }
        let plain = patterns.join(", ");
        let mut ways = [quoted(&plain), plain.clone(), format!("\"{plain}\""), format!("'{plain}'")].into_iter();
        let new = ways.find(says)?;
        Some(Repair::Replace { path: self.path.to_path_buf(), span: span.clone().into(), old: old.to_string(), new })
    }
}

/// The conditional rules of all clients.
pub(super) fn conditional<'a>(lint: &Lint<'a>) -> impl Iterator<Item = Conditional<'a>> {
    lint.sources().filter(|(_, source)| source.via == Via::Rule).filter_map(|(resolution, source)| {
        let known = matches!(source.outcome, Outcome::Loaded | Outcome::Skipped { why: Skip::NeverMatches });
        let Phase::Lazy(Trigger::Patterns { patterns, base }) = &source.phase else { return None };
        let path = source.path().filter(|path| known && !lint.is_foreign(path))?;
        let content = lint.content(path)?;
        let text = content.text();
        let yaml = markdown::front_matter(text, true)?.yaml;
        let key = key(text, &yaml).unwrap_or(yaml.start..yaml.start);
        let pieces = placed(text, &key, yaml.end, pieces(&text[yaml.clone()])?);
        Some(Conditional { resolution, source, path, base, patterns, pieces, key, text: text.to_string(), yaml })
    })
}

/// The key `paths` in the YAML at `yaml`, the last one.
fn key(text: &str, yaml: &Range<usize>) -> Option<Range<usize>> {
    let keys = keys(text, yaml);
    let own = keys.iter().rfind(|key| key.name == "paths").map(|key| key.span.clone());
    own.or_else(|| text[yaml.clone()].find("paths").map(|at| yaml.start + at..yaml.start + at + "paths".len()))
}

/// A key of the front matter itself.
pub(super) struct Key<'t> {
    pub(super) name: &'t str,
    pub(super) span: Range<usize>,
    /// What stands behind it, on its line and on the lines below that belong to it.
    pub(super) value: &'t str,
}

/// The keys at the start of a line in the YAML at `yaml`.
pub(super) fn keys<'t>(text: &'t str, yaml: &Range<usize>) -> Vec<Key<'t>> {
    let mut keys: Vec<Key<'t>> = Vec::new();
    let mut at = yaml.start;
    for line in text[yaml.clone()].split_inclusive('\n') {
        let name = line.split(':').next().filter(|name| name.len() < line.len()).unwrap_or_default();
        let bare = name.trim_end().trim_matches(['"', '\'']);
        if !bare.is_empty() && !name.starts_with([' ', '\t', '-', '#']) {
            let value = &text[at + name.len() + 1..yaml.end];
            keys.push(Key { name: bare, span: at..at + name.trim_end().len(), value });
        }
        at += line.len();
    }
    // A value ends where the next key stands.
    for next in (1..keys.len()).rev() {
        let end = keys[next].span.start;
        let own = &mut keys[next - 1];
        let start = yaml.end - own.value.len();
        own.value = text.get(start..end).unwrap_or_default();
    }
    keys
}

/// `pieces`, each with its place between `key` and `end`; the key's where it cannot be found as it is.
fn placed(text: &str, key: &Range<usize>, end: usize, pieces: Vec<Piece>) -> Vec<(Piece, Range<usize>)> {
    let mut at = key.end;
    let place = |piece: Piece| {
        let span = match text.get(at..end).and_then(|rest| rest.find(&piece.text)) {
            Some(start) => {
                at += start + piece.text.len();
                at - piece.text.len()..at
            }
            None => key.clone(),
        };
        (piece, span)
    };
    pieces.into_iter().map(place).collect()
}

/// Why a pattern does not match what it seems to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) why: String,
    /// What to do.
    pub(super) help: String,
    /// The patterns that are meant, where that is plain.
    instead: Option<Instead>,
}

/// Patterns that take the place of a piece.
#[derive(Debug, PartialEq, Eq)]
struct Instead {
    /// How much of the piece they replace, in bytes.
    len: usize,
    patterns: Vec<String>,
}

fn instead(why: impl Into<String>, piece: &str, pattern: &str) -> Option<Problem> {
    let instead = Instead { len: piece.len(), patterns: vec![pattern.to_string()] };
    Some(Problem { why: why.into(), help: format!("write `{pattern}`"), instead: Some(instead) })
}

/// As [`instead`], in quotes where they are needed.
fn in_quotes(why: impl Into<String>, piece: &str, patterns: &[&str]) -> Option<Problem> {
    let instead = Instead { len: piece.len(), patterns: patterns.iter().map(ToString::to_string).collect() };
    Some(Problem { why: why.into(), help: format!("write `{}`", quoted(&patterns.join(", "))), instead: Some(instead) })
}

fn other(why: impl Into<String>, help: &str) -> Option<Problem> {
    Some(Problem { why: why.into(), help: help.into(), instead: None })
}

/// What is wrong with a piece of the `paths` of a rule whose patterns are relative to `base`.
pub(super) fn problem(piece: &Piece, base: &Path) -> Option<Problem> {
    let text = piece.text.as_str();
    let (sign, body) = text.strip_prefix('!').map_or(("", text), |body| ("!", body));
    if piece.over_budget {
        return other(
            "its braces make too many patterns, so they are not expanded and match nothing",
            "use fewer braces, or a wildcard in their place",
        );
    }
    if text.contains('\n') {
        return other(
            "several lines make one pattern here, which matches nothing",
            "make `paths` a list, one pattern an item",
        );
    }
    let rooted = |rest: &str| {
        let rest = rest.trim_start_matches('/');
        let is_deep = rest.trim_end_matches('/').contains('/');
        format!("{sign}{}{rest}", if is_deep { "" } else { "/" })
    };
    if let Some(rest) = body.strip_prefix("./") {
        return instead("no pattern that begins with `./` matches anything", text, &rooted(rest));
    }
    let inside = base.to_str().filter(|base| *base != "/").and_then(|base| body.strip_prefix(base));
    if let Some(rest) = inside.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
        return instead("patterns are relative, so an absolute one matches nothing", text, &rooted(rest));
    }
    if ["/home/", "/Users/", "~/"].iter().any(|start| body.starts_with(start)) {
        return other(
            "patterns are relative, so an absolute one matches nothing",
            "write it relative to the directory that holds `.claude`",
        );
    }
    if body.split('/').any(|part| part == "..") {
        return other(
            "no pattern with `..` matches anything",
            "put the rule below a `.claude/rules` of a directory that holds the files",
        );
    }
    if let Some(comment) = text.find(" #") {
        // The comment itself stays.
        let pattern = text[..comment].trim_end();
        return in_quotes("the comment behind the pattern is taken for a part of it", pattern, &[pattern]);
    }
    if let Some(windows) = backslashes(body) {
        return instead("a backslash is no separator here", text, &format!("{sign}{windows}"));
    }
    if text.starts_with(['"', '\'']) {
        return in_quotes("the quote without its pair is taken for a part of the pattern", text, &[&text[1..]]);
    }
    if (text.starts_with('[') && !text.contains(']')) || (text.ends_with(']') && !text.contains('[')) {
        return other(
            "the list is not YAML, so its bracket is taken for a part of the pattern",
            "quote each pattern of the list",
        );
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() > 1 && words.iter().all(|word| word.contains(['/', '*'])) {
        return in_quotes("patterns that a space divides are one pattern, which matches nothing", text, &words);
    }
    if let Some(group) = extended(text) {
        return match group {
            Some(braces) => instead("groups in parentheses are not known", text, &braces),
            None => other("groups in parentheses are not known", "name what should match, with braces"),
        };
    }
    if piece.patterns.iter().any(|pattern| pattern.contains(['{', '}'])) {
        return other("braces within braces, or without their pair, match nothing", "write a pattern for each case");
    }
    if let Some((_, class)) = body.split_once("[!").or_else(|| body.split_once("[^"))
        && class.contains(']')
    {
        return other(
            "`!` and `^` do not negate in brackets: they are characters like others",
            "name what should match",
        );
    }
    let dead = |pattern: &&String| {
        let pattern = pattern.strip_prefix('!').unwrap_or(pattern);
        !Patterns::new([pattern]).can_match()
    };
    let dead = piece.patterns.iter().find(dead)?;
    let why = if dead.contains('[') {
        "the bracket has no end, so the pattern matches nothing"
    } else if dead.contains("//") {
        "no path has two slashes on end, so the pattern matches nothing"
    } else if dead.starts_with('#') {
        "a pattern that begins with `#` is a comment"
    } else {
        "no path matches this pattern"
    };
    other(why, "mend it, or take it away")
}

/// `pattern` as it stands in YAML.
fn quoted(pattern: &str) -> String {
    let plain = pattern.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"./-_ ,".contains(&byte));
    let plain =
        plain || (!pattern.starts_with('*') && !pattern.contains(['{', '}', '[', ']', '#', '"', '\\', ':', '!']));
    if plain { pattern.into() } else { format!("\"{pattern}\"") }
}

/// `pattern` with its backslashes made slashes, when they divide directories.
fn backslashes(pattern: &str) -> Option<String> {
    let divides = |(at, _): (usize, &str)| {
        let next = pattern[at + 1..].chars().next();
        next.is_some_and(|next| next.is_alphanumeric() || next == '_' || (next == '*' && !pattern.contains('/')))
    };
    pattern.match_indices('\\').any(divides).then(|| {
        let path = pattern.replace('\\', "/");
        let drive = path.as_bytes().get(1) == Some(&b':');
        if drive { path[2..].trim_start_matches('/').to_string() } else { path }
    })
}

/// Whether `pattern` has groups in parentheses, and if it can be, the same with braces.
fn extended(pattern: &str) -> Option<Option<String>> {
    let open = pattern.find('(')?;
    let close = open + pattern[open..].find(')')?;
    let mark = pattern[..open].chars().next_back().filter(|mark| "@+?*!".contains(*mark));
    let inside = &pattern[open + 1..close];
    if !inside.contains('|') && mark.is_none_or(|mark| mark == '*' || mark == '?') {
        return None;
    }
    let start = open - usize::from(mark == Some('@'));
    let simple = matches!(mark, None | Some('@')) && !pattern[close..].contains('(') && inside.contains('|');
    Some(simple.then(|| format!("{}{{{}}}{}", &pattern[..start], inside.replace('|', ","), &pattern[close + 1..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help(paths: &str) -> Option<String> {
        let piece = pieces(&format!("paths: {paths}\n")).unwrap().remove(0);
        problem(&piece, Path::new("/p")).map(|problem| problem.help)
    }

    #[test]
    fn patterns_are_mended() {
        for (wrong, right) in [
            ("./src/**", "src/**"),
            ("./x.ts", "/x.ts"),
            ("/p/src/**", "src/**"),
            ("'!./src/**'", "!src/**"),
            ("src\\**\\*.ts", "src/**/*.ts"),
            ("lib/** src/**", "lib/**, src/**"),
            ("src/**/*.@(ts|tsx)", "src/**/*.{ts,tsx}"),
            ("(src|lib)/**", "{src,lib}/**"),
            ("*.ts # all", "\"*.ts\""),
        ] {
            assert_eq!(help(wrong), Some(format!("write `{right}`")), "{wrong}");
        }
    }

    #[test]
    fn patterns_that_match() {
        for fine in [
            "src/**",
            "/src/",
            "'**/*.{ts,tsx}'",
            "docs/my file.md",
            "'!a/b'",
            "'[abc].ts'",
            "a\\*b/c",
            "app/(shop)/**",
        ] {
            assert_eq!(help(fine), None, "{fine}");
        }
        for wrong in ["../a", "'photos [2024/**'", "'[!a].ts'", "~/x/**", "a//b", "'*.{ts,{js,jsx}}'", "'!(a).ts'"] {
            assert!(help(wrong).is_some(), "{wrong}");
        }
    }
}
