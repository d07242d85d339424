//! For people: the matrix, the findings, the ordered lists.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use crate::clients::{CLIENTS, Row, Version, client};
use crate::config::Selected;
use crate::diagnostic::{Diagnostic, Level};
use crate::evidence::{Claim, Observation, claim, observations};
use crate::fates::Changed;
use crate::prompt::Part;
use crate::report::{Report, json, shown, visible};
use crate::resolution::{Outcome, Phase, Resolution, Source, Trigger};
use crate::rules::{RULES, Rule};
use crate::text::{Place, path_text};

mod excerpt;
pub mod matrix;

/// How a terminal wants it.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether colours may be used.
    pub color: bool,
    /// How wide a line may be, in characters.
    pub width: usize,
    /// Whether only the findings are printed.
    pub quiet: bool,
}

/// What `rulecheck check` prints.
pub fn check(report: &Report<'_>, style: Style) -> String {
    let mut out = String::new();
    if !style.quiet {
        for start in &report.starts {
            matrix::print(report, start, style, &mut out);
        }
    }
    let folded = folded(&report.diagnostics);
    for (diagnostic, also) in &folded {
        excerpt::print(report, diagnostic, also, style, &mut out);
    }
    if !style.quiet {
        let _ = writeln!(out, "{}", summary(report, folded.first().map(|(first, _)| first.rule)));
    }
    out
}

/// The findings, the worst first, each with the places of the later ones that say the same word for word.
fn folded(diagnostics: &[Diagnostic]) -> Vec<(&Diagnostic, Vec<&Place>)> {
    let mut folded: Vec<(&Diagnostic, Vec<&Place>)> = Vec::new();
    let mut by_message: HashMap<&str, Vec<usize>> = HashMap::new();
    for diagnostic in diagnostics {
        let alike = by_message.entry(&diagnostic.message).or_default();
        match alike.iter().find(|at| folded[**at].0.says_the_same(diagnostic)) {
            Some(at) => folded[*at].1.push(&diagnostic.place),
            None => {
                alike.push(folded.len());
                folded.push((diagnostic, Vec::new()));
            }
        }
    }
    folded.sort_by_key(|(diagnostic, _)| Reverse(diagnostic.level));
    folded
}

/// The counts, and what to run next.
fn summary(report: &Report<'_>, first: Option<&str>) -> String {
    let count = |level: Level, word: &str| match report.count(level) {
        1 => format!("1 {word}"),
        many => format!("{many} {word}s"),
    };
    let mut counts = vec![count(Level::Error, "error"), count(Level::Warning, "warning"), count(Level::Note, "note")];
    if report.in_baseline > 0 {
        counts.push(format!("{} more in the baseline", report.in_baseline));
    }
    let counts = counts.join(", ");
    match first {
        Some(rule) => {
            format!("{counts}. `rulecheck explain {rule}` says more of the first, `explain matrix` of the words.")
        }
        None => format!("{counts}. `rulecheck sources` lists what is loaded, in order."),
    }
}

/// A client and its version, in prose.
pub fn title(resolution: &Resolution) -> String {
    let Some(client) = client(resolution.client) else { return resolution.client.into() };
    let newest = client.newest();
    let as_newest =
        if resolution.version > newest { format!(" (as {newest}, the newest known)") } else { String::new() };
    format!("{} {}{as_newest}", client.title, resolution.version)
}

/// What `rulecheck sources` prints.
pub fn sources(report: &Report<'_>) -> String {
    let mut out = String::new();
    for start in &report.starts {
        for resolution in &start.resolutions {
            let _ = writeln!(out, "{}, started in {}", title(resolution), visible(&path_text(&start.cwd)));
            list(report, resolution, &mut out);
            out.push('\n');
        }
    }
    out
}

fn list(report: &Report<'_>, resolution: &Resolution, out: &mut String) {
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
}

