//! Arguments in, exit code out.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use clap::{CommandFactory, Parser};
use rulecheck::baseline::{self, Baseline};
use rulecheck::cli::{
    Check, Cli, Color, Command, EvidenceCommand, Explain, Fix, Format, Freeze, Prompt, Range, Shared,
};
use rulecheck::clients::{CLIENTS, Scene, client};
use rulecheck::config::{self, Selected, nearest};
use rulecheck::diagnostic::Diagnostic;
use rulecheck::evidence::{claim, observations};
use rulecheck::fates::between;
use rulecheck::files::{self, Disk, Files, MAX_READ, absolute};
use rulecheck::fix::{Plan, Setting};
use rulecheck::frozen::{RECORDS, digest, freeze};
use rulecheck::prompt::parts;
use rulecheck::report::human::{Style, matrix};
use rulecheck::report::{Start, changes, github, human, json, sarif, visible};
use rulecheck::resolution::Location;
use rulecheck::rules::{Lint, RULES, findings, order, unused};
use rulecheck::secrets::{Redactor, Scanned, scan};
use rulecheck::text::lossy;

mod run;

use run::Run;

/// Why a run failed, and what to do.
struct Failure {
    cause: String,
    help: String,
}

/// What a command has to say.
struct Said {
    text: String,
    code: ExitCode,
    /// Where it goes instead of standard output.
    output: Option<PathBuf>,
}

impl Said {
    fn new(text: String) -> Self {
        Self { text, code: ExitCode::SUCCESS, output: None }
    }
}

fn main() -> ExitCode {
    let said = match Cli::try_parse() {
        Ok(cli) => run(cli).and_then(print),
        // The help and the version are no errors.
        Err(error) if !error.use_stderr() => ended(error.print(), ExitCode::SUCCESS, None),
        Err(error) => Err(misused(&error)),
    };
    said.unwrap_or_else(|failure| {
        // What failed may quote what it was given.
        let redactor = Redactor::default();
        let _ = writeln!(
            io::stderr(),
            "error: {}\nhelp: {}",
            redactor.redact(&failure.cause),
            redactor.redact(&failure.help)
        );
        ExitCode::from(2)
    })
}

fn print(said: Said) -> Result<ExitCode, Failure> {
    let written = match &said.output {
        Some(path) => files::write(path, said.text.as_bytes()),
        None => io::stdout().lock().write_all(said.text.as_bytes()),
    };
    ended(written, said.code, said.output)
}

/// How the program ends, once what it has to say is `written`.
fn ended(written: io::Result<()>, code: ExitCode, output: Option<PathBuf>) -> Result<ExitCode, Failure> {
    match written {
        Ok(()) => Ok(code),
        // Whoever reads has heard enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe && output.is_none() => Ok(code),
        Err(error) => {
            let to = output.map_or("standard output".into(), |path| format!("`{}`", path.display()));
            Err(Failure { cause: format!("{to} cannot be written: {error}"), help: "look at where it goes".into() })
        }
    }
}

/// What is passed over and may not have been meant so: once, beside what is printed.
fn note(text: &str) {
    let _ = writeln!(io::stderr(), "note: {}", visible(&Redactor::default().redact(text)));
}

/// What is wrong with the arguments.
fn misused(error: &clap::Error) -> Failure {
    // What clap says of it is a paragraph, and how it is used another.
    let text = error.to_string();
    let mut paragraphs = text.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    let cause = paragraphs.next().unwrap_or_default();
    let tip = paragraphs.find_map(|part| Some(part.strip_prefix("tip: ")?.to_string()));
    Failure {
        cause: cause.strip_prefix("error: ").unwrap_or(&cause).to_string(),
        help: tip.unwrap_or("`rulecheck --help` lists the commands, `rulecheck COMMAND --help` what each takes".into()),
    }
}

