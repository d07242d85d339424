//! The command line, as types. Nothing else in the library knows it.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::Selected;
use crate::diagnostic::FailOn;

/// Says which instruction files each coding client loads, and what is wrong with them.
#[derive(Debug, Parser)]
#[command(name = "rulecheck", version, args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Without a command: `check`.
    #[command(flatten)]
    pub check: Check,
}

const EXAMPLES: &str = "\
Examples:
  rulecheck .                                   check this project for all three clients
  rulecheck sources --client claude@2.1.220 .   what Claude Code 2.1.220 loads here, in order
  rulecheck sources --cwd packages/web .        the same, started in a package
  rulecheck why AGENTS.md                       who loads this file, when, and on what evidence

Exit codes: 0 nothing at or above --fail-on, 1 findings, 2 the run itself failed.";

/// A command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check a project: the matrix of files and clients, the findings, the summary
    Check(Check),
    /// List what each client loads, in order
    Sources(Sources),
    /// Say for each client whether it loads a file, when, by what, and on which evidence
    Why(Why),
    /// Print the instruction text as one client would send it, part by part, secrets redacted
    Prompt(Prompt),
    /// List the known clients and versions, and what changed in them
    Clients(ClientsList),
    /// Say which files fare differently between two versions of a client, and which change does it
    Diff(Diff),
    /// Keep a copy of a remote instruction source, with its address, time and SHA-256
    Freeze(Freeze),
    /// List the dated observations, or verify a copy of one
    Evidence(Evidence),
    /// Print a completion script
    Completions(Completions),
    /// Print the manual page
    Man,
    /// Print the JSON schema of rulecheck.yaml
    Schema,
    /// Propose the portable layout and sure repairs as a diff; nothing is changed without --write
    Fix(Fix),
    /// Print a rule's page, what a client does at a version, or how rulecheck.yaml is written
    Explain(Explain),
}

/// `rulecheck check`
#[derive(Args, Debug)]
pub struct Check {
    /// The project, when it is one directory; a file, or several, limit the findings to them
    #[arg(default_value = ".", value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Fail when there is a finding of this level or above [default: what rulecheck.yaml says, or error]
    #[arg(long, value_name = "LEVEL")]
    pub fail_on: Option<FailOn>,
    /// Print the findings only
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
    /// Write today's findings to rulecheck-baseline.json; later runs report only what is new
    #[arg(long, help_heading = "Baseline")]
    pub write_baseline: bool,
    /// Take secrets and unsupported names into the baseline too
    #[arg(long, requires = "write_baseline", help_heading = "Baseline")]
    pub include_secrets: bool,
    /// What is resolved, and how it is printed.
    #[command(flatten)]
    pub shared: Shared,
}

/// `rulecheck sources`
#[derive(Args, Debug)]
pub struct Sources {
    /// The project
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// What is resolved, and how it is printed.
    #[command(flatten)]
    pub shared: Shared,
}

/// `rulecheck why`
#[derive(Args, Debug)]
pub struct Why {
    /// The file
    pub file: PathBuf,
    /// The project
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// What is resolved, and how it is printed.
    #[command(flatten)]
    pub shared: Shared,
}

/// `rulecheck diff`
#[derive(Args, Debug)]
pub struct Diff {
    /// The client and its two versions; `latest` is the newest known
    #[arg(long, value_name = "NAME@FROM..TO", value_parser = Range::from_str)]
    pub client: Range,
    /// The project
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// The directory that the client is started in, relative to PATH [default: PATH]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Leave out the sources of the user and of the machine
    #[arg(long)]
    pub no_user: bool,
}

/// Two versions of a client.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The client at the first.
    pub from: Selected,
    /// The client at the second.
    pub to: Selected,
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('@').and_then(|(name, versions)| Some((name, versions.split_once("..")?)));
        let (name, (from, to)) = parts.ok_or("write it like claude@2.1.220..2.1.332")?;
        let (from, to): (Selected, Selected) = (format!("{name}@{from}").parse()?, format!("{name}@{to}").parse()?);
        if from.version > to.version {
            return Err(format!("{} comes after {}", from.version, to.version));
        }
        Ok(Self { from, to })
    }
}

/// `rulecheck fix`
#[derive(Args, Debug)]
#[command(after_help = "\
Exit codes: 0 nothing is left to change, 1 changes are proposed and not made, 2 the run failed and nothing is changed.")]
pub struct Fix {
    /// The project, or a file or directory in it
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// Make the changes, all or none; a file that changes meanwhile, or a new name that is taken, is an error
    #[arg(long)]
    pub write: bool,
    /// Give up another layout that works for the portable one
    #[arg(long)]
    pub migrate: bool,
    /// What is resolved, and how it is printed.
    #[command(flatten)]
    pub shared: Shared,
}

