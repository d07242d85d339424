//! The JSON of `sources` and `check`. It is public: fields are added, never changed or taken away.

use std::path::Path;

use serde::Serialize;

use crate::clients::{CLIENTS, Client, Version};
use crate::diagnostic::Level;
use crate::prompt::Part;
use crate::report::{Report, Start, visible_json};
use crate::resolution::{Location, Outcome, Phase, Resolution, Scope, Source, Trigger, Via};
use crate::text::path_text;

#[derive(Serialize)]
struct SourcesDto {
    schema: &'static str,
    #[serde(flatten)]
    place: PlaceDto,
    /// The file that was asked for, where one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<FileDto>,
    clients: Vec<ClientDto>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    starts: Vec<StartDto>,
}

#[derive(Serialize)]
struct FileDto {
    path: String,
    exists: bool,
}

#[derive(Serialize)]
struct PlaceDto {
    project: String,
    cwd: String,
}

/// What the clients do in another start directory, where several are asked for.
#[derive(Serialize)]
struct StartDto {
    cwd: String,
    clients: Vec<ClientDto>,
}

#[derive(Serialize)]
struct CheckDto {
    schema: &'static str,
    #[serde(flatten)]
    place: PlaceDto,
    diagnostics: Vec<DiagnosticDto>,
    clients: Vec<ClientDto>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    starts: Vec<StartDto>,
    summary: SummaryDto,
}

#[derive(Serialize)]
struct ClientDto {
    client: &'static str,
    version: String,
    /// The newest known version, when a later one was asked for and resolved as that.
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_as: Option<String>,
    starts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    sources: Vec<SourceDto>,
}

#[derive(Serialize)]
struct SourceDto {
    path: String,
    real_path: Option<String>,
    scope: &'static str,
    via: &'static str,
    outcome: &'static str,
    reason: Option<String>,
    phase: &'static str,
    order: Option<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    order_unspecified: bool,
    activated_by: Option<String>,
    by: Option<String>,
    trigger: Option<TriggerDto>,
    from: Option<FromDto>,
    bytes: Option<u64>,
    loaded_bytes: Option<u64>,
    evidence: Vec<&'static str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum TriggerDto {
    Under { under: String },
    Patterns { patterns: Vec<String>, base: String },
}

#[derive(Serialize)]
struct FromDto {
    path: String,
    line: Option<usize>,
}

#[derive(Serialize)]
struct DiagnosticDto {
    rule: &'static str,
    level: String,
    message: String,
    path: String,
    line: Option<usize>,
    column: Option<usize>,
    end_line: Option<usize>,
    end_column: Option<usize>,
    clients: Vec<ForDto>,
    help: Option<String>,
    related: Vec<RelatedDto>,
    evidence: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
}

#[derive(Serialize)]
struct ForDto {
    client: &'static str,
    version: String,
    phase: &'static str,
}

#[derive(Serialize)]
struct RelatedDto {
    path: String,
    line: Option<usize>,
    message: String,
}

#[derive(Serialize)]
struct SummaryDto {
    error: usize,
    warning: usize,
    note: usize,
}

/// What `rulecheck sources --format json` prints.
pub fn sources(report: &Report<'_>) -> String {
    listed(report, None)
}

/// What `rulecheck why --format json` prints, of a report that has only the sources at `file`.
pub fn why(report: &Report<'_>, file: &Path) -> String {
    listed(report, Some(FileDto { path: report.relative(file), exists: report.exists(file) }))
}

fn listed(report: &Report<'_>, file: Option<FileDto>) -> String {
    let (clients, starts) = starts(report);
    print(&SourcesDto { schema: "rulecheck.sources/1", place: place(report), file, clients, starts })
}

/// What `rulecheck check --format json` prints.
pub fn check(report: &Report<'_>) -> String {
    let (clients, starts) = starts(report);
    let summary = SummaryDto {
        error: report.count(Level::Error),
        warning: report.count(Level::Warning),
        note: report.count(Level::Note),
    };
    let diagnostics = diagnostics(report);
    print(&CheckDto { schema: "rulecheck.check/1", place: place(report), diagnostics, clients, starts, summary })
}

fn place(report: &Report<'_>) -> PlaceDto {
    let text = |path: &Path| path_text(path).into_owned();
    PlaceDto {
        project: text(report.project),
        cwd: report.starts.first().map_or(String::new(), |start| text(&start.cwd)),
    }
}

/// The clients of the first start, and the other starts.
fn starts(report: &Report<'_>) -> (Vec<ClientDto>, Vec<StartDto>) {
    let clients = |start: &Start| start.resolutions.iter().map(|resolution| client(report, resolution)).collect();
    let mut all = report.starts.iter();
    let first = all.next().map_or_else(Vec::new, clients);
    let others = all.map(|start| StartDto { cwd: path_text(&start.cwd).into_owned(), clients: clients(start) });
    (first, others.collect())
}

#[derive(Serialize)]
struct PromptDto {
    schema: &'static str,
    #[serde(flatten)]
    place: PlaceDto,
    client: &'static str,
    version: String,
    parts: Vec<PartDto>,
}

#[derive(Serialize)]
struct PartDto {
    #[serde(flatten)]
    source: SourceDto,
    text: Option<String>,
    text_bytes: usize,
    total_bytes: usize,
}

/// What `rulecheck prompt --format json` prints.
pub fn prompt(report: &Report<'_>, resolution: &Resolution, parts: &[Part<'_>]) -> String {
    let part = |(order, part): (usize, &Part<'_>)| PartDto {
        source: source(report, part.source, Some(order)),
        text: part.text.clone(),
        text_bytes: part.bytes,
        total_bytes: part.total,
    };
    print(&PromptDto {
        schema: "rulecheck.prompt/1",
        place: place(report),
        client: resolution.client,
        version: resolution.version.to_string(),
        parts: parts.iter().enumerate().map(part).collect(),
    })
}