fn run(cli: Cli) -> Result<Said, Failure> {
    let files = Disk::default();
    match cli.command.unwrap_or(Command::Check(cli.check)) {
        Command::Check(check) => self::check(&files, &check),
        Command::Sources(sources) => {
            let run = Run::new(&files, std::slice::from_ref(&sources.path), &sources.shared)?;
            let starts = run.starts(&files);
            let secrets = run.scanned(&files, &starts);
            let report = run.report(&files, &secrets, &starts, &[]);
            let text = listed(&sources.shared, || human::sources(&report), || json::sources(&report))?;
            Ok(said(&sources.shared, &secrets, text))
        }
        Command::Why(why) => {
            let run = Run::new(&files, std::slice::from_ref(&why.path), &why.shared)?;
            let file = run.inside(&files, &why.file);
            let mut starts = run.starts(&files);
            let secrets = run.scanned(&files, &starts);
            if matches!(why.shared.format, Format::Json) {
                let is_file = |path: Option<&Path>| path == Some(file.as_path());
                for resolution in starts.iter_mut().flat_map(|start| &mut start.resolutions) {
                    resolution.sources.retain(|source| is_file(source.path()) || is_file(source.real.as_deref()));
                }
            }
            let report = run.report(&files, &secrets, &starts, &[]);
            let text = listed(&why.shared, || human::why(&report, &file), || json::why(&report, &file))?;
            Ok(said(&why.shared, &secrets, text))
        }
        Command::Prompt(prompt) => self::prompt(&files, &prompt),
        Command::Clients(list) => match list.format {
            Format::Json => Ok(Said::new(json::clients_list())),
            _ => Ok(Said::new(human::clients())),
        },
        Command::Diff(diff) => {
            let shared = Shared {
                cwds: diff.cwd.iter().cloned().collect(),
                no_user: diff.no_user,
                clients: vec![diff.client.from],
                ..Shared::default()
            };
            let run = Run::new(&files, std::slice::from_ref(&diff.path), &shared)?;
            let starts = run.starts(&files);
            let secrets = run.scanned(&files, &starts);
            let Range { from, to } = diff.client;
            let scenes: Vec<Scene<'_>> = run.scenes(&files).collect();
            let changed = between(&scenes[0], from.client, from.version, to.version);
            let report = run.report(&files, &secrets, &starts, &[]);
            Ok(said(&shared, &secrets, human::diff(&report, from, to, &changed)))
        }
        Command::Fix(fix) => self::fix(&files, &fix),
        Command::Explain(explain) => Ok(Said::new(self::explain(&explain)?)),
        Command::Freeze(freeze) => freeze_copy(&files, &freeze),
        Command::Evidence(evidence) => match evidence.command {
            None => Ok(Said::new(human::evidence())),
            Some(EvidenceCommand::Verify { file, id }) => verify(&files, &file, &id),
        },
        Command::Completions(completions) => {
            let mut script = Vec::new();
            clap_complete::generate(completions.shell, &mut Cli::command(), "rulecheck", &mut script);
            Ok(Said::new(lossy(&script).into_owned()))
        }
        Command::Man => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(|error| Failure {
                cause: format!("the manual page cannot be made: {error}"),
                help: "use --help".into(),
            })?;
            Ok(Said::new(lossy(&page).into_owned()))
        }
        Command::Schema => Ok(Said::new(config::schema())),
    }
}

/// The text of a listing, which is for people or for programs.
fn listed(
    shared: &Shared,
    people: impl FnOnce() -> String,
    programs: impl FnOnce() -> String,
) -> Result<String, Failure> {
    match shared.format {
        Format::Human => Ok(people()),
        Format::Json => Ok(programs()),
        Format::Sarif | Format::Github => Err(Failure {
            cause: "only `check` has findings to print in this format".into(),
            help: "use --format human or --format json".into(),
        }),
    }
}

/// What is printed passes the redaction once more, whatever a format may have let through.
fn said(shared: &Shared, secrets: &Scanned, text: String) -> Said {
    let text = match secrets.redactor().redact(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(text) => text,
    };
    Said { text, code: ExitCode::SUCCESS, output: shared.output.clone() }
}