/// `rulecheck clients`
#[derive(Args, Debug)]
pub struct ClientsList {
    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: Format,
}

/// `rulecheck prompt`
#[derive(Args, Debug)]
pub struct Prompt {
    /// The project
    #[arg(default_value = ".")]
    pub path: PathBuf,
    /// What is resolved, and how it is printed.
    #[command(flatten)]
    pub shared: Shared,
}

/// `rulecheck freeze`
#[derive(Args, Debug)]
pub struct Freeze {
    /// The address, as the configuration names it
    pub url: String,
    /// The copy that you fetched and read; - is standard input
    #[arg(long, value_name = "FILE")]
    pub from: PathBuf,
    /// The project
    #[arg(default_value = ".")]
    pub path: PathBuf,
}

/// `rulecheck evidence`
#[derive(Args, Debug)]
pub struct Evidence {
    /// Without a command: lists the observations.
    #[command(subcommand)]
    pub command: Option<EvidenceCommand>,
}

/// A command of `rulecheck evidence`.
#[derive(Debug, Subcommand)]
pub enum EvidenceCommand {
    /// Compare the SHA-256 of a local copy with the recorded one
    Verify {
        /// The copy
        file: PathBuf,
        /// The observation, like claude/memory-2026-07-28
        id: String,
    },
}

/// `rulecheck completions`
#[derive(Args, Debug)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// `rulecheck explain`
#[derive(Args, Debug)]
pub struct Explain {
    /// A rule, a client and its version like claude@2.1.220, a claim that stands in brackets behind a finding, matrix, or
    /// rulecheck.yaml; all rules when left out
    pub name: Option<String>,
}

/// The flags of every command that resolves a project.
#[derive(Args, Debug, Default)]
pub struct Shared {
    /// A client, and its version where it is not the default one, like claude@2.1.220, or @latest for the newest known;
    /// may be given several times
    #[arg(long = "client", value_name = "NAME[@VERSION]", value_parser = Selected::from_str, help_heading = "Clients")]
    pub clients: Vec<Selected>,
    /// The directory that the clients are started in, relative to PATH; may be given several times [default: PATH]
    #[arg(long = "cwd", value_name = "DIR", help_heading = "Session")]
    pub cwds: Vec<PathBuf>,
    /// Start the clients in every directory that holds instruction files; each start lists what is above and below it
    #[arg(long, conflicts_with = "cwds", help_heading = "Session")]
    pub cwd_each: bool,
    /// A file that the client reads, relative to PATH; may be given several times, in order
    #[arg(long = "read", value_name = "FILE", help_heading = "Session")]
    pub reads: Vec<PathBuf>,
    /// The user's home directory; the clients' variables are then not taken from the environment
    #[arg(long, value_name = "DIR", help_heading = "Session")]
    pub home: Option<PathBuf>,
    /// A variable of the clients' environment; may be given several times
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = pair, help_heading = "Session")]
    pub env: Vec<(String, String)>,
    /// The arguments that a client is started with, as one text
    #[arg(long = "client-args", value_name = "CLIENT=ARGS", value_parser = pair, allow_hyphen_values = true, help_heading = "Session")]
    pub client_args: Vec<(String, String)>,
    /// Leave out the sources of the user and of the machine
    #[arg(long, help_heading = "Session")]
    pub no_user: bool,
    /// Read an import outside the project as if its approval had been recorded; may be given several times
    #[arg(long, value_name = "PATH", help_heading = "Session")]
    pub allow_external: Vec<PathBuf>,
    /// The configuration [default: rulecheck.yaml in the project's directory]
    #[arg(long, value_name = "FILE", help_heading = "Session")]
    pub config: Option<PathBuf>,
    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = "Output")]
    pub format: Format,
    /// Write to this file instead, in one step
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Whether to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    pub color: Color,
}

/// When colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// An output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Human,
    /// For programs; additive changes only.
    Json,
    /// SARIF 2.1.0, for code scanning (check only).
    Sarif,
    /// Workflow commands of GitHub Actions (check only).
    Github,
}

/// Reads `NAME=VALUE`.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_string(), value.to_string())),
        _ => Err("write it as NAME=VALUE".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn clients_are_named_with_or_without_a_version() {
        assert_eq!(format!("{:?}", "claude".parse::<Selected>().unwrap()), "claude@2.1.220");
        assert_eq!(format!("{:?}", "codex@0.145.0".parse::<Selected>().unwrap()), "codex@0.145.0");
        for wrong in ["", "cursor", "claude@", "claude@1.0.0", "codex@manual-2020-01-01", "claude@2.1"] {
            assert!(wrong.parse::<Selected>().is_err(), "{wrong}");
        }
    }
}
