//! Any text as the front matter of a rule, and its first two lines as a pattern and a path.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulecheck::front_matter;
use rulecheck::glob::gitignore::Patterns;
use rulecheck::glob::shell::braces::{MAX_BRANCHES, expand};
use rulecheck::glob::shell::{Glob, Options};

fuzz_target!(|text: &str| {
    let pieces = front_matter::pieces(text);
    assert_eq!(pieces, front_matter::pieces(text));
    let of_rule = front_matter::patterns(text).unwrap_or_default();
    assert!(pieces.is_some() || of_rule.is_empty());

    let mut lines = text.lines();
    let (pattern, path) = (lines.next().unwrap_or_default(), lines.next().unwrap_or("src/a.ts"));
    for patterns in [Patterns::new([pattern]), Patterns::new(of_rule.iter().map(String::as_str))] {
        let matched = patterns.matches(path);
        assert!(patterns.can_match() || !matched, "{pattern:?} {path:?}");
        assert!(matched || !patterns.takes_in(path), "{pattern:?} {path:?}");
    }

    // Beyond the limits there is nothing to match with.
    let Some(branches) = expand(pattern) else { return assert!(Glob::new(pattern, Options::default()).is_none()) };
    assert!(!branches.is_empty() && branches.len() <= MAX_BRANCHES, "{pattern:?}");
    // Patterns of many branches are slow: one way of matching is enough for each input.
    let bits = text.len();
    let options = Options { dot: bits & 1 > 0, nocase: bits & 2 > 0, empty_tail: bits & 4 > 0 };
    let glob = Glob::new(pattern, options).unwrap();
    let dotted = Glob::new(pattern, Options { dot: true, ..options }).unwrap();
    assert!(!glob.is_match(path) || dotted.is_match(path) || pattern.contains('!'), "{pattern:?} {path:?}");
    if !pattern.is_empty() && pattern.chars().all(char::is_alphanumeric) {
        assert!(glob.is_match(pattern), "{pattern:?}");
    }
});