fn check(files: &dyn Files, check: &Check) -> Result<Said, Failure> {
    let run = Run::new(files, &check.paths, &check.shared)?;
    let starts = run.starts(files);
    let scenes: Vec<Scene<'_>> = run.scenes(files).collect();
    let secrets = run.scanned(files, &starts);
    let lints: Vec<Lint<'_>> = scenes
        .iter()
        .zip(&starts)
        .map(|(scene, start)| Lint { scene, resolutions: &start.resolutions, secrets: &secrets })
        .collect();
    let mut found = findings(RULES, &lints, &run.config);
    if check.write_baseline {
        return write_baseline(files, &run, &secrets, &starts, &found, check);
    }
    let in_baseline = known_before(files, &run, &secrets, &starts, &mut found)?;
    if let Some(only) = &run.only {
        let reached = reached(only, &starts);
        found.retain(|diagnostic| diagnostic.place.path.ancestors().any(|above| reached.contains(above)));
    }
    let mut report = run.report(files, &secrets, &starts, &found);
    report.in_baseline = in_baseline;
    let here = run::here()?;
    // What reads annotations looks for the files from where it has started the check.
    if matches!(check.shared.format, Format::Sarif | Format::Github) && run.project.root.starts_with(&here) {
        report.base = &here;
    }
    let text = match check.shared.format {
        Format::Human => human::check(&report, style(&check.shared, check.quiet)),
        Format::Json => json::check(&report),
        Format::Sarif => sarif::check(&report),
        Format::Github => github::check(&report),
    };
    let fail_on = check.fail_on.or(run.config.fail_on).unwrap_or_default();
    let failed = found.iter().any(|diagnostic| fail_on.fails(diagnostic.level));
    Ok(Said { code: ExitCode::from(u8::from(failed)), ..said(&check.shared, &secrets, text) })
}

fn fix(files: &dyn Files, fix: &Fix) -> Result<Said, Failure> {
    let run = Run::new(files, std::slice::from_ref(&fix.path), &fix.shared)?;
    let secrets = run.scanned(files, &run.starts(files));
    let setting = Setting {
        root: &run.project.root,
        sessions: &run.sessions,
        selected: &run.selected,
        config: &run.config,
        only: run.only.as_deref(),
    };
    let plan = Plan::new(files, setting, fix.migrate);
    if fix.write {
        plan.write().map_err(|unwritten| Failure {
            cause: visible(&secrets.redactor().redact(&unwritten.to_string())),
            help: "mend that, and run it again".into(),
        })?;
    }
    let report = run.report(files, &secrets, &[], &[]);
    let text = listed(
        &fix.shared,
        || changes::human(&report, &plan, fix.write, style(&fix.shared, false)),
        || changes::json(&report, &plan, fix.write),
    )?;
    let left = plan.changes.iter().any(|change| !(fix.write && change.write));
    Ok(Said { code: ExitCode::from(u8::from(left)), ..said(&fix.shared, &secrets, text) })
}

/// Takes out the findings that the baseline knows, says how many those were, and adds what it no longer needs.
fn known_before(
    files: &dyn Files,
    run: &Run,
    secrets: &Scanned,
    starts: &[Start],
    found: &mut Vec<Diagnostic>,
) -> Result<usize, Failure> {
    let path = run.project.root.join(baseline::FILE);
    let baseline = Baseline::read(files, &run.project.root).map_err(|why| Failure {
        cause: format!("{} cannot be used: {why}", path.display()),
        help: "restore it, or write it anew with --write-baseline".into(),
    })?;
    let Some(mut baseline) = baseline else { return Ok(0) };
    let report = run.report(files, secrets, starts, found);
    let fingerprints: Vec<String> = found.iter().map(|diagnostic| report.fingerprint(diagnostic)).collect();
    let all = found.len();
    let mut fingerprints = fingerprints.iter();
    found.retain(|diagnostic| {
        let fingerprint = fingerprints.next().map_or("", String::as_str);
        !baseline.hides(diagnostic.rule, fingerprint)
    });
    let hidden = all - found.len();
    found.extend(unused(
        &run.config,
        &path,
        baseline.left_over().map(|known| (known.rule.as_str(), known.path.as_str())),
    ));
    found.sort_by(|a, b| order(a).cmp(&order(b)));
    Ok(hidden)
}

