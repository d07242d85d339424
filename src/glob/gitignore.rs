//! The gitignore dialect of the npm package `ignore`, in which Claude Code reads the `paths` of a rule.
//!
//! It is git's own, ignoring case, but for a few habits that were recorded: `[!b]` and `[^b]` do not negate, a class
//! without an end matches nothing, three and more stars are one, and `\s` is the white space of a regular expression.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::iter::Peekable;
use std::str::Chars;

use regex::Regex;

/// Patterns that are judged together: of those that match, the last one decides.
#[derive(Debug)]
pub struct Patterns {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    negative: bool,
    /// The pattern as a regular expression; `None` when it can match nothing.
    source: Option<String>,
    compiled: OnceCell<Option<Regex>>,
}

impl Patterns {
    /// Reads `patterns`; those that are blank, a comment or cut short by a backslash are dropped.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Self {
        let kept = patterns.into_iter().filter(|pattern| {
            !pattern.trim().is_empty() && !pattern.starts_with('#') && !ends_with_one_backslash(pattern)
        });
        Self { rules: kept.map(Rule::new).collect() }
    }

    /// Whether the patterns take in `path`, relative and with `/`. It is judged from the top directory down: below a
    /// directory that is taken in nothing is taken out again.
    pub fn matches(&self, path: &str) -> bool {
        let above = path.match_indices('/').map(|(at, _)| &path[..=at]);
        above.chain([path]).any(|part| self.takes_in(part))
    }

    /// Whether the patterns take in `path` itself, whatever becomes of the directories above it. That of a directory ends
    /// in a slash.
    pub fn takes_in(&self, path: &str) -> bool {
        self.rules.iter().rev().find(|rule| rule.matches(path)).is_some_and(|rule| !rule.negative)
    }

    /// Whether there is any path at all that the patterns could take in.
    pub fn can_match(&self) -> bool {
        self.rules.iter().any(|rule| !rule.negative && rule.source.is_some())
    }
}

impl Rule {
    fn new(pattern: &str) -> Self {
        let (negative, body) = match pattern.strip_prefix('!') {
            Some(body) => (true, body),
            None => (false, pattern),
        };
        let body = match body.strip_prefix('\\') {
            Some(rest) if rest.starts_with(['!', '#']) => rest,
            _ => body,
        };
        Self { negative, source: translate(body), compiled: OnceCell::new() }
    }

    fn matches(&self, path: &str) -> bool {
        let compile = || self.source.as_deref().and_then(|source| Regex::new(source).ok());
        self.compiled.get_or_init(compile).as_ref().is_some_and(|regex| regex.is_match(path))
    }
}

fn ends_with_one_backslash(pattern: &str) -> bool {
    pattern.ends_with('\\') && !pattern.ends_with("\\\\")
}

/// A piece of a pattern.
#[derive(Debug, PartialEq)]
enum Piece {
    Literal(char),
    Slash,
    /// So many stars on end.
    Stars(usize),
    /// One character, not a slash.
    Any,
    /// A ready piece of a regular expression.
    Regex(String),
}

/// The regular expression of `pattern`; `None` when no path in normal form can match it.
fn translate(pattern: &str) -> Option<String> {
    let mut pieces = pieces(&trim(pattern))?;
    if has_impossible_part(&pieces) {
        return None;
    }
    // A star that ends a pattern is a wildcard even behind a backslash.
    if pieces.last() == Some(&Piece::Literal('*')) {
        pieces.pop();
        pieces.push(Piece::Stars(1));
    }
    let anchored = pieces.split_last().is_some_and(|(_, rest)| rest.contains(&Piece::Slash));
    let mut out = String::from("(?i)");
    let mut rest = pieces.as_slice();
    let mut before = None;
    if let [Piece::Slash, below @ ..] = rest {
        rest = below;
        before = Some(&Piece::Slash);
    }
    if let [Piece::Stars(2), Piece::Slash, below @ ..] = rest {
        out.push_str("^(?:.*/)?");
        rest = below;
        before = None;
    } else {
        out.push_str(if anchored { "^" } else { "(?:^|/)" });
    }
    while let Some((piece, behind)) = rest.split_first() {
        rest = behind;
        match piece {
            Piece::Slash => match rest {
                // A pattern that ends in a slash matches directories only, and so needs the slash.
                [] => return Some(out + "/$"),
                [Piece::Stars(2)] => {
                    out.push_str("/.+");
                    rest = &[];
                }
                [Piece::Stars(2), behind @ ..] if behind.first() == Some(&Piece::Slash) => {
                    out.push_str("(?:/[^/]+)*");
                    rest = behind;
                }
                _ => out.push('/'),
            },
            Piece::Stars(1) if rest.is_empty() && before == Some(&Piece::Slash) => out.push_str("[^/]+"),
            Piece::Stars(_) => out.push_str("[^/]*"),
            Piece::Any => out.push_str("[^/]"),
            Piece::Literal(c) => out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
            Piece::Regex(source) => out.push_str(source),
        }
        before = Some(piece);
    }
    Some(out + "/?$")
}

/// Without the white space at the end, unless a backslash keeps it.
fn trim(pattern: &str) -> Cow<'_, str> {
    let pattern = pattern.strip_prefix('\u{feff}').unwrap_or(pattern);
    let short = pattern.trim_end();
    let slashes = short.len() - short.trim_end_matches('\\').len();
    if short.len() < pattern.len() && slashes % 2 == 1 {
        format!("{} ", &short[..short.len() - 1]).into()
    } else {
        short.into()
    }
}

