//! The recorder: runs a real client on the recorded layouts, against a stub model on loopback, and writes down what reached
//! the model. A development tool, not part of the program; `evidence/README.md` says how it is used.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a development tool that lays out files, runs programs, and says what it saw"
)]

#[cfg(unix)]
mod bisect;
#[cfg(unix)]
mod clients;
#[cfg(unix)]
mod commands;
#[cfg(unix)]
mod dialects;
#[cfg(unix)]
#[path = "../it/layout.rs"]
#[allow(clippy::unwrap_used, dead_code, reason = "shared with the tests")]
mod layout;
#[cfg(unix)]
mod observe;
#[cfg(unix)]
mod recorded;
#[cfg(unix)]
mod room;
#[cfg(unix)]
#[path = "../it/runs.rs"]
#[allow(clippy::unwrap_used, dead_code, reason = "shared with the tests")]
mod runs;
#[cfg(unix)]
mod stub;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    commands::main()
}

#[cfg(not(unix))]
fn main() {
    eprintln!("the recorder lays out links and pipes, and runs on Unix only");
}