/// One source on one line: its path, then what is said of it.
fn line(report: &Report<'_>, source: &Source) -> String {
    let mut said = vec![json::scope(source.scope).to_string()];
    if let Some(from) = &source.from {
        let at = report.start(from).map_or(String::new(), |at| format!(":{}", at.line));
        said.push(format!("from {}{at}", shown(&report.relative(&from.path))));
    }
    match &source.phase {
        Phase::Startup => {}
        Phase::Lazy(Trigger::Under(dir)) => {
            said.push(format!("when a file below {} is read", shown(&report.relative(dir))));
        }
        Phase::Lazy(Trigger::Patterns { patterns, .. }) => {
            said.push(format!("when a file is read that matches {}", shown(&patterns.join(", "))));
        }
    }
    if let Some(read) = source.activated_by.and_then(|read| report.reads.get(read)) {
        said.push(format!("loaded by reading {}", shown(&path_text(read))));
    }
    match &source.outcome {
        Outcome::Loaded => {}
        Outcome::Shadowed { by } => said.push(format!("shadowed by {}", shown(&report.relative(by)))),
        Outcome::Unsupported { why } => said.push(format!("unsupported: {why}")),
        Outcome::Skipped { why } => said.push(format!("left out: {}", why.word())),
    }
    match (source.bytes, &source.cut) {
        (Some(bytes), Some(cut)) => said.push(format!("{} of {bytes} bytes", cut.len())),
        (Some(bytes), None) if source.is_loaded() => said.push(format!("{bytes} bytes")),
        _ => {}
    }
    format!("{}  ({})", shown(&report.name(&source.location)), said.join("; "))
}

