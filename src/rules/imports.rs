//! What imports say and name, for the rules that judge them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::Lint;
use crate::files::absolute;
use crate::markdown::is_space;
use crate::resolution::{Outcome, Resolution, Scope, Skip, Source, Via};
use crate::text::{Place, clamp};

/// The endings of names that read like a document's, where an `@` before the name is hardly anything but an import.
const DOCUMENTS: &[&str] = &[
    "adoc",
    "asciidoc",
    "cfg",
    "conf",
    "csv",
    "htm",
    "html",
    "ini",
    "json",
    "jsonc",
    "markdown",
    "md",
    "mdc",
    "mdx",
    "properties",
    "rst",
    "text",
    "toml",
    "txt",
    "xml",
    "yaml",
    "yml",
];

/// Where absolute paths begin. Anything else behind `@/` may be the alias of a bundler.
const TOPS: &[&str] = &["home", "Users", "root", "etc", "opt", "srv", "usr", "var", "tmp", "mnt", "media", "Volumes"];

/// What a mention takes in at its end without meaning it.
const PUNCTUATION: &[char] =
    &['.', ',', ';', ':', '!', '?', ')', ']', '}', '>', '"', '\'', '`', '*', '_', '”', '’', '»'];

/// How far behind an import its path may reach, if it is cut short, in bytes.
const FAR: usize = 512;

/// An import that was left out.
pub(super) struct LeftOut<'a> {
    pub(super) resolution: &'a Resolution,
    pub(super) source: &'a Source,
    pub(super) why: Skip,
    /// The file that it names.
    pub(super) target: &'a Path,
    /// The import itself.
    pub(super) at: &'a Place,
}

/// The imports that the clients left out, but for those in files that are not the project's to mend.
pub(super) fn left_out<'a>(lint: &Lint<'a>) -> impl Iterator<Item = LeftOut<'a>> {
    let lint = *lint;
    lint.resolutions.iter().flat_map(move |resolution| left_out_of(lint, resolution))
}

/// Those that one client left out.
pub(super) fn left_out_of<'a>(lint: Lint<'a>, resolution: &'a Resolution) -> impl Iterator<Item = LeftOut<'a>> {
    resolution.sources.iter().filter(|source| source.via == Via::Import).filter_map(move |source| {
        let Outcome::Skipped { why } = source.outcome else { return None };
        let at = source.from.as_ref().filter(|at| !lint.is_foreign(&at.path))?;
        Some(LeftOut { resolution, source, why, target: source.path()?, at })
    })
}

/// The import at `place` as it is written, and what is behind it on its line, as far as a path may reach.
pub(super) fn written(lint: &Lint<'_>, place: &Place) -> Option<(String, String)> {
    let content = lint.content(&place.path)?;
    let text = content.text();
    let span = clamp(text, place.span?.into());
    let near = clamp(text, span.end..span.end + FAR);
    let rest = text[near].lines().next().unwrap_or_default().to_string();
    Some((text[span].to_string(), rest))
}

/// The path that `written`, an import with its `@`, names.
pub(super) fn path_of(written: &str) -> String {
    let path = written.strip_prefix('@').unwrap_or(written);
    path.split('#').next().unwrap_or_default().replace("\\ ", " ")
}

/// `path` as an import is written.
pub(super) fn spelled(path: &str) -> String {
    format!("@{}", path.replace(' ', "\\ "))
}

/// The file that `path` names in a file of the directory `base`.
pub(super) fn target(lint: &Lint<'_>, path: &str, base: &Path) -> Option<PathBuf> {
    let path = path.trim_matches(is_space);
    match path.strip_prefix("~/") {
        Some(rest) => {
            let home = lint.scene.session.home.as_deref()?;
            Some(absolute(home, Path::new(rest.trim_start_matches('/'))))
        }
        None => Some(absolute(base, Path::new(path))),
    }
}

