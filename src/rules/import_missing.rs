use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::imports::{
    LeftOut, base, exists, holder, is_document, is_placeholder, is_plainly_a_path, left_out, path_of, relative,
    spelled, tail, target, with_backslashes, with_spaces, written,
};
use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::files::absolute;
use crate::resolution::Skip;

pub(super) static RULE: Rule = Rule {
    name: "import-missing",
    level: Level::Warning,
    summary: "an import of a file that does not exist",
    page: include_str!("import_missing.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    let near = OnceCell::new();
    left_out(lint)
        .filter_map(|import| {
            let (written, rest) = written(lint, import.at)?;
            let (message, help) = judge(lint, &import, &written, &rest, &near)?;
            let found = RULE.at(import.at.clone(), message).for_sources([(import.resolution, import.source)]);
            Some(found.help(help))
        })
        .collect()
}

/// What is wrong with an import, and what to do.
fn judge<'a>(
    lint: &Lint<'a>,
    import: &LeftOut<'_>,
    written: &str,
    rest: &str,
    near: &OnceCell<Near<'a>>,
) -> Option<(String, String)> {
    let files = lint.scene.files;
    let path = path_of(written);
    let missing = match import.why {
        Skip::Missing | Skip::BrokenLink => true,
        // From another start directory it would be plain that nothing is there.
        Skip::OutsideProject => {
            import.target.starts_with(&lint.scene.project.root) && files.entry(import.target).is_none()
        }
        Skip::NotAFile => false,
        _ => return None,
    };
    if !missing && import.why != Skip::NotAFile {
        return None;
    }
    if let Some(whole) = with_backslashes(&path, rest) {
        let message = format!("a backslash ends the path, so `{path}` is what is looked for");
        return Some((message, format!("write it with `/`: `{}`", spelled(&whole))));
    }
    if !missing || is_placeholder(&path) || lint.is_foreign(import.target) || tail(lint, import, &path).is_some() {
        return None;
    }
    let dir = base(lint, &import.at.path);
    let there = |longer: &String| target(lint, longer, &dir).is_some_and(|to| exists(lint, import.source, &to));
    if let Some(whole) = with_spaces(&path, rest).find(there) {
        let message = format!("the path ends at its first space, so `{path}` is what is looked for");
        return Some((message, format!("put a backslash before each space: `{}`", spelled(&whole))));
    }
    let name = lint.name(import.target);
    if import.why == Skip::BrokenLink {
        let message = format!("`{name}` is a link that leads nowhere, so nothing is imported");
        return Some((message, "point the link at a file that exists, or take the import away".into()));
    }
    let near = || near.get_or_init(|| Near::new(lint)).find(lint, &path, &dir, &import.at.path);
    let plain = is_document(&path) || is_plainly_a_path(&path);
    let suggestion = if plain || path.contains('/') || beside(lint, &path, &dir) { near() } else { None };
    let help = match suggestion {
        Some(file) => format!("did you mean `{}`?", spelled(&relative(&dir, &file))),
        None if !plain => return None,
        None if path.contains('*') => "an import names one file: write one line for each".into(),
        None => "create the file, or take the import away".into(),
    };
    Some((format!("`{name}` does not exist, so nothing is imported"), help))
}

/// Whether a file of this name lies beside the importing one, but for the ending.
fn beside(lint: &Lint<'_>, path: &str, dir: &Path) -> bool {
    !path.contains(['/', '.']) && lint.scene.files.is_file(&dir.join(format!("{path}.md")))
}

/// The files of the project by their names, for what is nearly one of them.
struct Near<'a> {
    /// By the whole path, in lower case.
    paths: HashMap<String, Named<'a>>,
    /// By the last part, in lower case; `None` where there are several.
    names: HashMap<String, Option<Named<'a>>>,
}

/// A directory, and a name in it.
type Named<'a> = (&'a Path, &'a str);

impl<'a> Near<'a> {
    fn new(lint: &Lint<'a>) -> Self {
        let mut near = Self { paths: HashMap::new(), names: HashMap::new() };
        for dir in lint.scene.project.dirs.iter().filter(|dir| !lint.is_foreign(&dir.path)) {
            for name in dir.files() {
                let named = (dir.path.as_path(), name);
                near.paths.insert(lower(&dir.path.join(name)), named);
                near.names.entry(name.to_lowercase()).and_modify(|known| *known = None).or_insert(Some(named));
            }
        }
        near
    }

    /// The file that `path` in the file `importer` of `dir` seems to mean.
    fn find(&self, lint: &Lint<'_>, path: &str, dir: &Path, importer: &Path) -> Option<PathBuf> {
        let is_bare = !path.starts_with(['/', '~']);
        let mut bases = vec![dir];
        if is_bare {
            bases.extend([holder(dir), &lint.scene.project.root, &lint.scene.session.cwd]);
        }
        let endings: &[&str] = if is_document(path) { &[""] } else { &["", ".md", ".txt"] };
        let places = bases.iter().flat_map(|base| {
            let whole = target(lint, path, base).unwrap_or_else(|| absolute(base, Path::new(path)));
            endings.iter().map(move |ending| format!("{}{ending}", lower(&whole)))
        });
        let by_place = places.filter_map(|place| self.paths.get(&place)).next();
        let by_name = || {
            let name = path.rsplit('/').next().filter(|_| is_document(path))?;
            self.names.get(&name.to_lowercase())?.as_ref()
        };
        let (dir, name) = by_place.or_else(by_name)?;
        Some(dir.join(name)).filter(|file| file != importer && lint.scene.files.is_file(file))
    }
}

fn lower(path: &Path) -> String {
    path.to_string_lossy().to_lowercase()
}
