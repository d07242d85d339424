use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::imports::{
    base, exists, follows_imports, holder, imports_are_text, is_document, left_out_of, loaded, path_of, spelled, tail,
    target, unpunctuated, written,
};
use super::{Lint, Rule, repairs};
use crate::diagnostic::{Diagnostic, Level, Repair};
use crate::markdown::{Ignored, Mention};
use crate::resolution::{Resolution, Scope, Skip, Source, Via};
use crate::text::{Place, clamp};

pub(super) static RULE: Rule = Rule {
    name: "import-ignored",
    level: Level::Warning,
    summary: "what looks like an import of a file that exists, and is none",
    page: include_str!("import_ignored.md"),
    check,
};

fn check(lint: &Lint<'_>) -> Vec<Diagnostic> {
    lint.resolutions.iter().flat_map(|resolution| ignored(lint, resolution)).map(|(_, found)| found).collect()
}

/// The files of which a finding of this rule says why they are not imported.
pub(super) fn named(lint: &Lint<'_>, resolution: &Resolution) -> BTreeSet<PathBuf> {
    ignored(lint, resolution).into_iter().map(|(target, _)| target).collect()
}

/// What looks like an import and is none, with the file that it seems to name.
fn ignored(lint: &Lint<'_>, resolution: &Resolution) -> Vec<(PathBuf, Diagnostic)> {
    let loaded = loaded(resolution);
    let mut found = Vec::new();
    let follows = follows_imports(resolution);
    if follows {
        found.extend(punctuated(lint, resolution));
        found.extend(cut_fragments(lint, resolution));
    }
    for source in resolution.sources.iter().filter(|source| source.is_loaded() && source.inline.is_none()) {
        let Some(path) = source.path().filter(|path| !lint.is_foreign(path)) else { continue };
        let Some(content) = lint.content(path) else { continue };
        let text = content.text();
        // Most texts hold nothing of the kind, and are not lexed.
        if !text.contains('@') && !text.contains("](") {
            continue;
        }
        let (dir, imported) = (base(lint, path), OnceCell::new());
        let file = File { lint, resolution, source, path, dir, text, loaded: &loaded, imported };
        let mentions = &content.markdown(false).mentions;
        if follows {
            found.extend(mentions.iter().filter_map(|mention| file.no_import(mention)));
            found.extend(file.links());
        } else {
            found.extend(file.inert(mentions));
        }
    }
    found
}

/// The imports that take the punctuation behind them for a part of the path.
fn punctuated<'a>(lint: &Lint<'a>, resolution: &'a Resolution) -> Vec<(PathBuf, Diagnostic)> {
    let loaded = loaded(resolution);
    left_out_of(*lint, resolution)
        .filter(|import| matches!(import.why, Skip::NotText | Skip::Missing))
        .filter_map(|import| {
            let (written, _) = written(lint, import.at)?;
            let path = path_of(&written);
            let tail = tail(lint, &import, &path)?;
            let bare = &path[..path.len() - tail.len()];
            let target = target(lint, bare, &base(lint, &import.at.path))?;
            if is_loaded(lint, &loaded, &target) {
                return None;
            }
            let message = format!("the `{tail}` behind the path is taken for a part of it, so this is no import");
            let found = RULE.at(import.at.clone(), message).for_sources([(resolution, import.source)]);
            let found = found.help(format!("take it away, or put a space before it: `{}`", spelled(bare)));
            Some((target, found.mended_by(without(import.at, &written, tail))))
        })
        .collect()
}

/// What parts the punctuation `tail` from the import at `place`: a full stop or a comma goes, what may belong to a pair
/// or to a sentence moves away.
fn without(place: &Place, written: &str, tail: &str) -> Option<Repair> {
    let end = place.span?.end;
    let new = if tail.trim_matches(['.', ',']).is_empty() { String::new() } else { format!(" {tail}") };
    let span = (end.checked_sub(tail.len())?..end).into();
    // Behind a fragment, the end of what is written is not that of the path.
    written.ends_with(tail).then(|| Repair::Replace { path: place.path.clone(), span, old: tail.to_string(), new })
}