/// The directory to which the imports of the file at `path` are relative.
pub(super) fn base(lint: &Lint<'_>, path: &Path) -> PathBuf {
    let real = lint.scene.files.real(path);
    real.as_deref().unwrap_or(path).parent().unwrap_or(path).to_path_buf()
}

/// Whether the last part of `path` ends like a document's name.
pub(super) fn is_document(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && DOCUMENTS.iter().any(|known| ending.eq_ignore_ascii_case(known))
    })
}

/// Whether `path` begins like a path and like nothing else that follows an `@`.
pub(super) fn is_plainly_a_path(path: &str) -> bool {
    let first = |rest: &str| TOPS.contains(&rest.split('/').next().unwrap_or_default());
    ["./", "../", "~/"].iter().any(|start| path.starts_with(start))
        || path.strip_prefix('/').is_some_and(|rest| is_document(rest) || first(rest))
}

/// Whether `path` stands for a path in a text about imports.
pub(super) fn is_placeholder(path: &str) -> bool {
    path.contains(['<', '>', '{', '}', '$', '…']) || path.contains("...") || path.starts_with("path/to/")
}

/// `path` without the punctuation at its end; `None` when there is none.
pub(super) fn unpunctuated(path: &str) -> Option<&str> {
    let bare = path.trim_end_matches(PUNCTUATION);
    (bare.len() < path.len() && !bare.is_empty()).then_some(bare)
}

/// Whether there is a file at `target`. Files outside the project are not looked for, unless the importing one may
/// import from anywhere.
pub(super) fn exists(lint: &Lint<'_>, importer: &Source, target: &Path) -> bool {
    let inside = [&lint.scene.project.root, &lint.scene.session.cwd].iter().any(|dir| target.starts_with(dir));
    (inside || importer.scope == Scope::User) && lint.scene.files.is_file(target)
}

/// What punctuation at the end of the path of `import` is taken for a part of it, when the file without it exists.
pub(super) fn tail<'p>(lint: &Lint<'_>, import: &LeftOut<'_>, path: &'p str) -> Option<&'p str> {
    let bare = unpunctuated(path)?;
    let target = target(lint, bare, &base(lint, &import.at.path))?;
    exists(lint, import.source, &target).then(|| &path[bare.len()..])
}

/// The whole path of an import that a backslash cuts short, with `/` in its place.
pub(super) fn with_backslashes(path: &str, rest: &str) -> Option<String> {
    let behind = rest.strip_prefix('\\')?;
    let is_drive = path.len() == 2 && path.ends_with(':') && path.starts_with(|c: char| c.is_ascii_alphabetic());
    let mut end = behind.find(is_space).unwrap_or(behind.len());
    // A drive's path may hold spaces: up to the first word that ends like a document.
    if is_drive && !is_document(&behind[..end].replace('\\', "/")) {
        end = word_ends(behind).find(|at| is_document(&behind[..*at].replace('\\', "/"))).unwrap_or(end);
    }
    let whole = format!("{path}/{}", behind[..end].trim_start_matches('\\')).replace('\\', "/");
    (is_drive || is_document(&whole)).then_some(whole)
}

/// The longer paths that the import of `path` would name if spaces did not end it, shortest first.
pub(super) fn with_spaces<'t>(path: &'t str, rest: &'t str) -> impl Iterator<Item = String> + 't {
    let ends = word_ends(rest).skip(1).take(8);
    ends.filter(|_| rest.starts_with(' ') && !is_document(path)).map(move |end| format!("{path}{}", &rest[..end]))
}

/// Where the words of `text` end.
fn word_ends(text: &str) -> impl Iterator<Item = usize> + '_ {
    text.match_indices(' ').map(|(at, _)| at).chain([text.len()])
}

/// `path` as it is written in a file of the directory `base`.
pub(super) fn relative(base: &Path, path: &Path) -> String {
    let names = |path: &Path| -> Vec<String> {
        let name = |part: Component<'_>| match part {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        };
        path.components().filter_map(name).collect()
    };
    let (from, to) = (names(base), names(path));
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", from.len() - shared);
    up.chain(to[shared..].iter().map(String::as_str)).collect::<Vec<_>>().join("/")
}

