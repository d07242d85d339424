//! Shell-style globs: braces, `*`, `?`, classes, extended groups like `!(a|b)`, and `**` as a whole segment.
//!
//! A segment is compiled to a small automaton that is run as a table, so a match costs the pattern's length times
//! the text's, whatever the pattern. A `/` is matched by nothing but a `/` and `**`.
//!
//! The dialect is that of `minimatch`. `picomatch` differs in corners: there `a/**` matches `a` too (see
//! [`Options::empty_tail`]), slashes in a row are not one, and `[!a]` is not negated.

use self::braces::expand;

pub mod braces;

/// How deep extended groups may nest; a deeper one is taken as plain text.
const MAX_DEPTH: usize = 4;

/// How a pattern is matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether a wildcard may match a dot at the start of a segment.
    pub dot: bool,
    /// Whether upper and lower case are the same.
    pub nocase: bool,
    /// Whether a last `**` may stand for nothing, so that `a/**` matches `a` too.
    pub empty_tail: bool,
}

/// How many characters the pattern of one segment may have; a longer one is taken as plain text.
const MAX_SEGMENT: usize = 4096;

/// A pattern for whole paths.
#[derive(Clone, Debug)]
pub struct Glob {
    branches: Vec<Vec<Part>>,
    options: Options,
}

/// What stands between two slashes of a pattern.
#[derive(Clone, Debug)]
pub enum Part {
    /// `**`: any number of segments.
    Globstar,
    /// Exactly one segment.
    One(Segment),
}

impl Glob {
    /// Compiles `pattern`. Every pattern means something: what is not well formed is plain text. `None` when its braces
    /// cannot be expanded within the limits.
    pub fn new(pattern: &str, options: Options) -> Option<Self> {
        let branches = expand(pattern)?.iter().map(|branch| parts(branch, options)).collect();
        Some(Self { branches, options })
    }

    /// Whether all of `path` matches. Its segments are separated by `/`; an absolute path begins with an empty one.
    pub fn is_match(&self, path: &str) -> bool {
        let segments: Vec<&str> = path.split('/').collect();
        self.branches.iter().any(|parts| matches_path(parts, &segments, self.options))
    }
}

/// The parts of a pattern without braces. Slashes in a row count as one.
pub fn parts(pattern: &str, options: Options) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (at, text) in pattern.split('/').enumerate() {
        match text {
            "" if at > 0 && !pattern.ends_with('/') => {}
            "**" if matches!(parts.last(), Some(Part::Globstar)) => {}
            "**" => parts.push(Part::Globstar),
            _ => parts.push(Part::One(Segment::new(text, options))),
        }
    }
    parts
}

/// Whether `parts` match `segments`, decided from the ends of both.
fn matches_path(parts: &[Part], segments: &[&str], options: Options) -> bool {
    let last = parts.len().wrapping_sub(1);
    // `after[i]`: whether the parts looked at so far match the segments from `i` on.
    let mut after = vec![false; segments.len() + 1];
    after[segments.len()] = true;
    for (at, part) in parts.iter().enumerate().rev() {
        let mut now = vec![false; segments.len() + 1];
        match part {
            Part::One(segment) => {
                for (i, text) in segments.iter().enumerate() {
                    now[i] = after[i + 1] && segment.is_match(text);
                }
            }
            Part::Globstar => {
                now[segments.len()] = after[segments.len()] && (at != last || at == 0 || options.empty_tail);
                for (i, text) in segments.iter().enumerate().rev() {
                    let crossed = options.dot || !text.starts_with('.');
                    let swallows_rest = at == last && i + 1 == segments.len();
                    now[i] = (after[i] && at != last) || (crossed && (now[i + 1] || swallows_rest));
                }
            }
        }
        if !now.contains(&true) {
            return false;
        }
        after = now;
    }
    after[0]
}

/// A pattern for one segment of a path.
#[derive(Clone, Debug)]
pub struct Segment {
    kind: Kind,
    options: Options,
}

#[derive(Clone, Debug)]
enum Kind {
    Literal(String),
    Program { steps: Vec<Step>, start: usize },
}

