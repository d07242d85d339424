//! Arguments in, exit code out.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use rulecheck::cli::{Check, Cli, Color, Command, Explain, Format, Shared};
use rulecheck::clients::{CLIENTS, Os, Scene, Session};
use rulecheck::config::{self, Config, Selected, nearest};
use rulecheck::diagnostic::Diagnostic;
use rulecheck::discover::{Project, discover};
use rulecheck::files::{Disk, Files, absolute};
use rulecheck::report::human::Style;
use rulecheck::report::{Report, Start, human, json};
use rulecheck::rules::{Lint, RULES, Rule, findings};
use rulecheck::secrets::Scanned;

/// Why a run failed, and what to do.
struct Failure {
    cause: String,
    help: String,
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok((text, code)) => match io::stdout().lock().write_all(text.as_bytes()) {
            Ok(()) => code,
            // Whoever reads has heard enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => code,
            Err(error) => fail(&Failure {
                cause: format!("the output cannot be written: {error}"),
                help: "look at where it goes".into(),
            }),
        },
        Err(failure) => fail(&failure),
    }
}

fn fail(failure: &Failure) -> ExitCode {
    let _ = writeln!(io::stderr(), "error: {}\nhelp: {}", failure.cause, failure.help);
    ExitCode::from(2)
}

fn run(cli: Cli) -> Result<(String, ExitCode), Failure> {
    let files = Disk::default();
    match cli.command.unwrap_or(Command::Check(cli.check)) {
        Command::Check(check) => self::check(&files, &check),
        Command::Sources(sources) => {
            let run = Run::new(&files, std::slice::from_ref(&sources.path), &sources.shared)?;
            let starts = run.starts(&files);
            let secrets = run.scanned(&files, &starts);
            let report = run.report(&files, &secrets, &starts, &[]);
            let text = match sources.shared.format {
                Format::Human => human::sources(&report),
                Format::Json => json::sources(&report),
            };
            Ok((redacted(&secrets, text), ExitCode::SUCCESS))
        }
        Command::Why(why) => {
            let run = Run::new(&files, std::slice::from_ref(&why.path), &why.shared)?;
            let file = run.inside(&files, &why.file);
            let mut starts = run.starts(&files);
            let secrets = run.scanned(&files, &starts);
            let text = match why.shared.format {
                Format::Human => human::why(&run.report(&files, &secrets, &starts, &[]), &file),
                Format::Json => {
                    for resolution in starts.iter_mut().flat_map(|start| &mut start.resolutions) {
                        let is_file = |path: Option<&Path>| path == Some(file.as_path());
                        resolution.sources.retain(|source| is_file(source.path()) || is_file(source.real.as_deref()));
                    }
                    json::sources(&run.report(&files, &secrets, &starts, &[]))
                }
            };
            Ok((redacted(&secrets, text), ExitCode::SUCCESS))
        }
        Command::Clients(list) => {
            let text = match list.format {
                Format::Human => human::clients(),
                Format::Json => json::clients_list(),
            };
            Ok((text, ExitCode::SUCCESS))
        }
        Command::Explain(explain) => Ok((self::explain(&explain)?, ExitCode::SUCCESS)),
    }
}

fn check(files: &dyn Files, check: &Check) -> Result<(String, ExitCode), Failure> {
    let run = Run::new(files, &check.paths, &check.shared)?;
    let starts = run.starts(files);
    let scenes: Vec<Scene<'_>> = run.sessions.iter().map(|session| run.scene(files, session)).collect();
    let secrets = run.scanned(files, &starts);
    let lints: Vec<Lint<'_>> = scenes
        .iter()
        .zip(&starts)
        .map(|(scene, start)| Lint { scene, resolutions: &start.resolutions, secrets: &secrets })
        .collect();
    let rules: Vec<&Rule> = RULES.to_vec();
    let mut found = findings(&rules, &lints, &run.config);
    if let Some(only) = &run.only {
        let reached = reached(only, &starts);
        found.retain(|diagnostic| reached.iter().any(|path| diagnostic.place.path.starts_with(path)));
    }
    let report = run.report(files, &secrets, &starts, &found);
    let text = match check.shared.format {
        Format::Human => human::check(&report, style(check.shared.color, check.quiet)),
        Format::Json => json::check(&report),
    };
    let fails = |diagnostic: &Diagnostic| check.fail_on.fails(diagnostic.level);
    Ok((redacted(&secrets, text), ExitCode::from(u8::from(found.iter().any(fails)))))
}

