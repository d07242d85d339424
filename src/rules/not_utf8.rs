use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::resolution::Via;
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "not-utf8",
    level: Level::Warning,
    summary: "a loaded file that is not UTF-8, so that the model gets replaced characters or noise",
    page: include_str!("not_utf8.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    let loaded = lint.sources().filter(|(_, source)| source.is_loaded() && source.inline.is_none());
    let files = loaded.filter_map(|(resolution, source)| Some((resolution, source, source.path()?)));
    files
        .filter(|(_, source, path)| !lint.is_foreign(path) && source.via != Via::Import || source.from.is_some())
        .filter_map(|(resolution, source, path)| {
            let content = lint.content(path)?;
            let error = std::str::from_utf8(&content).err()?;
            let message = match content.get(..2) {
                Some([0xff, 0xfe] | [0xfe, 0xff]) => "the file is UTF-16, which reaches the model as noise",
                _ => "the file is not UTF-8: the bytes from here on that are not are replaced",
            };
            // The valid part before is as long in the text as in the file.
            let at = error.valid_up_to();
            let mark = content.text()[at..].chars().next().map_or(0, char::len_utf8);
            Some(
                RULE.at(Place::at(path, at..at + mark), message)
                    .for_sources([(resolution, source)])
                    .help("save the file as UTF-8"),
            )
        })
        .collect()
}