/// The imports that name a part of a file, and load all of it.
fn cut_fragments(lint: &Lint<'_>, resolution: &Resolution) -> Vec<(PathBuf, Diagnostic)> {
    let imported = resolution.sources.iter().filter(|source| source.via == Via::Import && source.is_loaded());
    imported
        .filter_map(|source| {
            let at = source.from.as_ref().filter(|at| !lint.is_foreign(&at.path))?;
            let (written, _) = written(lint, at)?;
            let (path, fragment) = written.split_once('#').filter(|(_, fragment)| !fragment.is_empty())?;
            let start = at.span?.start + path.len();
            let place = Place::at(&at.path, start..start + 1 + fragment.len());
            let message = format!("`#{fragment}` is cut off, so all of the file is imported");
            let found = RULE.at(place, message).for_sources([(resolution, source)]);
            let help = "put the part into a file of its own, or leave the fragment out";
            Some((source.path()?.to_path_buf(), found.help(help)))
        })
        .collect()
}

fn is_loaded(lint: &Lint<'_>, loaded: &BTreeSet<&Path>, target: &Path) -> bool {
    lint.scene.files.real(target).is_some_and(|real| loaded.contains(real.as_path()))
}

/// A loaded file.
struct File<'f, 'a> {
    lint: &'f Lint<'a>,
    resolution: &'a Resolution,
    source: &'a Source,
    path: &'f Path,
    /// The directory to which its imports are relative.
    dir: PathBuf,
    text: &'f str,
    /// The real paths of all loaded files.
    loaded: &'f BTreeSet<&'a Path>,
    /// The real paths of the files that it would import in Claude Code.
    imported: OnceCell<HashSet<PathBuf>>,
}

impl File<'_, '_> {
    /// What an import of `path` would name, if it exists and is not loaded anyway.
    fn unloaded(&self, path: &str) -> Option<PathBuf> {
        let target = target(self.lint, path, &self.dir)?;
        let missed = exists(self.lint, self.source, &target) && !is_loaded(self.lint, self.loaded, &target);
        missed.then_some(target)
    }

    fn finding(&self, span: Range<usize>, message: String, help: String) -> Diagnostic {
        RULE.at(Place::at(self.path, span), message).for_sources([(self.resolution, self.source)]).help(help)
    }

    /// A mention that is no import, though somebody may think so.
    fn no_import(&self, mention: &Mention) -> Option<(PathBuf, Diagnostic)> {
        let why = mention.ignored?;
        let span = mention.span.clone();
        let bare = unpunctuated(&mention.path).unwrap_or(&mention.path);
        if !is_document(bare) || (why == Ignored::CodeSpan && !self.is_alone(&span)) {
            return None;
        }
        let before = self.text[..span.start].chars().next_back();
        let message = match why {
            Ignored::Glued => match before? {
                before if before.is_whitespace() => return None,
                before => format!("`{before}` stands right before the `@`, so this is no import"),
            },
            Ignored::CodeSpan => "nothing between backticks is an import".into(),
            Ignored::Html => "nothing in HTML is an import".into(),
            Ignored::Link => "the target of a link is no import".into(),
            // What is in a block of code, in a comment or in the front matter is there to be seen by people, or not at all.
            Ignored::Code | Ignored::Comment | Ignored::FrontMatter => return None,
        };
        let target = self.unloaded(bare)?;
        let written = spelled(bare);
        let help = match why {
            Ignored::Html => format!("leave a blank line between the tag and `{written}`"),
            Ignored::CodeSpan => format!("take the backticks away: `{written}`"),
            _ => format!("write `{written}` with white space, and nothing else, before and behind it"),
        };
        // The punctuation is no part of what is meant.
        let end = span.end - (mention.path.len() - bare.len()).min(span.len());
        let end =
            if self.text.is_char_boundary(end) && !self.text[span.clone()].contains('#') { end } else { span.end };
        let repair = self.import(&target);
        Some((target, self.finding(span.start..end, message, help).mended_by(repair)))
    }

    /// The import of `target` that belongs here if that is the `AGENTS.md` of the same directory. Any other file may
    /// be mentioned and not meant to be imported.
    fn import(&self, target: &Path) -> Option<Repair> {
        let is_other_half = target.ends_with("AGENTS.md")
            && self.source.via == Via::Place
            && self.path.ends_with("CLAUDE.md")
            && target.parent() == Some(holder(&self.dir));
        if is_other_half { repairs::import(self.lint, target) } else { None }
    }