/// One state of the automaton; the numbers are those of the states that may follow.
#[derive(Clone, Debug)]
enum Step {
    /// The end of the text.
    End,
    Unit(u16, usize),
    Any(usize),
    Class(Class, usize),
    /// Any text, empty too.
    Star(usize),
    Either(Vec<usize>),
    /// None of the first, then the second.
    Unless(Vec<usize>, usize),
    /// The end of a repeated group: whether its `Repeat` matches.
    Again,
    /// A repeated group with its `Again`, and the states of which one must match.
    Repeat(usize, Vec<usize>),
}

#[derive(Clone, Debug)]
enum Node {
    Char(char),
    Any,
    Star,
    Class(Class),
    Group(char, Vec<Vec<Self>>),
}

/// A POSIX class: a test, and whether it is negated.
type Named = (fn(char) -> bool, bool);

#[derive(Clone, Debug, Default)]
struct Class {
    negated: bool,
    ranges: Vec<(char, char)>,
    named: Vec<Named>,
}

impl Segment {
    /// Compiles the pattern of one segment, without braces.
    pub fn new(pattern: &str, options: Options) -> Self {
        let chars: Vec<char> = pattern.chars().collect();
        let nodes = if chars.len() > MAX_SEGMENT { chars.into_iter().map(Node::Char).collect() } else { parse(&chars) };
        let literal = nodes.iter().map(|node| if let Node::Char(char) = node { Some(*char) } else { None });
        let kind = match literal.collect::<Option<String>>() {
            Some(text) if !options.nocase => Kind::Literal(text),
            _ => {
                let mut program = Program { steps: vec![Step::End] };
                let start = program.sequence(&nodes, (0, 0));
                Kind::Program { steps: program.steps, start }
            }
        };
        Self { kind, options }
    }

    /// The only text that it matches, when there is just one.
    pub fn literal(&self) -> Option<&str> {
        match &self.kind {
            Kind::Literal(text) => Some(text),
            Kind::Program { .. } => None,
        }
    }

    /// Whether all of `text`, one segment of a path, matches.
    pub fn is_match(&self, text: &str) -> bool {
        match &self.kind {
            Kind::Literal(literal) => literal == text,
            // No wildcard stands for an empty segment, for this directory, or for the one above.
            Kind::Program { .. } if text.is_empty() => false,
            Kind::Program { steps, .. } if text == "." || text == ".." => {
                steps.iter().all(|step| matches!(step, Step::End | Step::Unit(46, _))) && steps.len() == text.len() + 1
            }
            Kind::Program { steps, start } => self.run(steps, *start, text),
        }
    }

    /// Decides for each state, from the end of `text` to its start, whether the rest of the text is matched from it.
    fn run(&self, steps: &[Step], start: usize, text: &str) -> bool {
        // Like the clients, in units of UTF-16.
        let text: Vec<u16> = text.encode_utf16().collect();
        let mut after = vec![false; steps.len()];
        let mut now = vec![false; steps.len()];
        for at in (0..=text.len()).rev() {
            let unit = text.get(at).copied();
            // A wildcard does not take a leading dot.
            let wild = unit.filter(|unit| at > 0 || self.options.dot || *unit != u16::from(b'.'));
            now.fill(false);
            let mut state = 0;
            while let Some(step) = steps.get(state) {
                now[state] = match step {
                    Step::End => unit.is_none(),
                    Step::Unit(want, next) => after[*next] && unit.is_some_and(|unit| self.same(unit, *want)),
                    Step::Any(next) => after[*next] && wild.is_some(),
                    Step::Class(class, next) => {
                        after[*next] && wild.is_some_and(|unit| class.holds(character(unit), self.options.nocase))
                    }
                    Step::Star(next) => now[*next] || (wild.is_some() && after[state]),
                    Step::Either(next) => next.iter().any(|next| now[*next]),
                    Step::Unless(not, next) => now[*next] && !not.iter().any(|next| now[*next]),
                    Step::Again => now[state],
                    Step::Repeat(again, next) => {
                        let matches = next.iter().any(|next| now[*next]);
                        // The states of the group were decided as if it could not begin again: once more, then.
                        if matches && !now[*again] {
                            now[*again] = true;
                            state = *again;
                            continue;
                        }
                        matches
                    }
                };
                state += 1;
            }
            std::mem::swap(&mut after, &mut now);
        }
        after[start]
    }

