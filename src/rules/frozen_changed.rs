use super::{Lint, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::frozen::{RECORDS, State, records};
use crate::text::Place;

pub(super) static RULE: Rule = Rule {
    name: "frozen-changed",
    level: Level::Error,
    summary: "a frozen copy that is not what was fetched, or is gone",
    page: include_str!("frozen_changed.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    let root = &lint.scene.project.root;
    let at = root.join(RECORDS);
    let records = match records(lint.scene.files, root) {
        Ok(records) => records,
        Err(why) => {
            let found = RULE.at(Place::whole(at), format!("the records of frozen copies cannot be read: {why}"));
            return vec![found.help("restore the file, or freeze the addresses again")];
        }
    };
    let content = lint.content(&at);
    let text = content.as_ref().map_or("", |content| content.text());
    let finding = |(record, state): (&crate::frozen::Record, State)| {
        let span = text.find(record.sha256.as_str()).map(|start| start..start + record.sha256.len());
        let record_place = Place { path: at.clone(), span: span.map(Into::into) };
        let copy = Place::whole(record.path(root));
        let found = match state {
            State::Intact => return None,
            State::Changed => RULE
                .at(copy, format!("this copy is not what was fetched from `{}`", record.url))
                .also(record_place, "the recorded SHA-256"),
            State::Gone(why) => RULE.at(record_place, format!("the copy of `{}` cannot be read: {why}", record.url)),
        };
        Some(found.help("look at what changed; restore the copy, or freeze the address again"))
    };
    records.iter().map(|record| (record, record.state(lint.scene.files, root))).filter_map(finding).collect()
}