#[derive(Serialize)]
struct ClientsDto {
    schema: &'static str,
    clients: Vec<KnownDto>,
}

#[derive(Serialize)]
struct KnownDto {
    client: &'static str,
    title: &'static str,
    default: String,
    newest: String,
    versions: Vec<String>,
}

/// What `rulecheck clients --format json` prints.
pub fn clients_list() -> String {
    let known = |client: &&Client| KnownDto {
        client: client.name,
        title: client.title,
        default: client.default.to_string(),
        newest: client.newest().to_string(),
        versions: client.recorded.iter().map(Version::to_string).collect(),
    };
    print(&ClientsDto { schema: "rulecheck.clients/1", clients: CLIENTS.iter().map(known).collect() })
}

fn print(value: &impl Serialize) -> String {
    // Only a map with keys that are no texts could fail here, and there is none.
    let mut text = visible_json(serde_json::to_string_pretty(value).unwrap_or_default());
    text.push('\n');
    text
}

fn client(report: &Report<'_>, resolution: &Resolution) -> ClientDto {
    let mut orders = [0, 0];
    let sources = resolution.sources.iter().map(|source| {
        let order = source.is_loaded().then(|| {
            let next = &mut orders[usize::from(!source.at_startup())];
            *next += 1;
            *next - 1
        });
        self::source(report, source, order)
    });
    ClientDto {
        client: resolution.client,
        version: resolution.version.to_string(),
        resolved_as: crate::clients::client(resolution.client)
            .map(Client::newest)
            .filter(|newest| resolution.version > *newest)
            .map(|newest| newest.to_string()),
        starts: resolution.refusal.is_none(),
        sources: sources.collect(),
        reason: resolution
            .refusal
            .as_ref()
            .map(|refusal| format!("{}: {}", report.relative(&refusal.at.path), refusal.why)),
    }
}

fn source(report: &Report<'_>, source: &Source, order: Option<usize>) -> SourceDto {
    let (outcome, reason, by) = match &source.outcome {
        Outcome::Loaded => ("loaded", None, None),
        Outcome::Shadowed { by } => ("shadowed", None, Some(report.relative(by))),
        Outcome::Unsupported { why } => ("unsupported", Some(why.clone()), None),
        Outcome::Skipped { why } => ("skipped", Some(why.word().to_string()), None),
    };
    let (phase, trigger) = match &source.phase {
        Phase::Startup => ("startup", None),
        Phase::Lazy(Trigger::Under(dir)) => ("lazy", Some(TriggerDto::Under { under: report.relative(dir) })),
        Phase::Lazy(Trigger::Patterns { patterns, base }) => {
            ("lazy", Some(TriggerDto::Patterns { patterns: patterns.clone(), base: report.relative(base) }))
        }
    };
    let loaded_bytes = match &source.cut {
        _ if !source.is_loaded() => None,
        Some(cut) => Some(cut.len() as u64),
        None => source.bytes,
    };
    SourceDto {
        path: report.name(&source.location),
        real_path: match source.location {
            Location::File(_) => source.real.as_ref().map(|path| path_text(path).into_owned()),
            _ => None,
        },
        scope: scope(source.scope),
        via: via(source.via),
        outcome,
        reason,
        phase,
        order,
        order_unspecified: source.order_unspecified,
        activated_by: source
            .activated_by
            .and_then(|read| report.reads.get(read))
            .map(|read| path_text(read).into_owned()),
        by,
        trigger,
        from: source.from.as_ref().map(|place| FromDto {
            path: report.relative(&place.path),
            line: report.start(place).map(|start| start.line),
        }),
        bytes: source.bytes,
        loaded_bytes,
        evidence: source.evidence.clone(),
    }
}

/// A scope's word, the same in every format.
pub fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Managed => "managed",
        Scope::User => "user",
        Scope::Project => "project",
        Scope::Local => "local",
        Scope::Configured => "configured",
        Scope::Remote => "remote",
        Scope::Inline => "inline",
    }
}

fn via(via: Via) -> &'static str {
    match via {
        Via::Place => "place",
        Via::Import => "import",
        Via::Rule => "rule",
        Via::Config => "config",
    }
}

fn diagnostics(report: &Report<'_>) -> Vec<DiagnosticDto> {
    report
        .diagnostics
        .iter()
        .map(|diagnostic| {
            let (start, end) = report.ends(&diagnostic.place).unzip();
            DiagnosticDto {
                rule: diagnostic.rule,
                level: diagnostic.level.to_string(),
                message: diagnostic.message.clone(),
                path: report.relative(&diagnostic.place.path),
                line: start.map(|start| start.line),
                column: start.map(|start| start.column),
                end_line: end.map(|end| end.line),
                end_column: end.map(|end| end.column),
                clients: diagnostic
                    .clients
                    .iter()
                    .map(|whom| ForDto { client: whom.client, version: whom.version.to_string(), phase: whom.phase })
                    .collect(),
                help: diagnostic.help.clone(),
                related: diagnostic
                    .related
                    .iter()
                    .map(|(place, message)| RelatedDto {
                        path: report.relative(&place.path),
                        line: report.start(place).map(|start| start.line),
                        message: message.clone(),
                    })
                    .collect(),
                evidence: diagnostic.evidence.clone(),
                fingerprint: diagnostic.fingerprint.clone(),
            }
        })
        .collect()
}
