//! What an import names.

use std::path::{Path, PathBuf};

use crate::files::absolute;
use crate::markdown::is_space;

/// The hops that an import may be away from the file by which the client comes to it.
pub(super) const MAX_HOPS: usize = 4;

/// The endings of the names that an import loads, besides none.
const TEXT: &[&str] = &[
    "adoc",
    "asciidoc",
    "astro",
    "bash",
    "bat",
    "c",
    "cc",
    "cfg",
    "cjs",
    "clj",
    "cljc",
    "cljs",
    "cmake",
    "cmd",
    "conf",
    "config",
    "cpp",
    "cs",
    "css",
    "csv",
    "cts",
    "cxx",
    "dart",
    "diff",
    "edn",
    "ejs",
    "elm",
    "env",
    "erb",
    "erl",
    "ex",
    "exs",
    "f",
    "f90",
    "f95",
    "fish",
    "for",
    "go",
    "gql",
    "gradle",
    "graphql",
    "h",
    "hbs",
    "hpp",
    "hrl",
    "hs",
    "htm",
    "html",
    "hxx",
    "ini",
    "jade",
    "java",
    "js",
    "json",
    "jsx",
    "kt",
    "kts",
    "latex",
    "less",
    "lhs",
    "lock",
    "log",
    "lua",
    "make",
    "makefile",
    "md",
    "mjs",
    "ml",
    "mli",
    "mts",
    "org",
    "patch",
    "php",
    "pl",
    "pm",
    "properties",
    "proto",
    "ps1",
    "pug",
    "py",
    "pyi",
    "pyw",
    "r",
    "rake",
    "rb",
    "rs",
    "rst",
    "sass",
    "sbt",
    "scala",
    "scss",
    "sh",
    "sql",
    "svelte",
    "swift",
    "tex",
    "text",
    "toml",
    "ts",
    "tsx",
    "txt",
    "vue",
    "xml",
    "yaml",
    "yml",
    "zsh",
];

/// The file that `written` names in a file of the directory `base`, by spelling alone.
pub(super) fn target(written: &str, base: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let written = written.trim_matches(is_space);
    match written.strip_prefix("~/") {
        Some(rest) => home.map(|home| absolute(home, Path::new(rest.trim_start_matches('/')))),
        None => Some(absolute(base, Path::new(written))),
    }
}

/// Whether an import takes the file called `path` for text.
pub(super) fn is_text(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    match name.rsplit_once('.') {
        // A dot file's name is no ending.
        None | Some(("", _)) => true,
        Some((_, ending)) => TEXT.iter().any(|known| ending.eq_ignore_ascii_case(known)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_resolved_by_spelling() {
        let target = |written| target(written, Path::new("/p/a"), Some(Path::new("/h")));
        assert_eq!(target("../t.md/"), Some(PathBuf::from("/p/t.md")));
        assert_eq!(target("~/n.md"), Some(PathBuf::from("/h/n.md")));
        assert_eq!(target("/x/./y "), Some(PathBuf::from("/x/y")));
    }

    #[test]
    fn endings() {
        for yes in ["a.md", "a.TS", ".env", "Makefile", "a.png.md"] {
            assert!(is_text(Path::new(yes)), "{yes}");
        }
        for no in ["a.png", "a.", ".env.local", "a.md~"] {
            assert!(!is_text(Path::new(no)), "{no}");
        }
        assert!(TEXT.is_sorted());
    }
}
