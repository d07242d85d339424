//! The real program on real directories: every recorded run again, through the JSON that it prints.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::layout::{Layout, markers, strings};
use crate::runs::recordings;

/// Runs the program with a clean environment.
pub(crate) fn rulecheck(args: &[&str], dir: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rulecheck")).args(args).current_dir(dir).env_clear().output().unwrap()
}

/// An empty directory of this process and `name`, outside any repository, gone when it is dropped.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("rulecheck-test-{}", std::process::id())).join(name);
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir.canonicalize().unwrap())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The recorded layouts of every client and version, laid out on disk. The text itself is the other test's matter: here
/// a file counts as seen when the program says that it is loaded and it holds a marker of its own.
#[test]
#[cfg(unix)]
fn recorded_layouts_on_disk() {
    let mut cases: Vec<(String, Value)> = Vec::new();
    for (client, version, path) in recordings() {
        let client = format!("{}@{version}", client.name);
        let text = std::fs::read_to_string(&path).unwrap();
        cases.extend(text.lines().map(|line| (client.clone(), serde_json::from_str(line).unwrap())));
    }
    // A test changes nothing of the machine's own configuration, and its own markers are the other test's matter.
    cases.retain(|(_, case)| case.get("etc").is_none() && case.get("known_difference").is_none());
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let (cases, next, wrong) = (&cases, &next, &wrong);
            scope.spawn(move || {
                let scratch = Scratch::new(&format!("layouts-{worker}"));
                let base = scratch.0.join("case");
                while let Some((client, case)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let layout = Layout::new(case, &base);
                    layout.disk(&base);
                    let (answer, wanted) = (ask(&layout, client), whole_files(case, &layout));
                    if answer != wanted {
                        let difference = format!("{client} {}\n  want {wanted:?}\n  got  {answer:?}", case["id"]);
                        wrong.lock().unwrap().push(difference);
                    }
                    std::fs::remove_dir_all(&base).unwrap();
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} runs differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The loaded files of each step by the marker in them, sorted; `None` when the client does not start.
type Steps = Option<Vec<Vec<String>>>;

fn ask(layout: &Layout, client: &str) -> Steps {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut args: Vec<String> = vec!["sources".into(), text(&layout.project)];
    args.extend([
        "--cwd".into(),
        text(&layout.cwd),
        "--client".into(),
        client.into(),
        "--format".into(),
        "json".into(),
    ]);
    // An unset home is no home at all, and the environment of the test is empty.
    if layout.env.get("HOME").is_none_or(Option::is_some) {
        args.extend(["--home".into(), text(&layout.home)]);
    }
    for (name, value) in &layout.env {
        args.extend(value.iter().flat_map(|value| ["--env".into(), format!("{name}={value}")]));
    }
    let name = client.split('@').next().unwrap();
    let quoted: Vec<String> = layout.args.iter().map(|arg| format!("'{arg}'")).collect();
    args.push(format!("--client-args={name}={}", quoted.join(" ")));
    let reads: Vec<String> = layout.reads.iter().map(|read| text(read)).collect();
    args.extend(reads.iter().flat_map(|read| ["--read".into(), read.clone()]));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let output = rulecheck(&args, &layout.project);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let answer = &json["clients"][0];
    if answer["starts"] == false {
        return None;
    }
    let own = own_markers(layout);
    let mut seen: Vec<String> = Vec::new();
    let mut steps = Vec::new();
    for step in 0..=reads.len() {
        let mut found: Vec<String> = Vec::new();
        for source in answer["sources"].as_array().unwrap() {
            let now = source["outcome"] == "loaded"
                && if step == 0 {
                    source["phase"] == "startup"
                } else {
                    source["activated_by"] == reads[step - 1].as_str()
                };
            let marker = source["real_path"].as_str().and_then(|path| own.get(Path::new(path)));
            if let (true, Some(marker)) = (now, marker)
                && source["scope"] != "inline"
                && !seen.contains(marker)
            {
                seen.push(marker.clone());
                found.push(marker.clone());
            }
        }
        found.sort();
        steps.push(found);
    }
    Some(steps)
}

/// The marker that names a file, by the file.
fn own_markers(layout: &Layout) -> BTreeMap<PathBuf, String> {
    let mut own = BTreeMap::new();
    for (path, node) in &layout.nodes {
        if let crate::layout::Node::File(bytes) = node {
            let named = |marker: &String| marker.split_once(':').is_some_and(|(_, name)| path.ends_with(name));
            let marker = markers(&String::from_utf8_lossy(bytes)).into_iter().find(named);
            own.extend(marker.map(|marker| (path.clone(), marker)));
        }
    }
    own
}

/// What was observed, with the marks inside texts left out.
fn whole_files(case: &Value, layout: &Layout) -> Steps {
    let observed = &case["observed"];
    if observed["refuses_to_start"] == true {
        return None;
    }
    let own: Vec<String> = own_markers(layout).into_values().collect();
    let step = |list: &Value| {
        let mut list: Vec<String> = strings(list).into_iter().filter(|marker| own.contains(marker)).collect();
        list.sort();
        list
    };
    let mut steps = vec![step(&observed["startup"])];
    steps.extend((0..layout.reads.len()).map(|read| step(&observed["lazy"][read])));
    Some(steps)
}
