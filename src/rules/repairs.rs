//! What mends a layout, for the rules that find it wanting.

use std::path::Path;

use super::Lint;
use super::imports::{base, holder, relative, spelled};
use crate::diagnostic::Repair;
use crate::files::Entry;
use crate::markdown::lex;

/// What makes Claude Code read the `AGENTS.md` at `agents`: an import in the `CLAUDE.md` for its directory. A link in
/// the place of that file is somebody's decision, and stays.
pub(super) fn import(lint: &Lint<'_>, agents: &Path) -> Option<Repair> {
    let dir = agents.parent()?;
    let own = dir.join("CLAUDE.md");
    let aside = dir.join(".claude/CLAUDE.md");
    let is_aside = lint.scene.files.entry(&own).is_none() && has_text(lint, &aside);
    let file = if is_aside { aside } else { own };
    let is_open = matches!(lint.scene.files.entry(&file), None | Some(Entry::File { .. }));
    let line = spelled(&relative(&base(lint, &file), agents));
    is_open.then(|| Repair::Import { file, of: agents.to_path_buf(), line })
}

/// What gives the text of the `CLAUDE.md` at `file` to all clients: it moves to the `AGENTS.md` of its directory.
pub(super) fn move_out(lint: &Lint<'_>, file: &Path) -> Option<Repair> {
    let dir = file.parent()?;
    let to = holder(dir).join("AGENTS.md");
    let content = lint.content(file)?;
    let text = content.text();
    // The other clients follow no imports, so there must be something else. And an import is relative to its file.
    let only_imports = text.lines().all(|line| line.trim().is_empty() || line.starts_with('@'));
    let loses_imports = to.parent() != Some(dir) && has_imports(text);
    let is_free = lint.scene.files.entry(&to).is_none() || (is_plain(lint, &to) && !has_text(lint, &to));
    let line = spelled(&relative(&base(lint, file), &to));
    (is_plain(lint, file) && is_free && !only_imports && !loses_imports).then(|| Repair::Move {
        file: file.to_path_buf(),
        to,
        line,
    })
}

/// Whether `path` is a file itself, and no link to one.
pub(super) fn is_plain(lint: &Lint<'_>, path: &Path) -> bool {
    matches!(lint.scene.files.entry(path), Some(Entry::File { .. }))
}

/// Whether `text` imports anything.
pub(crate) fn has_imports(text: &str) -> bool {
    lex(text, false).mentions.iter().any(|mention| mention.ignored.is_none())
}

fn has_text(lint: &Lint<'_>, path: &Path) -> bool {
    lint.content(path).is_some_and(|content| !content.text().trim().is_empty())
}
