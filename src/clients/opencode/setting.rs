//! Where OpenCode runs: its directories, its root, its switches.

use std::path::{Path, PathBuf};

use crate::clients::{Os, Scene};
use crate::files::{Entry, Files, absolute};
use crate::resolution::Refusal;
use crate::text::{Place, lossy};

/// The values that turn a compatibility switch on, and those that leave it off.
const ON: [&str; 5] = ["1", "true", "yes", "on", "y"];
const OFF: [&str; 5] = ["0", "false", "no", "off", "n"];

/// The switches that take nothing else.
const STRICT: [&str; 3] =
    ["OPENCODE_DISABLE_CLAUDE_CODE", "OPENCODE_DISABLE_CLAUDE_CODE_PROMPT", "OPENCODE_DISABLE_CLAUDE_CODE_SKILLS"];

/// The first switch in the environment with a value that the client does not accept.
pub(super) fn fault(scene: &Scene<'_>) -> Option<Refusal> {
    STRICT.iter().find_map(|name| {
        let value = scene.session.env.get(*name)?;
        let known = ON.iter().chain(&OFF).any(|known| known == value);
        (!known).then(|| Refusal {
            at: Place::whole(*name),
            why: format!("the value of `{name}` is none of those that the client accepts, like `1` and `0`"),
            evidence: "opencode/run-1.18.7#compatibility-switch-values",
        })
    })
}

/// What the environment and the start directory decide before any configuration is read.
#[derive(Debug)]
pub(super) struct Setting {
    /// The start directory.
    pub(super) cwd: PathBuf,
    /// The root of the git repository that holds it.
    pub(super) root: Option<PathBuf>,
    /// The start directory and those above it, up to the root; without a repository, up to the file system's.
    pub(super) chain: Vec<PathBuf>,
    /// The home directory.
    pub(super) home: Option<PathBuf>,
    /// The directory of the user's configuration.
    pub(super) global: Option<PathBuf>,
    /// The directory that `OPENCODE_CONFIG_DIR` names.
    pub(super) custom: Option<PathBuf>,
    /// The file that `OPENCODE_CONFIG` names.
    pub(super) config: Option<PathBuf>,
    /// The text of `OPENCODE_CONFIG_CONTENT`.
    pub(super) content: Option<String>,
    /// The directory of the administrator's configuration; `None` when it does not count.
    pub(super) managed: Option<&'static Path>,
    /// Whether `CLAUDE.md` is read.
    pub(super) compatible: bool,
    /// Whether the project's configuration and instruction files are read at the start.
    pub(super) project: bool,
}

impl Setting {
    pub(super) fn new(scene: &Scene<'_>) -> Self {
        let session = scene.session;
        let cwd = start_directory(scene);
        let root = git_root(scene, &cwd);
        let chain = cwd.ancestors().map(Path::to_path_buf);
        let chain = match &root {
            Some(root) => chain.take_while(|dir| dir.starts_with(root)).collect(),
            None => chain.collect(),
        };
        let from_cwd = |path: &str| absolute(&cwd, Path::new(path));
        let global = match session.var("XDG_CONFIG_HOME") {
            Some(dir) => Some(from_cwd(dir)),
            None => session.home.as_ref().map(|home| home.join(".config")),
        };
        Self {
            global: global.map(|dir| dir.join("opencode")),
            // Set and empty, it is the start directory.
            custom: session.env.get("OPENCODE_CONFIG_DIR").map(|dir| from_cwd(dir)),
            config: session.var("OPENCODE_CONFIG").map(from_cwd),
            content: session.var("OPENCODE_CONFIG_CONTENT").map(str::to_string),
            managed: session.user.then_some(match session.os {
                Os::Linux => Path::new("/etc/opencode"),
                Os::MacOs => Path::new("/Library/Application Support/opencode"),
                Os::Windows => Path::new("C:/ProgramData/opencode"),
            }),
            compatible: !["OPENCODE_DISABLE_CLAUDE_CODE", "OPENCODE_DISABLE_CLAUDE_CODE_PROMPT"]
                .iter()
                .any(|name| session.env.get(*name).is_some_and(|value| ON.contains(&value.as_str()))),
            project: !session
                .var("OPENCODE_DISABLE_PROJECT_CONFIG")
                .is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true")),
            home: session.home.clone(),
            chain,
            root,
            cwd,
        }
    }

    /// The instruction file names, first choice first.
    pub(super) fn names(&self) -> &'static [&'static str] {
        if self.compatible { &["AGENTS.md", "CLAUDE.md", "CONTEXT.md"] } else { &["AGENTS.md", "CONTEXT.md"] }
    }
}

/// Where the client is started: where `--dir` says, else the session's directory.
fn start_directory(scene: &Scene<'_>) -> PathBuf {
    let cwd = &scene.session.cwd;
    let mut args = scene.session.args("opencode").iter();
    let mut dir = None;
    while let Some(arg) = args.next() {
        match arg.strip_prefix("--dir") {
            Some("") => dir = args.next().map(String::as_str),
            Some(value) if value.starts_with('=') => dir = Some(&value[1..]),
            _ => {}
        }
    }
    let Some(dir) = dir else { return cwd.clone() };
    let dir = absolute(cwd, Path::new(dir));
    scene.files.real(&dir).unwrap_or(dir)
}

/// The root of the repository that git finds from `cwd`. A `.git` directory that is no repository is passed over; a
/// `.git` file that leads to none makes git give up, and so does a `GIT_DIR` that is none.
fn git_root(scene: &Scene<'_>, cwd: &Path) -> Option<PathBuf> {
    let files = scene.files;
    if scene.session.var("GIT_DIR").is_some_and(|dir| !is_repository(files, &absolute(cwd, Path::new(dir)))) {
        return None;
    }
    for dir in cwd.ancestors() {
        let git = dir.join(".git");
        match files.target(&git) {
            Some(Entry::Dir) if is_repository(files, &git) => return Some(dir.to_path_buf()),
            Some(Entry::File { .. }) => {
                let text = files.read(&git).ok()?;
                let text = lossy(&text);
                let to = absolute(dir, Path::new(text.strip_prefix("gitdir: ")?.trim_end_matches(['\n', '\r'])));
                return is_repository(files, &to).then(|| dir.to_path_buf());
            }
            _ => {}
        }
    }
    None
}

/// Whether git takes `dir` for a repository: a `HEAD` that names something, and a place for objects and references.
fn is_repository(files: &dyn Files, dir: &Path) -> bool {
    let line = |name: &str| files.read(&dir.join(name)).ok().map(|text| lossy(&text).trim_end().to_string());
    let head = line("HEAD").is_some_and(|head| {
        head.strip_prefix("ref:").is_some_and(|name| name.trim_start().starts_with("refs/"))
            || (head.len() >= 40 && head.bytes().all(|byte| byte.is_ascii_hexdigit()))
    });
    // A worktree keeps them in the main repository.
    let common = line("commondir").map_or_else(|| dir.to_path_buf(), |to| absolute(dir, Path::new(&to)));
    head && files.is_dir(&common.join("objects")) && files.is_dir(&common.join("refs"))
}
