//! A layout as the recorded runs describe it, laid out in memory or on disk.
//!
//! `files`, `home` and `outside` map a path to its text, to `{"link": target}`, `{"dir": 1}`, `{"fifo": 1}`, `{"hex": bytes}` or
//! `{"raw": text}`; `etc` maps absolute paths of the machine to texts. A plain text gets a marker, `MARK<scope:path>`, at its end or where `{{M}}` stands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rulecheck::files::{Memory, absolute};
use serde_json::{Value, json};

/// A layout with its places filled in.
pub(crate) struct Layout {
    pub(crate) project: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) cwd: PathBuf,
    pub(crate) reads: Vec<PathBuf>,
    /// The environment; `None` unsets.
    pub(crate) env: BTreeMap<String, Option<String>>,
    pub(crate) args: Vec<String>,
    pub(crate) nodes: Vec<(PathBuf, Node)>,
}

pub(crate) enum Node {
    File(Vec<u8>),
    Dir,
    Link(String),
    Pipe,
}

impl Layout {
    /// The layout of `case` below the directory `base`.
    pub(crate) fn new(case: &Value, base: &Path) -> Self {
        let project = base.join(case["project_dir"].as_str().unwrap_or("proj"));
        let home = base.join("home");
        let fill = |text: &str| {
            text.replace("{{PROJ}}", &project.to_string_lossy())
                .replace("{{HOME}}", &home.to_string_lossy())
                .replace("{{BASE}}", &base.to_string_lossy())
                .replace("{{PORT}}", "1")
        };
        let mut nodes = vec![(project.clone(), Node::Dir), (home.clone(), Node::Dir)];
        for (part, scope, dir) in
            [("files", "proj", &project), ("home", "home", &home), ("outside", "out", &base.to_path_buf())]
        {
            for (path, value) in case[part].as_object().into_iter().flatten() {
                nodes.push((dir.join(fill(path)), node(scope, path, value, &fill)));
            }
        }
        for (path, text) in case["etc"].as_object().into_iter().flatten() {
            // The machine's own files have the marks that are written in them.
            let text = text.as_str().map_or_else(|| text.clone(), |text| json!({ "raw": text }));
            nodes.push((PathBuf::from(path), node("etc", path, &text, &fill)));
        }
        let git = case.get("git").cloned().unwrap_or_else(|| json!(["."]));
        for dir in strings(&git) {
            let git = absolute(&project, Path::new(&dir)).join(".git");
            nodes.push((git.join("HEAD"), Node::File(b"ref: refs/heads/main\n".to_vec())));
            nodes.push((git.join("objects"), Node::Dir));
            nodes.push((git.join("refs"), Node::Dir));
        }
        let cwd = absolute(&project, Path::new(case["cwd"].as_str().unwrap_or(".")));
        nodes.push((cwd.clone(), Node::Dir));
        Self {
            reads: strings(&case["reads"]).iter().map(|read| absolute(&project, Path::new(&fill(read)))).collect(),
            env: case["env"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(k, v)| (k.clone(), v.as_str().map(&fill)))
                .collect(),
            args: strings(&case["args"]).iter().map(|arg| fill(arg)).collect(),
            project,
            home,
            cwd,
            nodes,
        }
    }

    pub(crate) fn memory(&self) -> Memory {
        let mut memory = Memory::default();
        let links: Vec<&PathBuf> =
            self.nodes.iter().filter(|(_, node)| matches!(node, Node::Link(_))).map(|(path, _)| path).collect();
        for (path, node) in &self.nodes {
            match node {
                Node::File(bytes) => memory.file(path, bytes),
                // A link may stand where a start directory is named.
                Node::Dir if links.iter().any(|link| path.starts_with(link)) => &mut memory,
                Node::Dir => memory.dir(path),
                Node::Link(to) => memory.link(path, to),
                Node::Pipe => memory.other(path),
            };
        }
        memory
    }

    #[cfg(unix)]
    pub(crate) fn disk(&self, base: &Path) {
        for (path, node) in &self.nodes {
            assert!(path.starts_with(base), "a test writes below its own directory only, not at {}", path.display());
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            match node {
                Node::File(bytes) => std::fs::write(path, bytes).unwrap(),
                Node::Dir => std::fs::create_dir_all(path).unwrap(),
                Node::Link(to) => std::os::unix::fs::symlink(to, path).unwrap(),
                Node::Pipe => assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success()),
            }
        }
    }
}

fn node(scope: &str, path: &str, value: &Value, fill: &dyn Fn(&str) -> String) -> Node {
    if let Some(text) = value.as_str() {
        let marker = format!("MARK<{scope}:{path}>");
        let markable = [".md", ".mdc", ".txt"].iter().any(|ending| path.ends_with(ending));
        let text = if text.contains("{{M}}") {
            text.replace("{{M}}", &marker)
        } else if !text.trim().is_empty() && markable {
            format!("{}\n{marker}\n", text.trim_end_matches('\n'))
        } else {
            text.to_string()
        };
        return Node::File(fill(&text).into_bytes());
    }
    if let Some(to) = value["link"].as_str() {
        Node::Link(fill(to))
    } else if let Some(raw) = value["raw"].as_str() {
        Node::File(fill(raw).into_bytes())
    } else if let Some(hex) = value["hex"].as_str() {
        Node::File((0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect())
    } else if value.get("fifo").is_some() {
        Node::Pipe
    } else {
        Node::Dir
    }
}

pub(crate) fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|item| item.as_str().unwrap().to_string()).collect()
}

/// The markers in `text`, in order, each once.
pub(crate) fn markers(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for part in text.split("MARK<").skip(1) {
        if let Some((marker, _)) = part.split_once('>')
            && !marker.contains('\n')
            && !found.iter().any(|known| known == marker)
        {
            found.push(marker.to_string());
        }
    }
    found
}
