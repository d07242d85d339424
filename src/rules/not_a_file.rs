use super::imports::{path_of, with_backslashes, written};
use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::files::Entry;
use crate::resolution::Skip;
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "not-a-file",
    level: Level::Warning,
    summary: "a directory, pipe, device or closed file where an instruction file is looked for",
    page: include_str!("not_a_file.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    // A path that a backslash cuts short is another finding.
    let is_cut = |from: &Place| {
        written(lint, from).is_some_and(|(written, rest)| with_backslashes(&path_of(&written), &rest).is_some())
    };
    let unreadable = unreadable(lint);
    lint.skipped(Skip::NotAFile)
        .filter(|(_, source, _)| !source.from.as_ref().is_some_and(is_cut))
        .map(|(resolution, source, path)| {
            let what = match lint.scene.files.target(path) {
                Some(Entry::Dir) => "a directory",
                _ => "not a regular file",
            };
            let (place, message, help) = match &source.from {
                Some(from) => {
                    let message = format!("`{}` is {what}, so nothing is loaded", lint.name(path));
                    (from.clone(), message, "name a file, or a pattern for the files in it")
                }
                None => {
                    let message = format!("this is {what}, so it is not read");
                    (Place::whole(path), message, "put a file in its place, or give it another name")
                }
            };
            RULE.at(place, message).for_sources([(resolution, source)]).help(help)
        })
        .chain(unreadable)
        .collect()
}

/// The files that are there and may not be read.
fn unreadable(lint: &Lint<'_>) -> Vec<Diagnostic> {
    lint.skipped(Skip::Unreadable)
        .map(|(resolution, source, path)| {
            let message = format!("`{}` cannot be read, so nothing of it is loaded", lint.name(path));
            RULE.at(source.from.clone().unwrap_or_else(|| Place::whole(path)), message)
                .for_sources([(resolution, source)])
                .help("let whoever runs the client read it, or take it away")
        })
        .collect()
}