fn write_baseline(
    files: &dyn Files,
    run: &Run,
    secrets: &Scanned,
    starts: &[Start],
    found: &[Diagnostic],
    check: &Check,
) -> Result<Said, Failure> {
    let report = run.report(files, secrets, starts, found);
    let named = found
        .iter()
        .map(|diagnostic| (diagnostic, report.fingerprint(diagnostic), report.relative(&diagnostic.place.path)));
    let baseline = Baseline::of(named, check.include_secrets);
    let path = run.project.root.join(baseline::FILE);
    write(&path, baseline.to_text().as_bytes())?;
    let taken: usize = baseline.findings.iter().map(|known| known.count).sum();
    let rest = found.len() - taken;
    let mut text = format!("{taken} findings written to {}\n", baseline::FILE);
    if rest > 0 {
        text += &format!("{rest} were not taken in: secrets and unsupported names need --include-secrets\n");
    }
    Ok(said(&check.shared, secrets, text))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    files::write(path, bytes).map_err(|error| Failure {
        cause: format!("`{}` cannot be written: {error}", path.display()),
        help: "nothing was changed; look at its permissions".into(),
    })
}

/// The files that `only` names, and those that they import, however far.
fn reached(only: &[PathBuf], starts: &[Start]) -> BTreeSet<PathBuf> {
    let mut reached: BTreeSet<PathBuf> = only.iter().cloned().collect();
    let sources = || starts.iter().flat_map(|start| &start.resolutions).flat_map(|resolution| &resolution.sources);
    loop {
        let before = reached.len();
        let imported = sources().filter(|source| source.from.as_ref().is_some_and(|from| reached.contains(&from.path)));
        let imported: Vec<PathBuf> = imported.filter_map(|source| source.path()).map(Path::to_path_buf).collect();
        reached.extend(imported);
        if reached.len() == before {
            return reached;
        }
    }
}

fn prompt(files: &dyn Files, prompt: &Prompt) -> Result<Said, Failure> {
    let [selected] = prompt.shared.clients.as_slice() else {
        return Err(Failure {
            cause: "a prompt is that of one client".into(),
            help: "name it: --client claude, or --client codex@0.145.0".into(),
        });
    };
    let run = Run::new(files, std::slice::from_ref(&prompt.path), &prompt.shared)?;
    let starts = run.starts(files);
    let secrets = run.scanned(files, &starts);
    let report = run.report(files, &secrets, &starts, &[]);
    let mut text = String::new();
    for (raw, safe) in starts.iter().zip(&report.starts) {
        for (raw, safe) in raw.resolutions.iter().zip(&safe.resolutions) {
            let mut parts = parts(selected.client, files, secrets.redactor(), raw);
            // What is said of a source is said of its redacted twin.
            for part in &mut parts {
                let twin = raw.sources.iter().position(|source| std::ptr::eq(source, part.source));
                part.source = twin.map_or(part.source, |at| &safe.sources[at]);
            }
            text += &listed(
                &prompt.shared,
                || human::prompt(&report, safe, &parts),
                || json::prompt(&report, safe, &parts),
            )?;
        }
    }
    Ok(said(&prompt.shared, &secrets, text))
}

/// The name of the page about the matrix.
const MATRIX: &str = "matrix";

fn explain(explain: &Explain) -> Result<String, Failure> {
    let Some(name) = &explain.name else { return Ok(human::rules()) };
    if let Some(rule) = RULES.iter().find(|rule| rule.name == name) {
        return Ok(rule.page.to_string());
    }
    if name == config::FILE {
        return Ok(config::PAGE.to_string());
    }
    if name == MATRIX {
        return Ok(matrix::PAGE.to_string());
    }
    if let Some((observation, claim)) = claim(name) {
        return Ok(human::evidence_of(observation, claim));
    }
    if let Ok(selected) = name.parse::<Selected>() {
        return Ok(human::behaviour(selected));
    }
    let names = RULES.iter().map(|rule| rule.name).chain(CLIENTS.iter().map(|client| client.name));
    let known: Vec<&str> = names.chain([config::FILE, MATRIX]).collect();
    Err(Failure {
        cause: format!("there is no rule, client or version `{name}`"),
        help: match nearest(name, &known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`rulecheck explain` lists the rules, `rulecheck clients` the clients".into(),
        },
    })
}