/// What is printed passes here once more, whatever a format may have let through.
fn redacted(secrets: &Scanned, text: String) -> String {
    match secrets.redactor().redact(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(text) => text,
    }
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

fn explain(explain: &Explain) -> Result<String, Failure> {
    let Some(name) = &explain.name else { return Ok(human::rules()) };
    if let Some(rule) = RULES.iter().find(|rule| rule.name == name) {
        return Ok(rule.page.to_string());
    }
    if name == config::FILE {
        return Ok(config::PAGE.to_string());
    }
    if let Ok(selected) = name.parse::<Selected>() {
        return Ok(human::behaviour(selected));
    }
    let known: Vec<&str> = RULES.iter().map(|rule| rule.name).chain(CLIENTS.iter().map(|client| client.name)).collect();
    Err(Failure {
        cause: format!("there is no rule, client or version `{name}`"),
        help: match nearest(name, &known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`rulecheck explain` lists the rules, `rulecheck clients` the clients".into(),
        },
    })
}

/// How standard output wants it.
#[allow(clippy::disallowed_methods, reason = "main.rs is where the environment comes in")]
fn style(color: Color, quiet: bool) -> Style {
    let terminal = io::stdout().is_terminal();
    let unset = |name: &str| std::env::var_os(name).is_none_or(|value| value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)).filter(|_| terminal);
    Style {
        color: match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && unset("NO_COLOR") && !dumb,
        },
        width: width.unwrap_or(100).max(40),
        quiet,
    }
}

/// One run over one project.
struct Run {
    here: PathBuf,
    config: Config,
    project: Project,
    /// The paths that the findings are limited to.
    only: Option<Vec<PathBuf>>,
    /// One a start directory.
    sessions: Vec<Session>,
    reads: Vec<PathBuf>,
    selected: Vec<Selected>,
}

impl Run {
    fn new(files: &dyn Files, paths: &[PathBuf], shared: &Shared) -> Result<Self, Failure> {
        #[allow(clippy::disallowed_methods, reason = "main.rs is where the environment comes in")]
        let here = std::env::current_dir().map_err(|error| Failure {
            cause: format!("the current directory cannot be found: {error}"),
            help: "change into a directory that exists".into(),
        })?;
        let (root, only) = project(files, &here, paths)?;
        let config = match &shared.config {
            Some(path) => Config::read(files, &absolute(&here, path)),
            None => Config::of_project(files, &root),
        };
        let config = config.map_err(|invalid| Failure { cause: invalid.cause, help: invalid.help })?;
        let cwds: Vec<PathBuf> =
            shared.cwds.iter().map(|dir| directory(files, &root, &here, dir, "--cwd")).collect::<Result<_, _>>()?;
        let mut run = Self {
            selected: selected(shared, &config),
            reads: shared.reads.clone(),
            project: discover(files, &root, cwds.first().unwrap_or(&root)),
            sessions: Vec::new(),
            config,
            only,
            here,
        };
        let cwds = match (shared.cwd_each, cwds.is_empty()) {
            (true, _) => run.project.instruction_dirs(),
            (false, true) => vec![root],
            (false, false) => cwds,
        };
        run.sessions = cwds.into_iter().map(|cwd| run.session(files, cwd, shared)).collect::<Result<_, _>>()?;
        Ok(run)
    }

    fn session(&self, files: &dyn Files, cwd: PathBuf, shared: &Shared) -> Result<Session, Failure> {
        let mut session = Session::new(cwd);
        let home =
            shared.home.as_ref().map(|home| directory(files, &self.here, &self.here, home, "--home")).transpose()?;
        session.env = environment(shared, home.as_deref());
        let home = session.var("HOME").or_else(|| session.var("USERPROFILE"));
        session.home = home.map(|home| absolute(&session.cwd, Path::new(home)));
        session.os = if cfg!(windows) {
            Os::Windows
        } else if cfg!(target_os = "macos") {
            Os::MacOs
        } else {
            Os::Linux
        };
        session.user = !shared.no_user;
        session.reads = shared.reads.iter().map(|read| self.inside(files, read)).collect();
        let allowed = shared.allow_external.iter().chain(&self.config.allow_external);
        session.allowed = allowed.map(|path| self.inside(files, path)).collect();
        for (client, arguments) in &shared.client_args {
            if !CLIENTS.iter().any(|known| known.name == client) {
                return Err(Failure {
                    cause: format!("--client-args: no client is called `{client}`"),
                    help: "write it like `claude=--add-dir ../shared`".into(),
                });
            }
            session.args.entry(client.clone()).or_default().extend(words(arguments));
        }
        Ok(session)
    }

    /// `path` taken from the project, or from the current directory where only that has it.
    fn inside(&self, files: &dyn Files, path: &Path) -> PathBuf {
        let from_project = absolute(&self.project.root, path);
        let from_here = absolute(&self.here, path);
        if files.entry(&from_project).is_none() && files.entry(&from_here).is_some() { from_here } else { from_project }
    }

