//! Arguments in, exit code out.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use rulecheck::cli::{Cli, Command, Format, Selected, Shared};
use rulecheck::clients::{CLIENTS, Os, Scene, Session};
use rulecheck::discover::{Project, discover};
use rulecheck::files::{Disk, Files, absolute};
use rulecheck::report::{Report, human, json};
use rulecheck::resolution::Resolution;
use rulecheck::rules::{Lint, RULES, lint};

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
        Command::Check(check) => {
            let run = Run::new(&files, &check.path, &check.shared)?;
            let scene = run.scene(&files);
            let resolutions = run.resolutions(&scene);
            let diagnostics = lint(RULES, &Lint { scene: &scene, resolutions: &resolutions });
            let report = Report { diagnostics: &diagnostics, ..run.report(&files, &resolutions) };
            let text = match check.shared.format {
                Format::Human => human::check(&report),
                Format::Json => json::check(&report),
            };
            let failed = diagnostics.iter().any(|diagnostic| check.fail_on.fails(diagnostic.level));
            Ok((text, ExitCode::from(u8::from(failed))))
        }
        Command::Sources(sources) => {
            let run = Run::new(&files, &sources.path, &sources.shared)?;
            let resolutions = run.resolutions(&run.scene(&files));
            let report = run.report(&files, &resolutions);
            let text = match sources.shared.format {
                Format::Human => human::sources(&report),
                Format::Json => json::sources(&report),
            };
            Ok((text, ExitCode::SUCCESS))
        }
        Command::Why(why) => {
            let run = Run::new(&files, &why.path, &why.shared)?;
            let file = run.inside(&files, &why.file);
            let mut resolutions = run.resolutions(&run.scene(&files));
            let report = run.report(&files, &resolutions);
            if why.shared.format == Format::Human {
                return Ok((human::why(&report, &file), ExitCode::SUCCESS));
            }
            for resolution in &mut resolutions {
                resolution.sources.retain(|source| source.path() == Some(&file) || source.real.as_ref() == Some(&file));
            }
            Ok((json::sources(&run.report(&files, &resolutions)), ExitCode::SUCCESS))
        }
        Command::Clients(list) => {
            let text = match list.format {
                Format::Human => human::clients(),
                Format::Json => json::clients_list(),
            };
            Ok((text, ExitCode::SUCCESS))
        }
    }
}

/// One run over one project.
struct Run {
    base: PathBuf,
    project: Project,
    session: Session,
    reads: Vec<PathBuf>,
    selected: Vec<Selected>,
}

impl Run {
    fn new(files: &dyn Files, path: &Path, shared: &Shared) -> Result<Self, Failure> {
        #[allow(clippy::disallowed_methods, reason = "main.rs is where the environment comes in")]
        let here = std::env::current_dir().map_err(|error| Failure {
            cause: format!("the current directory cannot be found: {error}"),
            help: "change into a directory that exists".into(),
        })?;
        let root = directory(files, &here, &here, path, "PATH")?;
        let cwd = match &shared.cwd {
            Some(dir) => directory(files, &root, &here, dir, "--cwd")?,
            None => root.clone(),
        };
        let mut run = Self {
            project: Project { root, ..Project::default() },
            session: Session::new(cwd),
            base: here,
            reads: shared.reads.clone(),
            selected: shared.clients.clone(),
        };
        if run.selected.is_empty() {
            run.selected = CLIENTS.iter().map(|client| Selected { client, version: client.default }).collect();
        }
        let home =
            shared.home.as_ref().map(|home| directory(files, &run.base, &run.base, home, "--home")).transpose()?;
        run.session.env = environment(shared, home.as_deref());
        let home = run.session.var("HOME").or_else(|| run.session.var("USERPROFILE"));
        run.session.home = home.map(|home| absolute(&run.session.cwd, Path::new(home)));
        run.session.os = if cfg!(windows) {
            Os::Windows
        } else if cfg!(target_os = "macos") {
            Os::MacOs
        } else {
            Os::Linux
        };
        run.session.user = !shared.no_user;
        run.session.reads = shared.reads.iter().map(|read| run.inside(files, read)).collect();
        run.session.allowed = shared.allow_external.iter().map(|path| run.inside(files, path)).collect();
        for (client, arguments) in &shared.client_args {
            if !CLIENTS.iter().any(|known| known.name == client) {
                return Err(Failure {
                    cause: format!("--client-args: no client is called `{client}`"),
                    help: "write it like `claude=--add-dir ../shared`".into(),
                });
            }
            run.session.args.entry(client.clone()).or_default().extend(words(arguments));
        }
        run.project = discover(files, &run.project.root, &run.session.cwd);
        Ok(run)
    }

    /// `path` taken from the project, or from the current directory where only that has it.
    fn inside(&self, files: &dyn Files, path: &Path) -> PathBuf {
        let from_project = absolute(&self.project.root, path);
        let from_here = absolute(&self.base, path);
        if files.entry(&from_project).is_none() && files.entry(&from_here).is_some() { from_here } else { from_project }
    }

    fn scene<'a>(&'a self, files: &'a dyn Files) -> Scene<'a> {
        Scene { files, session: &self.session, project: &self.project }
    }

    fn resolutions(&self, scene: &Scene<'_>) -> Vec<Resolution> {
        self.selected.iter().map(|selected| selected.client.resolve(scene, selected.version)).collect()
    }

    fn report<'a>(&'a self, files: &'a dyn Files, resolutions: &'a [Resolution]) -> Report<'a> {
        Report {
            files,
            project: &self.project.root,
            cwd: &self.session.cwd,
            reads: &self.reads,
            resolutions,
            diagnostics: &[],
        }
    }
}

/// The directory `path`, links resolved, taken from `base` or else from `here`.
fn directory(files: &dyn Files, base: &Path, here: &Path, path: &Path, what: &str) -> Result<PathBuf, Failure> {
    let places = [base.join(path), here.join(path)];
    let Some(real) = places.iter().find_map(|place| files.real(place)) else {
        return Err(Failure {
            cause: format!("{what} `{}` does not exist, or may not be looked at", path.display()),
            help: "name a directory that exists".into(),
        });
    };
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
