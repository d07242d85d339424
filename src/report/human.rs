//! For people: the matrix, the findings, the ordered lists.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::clients::{CLIENTS, client};
use crate::diagnostic::Level;
use crate::evidence::claim;
use crate::report::{Report, json, visible};
use crate::resolution::{Location, Outcome, Phase, Resolution, Source, Trigger};

/// What `rulecheck check` prints.
pub fn check(report: &Report<'_>) -> String {
    let mut out = String::new();
    matrix(report, &mut out);
    refusals(report, &mut out);
    for diagnostic in report.diagnostics {
        let at = report.start(&diagnostic.place).map_or(String::new(), |at| format!(":{}:{}", at.line, at.column));
        let path = visible(&report.relative(&diagnostic.place.path));
        let _ = writeln!(out, "{}[{}] {path}{at}: {}", diagnostic.level, diagnostic.rule, visible(&diagnostic.message));
        if let Some(help) = &diagnostic.help {
            let _ = writeln!(out, "  help: {}", visible(help));
        }
    }
    if !report.diagnostics.is_empty() {
        out.push('\n');
    }
    let count = |level: Level, word: &str| match report.count(level) {
        1 => format!("1 {word}"),
        many => format!("{many} {word}s"),
    };
    let counts = [count(Level::Error, "error"), count(Level::Warning, "warning"), count(Level::Note, "note")];
    let _ = writeln!(out, "{}. `rulecheck sources` lists what is loaded, in order.", counts.join(", "));
    out
}

