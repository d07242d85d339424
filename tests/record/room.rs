//! Where a client runs: a temporary directory of its own, for a limited time, and nothing of either remains.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// No client needs this long for one layout, even on a busy machine, unless it waits for something that never comes.
const LIMIT: Duration = Duration::from_secs(300);

/// A temporary directory, removed when it is dropped.
pub(crate) struct Room {
    /// The directory itself: the client's output, and what it takes for `TMPDIR`.
    path: PathBuf,
}

impl Room {
    pub(crate) fn new() -> Result<Self, String> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("rulecheck-record-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let room = Self { path: temporary()?.join(name) };
        for dir in [room.base(), room.tmp()] {
            std::fs::create_dir_all(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        }
        Ok(room)
    }

    /// The directory that holds the project and the home directory.
    pub(crate) fn base(&self) -> PathBuf {
        self.path.join("base")
    }

    pub(crate) fn tmp(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// Runs `command` to its end, or for as long as it may take; what it started ends with it.
    pub(crate) fn run(&self, command: &mut Command) -> Result<Finished, String> {
        // Files rather than pipes: a pipe would have to be emptied while the client runs, and stays open as long as
        // something that the client started holds it.
        let (out, err) = (self.path.join("stdout"), self.path.join("stderr"));
        let create = |path: &Path| File::create(path).map_err(|error| format!("{}: {error}", path.display()));
        let child = command
            .stdin(Stdio::null())
            .stdout(create(&out)?)
            .stderr(create(&err)?)
            .process_group(0)
            .spawn()
            .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
        let status = Running(child).wait()?;
        let text = |path: &Path| {
            let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok::<_, String>(String::from_utf8_lossy(&bytes).into_owned())
        };
        Ok(Finished { status, stdout: text(&out)?, stderr: text(&err)? })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.path) {
            eprintln!("{} stays: {error}", self.path.display());
        }
    }
}

/// A client that has ended.
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    /// The end of what it said on standard error, for a message.
    pub(crate) fn complaint(&self) -> String {
        let lines: Vec<&str> = self.stderr.lines().filter(|line| !line.trim().is_empty()).collect();
        format!("{}: {}", self.status, lines[lines.len().saturating_sub(3)..].join(" / "))
    }
}

/// A process in a group of its own, which ends with it.
struct Running(Child);

impl Running {
    fn wait(mut self) -> Result<ExitStatus, String> {
        let start = Instant::now();
        while start.elapsed() < LIMIT {
            match self.0.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) => std::thread::sleep(Duration::from_millis(20)),
                Err(error) => return Err(error.to_string()),
            }
        }
        Err(format!("it was still running after {} seconds", LIMIT.as_secs()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The standard library ends one process, not a group. A group that is gone already is an error that says nothing.
        let group = format!("-{}", self.0.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether this machine lets a client see nothing but the layout.
pub(crate) fn check() -> Result<(), String> {
    let temporary = temporary()?;
    let names =
        [".git", ".claude", ".codex", ".opencode", "opencode.json", "AGENTS.md", "CLAUDE.md", "CLAUDE.local.md"];
    let above = temporary.ancestors().flat_map(|dir| names.map(|name| dir.join(name)));
    let managed = ["/etc/codex", "/etc/opencode", "/etc/claude-code"].map(PathBuf::from);
    match above.chain(managed).find(|path| path.symlink_metadata().is_ok()) {
        None => Ok(()),
        Some(path) => Err(format!(
            "{} would be seen by the client; set TMPDIR to a directory outside any repository, on a machine without managed files",
            path.display()
        )),
    }
}

/// The directory for temporary files, links resolved, as the client will see it.
fn temporary() -> Result<PathBuf, String> {
    let dir = std::env::temp_dir();
    dir.canonicalize().map_err(|error| format!("{}: {error}", dir.display()))
}

/// What a mutex holds: a thread that failed while it held it has said so already.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
