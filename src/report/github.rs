//! Workflow commands of GitHub Actions: one annotation a finding, the worst first, since only some are shown.

use std::fmt::Write;

use crate::diagnostic::{Diagnostic, Level};
use crate::report::{Report, visible};

/// What `rulecheck check --format github` prints.
pub fn check(report: &Report<'_>) -> String {
    let mut worst_first: Vec<&Diagnostic> = report.diagnostics.iter().collect();
    worst_first.sort_by_key(|diagnostic| std::cmp::Reverse(diagnostic.level));
    let mut out = String::new();
    for diagnostic in worst_first {
        let _ = writeln!(out, "{}", command(report, diagnostic));
    }
    out
}

fn command(report: &Report<'_>, diagnostic: &Diagnostic) -> String {
    let word = match diagnostic.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    };
    let mut properties = vec![format!("file={}", property(&report.relative(&diagnostic.place.path)))];
    let ends = report.ends(&diagnostic.place);
    properties.push(format!("line={}", ends.map_or(1, |(start, _)| start.line)));
    if let Some((start, end)) = ends {
        properties.push(format!("endLine={}", end.line));
        // Columns over several lines are not understood.
        if start.line == end.line {
            properties.push(format!("col={},endColumn={}", start.column, end.column));
        }
    }
    properties.push(format!("title={}", property(&format!("rulecheck: {}", diagnostic.rule))));
    let whom: Vec<String> =
        diagnostic.clients.iter().map(|whom| format!("{} {} ({})", whom.client, whom.version, whom.phase)).collect();
    let mut text = diagnostic.message.clone();
    if !whom.is_empty() {
        let _ = write!(text, "\nfor: {}", whom.join(", "));
    }
    if let Some(help) = &diagnostic.help {
        let _ = write!(text, "\nhelp: {help}");
    }
    format!("::{word} {}::{}", properties.join(","), data(&text))
}

/// The text of a command: a line break would end it.
fn data(text: &str) -> String {
    let text = text.split('\n').map(visible).collect::<Vec<_>>().join("\n");
    text.replace('%', "%25").replace('\n', "%0A")
}

/// A property of a command: a colon or a comma would end it too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
