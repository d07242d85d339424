//! Findings that somebody accepted: comments beside them, and entries of `rulecheck.yaml`. A reason is mandatory, and
//! one that hid nothing is a finding itself.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::Path;

use crate::clients::Scene;
use crate::config::{Config, Entry};
use crate::diagnostic::Diagnostic;
use crate::glob::shell::{Glob, Options};
use crate::text::{Lines, Place, clamp};

/// `rulecheck: ignore[rule, rule] reason` in a comment of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Where it stands.
    pub place: Place,
    /// The line that it stands on, from 1.
    pub line: usize,
    /// The rules it names.
    pub rules: Vec<String>,
    /// Why; empty when nothing is said.
    pub reason: String,
    /// How many findings it hid.
    pub hid: usize,
}

const OPENER: &str = "rulecheck: ignore[";

/// How much of a line is looked at before and behind the opener, in bytes: a line may hold many comments.
const FAR: usize = 1024;

/// The suppressing comments of one file.
pub fn comments(path: &Path, lines: &Lines<'_>) -> Vec<Comment> {
    let text = lines.text();
    let mut found = Vec::new();
    // Most files have none, and are not looked at line by line.
    for (start, _) in text.match_indices(OPENER) {
        let line = lines.line(start);
        let near = clamp(text, line.start.max(start.saturating_sub(FAR))..line.end.min(start + FAR));
        let before = text[near.start..start].trim_end();
        let opened = ["<!--", "#", "//", "/*", "*", ";"].iter().any(|mark| before.ends_with(mark));
        let rest = &text[start + OPENER.len()..near.end];
        let Some((rules, reason)) = rest.split_once(']').filter(|_| opened) else { continue };
        let reason = reason.trim().trim_end_matches("-->").trim_end_matches("*/").trim().trim_start_matches(':').trim();
        let span: Range<usize> = start..start + OPENER.len() + rules.len() + 1;
        found.push(Comment {
            line: lines.position(start).line,
            place: Place::at(path, span),
            rules: rules.split(',').map(|rule| rule.trim().to_string()).filter(|rule| !rule.is_empty()).collect(),
            reason: reason.to_string(),
            hid: 0,
        });
    }
    found
}

/// What somebody accepted, and how many findings that hid.
pub struct Accepted<'a> {
    scene: &'a Scene<'a>,
    /// Sorted by path and line.
    comments: Vec<Comment>,
    entries: Vec<(&'a Entry, Option<Glob>, usize)>,
    /// The entries by what their paths begin with, up to the first wildcard; there may be many, and many findings.
    by_beginning: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Accepted<'a> {
    /// The comments in `paths` and the entries of the configuration.
    pub fn new(paths: BTreeSet<&Path>, config: &'a Config, scene: &'a Scene<'a>) -> Self {
        let read = |path| scene.files.read(path).map(|content| comments(path, content.lines())).unwrap_or_default();
        let options = Options { dot: true, ..Options::default() };
        let glob = |entry: &Entry| entry.path.as_ref().and_then(|path| Glob::new(path, options));
        let mut by_beginning: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, entry) in config.suppressions.iter().enumerate() {
            by_beginning.entry(entry.path.as_deref().map_or("", beginning)).or_default().push(at);
        }
        Self {
            scene,
            comments: paths.into_iter().flat_map(read).collect(),
            entries: config.suppressions.iter().map(|entry| (entry, glob(entry), 0)).collect(),
            by_beginning,
        }
    }

    /// Whether a comment or an entry accepts this finding.
    ///
    /// A comment hides the findings of its rules on its line, on the next, and those about its whole file. A secret can
    /// only be hidden by its fingerprint.
    pub fn hides(&mut self, diagnostic: &Diagnostic) -> bool {
        let by_comment = diagnostic.rule != "secret" && hide(diagnostic, &mut self.comments, self.scene);
        let relative = diagnostic.place.path.strip_prefix(&self.scene.project.root).unwrap_or(&diagnostic.place.path);
        let relative = relative.to_string_lossy().replace('\\', "/");
        let mut by_entry = false;
        let above = relative.match_indices('/').map(|(at, _)| &relative[..at]).chain([relative.as_str()]);
        let near = above.filter(|path| !path.is_empty()).chain([""]);
        for at in near.filter_map(|beginning| self.by_beginning.get(beginning)).flatten() {
            let (entry, glob, hid) = &mut self.entries[*at];
            let fits = entry.rules.contains(&diagnostic.rule)
                && (entry.path.is_none() || glob.as_ref().is_some_and(|glob| glob.is_match(&relative)))
                && (diagnostic.rule != "secret" || entry.fingerprint == diagnostic.fingerprint);
            *hid += usize::from(fits);
            by_entry |= fits;
        }
        by_comment || by_entry
    }

    /// All comments, with how many findings each hid.
    pub fn comments(&self) -> &[Comment] {
        &self.comments
    }

    /// The entries that hid nothing.
    pub fn idle_entries(&self) -> impl Iterator<Item = &'a Entry> {
        self.entries.iter().filter(|(_, _, hid)| *hid == 0).map(|(entry, ..)| *entry)
    }
}