    fn same(&self, a: u16, b: u16) -> bool {
        a == b || (self.options.nocase && fold(character(a)) == fold(character(b)))
    }
}

/// Compiled from its end to its start: a state depends on those before it, and a repeated group on itself.
struct Program {
    steps: Vec<Step>,
}

impl Program {
    fn push(&mut self, step: Step) -> usize {
        self.steps.push(step);
        self.steps.len() - 1
    }

    /// Compiles `nodes` before the state `next`. `tail` is the one that follows when nothing is repeated any more:
    /// what a `!(…)` must not match is judged with that.
    fn sequence(&mut self, nodes: &[Node], (mut next, mut tail): (usize, usize)) -> usize {
        for (at, node) in nodes.iter().enumerate().rev() {
            let here = self.node(node, (next, tail));
            tail = if next == tail || at == 0 { here } else { self.node(node, (tail, tail)) };
            next = here;
        }
        next
    }

    fn node(&mut self, node: &Node, (next, tail): (usize, usize)) -> usize {
        match node {
            Node::Char(char) => {
                char.encode_utf16(&mut [0; 2]).iter().rev().fold(next, |next, unit| self.push(Step::Unit(*unit, next)))
            }
            Node::Any => self.push(Step::Any(next)),
            Node::Class(class) => self.push(Step::Class(class.clone(), next)),
            Node::Star => self.push(Step::Star(next)),
            Node::Group('!', branches) => {
                let not = self.branches(branches, (tail, tail));
                let star = self.push(Step::Star(next));
                self.push(Step::Unless(not, star))
            }
            Node::Group(kind @ ('*' | '+'), branches) => {
                let again = self.push(Step::Again);
                let first = self.branches(branches, (again, tail));
                let repeat = self.push(Step::Repeat(again, [first.as_slice(), &[next]].concat()));
                if *kind == '+' { self.push(Step::Either(first)) } else { repeat }
            }
            Node::Group(kind, branches) => {
                let mut ways = self.branches(branches, (next, tail));
                if *kind == '?' {
                    ways.push(next);
                }
                self.push(Step::Either(ways))
            }
        }
    }

    fn branches(&mut self, branches: &[Vec<Node>], ends: (usize, usize)) -> Vec<usize> {
        branches.iter().map(|branch| self.sequence(branch, ends)).collect()
    }
}

/// The nodes of a segment's pattern.
fn parse(pattern: &[char]) -> Vec<Node> {
    let mut at = 0;
    sequence(pattern, &mut at, &closings(pattern), 0)
}

/// For each `(` that opens an extended group, where its `)` stands. A group that is not closed is plain text.
fn closings(pattern: &[char]) -> Vec<usize> {
    let mut closings = vec![0; pattern.len()];
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut at = 0;
    while at < pattern.len() {
        match pattern[at] {
            '\\' => at += 1,
            '[' => {
                if let Some((_, end)) = class(pattern, at) {
                    at = end - 1;
                }
            }
            '(' if at > 0 && "?*+@!".contains(pattern[at - 1]) => open.push(Some(at)),
            // A plain parenthesis inside a group does not close it.
            ')' => {
                if let Some(Some(start)) = open.pop() {
                    closings[start] = at;
                }
            }
            _ => {}
        }
        at += 1;
    }
    closings
}

/// Parses up to the end, or inside a group up to its `|` or `)`.
fn sequence(pattern: &[char], at: &mut usize, closings: &[usize], depth: usize) -> Vec<Node> {
    let mut nodes = Vec::new();
    while let Some(&char) = pattern.get(*at) {
        let opens = "?*+@!".contains(char) && depth < MAX_DEPTH;
        if opens && pattern.get(*at + 1) == Some(&'(') && closings[*at + 1] > 0 {
            let end = closings[*at + 1];
            *at += 2;
            let mut branches = vec![sequence(pattern, at, closings, depth + 1)];
            while *at < end {
                *at += 1;
                branches.push(sequence(pattern, at, closings, depth + 1));
            }
            *at += 1;
            nodes.push(Node::Group(char, branches));
            continue;
        }
        match char {
            '|' | ')' if depth > 0 => break,
            '\\' if *at + 1 < pattern.len() => {
                *at += 1;
                nodes.push(Node::Char(pattern[*at]));
            }
            '?' => nodes.push(Node::Any),
            '*' if matches!(nodes.last(), Some(Node::Star)) => {}
            '*' => nodes.push(Node::Star),
            '[' => {
                if let Some((class, end)) = class(pattern, *at) {
                    nodes.push(class.single().map_or(Node::Class(class), Node::Char));
                    *at = end;
                    continue;
                }
                nodes.push(Node::Char('['));
            }
            _ => nodes.push(Node::Char(char)),
        }
        *at += 1;
    }
    nodes
}