fn freeze_copy(files: &dyn Files, arguments: &Freeze) -> Result<Said, Failure> {
    let shared = Shared::default();
    let run = Run::new(files, std::slice::from_ref(&arguments.path), &shared)?;
    let bytes = if arguments.from == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().take(MAX_READ).read_to_end(&mut bytes).map_err(|error| Failure {
            cause: format!("standard input cannot be read: {error}"),
            help: "name the copy with --from FILE".into(),
        })?;
        bytes
    } else {
        let path = absolute(&run.here, &arguments.from);
        let read = files.read(&path).map_err(|why| Failure {
            cause: format!("`{}` cannot be read: {why}", path.display()),
            help: "name the copy that you fetched".into(),
        })?;
        read.to_vec()
    };
    let text = lossy(&bytes);
    if let Some(secret) = scan(&text).first() {
        let at = rulecheck::text::position(&text, secret.span.start);
        return Err(Failure {
            cause: format!("the copy holds a secret, {}, at line {}", secret.detector.title, at.line),
            help: "a prompt-loaded source may hold none; do not use this one".into(),
        });
    }
    let root = &run.project.root;
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let frozen = freeze(files, root, &arguments.url, &now, &bytes)
        .map_err(|cause| Failure { cause, help: "nothing was changed".into() })?;
    let copy = frozen.record.path(root);
    for dir in copy.parent().into_iter().chain(root.join(RECORDS).parent()) {
        files::make_dir(dir).map_err(|error| Failure {
            cause: format!("`{}` cannot be made: {error}", dir.display()),
            help: "look at its permissions".into(),
        })?;
    }
    write(&copy, &bytes)?;
    write(&root.join(RECORDS), frozen.records.as_bytes())?;
    let mut text =
        format!("{}\n  SHA-256 {}\n  {} bytes, {now}\n", frozen.record.file, frozen.record.sha256, frozen.record.bytes);
    let starts = run.starts(files);
    let secrets = run.scanned(files, &starts);
    let report = run.report(files, &secrets, &starts, &[]);
    let live = starts.iter().flat_map(|start| &start.resolutions).flat_map(|resolution| &resolution.sources);
    for source in live.filter(|source| source.location == Location::Url(arguments.url.clone())) {
        if let Some(from) = &source.from {
            let line = report.start(from).map_or(1, |at| at.line);
            text += &format!(
                "In {}, line {line}, put \"{}\" in the place of the address.\n",
                report.relative(&from.path),
                frozen.record.file
            );
        }
    }
    Ok(said(&shared, &secrets, text))
}

fn verify(files: &dyn Files, file: &Path, id: &str) -> Result<Said, Failure> {
    let unknown = || Failure {
        cause: format!("there is no observation `{id}`"),
        help: "`rulecheck evidence` lists them; write it like claude/memory-2026-07-28".into(),
    };
    let (name, observation) = id.split_once('/').ok_or_else(unknown)?;
    let client = client(name).ok_or_else(unknown)?;
    let all = observations(client.name).unwrap_or_default();
    let observation = all.iter().find(|known| known.id == observation).ok_or_else(unknown)?;
    let recorded = observation.sha256.as_ref().ok_or_else(|| Failure {
        cause: format!("no SHA-256 was recorded for `{id}`"),
        help: "only observations of documents have one".into(),
    })?;
    let here = run::here()?;
    let bytes = files.read(&absolute(&here, file)).map_err(|why| Failure {
        cause: format!("`{}` cannot be read: {why}", file.display()),
        help: "name a local copy".into(),
    })?;
    let found = digest(&bytes);
    let same = found == *recorded;
    let verdict = if same { "is what was observed" } else { "is not what was observed" };
    let text = format!(
        "{} {verdict} as {id} ({})\n  recorded {recorded}\n  copy     {found}\n",
        file.display(),
        observation.seen_at
    );
    Ok(Said { code: ExitCode::from(u8::from(!same)), ..Said::new(text) })
}

/// How standard output wants it.
#[allow(clippy::disallowed_methods, reason = "main.rs is where the environment comes in")]
fn style(shared: &Shared, quiet: bool) -> Style {
    let terminal = io::stdout().is_terminal() && shared.output.is_none();
    let unset = |name: &str| std::env::var_os(name).is_none_or(|value| value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)).filter(|_| terminal);
    Style {
        color: match shared.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && unset("NO_COLOR") && !dumb,
        },
        width: width.unwrap_or(100).max(40),
        quiet,
    }
}
