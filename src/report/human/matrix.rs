//! The matrix: files by clients, a word a cell, readable without colour.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use super::{Style, title};
use crate::clients::client;
use crate::report::{Report, Start, visible};
use crate::resolution::{Location, Outcome, Phase, Source};

/// What its words mean, for `rulecheck explain matrix`.
pub const PAGE: &str = include_str!("matrix.md");

/// From this many rows on, neighbours in one directory that fare alike become one row.
const MANY_ROWS: usize = 40;

/// The narrowest that the column of paths gets.
const MIN_PATH: usize = 20;

struct Row {
    dir: Option<String>,
    name: String,
    cells: Vec<String>,
}

pub(super) fn print(report: &Report<'_>, start: &Start, style: Style, out: &mut String) {
    if report.starts.len() > 1 {
        let _ = writeln!(out, "started in {}", visible(&report.relative(&start.cwd)));
    }
    let mut rows = rows(report, start);
    if rows.is_empty() {
        out.push_str("No instruction files.\n\n");
        return;
    }
    if rows.len() >= MANY_ROWS {
        rows = fold(rows);
    }
    let heads: Vec<[String; 2]> =
        start.resolutions.iter().map(|one| [one.client.to_string(), one.version.to_string()]).collect();
    let widths: Vec<usize> = heads
        .iter()
        .enumerate()
        .map(|(at, head)| {
            rows.iter().map(|row| width(&row.cells[at])).chain(head.iter().map(|line| width(line))).max().unwrap_or(0)
        })
        .collect();
    let taken: usize = widths.iter().map(|width| width + 2).sum();
    let longest = rows.iter().map(|row| width(&row.name)).max().unwrap_or(0);
    let first = longest.min(style.width.saturating_sub(taken).max(MIN_PATH));
    let mut line = |name: &str, cells: &[&str]| {
        let mut text = pad(&shorten(name, first), first);
        for (cell, width) in cells.iter().zip(&widths) {
            text.push_str("  ");
            text.push_str(&pad(cell, *width));
        }
        let _ = writeln!(out, "{}", text.trim_end());
    };
    // The first line begins with a word, since some programs cut off white space at the start of what they show.
    for (at, name) in ["file", ""].into_iter().enumerate() {
        line(name, &heads.iter().map(|head| head[at].as_str()).collect::<Vec<_>>());
    }
    for row in &rows {
        line(&row.name, &row.cells.iter().map(String::as_str).collect::<Vec<_>>());
    }
    out.push('\n');
    for resolution in &start.resolutions {
        if client(resolution.client).is_some_and(|client| resolution.version > client.newest()) {
            let _ = writeln!(out, "{}\n", title(resolution));
        }
        if let Some(refusal) = &resolution.refusal {
            let path = visible(&report.relative(&refusal.at.path));
            let _ = writeln!(out, "{} does not start: {path}: {}\n", title(resolution), visible(&refusal.why));
        }
    }
}

fn rows(report: &Report<'_>, start: &Start) -> Vec<Row> {
    let mut sources: BTreeMap<&Location, Vec<Option<&Source>>> = BTreeMap::new();
    for (column, resolution) in start.resolutions.iter().enumerate() {
        for source in &resolution.sources {
            let row = sources.entry(&source.location).or_insert_with(|| vec![None; start.resolutions.len()]);
            // One file may be several sources: what loads says most.
            if row[column].is_none_or(|known| weight(source) < weight(known)) {
                row[column] = Some(source);
            }
        }
    }
    let row = |(location, cells): (&Location, Vec<Option<&Source>>)| Row {
        dir: match location {
            Location::File(path) => path.parent().map(|dir| visible(&report.relative(dir))),
            _ => None,
        },
        name: visible(&report.name(location)),
        cells: cells.into_iter().map(cell).collect(),
    };
    sources.into_iter().map(row).collect()
}

/// Rows of one directory that fare alike, as one.
fn fold(rows: Vec<Row>) -> Vec<Row> {
    let mut folded: Vec<(Row, usize)> = Vec::new();
    for row in rows {
        match folded.last_mut() {
            Some((last, count)) if row.dir.is_some() && last.dir == row.dir && last.cells == row.cells => *count += 1,
            _ => folded.push((row, 1)),
        }
    }
    let unfold = |(row, count): (Row, usize)| match (&row.dir, count) {
        (Some(dir), 2..) => Row { name: format!("{} ({count} files)", Path::new(dir).join("*").display()), ..row },
        _ => row,
    };
    folded.into_iter().map(unfold).collect()
}

fn weight(source: &Source) -> u8 {
    match (&source.outcome, &source.phase) {
        (Outcome::Loaded, Phase::Startup) => 0,
        (Outcome::Loaded, Phase::Lazy(_)) => 1,
        (Outcome::Shadowed { .. }, _) => 2,
        (Outcome::Skipped { .. }, _) => 3,
        (Outcome::Unsupported { .. }, _) => 4,
    }
}

fn cell(source: Option<&Source>) -> String {
    let Some(source) = source else { return "-".into() };
    match (&source.outcome, &source.phase) {
        (Outcome::Loaded, Phase::Startup) => "startup".into(),
        (Outcome::Loaded, Phase::Lazy(_)) => "lazy".into(),
        (Outcome::Shadowed { .. }, _) => "shadowed".into(),
        (Outcome::Skipped { why }, _) => why.word().into(),
        (Outcome::Unsupported { .. }, _) => "unsupported".into(),
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn pad(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(width(text))))
}

/// The end of a text that is too long: in a path it says most.
fn shorten(text: &str, to: usize) -> String {
    let long = width(text);
    if long <= to {
        return text.to_string();
    }
    let end: String = text.chars().skip(long - to.saturating_sub(1)).collect();
    format!("…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolution::Skip;

    #[test]
    fn every_word_is_explained() {
        let rows: Vec<&str> = PAGE.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next()).collect();
        let words = Skip::ALL.iter().map(|why| why.word());
        for word in words.chain(["startup", "lazy", "-", "shadowed", "unsupported"]) {
            assert!(rows.contains(&word), "{word}");
        }
    }
}