/// The class that opens at `start`, and where the pattern goes on. `None` when it is not closed.
fn class(pattern: &[char], start: usize) -> Option<(Class, usize)> {
    let mut class = Class::default();
    let mut at = start + 1;
    if matches!(pattern.get(at), Some('!' | '^')) {
        class.negated = true;
        at += 1;
    }
    let first = at;
    // The character before a `-`, when a range may begin with it.
    let mut low: Option<char> = None;
    loop {
        let mut char = *pattern.get(at)?;
        if char == ']' && at > first {
            break;
        }
        if char == '['
            && let Some((named, end)) = posix(pattern, at)
        {
            class.named.push(named);
            low = None;
            at = end;
            continue;
        }
        if char == '\\' {
            at += 1;
            char = *pattern.get(at)?;
        }
        at += 1;
        if let Some(from) = low.take() {
            if from < char {
                class.ranges.push((from, char));
            } else if from == char {
                class.ranges.push((char, char));
            }
        } else if pattern.get(at) == Some(&'-') && pattern.get(at + 1).is_some_and(|next| *next != ']') {
            low = Some(char);
            at += 1;
        } else {
            class.ranges.push((char, char));
        }
    }
    Some((class, at + 1))
}

/// The POSIX class `[:name:]` that stands at `at`, and where the pattern goes on.
fn posix(pattern: &[char], at: usize) -> Option<(Named, usize)> {
    if pattern.get(at + 1) != Some(&':') {
        return None;
    }
    let name: String = pattern[at + 2..].iter().take_while(|char| char.is_ascii_lowercase()).collect();
    let end = at + 2 + name.len();
    if pattern.get(end) != Some(&':') || pattern.get(end + 1) != Some(&']') {
        return None;
    }
    let named: Named = match name.as_str() {
        "alnum" => (char::is_alphanumeric, false),
        "alpha" => (char::is_alphabetic, false),
        "ascii" => (|char| char.is_ascii(), false),
        "blank" => (|char| char == '\t' || (char.is_whitespace() && !char.is_control()), false),
        "cntrl" => (char::is_control, false),
        "digit" => (char::is_numeric, false),
        "graph" => (|char| char.is_whitespace() || char.is_control(), true),
        "lower" => (char::is_lowercase, false),
        "print" => (char::is_control, true),
        // The punctuation beyond ASCII is left out: it would need a table.
        "punct" => (|char| char.is_ascii_punctuation() && !"$+<=>^`|~".contains(char), false),
        "space" => (char::is_whitespace, false),
        "upper" => (char::is_uppercase, false),
        "word" => (|char| char.is_alphanumeric() || char == '_', false),
        "xdigit" => (|char| char.is_ascii_hexdigit(), false),
        _ => return None,
    };
    Some((named, end + 2))
}

impl Class {
    /// The only character in it, when there is just one.
    fn single(&self) -> Option<char> {
        match self.ranges.as_slice() {
            [(from, to)] if from == to && !self.negated && self.named.is_empty() => Some(*from),
            _ => None,
        }
    }

    fn holds(&self, char: char, nocase: bool) -> bool {
        let has = |char: char| {
            self.ranges.iter().any(|(from, to)| (*from..=*to).contains(&char))
                || self.named.iter().any(|(test, negated)| test(char) != *negated)
        };
        // A class in which nothing is left, like `[b-a]`, holds nothing, negated or not.
        if self.ranges.is_empty() && self.named.is_empty() {
            return false;
        }
        let inside = has(char) || (nocase && (char.to_lowercase().any(has) || char.to_uppercase().any(has)));
        inside != self.negated
    }
}