    fn scene<'a>(&'a self, files: &'a dyn Files, session: &'a Session) -> Scene<'a> {
        Scene { files, session, project: &self.project }
    }

    fn starts(&self, files: &dyn Files) -> Vec<Start> {
        let resolve = |session| {
            let scene = self.scene(files, session);
            self.selected.iter().map(|selected| selected.client.resolve(&scene, selected.version)).collect()
        };
        self.sessions.iter().map(|session| Start { cwd: session.cwd.clone(), resolutions: resolve(session) }).collect()
    }

    /// The secrets in everything that is loaded.
    fn scanned(&self, files: &dyn Files, starts: &[Start]) -> Scanned {
        Scanned::new(files, &self.config.fingerprint_key, starts.iter().flat_map(|start| &start.resolutions))
    }

    fn report<'a>(
        &'a self,
        files: &'a dyn Files,
        secrets: &'a Scanned,
        starts: &[Start],
        diagnostics: &[Diagnostic],
    ) -> Report<'a> {
        Report::new(files, secrets.redactor(), &self.project.root, &self.reads, starts, diagnostics)
    }
}

/// The clients of the command line, else of the configuration, else all.
fn selected(shared: &Shared, config: &Config) -> Vec<Selected> {
    if !shared.clients.is_empty() {
        return shared.clients.clone();
    }
    if !config.clients.is_empty() {
        return config.clients.clone();
    }
    CLIENTS.iter().map(|client| Selected { client, version: client.default }).collect()
}

/// The project's directory. One directory is the project itself; files, or several paths, lie in a project whose root is
/// the nearest directory above all of them with a configuration or a repository, and limit what is reported.
fn project(files: &dyn Files, here: &Path, paths: &[PathBuf]) -> Result<(PathBuf, Option<Vec<PathBuf>>), Failure> {
    if let [path] = paths
        && !files.is_file(&here.join(path))
    {
        return Ok((directory(files, here, here, path, "PATH")?, None));
    }
    let mut only = Vec::new();
    for path in paths {
        let path = absolute(here, path);
        if files.entry(&path).is_none() {
            return Err(missing("PATH", &path));
        }
        // Links above a file are resolved, a link at its end is a place of its own.
        let dir = path.parent().and_then(|dir| files.real(dir));
        only.push(dir.map_or_else(|| path.clone(), |dir| dir.join(path.file_name().unwrap_or_default())));
    }
    let above = only.first().and_then(|path| path.parent()).unwrap_or(here);
    let common = above.ancestors().find(|dir| only.iter().all(|path| path.starts_with(dir))).unwrap_or(here);
    let is_root = |dir: &&Path| files.is_file(&dir.join(config::FILE)) || files.target(&dir.join(".git")).is_some();
    let root = common.ancestors().find(is_root).unwrap_or(common).to_path_buf();
    Ok((root, Some(only)))
}

/// The directory `path`, links resolved, taken from `base` or else from `here`.
fn directory(files: &dyn Files, base: &Path, here: &Path, path: &Path, what: &str) -> Result<PathBuf, Failure> {
    let places = [base.join(path), here.join(path)];
    let Some(real) = places.iter().find_map(|place| files.real(place)) else { return Err(missing(what, path)) };
    if !files.is_dir(&real) {
        return Err(Failure {
            cause: format!("{what} `{}` is not a directory", path.display()),
            help: "name the directory of the project".into(),
        });
    }
    if files.list(&real).is_err() {
        return Err(Failure {
            cause: format!("{what} `{}` cannot be listed", path.display()),
            help: "check its permissions".into(),
        });
    }
    Ok(real)
}

fn missing(what: &str, path: &Path) -> Failure {
    Failure {
        cause: format!("{what} `{}` does not exist, or may not be looked at", path.display()),
        help: "name something that exists".into(),
    }
}

/// The environment of the clients: this program's own or, where a home is named, only that; then what is given.
fn environment(shared: &Shared, home: Option<&Path>) -> BTreeMap<String, String> {
    let mut env = BTreeMap::new();
    match home {
        Some(home) => {
            env.insert("HOME".to_string(), home.to_string_lossy().into_owned());
        }
        None => {
            #[allow(clippy::disallowed_methods, reason = "main.rs is where the environment comes in")]
            let own = std::env::vars_os();
            env.extend(own.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))));
        }
    }
    env.extend(shared.env.iter().cloned());
    env
}

/// The words of a command line: white space separates, quotes and backslashes keep together.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if c == open => quote = None,
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
