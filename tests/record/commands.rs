//! The commands: `record`, `compare` and `bisect`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;

use clap::{Args, Parser, Subcommand};
use rulecheck::clients::{Client, Version, client};
use serde_json::{Value, json};

use crate::bisect::bisect;
use crate::observe::{answers, observe};
use crate::recorded::{Rows, place, recorded, write};
use crate::runs::{difference, expected, replay};
use crate::{clients, dialects, room};

/// Runs a released client on the recorded layouts and says what reached its model.
#[derive(Parser)]
#[command(name = "record")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Records one version of a client: writes `evidence/CLIENT/runs/VERSION.jsonl`.
    Record {
        #[command(flatten)]
        run: Run,
        /// Record the patterns of rules and the imports as well (claude only).
        #[arg(long)]
        dialects: bool,
    },
    /// Compares a binary with the runs recorded of VERSION and prints the differences; exits with 1 when there are any.
    Compare {
        #[command(flatten)]
        run: Run,
        /// Compare the patterns of rules and the imports as well (claude only).
        #[arg(long)]
        dialects: bool,
    },
    /// Finds the first version whose answer to one recorded case is not that of the good one.
    Bisect {
        #[arg(value_parser = known)]
        client: &'static Client,
        /// The `id` of the case.
        case: String,
        /// A version with the old answer.
        #[arg(long)]
        good: Version,
        /// A later version with the new answer.
        #[arg(long)]
        bad: Version,
        /// A directory with one binary a version: unpacked npm packages, or files named like `codex-0.145.0`.
        #[arg(long)]
        binaries: PathBuf,
    },
}