/// The character that a unit of UTF-16 is; half of one is none.
fn character(unit: u16) -> char {
    char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn fold(char: char) -> char {
    let mut lower = char.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => one,
        _ => char,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOT: Options = Options { dot: true, nocase: false, empty_tail: false };

    fn check(pattern: &str, options: Options, yes: &[&str], no: &[&str]) {
        let glob = Glob::new(pattern, options).unwrap();
        for path in yes {
            assert!(glob.is_match(path), "{pattern} should match {path}");
        }
        for path in no {
            assert!(!glob.is_match(path), "{pattern} should not match {path}");
        }
    }

    #[test]
    fn wildcards_stay_in_their_segment() {
        check("docs/*.md", DOT, &["docs/a.md", "docs/.md", "docs/.a.md"], &["docs/a/b.md", "a.md", "docs/a.mdx"]);
        check("docs/?.md", DOT, &["docs/a.md", "docs/é.md"], &["docs/ab.md", "docs/.md", "docs/😀.md"]);
        check("d**/a", DOT, &["d/a", "dx/a"], &["d/x/a"]);
        check("*", Options::default(), &["a"], &[".a", "", "..", "."]);
    }

    #[test]
    fn two_stars_cross_segments() {
        check("**/a", DOT, &["a", "x/a", "x/.y/a", "/x/a"], &["xa"]);
        check("a/**/b", DOT, &["a/b", "a/x/y/b"], &["ab", "b"]);
        check("a/**", DOT, &["a/x", "a/x/y"], &["a", "b/a/x"]);
        check("a/**", Options { empty_tail: true, ..DOT }, &["a", "a/x"], &["b"]);
        check("a/**/b", Options::default(), &["a/x/b"], &["a/.x/b"]);
        check("/p/**/c", DOT, &["/p/c", "/p/q/c"], &["p/c"]);
    }

    #[test]
    fn classes() {
        check("[a-c]", DOT, &["a", "c"], &["d", "A"]);
        check("[!a]", DOT, &["b"], &["a"]);
        check("[^]a]", DOT, &["b"], &["a", "]"]);
        check("[]a]", DOT, &["a", "]"], &["b"]);
        check("[a-]", DOT, &["a", "-"], &["b"]);
        check("[ab", DOT, &["[ab"], &["a"]);
        check("[c-a]", DOT, &[], &["a", "b", "c"]);
        check("[[:digit:]x]", DOT, &["1", "x"], &["a", ":"]);
        check("\\[a\\]", DOT, &["[a]"], &["a"]);
        check("[b]X", Options { nocase: true, ..DOT }, &["bx", "BX"], &["ax"]);
    }

    #[test]
    fn extended_groups() {
        check("?(a|b).md", DOT, &["a.md", "b.md", ".md"], &["ab.md"]);
        check("*(a|b)", DOT, &["a", "abba"], &["c", "abc"]);
        check("+(a|b)c", DOT, &["ac", "bac"], &["c"]);
        check("@(a|@(b|c)).md", DOT, &["a.md", "c.md"], &["bc.md"]);
        check("!(a).md", DOT, &["b.md", "aa.md", ".md"], &["a.md"]);
        check("!(a|b)", DOT, &["c", "ab"], &["a", "b"]);
        check("!(*.a).b", DOT, &["x.b"], &["x.a.b"]);
        check("*(!(a))", DOT, &["b", "bb"], &["a"]);
        check("+(*|?)x", DOT, &["ax", "x"], &["a"]);
        check("@(a", DOT, &["@(a"], &["a"]);
    }

    #[test]
    fn hard_patterns_end() {
        let text = "a".repeat(200);
        for pattern in [
            "*a".repeat(200),
            "*(*(*(*(a))))b".into(),
            "!(*(a)!(b))".repeat(40),
            "**/".repeat(300),
            "{a,b}".repeat(12),
            "@(".repeat(10_000),
            "{".repeat(10_000),
        ] {
            Glob::new(&pattern, DOT).unwrap().is_match(&text);
        }
    }
}