/// What `rulecheck why FILE` prints.
pub fn why(report: &Report<'_>, file: &Path) -> String {
    let mut out = String::new();
    if !report.exists(file) {
        let _ = writeln!(out, "{} does not exist.", visible(&report.relative(file)));
    }
    for resolution in report.starts.iter().flat_map(|start| &start.resolutions) {
        let _ = writeln!(out, "{}", title(resolution));
        let sources: Vec<&Source> = resolution.at(file).collect();
        if sources.is_empty() {
            out.push_str("  does not look at this file\n");
        }
        for source in sources {
            let verdict = match (&source.outcome, &source.phase) {
                (Outcome::Loaded, Phase::Startup) => "loaded at startup",
                (Outcome::Loaded, Phase::Lazy(_)) => "loaded later",
                _ => "not loaded",
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

/// What `rulecheck prompt` prints.
pub fn prompt(report: &Report<'_>, resolution: &Resolution, parts: &[Part<'_>]) -> String {
    let mut out = String::new();
    for (number, part) in parts.iter().enumerate() {
        let said = format!("{} bytes, {} in all", part.bytes, part.total);
        let _ = writeln!(out, "--- {}. {}  ({said})", number + 1, line(report, part.source));
        match &part.text {
            Some(text) => {
                let text: Vec<String> = text.lines().map(visible).collect();
                let _ = writeln!(out, "{}\n", text.join("\n"));
            }
            None => out.push_str("(fetched at each start; not known here)\n\n"),
        }
    }
    let total = parts.last().map_or(0, |part| part.total);
    let _ = writeln!(out, "--- {}: {} parts, {total} bytes", title(resolution), parts.len());
    out
}

/// What `rulecheck evidence` prints.
pub fn evidence() -> String {
    let mut out = String::new();
    for client in CLIENTS {
        for observation in observations(client.name).unwrap_or_default() {
            let _ = writeln!(out, "{}/{}", client.name, observation.id);
            let _ = writeln!(out, "  {}, seen {}", observation.url, observation.seen_at);
            for (what, value) in
                [("SHA-256", &observation.sha256), ("commit", &observation.commit), ("note", &observation.note)]
            {
                if let Some(value) = value {
                    let _ = writeln!(out, "  {what} {value}");
                }
            }
            let _ = writeln!(out, "  {} claims\n", observation.claims.len());
        }
    }
    out
}

/// What `rulecheck explain CLAIM` prints: one sentence of the evidence, and where it comes from.
pub fn evidence_of(observation: &Observation, claim: &Claim) -> String {
    let mut out = format!("{}\n  {}, seen {}\n", claim.says, observation.url, observation.seen_at);
    for other in &claim.contradicts {
        let _ = writeln!(out, "  contradicts {other}");
    }
    out
}

/// What `rulecheck explain` prints: all rules, a line each.
pub fn rules() -> String {
    let longest = RULES.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    let line = |rule: &&Rule| format!("{:longest$}  {:7}  {}\n", rule.name, rule.level.to_string(), rule.summary);
    RULES.iter().map(line).collect()
}

/// What `rulecheck explain CLIENT@VERSION` prints: what the client does, sentence by sentence, with the evidence.
pub fn behaviour(selected: Selected) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{} {}\n", selected.client.title, selected.version);
    let all = observations(selected.client.name).unwrap_or_default();
    let version = |one: &Observation| one.version.as_deref().and_then(|version| version.parse::<Version>().ok());
    // A version older than every observation is known by the oldest one, and by what has changed since.
    let oldest: Option<Version> = all.iter().filter_map(version).min();
    let known_by = oldest.unwrap_or(selected.version).max(selected.version);
    for observation in all {
        if version(observation).is_some_and(|version| version > known_by) {
            continue;
        }
        let _ = writeln!(out, "{} ({}, {})", observation.id, observation.url, observation.seen_at);
        for claim in &observation.claims {
            let _ = writeln!(out, "  {}: {}", claim.id, claim.says);
            for other in &claim.contradicts {
                let _ = writeln!(out, "    contradicts {other}");
            }
        }
        out.push('\n');
    }
    let (here, later): (Vec<Row>, Vec<Row>) =
        (selected.client.history)().into_iter().partition(|row| row.since <= selected.version);
    let later = later.into_iter().filter(|row| row.since <= known_by).collect();
    let after = format!("Not yet in this version, which is told by {known_by}");
    for (title, rows) in [("Changes up to this version", here), (after.as_str(), later)] {
        if !rows.is_empty() {
            let _ = writeln!(out, "{title}");
        }
        for row in rows {
            let _ = writeln!(out, "  since {}: {} [{}]", row.since, row.what, row.evidence.join(", "));
        }
    }
    out
}

/// What `rulecheck clients` prints: each client's versions, and what changed since which.
pub fn clients() -> String {
    let mut out = String::new();
    for client in CLIENTS {
        let _ = writeln!(out, "{} ({})", client.name, client.title);
        for version in client.recorded {
            let default = if *version == client.default { ", the default" } else { "" };
            let newest = if *version == client.newest() { ", the newest known" } else { "" };
            let known = observations(client.name).unwrap_or_default();
            let seen = known.iter().find(|one| one.version.as_deref() == Some(&version.to_string()));
            let seen = seen.map_or(String::new(), |one| format!(", observed {}", one.seen_at));
            let _ = writeln!(out, "  {version}{default}{newest}{seen}");
        }
        for row in (client.history)() {
            let _ = writeln!(out, "  since {}: {} [{}]", row.since, row.what, row.evidence.join(", "));
        }
        out.push('\n');
    }
    out
}

/// What `rulecheck diff` prints.
pub fn diff(report: &Report<'_>, from: Selected, to: Selected, changed: &[Changed]) -> String {
    let mut out = String::new();
    let title = from.client.title;
    if changed.is_empty() {
        let _ = writeln!(out, "{title} {} and {} load the same files here.", from.version, to.version);
    }
    for file in changed {
        let path = visible(&report.relative(&file.path));
        let _ = writeln!(out, "{path}");
        let _ = writeln!(out, "  {} {}", from.version, file.before);
        let _ = writeln!(out, "  {} {}", to.version, file.after);
        for row in &file.rows {
            let _ = writeln!(out, "  since {}: {} [{}]", row.since, row.what, row.evidence.join(", "));
        }
    }
    out
}
