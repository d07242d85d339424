use super::imports::{left_out, path_of, tail, written};
use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::resolution::Skip;

pub(super) static RULE: Rule = Rule {
    name: "import-not-text",
    level: Level::Warning,
    summary: "an import of a file whose name does not end like a text's",
    page: include_str!("import_not_text.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    left_out(lint)
        .filter(|import| import.why == Skip::NotText && lint.scene.files.is_file(import.target))
        .filter_map(|import| {
            let (written, _) = written(lint, import.at)?;
            let path = path_of(&written);
            if tail(lint, &import, &path).is_some() {
                return None;
            }
            let name = path.rsplit('/').next().unwrap_or_default();
            let ending = name.rsplit_once('.').map_or(name, |(_, ending)| ending);
            let message = format!("names that end in `.{ending}` are not taken for text, so nothing is imported");
            let help = match ending.to_ascii_lowercase().as_str() {
                "mdx" | "mdc" | "markdown" | "mdown" => "rename it so that it ends in `.md`",
                _ => "import a text, or take the `@` away",
            };
            Some(RULE.at(import.at.clone(), message).for_sources([(import.resolution, import.source)]).help(help))
        })
        .collect()
}
