//! What is attached later, when the client's read tool opens a file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::reading::{self, Reading};
use super::setting::Setting;
use super::{NAMES, chosen, file};
use crate::clients::Scene;
use crate::files::absolute;
use crate::resolution::{Scope, Skip, Source, Trigger, Via};

/// The lazy sources: those that the simulated reads load, in order, then the others by path. `seen` holds the paths
/// of the start: what is loaded already is not attached again.
pub(super) fn resolve(scene: &Scene<'_>, setting: &Setting, seen: &BTreeSet<PathBuf>) -> Vec<Source> {
    let mut sources: BTreeMap<PathBuf, Source> = BTreeMap::new();
    let mut others = Vec::new();
    for dir in directories(scene, setting) {
        let by = chosen(scene.files, setting, dir);
        for path in NAMES.iter().map(|name| dir.join(name)).filter(|path| scene.files.entry(path).is_some()) {
            let source = lazy(scene, dir, &path);
            if by.as_ref() == Some(&path) {
                if !seen.contains(&path) {
                    sources.insert(path, source);
                }
            } else if path.ends_with("CLAUDE.md") && !setting.compatible {
                others.push(source.skipped(Skip::Disabled));
            } else if let Some(by) = by.as_ref().filter(|_| scene.files.target(&path).is_some()) {
                others.push(source.shadowed(by));
            } else {
                others.push(source);
            }
        }
    }
    let mut attached = Vec::new();
    // What was attached to an image counts as loaded, though it was not shown.
    let mut lost = BTreeSet::new();
    for (at, read) in scene.session.reads.iter().enumerate() {
        let shown = reading::kind(scene.files, read);
        for path in attachments(scene, setting, read, seen) {
            match shown {
                Reading::Refused => continue,
                Reading::Image => {
                    lost.insert(path);
                    continue;
                }
                Reading::Text if lost.contains(&path) => continue,
                Reading::Text => {}
            }
            // A directory that is reached over a link was not listed above.
            let dir = path.parent().unwrap_or(&path);
            let mut source = match sources.remove(&path) {
                Some(source) => source,
                None if attached.iter().any(|known: &Source| known.path() == Some(&path)) => continue,
                None => lazy(scene, dir, &path),
            };
            if source.is_loaded() {
                source.activated_by = Some(at);
                attached.push(source);
            } else {
                sources.insert(path, source);
            }
        }
    }
    attached.into_iter().chain(sources.into_values()).chain(others).collect()
}

fn lazy(scene: &Scene<'_>, dir: &Path, path: &Path) -> Source {
    let mut source = Source::file(path, Scope::Project, Via::Place, "opencode/source-1.18.7#lazy-nested");
    source.evidence.push("opencode/run-1.18.7#lazy-files");
    file::filled(scene.files, source.lazy(Trigger::Under(dir.to_path_buf())))
}

/// The directories of the project in which a read can attach something, in order.
fn directories<'a>(scene: &'a Scene<'_>, setting: &Setting) -> BTreeSet<&'a Path> {
    let files = scene.project.instructions.range(setting.cwd.clone()..);
    files
        .take_while(|path| starts_alike(path, &setting.cwd))
        .filter(|path| NAMES.iter().any(|name| path.file_name() == Some(name.as_ref())))
        .filter_map(|path| path.parent())
        .filter(|dir| is_below(dir, &setting.cwd))
        .collect()
}

/// The paths that a read of `read` attaches when none is loaded yet: nearest first, one for each directory below the
/// start directory. The path is taken as it is given; its links are not resolved.
fn attachments(scene: &Scene<'_>, setting: &Setting, read: &Path, seen: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let read = absolute(Path::new("/"), read);
    let dirs = read.ancestors().skip(1).take_while(|dir| is_below(dir, &setting.cwd));
    dirs.filter_map(|dir| chosen(scene.files, setting, dir))
        .filter(|path| *path != read && !seen.contains(path))
        .collect()
}

/// Whether the client takes `dir` for a directory below `cwd`. It compares the text of the paths, so `app2` counts as
/// below `app`.
fn is_below(dir: &Path, cwd: &Path) -> bool {
    dir != cwd && starts_alike(dir, cwd)
}

fn starts_alike(path: &Path, cwd: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().starts_with(cwd.as_os_str().as_encoded_bytes())
}