/// The segments of a pattern before the first one with a wildcard.
fn beginning(pattern: &str) -> &str {
    let is_plain = |segment: &str| !segment.is_empty() && !segment.contains(|c| "*?[]{}()!+@\\".contains(c));
    let wild = pattern.split('/').position(|segment| !is_plain(segment));
    let Some(wild) = wild else { return pattern };
    let end = pattern.match_indices('/').nth(wild.wrapping_sub(1)).map_or(0, |(at, _)| at);
    &pattern[..end]
}

fn hide(diagnostic: &Diagnostic, comments: &mut [Comment], scene: &Scene<'_>) -> bool {
    let path = &diagnostic.place.path;
    let of_file = range(comments, |comment| comment.place.path.cmp(path));
    if of_file.is_empty() {
        return false;
    }
    let line = diagnostic.place.span.and_then(|span| {
        let content = scene.files.read(path).ok()?;
        Some(content.lines().position(span.start).line)
    });
    let near = match line {
        None => of_file,
        Some(line) => range(of_file, |comment| match comment.line {
            own if own + 1 < line => Ordering::Less,
            own if own > line => Ordering::Greater,
            _ => Ordering::Equal,
        }),
    };
    let fits =
        |comment: &&mut Comment| comment.rules.iter().any(|rule| rule == diagnostic.rule) && !comment.reason.is_empty();
    near.iter_mut().find(fits).map(|comment| comment.hid += 1).is_some()
}

/// The `comments`, sorted, that are where they are looked for.
fn range(comments: &mut [Comment], is: impl Fn(&Comment) -> Ordering) -> &mut [Comment] {
    let start = comments.partition_point(|comment| is(comment) == Ordering::Less);
    let end = comments.partition_point(|comment| is(comment) != Ordering::Greater);
    &mut comments[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_found_by_their_beginning() {
        for (pattern, want) in [
            ("a/b.md", "a/b.md"),
            ("a/b/*.md", "a/b"),
            ("**/a", ""),
            ("a{b,c}/d", ""),
            ("a//b", "a"),
            ("/a/b", ""),
            ("a/", "a"),
            ("", ""),
        ] {
            assert_eq!(beginning(pattern), want, "{pattern}");
        }
    }

    #[test]
    fn comments_of_every_kind_of_file() {
        let text = "<!-- rulecheck: ignore[a, b] two rules -->\n# rulecheck: ignore[c] yaml\n  // rulecheck: ignore[d]\nsay rulecheck: ignore[e] in prose\n";
        let found = comments(Path::new("/x"), &Lines::new(text));
        let short: Vec<(usize, String, &str)> =
            found.iter().map(|comment| (comment.line, comment.rules.join("+"), comment.reason.as_str())).collect();
        assert_eq!(short, [(1, "a+b".into(), "two rules"), (2, "c".into(), "yaml"), (3, "d".into(), "")]);
    }
}
