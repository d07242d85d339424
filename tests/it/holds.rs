//! What holds for every project, whatever is in it.

use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

use rulecheck::clients::{Client, Scene, Session, Version};
use rulecheck::config::Config;
use rulecheck::diagnostic::Diagnostic;
use rulecheck::discover::discover;
use rulecheck::files::{Files, Memory, Overlay, Write};
use rulecheck::fix::{Plan, Setting};
use rulecheck::prompt::parts;
use rulecheck::report::human::Style;
use rulecheck::report::{Report, Start, github, human, json, sarif};
use rulecheck::resolution::{Location, Outcome, Phase, Resolution};
use rulecheck::rules::{Lint, RULES, findings};
use rulecheck::secrets::Scanned;
use rulecheck::text::Content;
use serde_json::Value;

/// The project of all that is tried here.
pub(crate) const ROOT: &str = "/p";

/// What is found in a project.
pub(crate) struct Looked {
    pub(crate) resolutions: Vec<Resolution>,
    pub(crate) secrets: Scanned,
    pub(crate) findings: Vec<Diagnostic>,
}

/// Looks at the project: the same twice, each resolution sound, each finding well said.
pub(crate) fn look(files: &Memory, session: &Session, clients: &[(&'static Client, Version)]) -> Looked {
    let project = discover(files, Path::new(ROOT), &session.cwd);
    let scene = Scene { files, session, project: &project };
    let resolve =
        || -> Vec<Resolution> { clients.iter().map(|(client, version)| client.resolve(&scene, *version)).collect() };
    let resolutions = resolve();
    assert_eq!(format!("{resolutions:?}"), format!("{:?}", resolve()), "{files:?}");
    for resolution in &resolutions {
        sound(resolution, files);
    }
    let secrets = Scanned::new(files, "", &resolutions);
    let config = Config::of_project(files, Path::new(ROOT)).unwrap_or_default();
    let findings = findings(RULES, &[Lint { scene: &scene, resolutions: &resolutions, secrets: &secrets }], &config);
    for Diagnostic { rule, message, .. } in &findings {
        // The one name that is of two lines.
        let message = message.replace("g\n::", "");
        assert!(!message.is_empty() && !message.ends_with('.') && !message.contains('\n'), "{rule}: {message:?}");
    }
    Looked { resolutions, secrets, findings }
}

/// What holds for every resolution.
fn sound(resolution: &Resolution, files: &Memory) {
    let at = || format!("{}@{}: {files:?}", resolution.client, resolution.version);
    let loaded = resolution.sources.iter().map(|source| source.is_loaded());
    assert!(loaded.is_sorted_by_key(|loaded| !loaded), "loaded sources come first: {}", at());
    let phases = resolution.sources.iter().filter(|source| source.is_loaded()).map(|source| !source.at_startup());
    assert!(phases.is_sorted(), "startup comes before later: {}", at());
    if resolution.refusal.is_some() {
        assert!(!resolution.sources.iter().any(|source| source.is_loaded()), "it loads without starting: {}", at());
    }
    let mut seen = BTreeSet::new();
    for source in &resolution.sources {
        assert!(
            !source.evidence.is_empty() && source.evidence.iter().all(|id| rulecheck::evidence::claim(id).is_some()),
            "{source:?}: {}",
            at()
        );
        let key = (format!("{:?}", source.location), source.via, source.from.clone(), format!("{:?}", source.phase));
        assert!(seen.insert((key, source.is_loaded())), "twice: {source:?}: {}", at());
        if let (true, Location::File(path)) = (source.is_loaded(), &source.location) {
            assert!(files.is_file(path), "what is loaded exists: {source:?}: {}", at());
        }
        if let (Outcome::Shadowed { by }, Phase::Startup) = (&source.outcome, &source.phase) {
            assert!(files.entry(by).is_some(), "the winner exists: {source:?}: {}", at());
        }
        if let (Some(cut), Some(bytes)) = (&source.cut, source.bytes) {
            assert!(cut.end as u64 <= bytes && cut.start <= cut.end, "{source:?}: {}", at());
        }
    }
}

/// Everything that is printed of the project. Each format is what it says it is, and nothing in the project forges it.
pub(crate) fn printed(
    files: &Memory,
    session: &Session,
    clients: &[(&'static Client, Version)],
    looked: &Looked,
) -> String {
    let root = Path::new(ROOT);
    let starts = [Start { cwd: session.cwd.clone(), resolutions: looked.resolutions.clone() }];
    let redactor = looked.secrets.redactor();
    let report = Report::new(files, redactor, root, &session.reads, &starts, &looked.findings);
    let style = Style { color: false, width: 80, quiet: false };
    let mut people = vec![human::check(&report, style), human::sources(&report)];
    people.extend(["AGENTS.md", "CLAUDE.md"].map(|name| human::why(&report, &root.join(name))));
    let mut programs = vec![json::check(&report), json::sources(&report)];
    for ((client, _), resolution) in clients.iter().zip(&report.starts[0].resolutions) {
        let parts = parts(client, files, redactor, resolution);
        people.push(human::prompt(&report, resolution, &parts));
        programs.push(json::prompt(&report, resolution, &parts));
    }
    for text in &people {
        assert!(!text.contains(['\u{202e}', '\u{0}', '\u{1b}']), "{text:?}");
    }
    for text in &programs {
        serde_json::from_str::<Value>(text).unwrap();
    }
    let (sarif, github) = (sarif::check(&report), github::check(&report));
    self::sarif(&sarif);
    assert_eq!(github.lines().map(workflow_command).count(), looked.findings.len(), "{github}");
    people.extend(programs);
    people.extend([sarif, github]);
    people.concat()
}

/// What the runner of GitHub Actions does with a line.
pub(crate) fn workflow_command(line: &str) -> (String, Vec<(String, String)>, String) {
    let rest = line.strip_prefix("::").unwrap_or_else(|| panic!("no command: {line}"));
    let (head, data) = rest.split_once("::").unwrap();
    let (name, properties) = head.split_once(' ').unwrap();
    let unescape = |text: &str| {
        let text = text.replace("%3A", ":").replace("%2C", ",");
        text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
    };
    let pairs = properties.split(',').map(|pair| pair.split_once('=').unwrap());
    (name.into(), pairs.map(|(name, value)| (name.into(), unescape(value))).collect(), unescape(data))
}

/// Reads a SARIF log as code scanning does, and gives its results.
pub(crate) fn sarif(text: &str) -> Vec<Value> {
    let log: Value = serde_json::from_str(text).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(rules.iter().all(|rule| rule["helpUri"].is_string() && rule["help"]["markdown"].is_string()));
    let results = run["results"].as_array().unwrap();
    for result in results {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/%".contains(&byte);
        let name = uri.strip_prefix("file:///").unwrap_or(uri);
        assert!(name.bytes().all(plain) && !name.starts_with('/'), "{uri}");
        assert!(name == uri || place["artifactLocation"].get("uriBaseId").is_none(), "{uri}");
        assert!(place["region"]["startLine"].as_u64().unwrap() >= 1);
        assert!(result["partialFingerprints"]["rulecheck/v1"].is_string());
        assert!(result["properties"]["clients"].is_array());
    }
    results.clone()
}

/// Mends the project of `setting` on paper, and gives how many changes that takes. After them nothing is left to plan but
/// what needs a migration, and every line is still somewhere.
///
/// # Errors
/// Says what is wrong with the plan.
pub(crate) fn mended(files: &Memory, setting: Setting<'_>, migrate: bool) -> Result<usize, String> {
    let plan = Plan::new(files, setting, migrate);
    if plan.changes.iter().any(|change| change.rules.is_empty() || !change.what.path().starts_with(setting.root)) {
        return Err(format!("a change without a rule, or outside the project: {plan:?}"));
    }
    let after = after(files, &plan);
    let second = Plan::new(&after, setting, migrate);
    let waiting: Vec<_> = plan.changes.iter().filter(|change| !change.write).collect();
    if second.changes.iter().collect::<Vec<_>>() != waiting || second.left != plan.left {
        return Err(format!("a second plan is another one:\n  {plan:?}\n  {second:?}"));
    }
    let lost = lost(files, &after, &setting);
    if !lost.is_empty() {
        return Err(format!("lost are {lost:?}: {plan:?}"));
    }
    Ok(plan.changes.len())
}

/// The files after the changes that a plan writes. What stands in them must be what the plan says stood there.
fn after<'a>(files: &'a Memory, plan: &Plan) -> Overlay<'a> {
    let mut after = Overlay::new(files);
    for change in plan.changes.iter().filter(|change| change.write) {
        match &change.what {
            Write::Create { path, new, .. } => {
                assert_eq!(after.entry(path), None);
                after.put(path, &**new);
            }
            Write::Edit { path, old, new } => {
                assert_eq!(after.read(path).unwrap()[..], old[..]);
                after.put(path, &**new);
            }
            Write::Rename { from, to, text } => {
                assert_eq!((after.entry(to), &after.read(from).unwrap()[..]), (None, &text[..]));
                after.put(to, &**text);
                after.remove(from);
            }
        }
    }
    after
}

/// The lines of the instruction files that are nowhere any more. Punctuation and white space do not count: they are what
/// is mended. Nor does what stands before a pattern that was absolute.
fn lost(before: &dyn Files, after: &dyn Files, setting: &Setting<'_>) -> Vec<String> {
    let lines = |files: &dyn Files| -> BTreeSet<String> {
        let project = discover(files, setting.root, &setting.sessions[0].cwd);
        let letters = |line: &str| line.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        let texts = project.instructions.iter().filter_map(|path| files.read(path).ok());
        let lines = |content: Rc<Content>| content.text().lines().map(letters).collect::<Vec<_>>();
        texts.flat_map(lines).filter(|line| !line.is_empty()).collect()
    };
    let kept = lines(after);
    let prefix: String = setting.root.to_string_lossy().chars().filter(|c| c.is_alphanumeric()).collect();
    let is_kept =
        |line: &String| kept.contains(line) || line.strip_prefix(&prefix).is_some_and(|rest| kept.contains(rest));
    lines(before).into_iter().filter(|line| !is_kept(line)).collect()
}