/// Files by clients, a word per cell.
fn matrix(report: &Report<'_>, out: &mut String) {
    let mut rows: BTreeMap<&Location, Vec<Option<&Source>>> = BTreeMap::new();
    for (column, resolution) in report.resolutions.iter().enumerate() {
        for source in &resolution.sources {
            let row = rows.entry(&source.location).or_insert_with(|| vec![None; report.resolutions.len()]);
            // One file may be several sources: what loads says most.
            if row[column].is_none_or(|known| weight(source) < weight(known)) {
                row[column] = Some(source);
            }
        }
    }
    if rows.is_empty() {
        out.push_str("No instruction files.\n\n");
        return;
    }
    let heads: Vec<String> = report.resolutions.iter().map(|one| format!("{} {}", one.client, one.version)).collect();
    let table: Vec<(String, Vec<String>)> = rows
        .into_iter()
        .map(|(location, cells)| (visible(&report.name(location)), cells.into_iter().map(cell).collect()))
        .collect();
    let first = table.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = heads
        .iter()
        .enumerate()
        .map(|(at, head)| {
            table.iter().map(|(_, cells)| cells[at].chars().count()).max().unwrap_or(0).max(head.chars().count())
        })
        .collect();
    let mut line = |name: &str, cells: &[String]| {
        let mut text = format!("{name:first$}");
        for (cell, width) in cells.iter().zip(&widths) {
            let _ = write!(text, "  {cell:width$}");
        }
        let _ = writeln!(out, "{}", text.trim_end());
    };
    line("", &heads);
    for (name, cells) in &table {
        line(name, cells);
    }
    out.push('\n');
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

fn refusals(report: &Report<'_>, out: &mut String) {
    for resolution in report.resolutions {
        if let Some(refusal) = &resolution.refusal {
            let path = visible(&report.relative(&refusal.at.path));
            let _ = writeln!(out, "{} does not start: {path}: {}\n", title(resolution), visible(&refusal.why));
        }
    }
}

/// A client and its version, in prose.
pub fn title(resolution: &Resolution) -> String {
    let name = client(resolution.client).map_or(resolution.client, |client| client.title);
    format!("{name} {}", resolution.version)
}

/// What `rulecheck sources` prints.
pub fn sources(report: &Report<'_>) -> String {
    let mut out = String::new();
    for resolution in report.resolutions {
        let _ = writeln!(out, "{}, started in {}", title(resolution), visible(&report.cwd.to_string_lossy()));
        if let Some(refusal) = &resolution.refusal {
            let path = visible(&report.relative(&refusal.at.path));
            let _ = writeln!(out, "  does not start: {path}: {}", visible(&refusal.why));
        }
        let groups: [(&str, Vec<&Source>); 3] = [
            ("at startup", resolution.startup().collect()),
            ("later", resolution.lazy().collect()),
            ("not loaded", resolution.sources.iter().filter(|source| !source.is_loaded()).collect()),
        ];
        for (head, sources) in groups {
            if sources.is_empty() {
                continue;
            }
            let _ = writeln!(out, "  {head}");
            for (number, source) in sources.into_iter().enumerate() {
                let number = if source.is_loaded() { format!("{:>3}. ", number + 1) } else { "   - ".into() };
                let _ = writeln!(out, "  {number}{}", line(report, source));
            }
        }
        out.push('\n');
    }
    out
}

/// One source on one line: its path, then what is said of it.
fn line(report: &Report<'_>, source: &Source) -> String {
    let mut text = visible(&report.name(&source.location));
    let mut said = vec![json::scope(source.scope).to_string()];
    if let Some(from) = &source.from {
        let at = report.start(from).map_or(String::new(), |at| format!(":{}", at.line));
        said.push(format!("from {}{at}", visible(&report.relative(&from.path))));
    }
    match &source.phase {
        Phase::Startup => {}
        Phase::Lazy(Trigger::Under(dir)) => {
            said.push(format!("when a file below {} is read", visible(&report.relative(dir))))
        }
        Phase::Lazy(Trigger::Patterns { patterns, .. }) => {
            said.push(format!("when a file is read that matches {}", visible(&patterns.join(", "))))
        }
    }
    if let Some(read) = source.activated_by.and_then(|read| report.reads.get(read)) {
        said.push(format!("loaded by reading {}", visible(&read.to_string_lossy())));
    }
    match &source.outcome {
        Outcome::Loaded => {}
        Outcome::Shadowed { by } => said.push(format!("shadowed by {}", visible(&report.relative(by)))),
        Outcome::Unsupported { why } => said.push(format!("unsupported: {why}")),
        Outcome::Skipped { why } => said.push(format!("left out: {}", why.word())),
    }
    match (source.bytes, &source.cut) {
        (Some(bytes), Some(cut)) => said.push(format!("{} of {bytes} bytes", cut.len())),
        (Some(bytes), None) if source.is_loaded() => said.push(format!("{bytes} bytes")),
        _ => {}
    }
    let _ = write!(text, "  ({})", said.join("; "));
    text
}

/// What `rulecheck why FILE` prints.
pub fn why(report: &Report<'_>, file: &Path) -> String {
    let mut out = String::new();
    for resolution in report.resolutions {
        let _ = writeln!(out, "{}", title(resolution));
        let sources: Vec<&Source> = resolution.at(file).collect();
        if sources.is_empty() {
            out.push_str("  does not look at this file\n");
        }
        for source in sources {
            let verdict = match (&source.outcome, &source.phase) {
                (Outcome::Loaded, Phase::Startup) => "loaded at startup",
                (Outcome::Loaded, Phase::Lazy(_)) => "loaded later",
                (Outcome::Shadowed { .. }, _) => "not loaded: shadowed",
                (Outcome::Unsupported { .. }, _) => "not loaded: unsupported",
                (Outcome::Skipped { .. }, _) => "not loaded: left out",
            };
            let _ = writeln!(out, "  {verdict}: {}", line(report, source));
            for id in &source.evidence {
                if let Some((observation, claim)) = claim(id) {
                    let _ = writeln!(out, "    {} [{id}, {}]", claim.says, observation.seen_at);
                }
            }
        }
    }
    out
}

/// What `rulecheck clients` prints.
pub fn clients() -> String {
    let mut out = String::new();
    for client in CLIENTS {
        let _ = writeln!(out, "{} ({})", client.name, client.title);
        for version in client.recorded {
            let mark = if *version == client.default { "  (default)" } else { "" };
            let _ = writeln!(out, "  {version}{mark}");
        }
    }
    out
}
