use std::path::Path;

use super::imports::{
    LeftOut, base, holder, is_document, is_placeholder, is_plainly_a_path, left_out, path_of, spelled, with_spaces,
    written,
};
use super::{Lint, Rule, title};
use crate::diagnostic::{Diagnostic, Level};
use crate::resolution::{Outcome, Skip, Via};
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "import-outside-project",
    level: Level::Warning,
    summary: "an import from outside the start directory, which needs the user's approval",
    page: include_str!("import_outside_project.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    let imports = left_out(lint).filter(|import| import.why == Skip::OutsideProject).filter_map(|import| {
        let (written, rest) = written(lint, import.at)?;
        let (message, help) = judge(lint, &import, &path_of(&written), &rest)?;
        let found = RULE.at(import.at.clone(), message).for_sources([(import.resolution, import.source)]);
        Some(found.help(help))
    });
    let linked_rules = lint.sources().filter(|(_, source)| {
        source.via == Via::Rule && source.outcome == Outcome::Skipped { why: Skip::OutsideProject }
    });
    let rules = linked_rules.filter_map(|(resolution, source)| {
        let found = RULE
            .at(
                Place::whole(source.path()?),
                "the rule is a link out of the project, so it is loaded only with approval",
            )
            .for_sources([(resolution, source)]);
        Some(found.help("put a copy of it here, or approve imports from outside"))
    });
    imports.chain(rules).collect()
}

/// What is wrong with an import, and what to do. Nothing outside the project is looked at.
fn judge(lint: &Lint<'_>, import: &LeftOut<'_>, path: &str, rest: &str) -> Option<(String, String)> {
    let Lint { scene, .. } = lint;
    let inside = import.target.starts_with(&scene.project.root);
    let meant = if inside {
        scene.files.is_file(import.target)
    } else {
        (is_document(path) || is_plainly_a_path(path)) && !is_placeholder(path)
    };
    if !meant {
        return None;
    }
    let dir = base(lint, &import.at.path);
    let home = holder(&dir);
    let name = lint.name(import.target);
    let client = title(import.resolution);
    let cwd = &scene.session.cwd;
    if !import.source.at_startup() {
        let message = format!(
            "`{name}` lies outside the start directory, and a file that is read later never imports from there"
        );
        return Some((message, "move it below the start directory, or import it where the client starts".into()));
    }
    if import.target.starts_with(cwd) {
        let message = format!("`{name}` is a link out of the project, so it is loaded only with approval");
        return Some((message, "import a file that lies in the project, or approve imports from outside".into()));
    }
    if import.target.starts_with(home) && cwd.starts_with(home) {
        let message = format!(
            "`{name}` lies outside the start directory `{}`, so it is loaded only with approval",
            lint.name(cwd)
        );
        let help = format!("start in {}, or approve the import when {client} asks for it", short(lint, home));
        return Some((message, help));
    }
    if let Some(whole) = with_spaces(path, rest).find(|longer| is_document(longer)) {
        let message = format!("the path ends at its first space, and `{path}` lies outside the project");
        let help =
            format!("put a backslash before each space, `{}`, and approve it when {client} asks", spelled(&whole));
        return Some((message, help));
    }
    let message = format!("`{name}` lies outside the project, so it is loaded only with approval");
    let help = if path.starts_with("~/") {
        format!(
            "import it in your own `~/.claude/CLAUDE.md`, which needs no approval, or approve it when {client} asks"
        )
    } else {
        format!("move it into the project, or approve it when {client} asks, which it does only in its terminal")
    };
    Some((message, help))
}

/// `dir` as it is called in advice.
fn short(lint: &Lint<'_>, dir: &Path) -> String {
    if dir == lint.scene.project.root { "the project's own directory".into() } else { format!("`{}`", lint.name(dir)) }
}
