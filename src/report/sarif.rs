//! SARIF 2.1.0, for code scanning.

use serde_json::{Value, json};

use crate::diagnostic::{Diagnostic, Level};
use crate::report::{Report, visible_json};
use crate::rules::{RULES, Rule};
use crate::text::Place;

/// What `rulecheck check --format sarif` prints.
pub fn check(report: &Report<'_>) -> String {
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "rulecheck",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": RULES.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": { "PROJECT": { "description": { "text": "where the check was run, when the project lies there, or else the project" } } },
            "results": report.diagnostics.iter().map(|diagnostic| result(report, diagnostic)).collect::<Vec<_>>(),
        }],
    });
    visible_json(format!("{log:#}\n"))
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    }
}

fn descriptor(rule: &Rule) -> Value {
    json!({
        "id": format!("rulecheck/{}", rule.name),
        "name": rule.name,
        "shortDescription": { "text": rule.summary },
        "fullDescription": { "text": rule.summary },
        "help": { "text": rule.page, "markdown": rule.page },
        "helpUri": format!("{}/blob/main/src/rules/{}.md", env!("CARGO_PKG_REPOSITORY"), rule.name.replace('-', "_")),
        "defaultConfiguration": { "level": level(rule.level) },
    })
}

fn result(report: &Report<'_>, diagnostic: &Diagnostic) -> Value {
    let index = RULES.iter().position(|rule| rule.name == diagnostic.rule);
    let message = match &diagnostic.help {
        Some(help) => format!("{}. {help}.", diagnostic.message),
        None => diagnostic.message.clone(),
    };
    let clients: Vec<Value> = diagnostic
        .clients
        .iter()
        .map(|whom| json!({ "client": whom.client, "version": whom.version.to_string(), "phase": whom.phase }))
        .collect();
    json!({
        "ruleId": format!("rulecheck/{}", diagnostic.rule),
        "ruleIndex": index,
        "level": level(diagnostic.level),
        "message": { "text": message },
        "locations": [location(report, &diagnostic.place, None)],
        "relatedLocations": diagnostic.related.iter().enumerate()
            .map(|(id, (place, message))| location(report, place, Some((id, message))))
            .collect::<Vec<_>>(),
        "partialFingerprints": { "rulecheck/v1": report.fingerprint(diagnostic) },
        "properties": { "clients": clients, "evidence": diagnostic.evidence },
    })
}

fn location(report: &Report<'_>, place: &Place, related: Option<(usize, &String)>) -> Value {
    let ends = report.ends(place);
    let mut region = json!({ "startLine": ends.map_or(1, |(start, _)| start.line) });
    if let Some((start, end)) = ends {
        region["startColumn"] = start.column.into();
        region["endLine"] = end.line.into();
        region["endColumn"] = end.column.into();
    }
    let path = report.relative(&place.path);
    let artifact = if place.path.starts_with(report.project) {
        json!({ "uri": uri(&path), "uriBaseId": "PROJECT" })
    } else if place.path.is_absolute() {
        json!({ "uri": format!("file://{}", uri(&path)) })
    } else {
        // An argument or a variable: behind two slashes its name would be that of a host.
        json!({ "uri": uri(&path) })
    };
    let mut location = json!({ "physicalLocation": { "artifactLocation": artifact, "region": region } });
    if let Some((id, message)) = related {
        location["id"] = id.into();
        location["message"] = json!({ "text": message });
    }
    location
}

/// A path as part of a URI: what is neither a letter, a digit nor one of the unreserved signs is escaped.
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