    /// Whether nothing else stands on the line of a mention in a code span.
    fn is_alone(&self, span: &Range<usize>) -> bool {
        self.around(span).is_some_and(|(before, behind)| {
            let mark = before.trim_end_matches('`');
            mark.len() < before.len() && is_marker(mark) && behind.trim_matches('`').trim().is_empty()
        })
    }

    /// What stands on the line of `span` before and behind it; `None` when that is too much to be a mark.
    fn around(&self, span: &Range<usize>) -> Option<(&str, &str)> {
        const FAR: usize = 64;
        let start = clamp(self.text, span.start.saturating_sub(FAR)..span.start);
        let end = clamp(self.text, span.end..span.end + FAR);
        let (before, behind) = (&self.text[start.clone()], &self.text[end.clone()]);
        let before = match before.rfind('\n') {
            Some(at) => &before[at + 1..],
            None => Some(before).filter(|_| start.start == 0)?,
        };
        let behind = match behind.find('\n') {
            Some(at) => &behind[..at],
            None => Some(behind).filter(|_| end.end == self.text.len())?,
        };
        Some((before, behind))
    }

    /// The links to an `AGENTS.md` that a `CLAUDE.md` for the same directory does not import.
    fn links(&self) -> Vec<(PathBuf, Diagnostic)> {
        if self.source.via != Via::Place {
            return Vec::new();
        }
        let link = |(at, _): (usize, &str)| {
            let start = at + 2;
            let near = &self.text[clamp(self.text, start..start + 64)];
            let end = start + near.find([')', '\n'])?;
            let path = &self.text[start..end];
            let target = self.unloaded(path).filter(|target| target.ends_with("AGENTS.md"))?;
            if target.parent() != Some(holder(&self.dir)) {
                return None;
            }
            let message = format!("a link to `{path}` is no import of it");
            let help = format!("add the line `{}`", spelled(path));
            let repair = self.import(&target);
            Some((target, self.finding(start..end, message, help).mended_by(repair)))
        };
        // Several links to it have one cause.
        self.text.match_indices("](").filter_map(link).take(1).collect()
    }

    /// The imports in a file of a client that follows none: one finding a file, since they have one cause.
    fn inert(&self, mentions: &[Mention]) -> Option<(PathBuf, Diagnostic)> {
        let dir = self.path.parent().unwrap_or(self.path);
        let own_of_another =
            self.path.ends_with("CLAUDE.md") && (self.source.scope == Scope::User || holder(dir) != dir);
        if own_of_another {
            return None;
        }
        let mut inert = mentions.iter().filter_map(|mention| Some((mention, self.meant(mention)?)));
        let (first, target) = inert.next()?;
        let rest: Vec<&Mention> = inert.map(|(mention, _)| mention).collect();
        let name = spelled(&first.path);
        let message = match rest.len() {
            0 => format!("`{name}` is plain text here: the file that it names is not read"),
            more => format!("`{name}` and {more} more are plain text here: the files that they name are not read"),
        };
        let help = "put what this client should know of it into this file".to_string();
        let mut found = self.finding(first.span.clone(), message, help);
        found.evidence.splice(..0, imports_are_text(self.resolution));
        let also = |found: Diagnostic, mention: &&Mention| {
            found.also(Place::at(self.path, mention.span.clone()), format!("`{}`", spelled(&mention.path)))
        };
        Some((target, rest.iter().fold(found, also)))
    }

    /// The file that a mention is meant to import.
    fn meant(&self, mention: &Mention) -> Option<PathBuf> {
        let target = self.unloaded(&mention.path).filter(|_| mention.ignored.is_none())?;
        let is_line =
            self.around(&mention.span).is_some_and(|(before, behind)| is_marker(before) && behind.trim().is_empty());
        let stands_alone = is_line && is_document(&mention.path);
        let imported = || self.imported.get_or_init(|| self.lint.imported(self.path).collect());
        let is_imported = || self.lint.scene.files.real(&target).is_some_and(|real| imported().contains(&real));
        (stands_alone || is_imported()).then_some(target)
    }
}

/// Whether `text` is nothing but the mark of a list item or a quote.
fn is_marker(text: &str) -> bool {
    let text = text.trim();
    let number = text.trim_end_matches(['.', ')']);
    text.chars().all(|c| "-*+> ".contains(c))
        || (number.len() < text.len() && number.bytes().all(|b| b.is_ascii_digit()))
}