/// The real paths of the files that a client loads.
pub(super) fn loaded(resolution: &Resolution) -> BTreeSet<&Path> {
    resolution.sources.iter().filter(|source| source.is_loaded()).filter_map(|source| source.real.as_deref()).collect()
}

/// Whether the client follows imports.
pub(super) fn follows_imports(resolution: &Resolution) -> bool {
    resolution.client == "claude"
}

/// The claim that the client follows none.
pub(super) fn imports_are_text(resolution: &Resolution) -> Option<&'static str> {
    match resolution.client {
        "codex" => Some("codex/run-0.145.0#imports-are-text"),
        "opencode" => Some("opencode/run-1.18.7#imports-are-text"),
        _ => None,
    }
}

/// The directory for which a file speaks: what lies in `.claude` speaks for the directory that holds it.
pub(super) fn holder(dir: &Path) -> &Path {
    let in_claude = dir.ancestors().find(|above| above.file_name() == Some(OsStr::new(".claude")));
    in_claude.and_then(Path::parent).unwrap_or(dir)
}

/// By which import the client came to each imported file.
pub(super) type Importers<'a> = BTreeMap<&'a Path, &'a Place>;

pub(super) fn importers(resolution: &Resolution) -> Importers<'_> {
    let imported = resolution.sources.iter().filter(|source| source.via == Via::Import && source.is_loaded());
    // The first one counts, and the last one that is put in stays.
    imported.rev().filter_map(|source| Some((source.path()?, source.from.as_ref()?))).collect()
}

/// The imports by which the client came to the file at `path`, the last one first, up to the file that is the `top`.
pub(super) fn hops(importers: &Importers<'_>, path: &Path, top: impl Fn(&Path) -> bool) -> Vec<Place> {
    let mut hops: Vec<Place> = Vec::new();
    let mut at = path;
    while hops.len() < 8 && !top(at) {
        let Some(from) = importers.get(at) else { break };
        hops.push(Place::clone(from));
        at = &from.path;
    }
    hops
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_like_a_path() {
        for yes in ["docs/x.md", "package.json", "a/b.YAML"] {
            assert!(is_document(yes), "{yes}");
        }
        for no in ["someone", "scope/pkg", "app.route", "example.com", ".md", "t.md."] {
            assert!(!is_document(no), "{no}");
        }
        for yes in ["./x", "../x", "~/x", "/home/me/x", "/x.md"] {
            assert!(is_plainly_a_path(yes), "{yes}");
        }
        for no in ["/lib/utils", "/components/ui", "x/y"] {
            assert!(!is_plainly_a_path(no), "{no}");
        }
        assert!(DOCUMENTS.is_sorted());
    }

    #[test]
    fn paths_that_are_cut_short() {
        assert_eq!(with_backslashes("docs", "\\a\\b.md is").as_deref(), Some("docs/a/b.md"));
        assert_eq!(
            with_backslashes("C:", "\\Users\\me\\Some Folder\\CLAUDE.md").as_deref(),
            Some("C:/Users/me/Some Folder/CLAUDE.md")
        );
        assert_eq!(with_backslashes("docs", "\\* x"), None);
        let longer: Vec<String> = with_spaces("~/Cloud", " Docs/x.md and").collect();
        assert_eq!(longer, ["~/Cloud Docs/x.md", "~/Cloud Docs/x.md and"]);
        assert_eq!(unpunctuated("t.md)."), Some("t.md"));
    }

    #[test]
    fn relative_paths() {
        let relative = |base, path| relative(Path::new(base), Path::new(path));
        assert_eq!(relative("/p/.claude", "/p/insights/foo.md"), "../insights/foo.md");
        assert_eq!(relative("/p", "/p/a/b.md"), "a/b.md");
    }
}