fn pieces(pattern: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        pieces.push(match c {
            '/' => Piece::Slash,
            '?' => Piece::Any,
            '*' => {
                let mut count = 1;
                while chars.next_if_eq(&'*').is_some() {
                    count += 1;
                }
                Piece::Stars(count)
            }
            '[' => Piece::Regex(class(&mut chars)?),
            '\\' => match chars.next_if(|next| *next != '/') {
                // It stays a backslash, which no path holds where `/` divides.
                None => Piece::Literal('\\'),
                // A question mark cannot be escaped: what is left of it matches nothing.
                Some('?') => return None,
                Some(next @ ('d' | 'D' | 'w' | 'W' | 's' | 'S')) => Piece::Regex(format!("\\{next}")),
                Some(next) if next.is_whitespace() => Piece::Literal(' '),
                Some(next) => Piece::Literal(next),
            },
            other => Piece::Literal(other),
        });
    }
    Some(pieces)
}

/// The class whose `[` was just read; `None` when it has no end or holds a wildcard.
fn class(chars: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut members: Vec<char> = Vec::new();
    loop {
        match chars.next()? {
            ']' => break,
            '*' | '?' => return None,
            '\\' => members.push(chars.next()?),
            other => members.push(other),
        }
    }
    let mut out = String::new();
    let mut rest = members.as_slice();
    while let Some((&from, behind)) = rest.split_first() {
        if let ['-', to, behind @ ..] = behind {
            // A range in the wrong order is taken out.
            if from <= *to {
                out.push_str(&format!("{}-{}", escape(from), escape(*to)));
            }
            rest = behind;
        } else {
            out.push_str(&escape(from));
            rest = behind;
        }
    }
    (!out.is_empty()).then(|| format!("[{out}]"))
}

fn escape(c: char) -> String {
    if c.is_ascii_punctuation() { format!("\\{c}") } else { c.to_string() }
}

/// Whether a part between slashes is empty, `.` or `..`: no path in normal form has one.
fn has_impossible_part(pieces: &[Piece]) -> bool {
    let parts: Vec<&[Piece]> = pieces.split(|piece| *piece == Piece::Slash).collect();
    let last = parts.len() - 1;
    let dot = Piece::Literal('.');
    parts.iter().all(|part| part.is_empty())
        || parts.iter().enumerate().any(|(at, part)| match part {
            [] => at > 0 && at < last,
            [one] => *one == dot,
            [one, two] => *one == dot && *two == dot,
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(patterns: &[&str], yes: &[&str], no: &[&str]) {
        let compiled = Patterns::new(patterns.iter().copied());
        for path in yes {
            assert!(compiled.matches(path), "{patterns:?} should take in {path}");
        }
        for path in no {
            assert!(!compiled.matches(path), "{patterns:?} should not take in {path}");
        }
    }

    #[test]
    fn a_name_matches_at_any_depth_and_a_path_from_the_top() {
        check(&["*.ts"], &["x.ts", "a/b/x.TS", ".h/x.ts"], &["x.tsx"]);
        check(&["src"], &["src/x", "a/src/b/x"], &["srcs/x", "a.src"]);
        check(&["src/*"], &["src/x", "src/a/x"], &["a/src/x", "src"]);
        check(&["/src/"], &["src/x"], &["src", "a/src/x"]);
        check(&["/x.ts"], &["x.ts"], &["a/x.ts"]);
        check(&["**/"], &["a/x"], &["x"]);
    }

    #[test]
    fn two_stars_are_directories_only_between_slashes() {
        check(&["src/**/x"], &["src/x", "src/a/b/x"], &["x"]);
        check(&["**/**/x"], &["a/x"], &["x"]);
        check(&["src/***/x"], &["src/a/x"], &["src/x", "src/a/b/x"]);
        check(&["src**/x"], &["src/x", "srcs/x"], &["src/a/x"]);
        check(&["a/**"], &["a/b", "a/b/c"], &["a", "b/a/c"]);
    }

    #[test]
    fn classes_do_not_negate() {
        check(&["[!b]"], &["!", "b"], &["a"]);
        check(&["[^b]"], &["^", "b"], &["a"]);
        check(&["[a-c][z-x]"], &[], &["ay", "a"]);
        check(&["a[bc", "d"], &["d"], &["ab", "a[bc"]);
    }

    #[test]
    fn negation_ends_below_a_directory_that_is_taken_in() {
        check(&["src/*", "!src/x"], &["src/y"], &["src/x"]);
        check(&["src", "!src/x"], &["src/x"], &[]);
        check(&["!src"], &[], &["src", "a"]);
    }

    #[test]
    fn what_cannot_match_is_known() {
        for never in ["./src/**", "../a", "a//b", "#a", "!a", "a[b", "/", ".", "a/./b", "\\"] {
            assert!(!Patterns::new([never]).can_match(), "{never}");
        }
        for may in ["a", "*", "/a/", "...", ".a/", "[!b]"] {
            assert!(Patterns::new([may]).can_match(), "{may}");
        }
    }

    #[test]
    fn backslashes() {
        check(&["a\\ b", "c\\*d", "e\\.f"], &["a b", "c*d", "e.f"], &["cxd", "exf"]);
        check(&["\\!a", "\\#b"], &["!a", "#b"], &["a", "b"]);
        check(&["a\\*"], &["ab"], &["b"]);
    }
}