#[derive(Args)]
struct Run {
    #[arg(value_parser = known)]
    client: &'static Client,
    version: Version,
    /// The client's program, from its npm package.
    #[arg(long)]
    binary: PathBuf,
    /// Only the case with this `id` (repeatable).
    #[arg(long, value_name = "ID")]
    only: Vec<String>,
    /// How many clients run at a time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

/// What the client answered, or why there is no answer.
type Answer = Result<Value, String>;

pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = room::check().and_then(|()| match cli.command {
        Command::Record { run, dialects } => record(&run, dialects),
        Command::Compare { run, dialects } => compare(&run, dialects),
        Command::Bisect { client, case, good, bad, binaries } => bisect(client, &case, good, bad, &binaries),
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

fn known(name: &str) -> Result<&'static Client, String> {
    client(name).ok_or_else(|| "the clients are codex, opencode and claude".to_string())
}

/// The cases are those recorded of this version; of a new version, those of all earlier recordings, the newest first.
fn record(run: &Run, dialects: bool) -> Result<bool, String> {
    let binary = clients::check(&run.binary, Some(run.version))?;
    answers(run.client.name, &binary)?;
    let all = recorded(run.client)?;
    let own = all.iter().find(|rows| rows.version == run.version);
    let mut rows = own.map_or_else(|| every_case(&all), |own| own.rows.clone());
    let chosen = choose(&rows, &run.only)?;
    let answers = ask(run, &binary, &rows, &chosen);

    let (mut same, mut changed, mut unanswered) = (0, 0, 0);
    let mut written = BTreeSet::new();
    for (at, answer) in chosen.into_iter().zip(answers) {
        let row = &mut rows[at];
        match answer {
            // An order that the client leaves open may come out differently in every run: the recorded one is kept.
            Ok(seen) if alike(run.client, row, &seen) => same += 1,
            Ok(seen) => {
                changed += 1;
                report(row, &seen);
                row["observed"] = seen;
            }
            Err(why) => {
                unanswered += 1;
                println!("{}: no answer: {why}", id(row));
                continue;
            }
        }
        row["version"] = json!(run.version.to_string());
        written.insert(at);
    }
    // What was not asked now stays as it was recorded of this very version.
    let rows: Vec<Value> = rows
        .into_iter()
        .enumerate()
        .filter(|(at, _)| own.is_some() || written.contains(at))
        .map(|(_, row)| row)
        .collect();
    if rows.is_empty() {
        return Err(format!("{} {} answered nothing", run.client.name, run.version));
    }
    let path = place(run.client, run.version, "jsonl");
    write(&path, &rows)?;
    println!("{}: {same} as recorded, {changed} changed, {unanswered} without an answer", path.display());
    if dialects {
        dialects::record(run.client, run.version, &binary)?;
    }
    Ok(unanswered == 0)
}

fn compare(run: &Run, dialects: bool) -> Result<bool, String> {
    let binary = clients::check(&run.binary, None)?;
    answers(run.client.name, &binary)?;
    let all = recorded(run.client)?;
    let rows = &all
        .iter()
        .find(|rows| rows.version == run.version)
        .ok_or_else(|| format!("no runs of {} {} are recorded", run.client.name, run.version))?
        .rows;
    let chosen = choose(rows, &run.only)?;
    let answers = ask(run, &binary, rows, &chosen);
    let (mut same, mut different) = (0, 0);
    for (at, answer) in chosen.into_iter().zip(answers) {
        match answer {
            Ok(seen) if alike(run.client, &rows[at], &seen) => {
                same += 1;
                continue;
            }
            Ok(seen) => report(&rows[at], &seen),
            Err(why) => println!("{}: no answer: {why}", id(&rows[at])),
        }
        different += 1;
    }
    println!("{} {}: {same} alike, {different} different", run.client.name, run.version);
    let dialects = !dialects || dialects::compare(run.client, run.version, &binary)?;
    Ok(different == 0 && dialects)
}

/// The cases that some version was asked, each as the newest of them has it, in the order of the recordings.
fn every_case(all: &[Rows]) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    all.iter().rev().flat_map(|rows| &rows.rows).filter(|row| seen.insert(id(row))).cloned().collect()
}

/// Where in `rows` the cases to run are. Those that need files in `/etc` are passed over.
fn choose(rows: &[Value], only: &[String]) -> Result<Vec<usize>, String> {
    if let Some(unknown) = only.iter().find(|only| !rows.iter().any(|row| id(row) == **only)) {
        return Err(format!("no case is called {unknown}"));
    }
    let wanted = |row: &Value| only.is_empty() || only.iter().any(|only| id(row) == *only);
    let (etc, chosen): (Vec<usize>, Vec<usize>) =
        (0..rows.len()).filter(|at| wanted(&rows[*at])).partition(|at| rows[*at].get("etc").is_some());
    if !etc.is_empty() {
        let ids: Vec<&str> = etc.iter().map(|at| id(&rows[*at])).collect();
        println!("passed over, for they need a machine of their own with files in /etc: {}", ids.join(", "));
    }
    Ok(chosen)
}

/// Runs the chosen cases, a few at a time; the answers are in the order of `chosen`.
fn ask(run: &Run, binary: &Path, rows: &[Value], chosen: &[usize]) -> Vec<Answer> {
    let queue = Mutex::new(chosen.iter().enumerate());
    let answers = Mutex::new(vec![Err("not run".to_string()); chosen.len()]);
    std::thread::scope(|scope| {
        for _ in 0..run.jobs.max(1) {
            scope.spawn(|| {
                while let Some((at, row)) = room::locked(&queue).next() {
                    let answer = observe(run.client.name, binary, &rows[*row]);
                    room::locked(&answers)[at] = answer;
                }
            });
        }
    });
    answers.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Whether `seen` is what was recorded. Where the client leaves an order open, and our resolver says so, any order of those
/// files will do.
fn alike(client: &'static Client, row: &Value, seen: &Value) -> bool {
    let (before, now) = (expected(row), expected(&json!({ "observed": seen })));
    if row["observed"].as_object().is_none_or(serde_json::Map::is_empty) {
        return false; // a new question
    }
    let recorded = row["version"].as_str().and_then(|version| version.parse().ok());
    before == now
        || recorded.is_some_and(|version| {
            let said = replay(client, version, row);
            difference(&before, &said).is_empty() && difference(&now, &said).is_empty()
        })
}

fn report(row: &Value, seen: &Value) {
    println!("{}:\n  recorded {}\n  now      {seen}", id(row), row["observed"]);
}

fn id(row: &Value) -> &str {
    row["id"].as_str().unwrap_or("(no id)")
}
