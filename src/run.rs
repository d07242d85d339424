//! The arguments made a run: the project, its configuration, and a session for each start directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rulecheck::cli::Shared;
use rulecheck::clients::{CLIENTS, Os, Scene, Session, client};
use rulecheck::config::{self, Config, Selected};
use rulecheck::diagnostic::Diagnostic;
use rulecheck::discover::{Project, discover};
use rulecheck::files::{Files, absolute};
use rulecheck::report::{Report, Start};
use rulecheck::secrets::Scanned;

use crate::{Failure, note};

/// One run over one project.
pub(crate) struct Run {
    pub(crate) here: PathBuf,
    pub(crate) config: Config,
    pub(crate) project: Project,
    /// The paths that the findings are limited to.
    pub(crate) only: Option<Vec<PathBuf>>,
    /// One a start directory.
    pub(crate) sessions: Vec<Session>,
    /// The project as each of them sees it.
    views: Vec<Project>,
    reads: Vec<PathBuf>,
    /// The clients that are asked for.
    pub(crate) selected: Vec<Selected>,
}

impl Run {
    pub(crate) fn new(files: &dyn Files, paths: &[PathBuf], shared: &Shared) -> Result<Self, Failure> {
        let here = here()?;
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
            views: Vec::new(),
            config,
            only,
            here,
        };
        let (cwds, views) = match (shared.cwd_each, cwds.is_empty()) {
            // Every start lists all that it sees, so that is but what is above and below it.
            (true, _) => run.project.views().into_iter().unzip(),
            (false, true) => (vec![root], vec![run.project.clone()]),
            (false, false) => (cwds.clone(), vec![run.project.clone(); cwds.len()]),
        };
        run.views = views;
        run.tell_unknown(files, shared);
        run.sessions = cwds.into_iter().map(|cwd| run.session(files, cwd, shared)).collect::<Result<_, _>>()?;
        Ok(run)
    }

    /// Says which arguments change nothing, since they may be slips.
    fn tell_unknown(&self, files: &dyn Files, shared: &Shared) {
        for read in shared.reads.iter().filter(|read| !files.is_file(&self.inside(files, read))) {
            note(&format!("--read `{}` is no file; it is taken for one that will be there", read.display()));
        }
        for (name, arguments) in &shared.client_args {
            let Some(client) = client(name) else { continue };
            for word in words(arguments).iter().filter(|word| word.starts_with('-') && !client.takes(word)) {
                let flag = word.split_once('=').map_or(word.as_str(), |(flag, _)| flag);
                note(&format!(
                    "--client-args: `{flag}` is passed over; of {} only {} matter here",
                    client.title,
                    client.arguments.join(", ")
                ));
            }
        }
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
    pub(crate) fn inside(&self, files: &dyn Files, path: &Path) -> PathBuf {
        let from_project = absolute(&self.project.root, path);
        let from_here = absolute(&self.here, path);
        if files.entry(&from_project).is_none() && files.entry(&from_here).is_some() { from_here } else { from_project }
    }

    /// One a start directory.
    pub(crate) fn scenes<'a>(&'a self, files: &'a dyn Files) -> impl Iterator<Item = Scene<'a>> {
        self.sessions.iter().zip(&self.views).map(move |(session, project)| Scene { files, session, project })
    }

    pub(crate) fn starts(&self, files: &dyn Files) -> Vec<Start> {
        let resolve = |scene: &Scene<'_>| {
            self.selected.iter().map(|selected| selected.client.resolve(scene, selected.version)).collect()
        };
        self.scenes(files).map(|scene| Start { cwd: scene.session.cwd.clone(), resolutions: resolve(&scene) }).collect()
    }

    /// The secrets in everything that is loaded.
    pub(crate) fn scanned(&self, files: &dyn Files, starts: &[Start]) -> Scanned {
        Scanned::new(files, &self.config.fingerprint_key, starts.iter().flat_map(|start| &start.resolutions))
    }

    pub(crate) fn report<'a>(
        &'a self,
        files: &'a dyn Files,
        secrets: &'a Scanned,
        starts: &[Start],
        diagnostics: &[Diagnostic],
    ) -> Report<'a> {
        Report::new(files, secrets.redactor(), &self.project.root, &self.reads, starts, diagnostics)
    }
}

/// The current directory.
pub(crate) fn here() -> Result<PathBuf, Failure> {
    #[allow(clippy::disallowed_methods, reason = "here the environment comes in")]
    std::env::current_dir().map_err(|error| Failure {
        cause: format!("the current directory cannot be found: {error}"),
        help: "change into a directory that exists".into(),
    })
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
    // A directory may be the project itself, a file lies in it.
    let above = |path: &PathBuf| path.ancestors().find(|dir| files.is_dir(dir)).map(Path::to_path_buf);
    let dirs: Vec<PathBuf> = only.iter().filter_map(above).collect();
    let of_all = |dir: &&Path| dirs.iter().all(|other| other.starts_with(dir));
    let common = dirs.first().and_then(|dir| dir.ancestors().find(of_all)).unwrap_or(here);
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
            #[allow(clippy::disallowed_methods, reason = "here the environment comes in")]
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
