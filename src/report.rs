//! Stage 4: what was found, rendered in one of several formats.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};

use memchr::memchr;

use crate::diagnostic::{Diagnostic, Level};
use crate::files::Files;
use crate::frozen::digest;
use crate::resolution::{Location, Outcome, Phase, Resolution, Trigger};
use crate::secrets::{Redactor, redact_window};
use crate::text::{Place, Position, brief, clamp, is_hidden, path_text};

pub mod changes;
pub mod github;
pub mod human;
pub mod json;
pub mod sarif;

/// One start directory, and what each client does there.
#[derive(Debug)]
pub struct Start {
    /// The directory, absolute.
    pub cwd: PathBuf,
    /// One resolution a client.
    pub resolutions: Vec<Resolution>,
}

/// Everything that a format may print. Secrets are taken out of it when it is made, so that no format can forget to:
/// what a format can reach holds no value, and files can only be reached as redacted excerpts.
pub struct Report<'a> {
    /// The project's directory, absolute.
    pub project: &'a Path,
    /// What paths are shown relative to: the project, unless said otherwise.
    pub base: &'a Path,
    /// The findings that are in the baseline, and so not in the report.
    pub in_baseline: usize,
    /// The simulated reads, as they were given.
    pub reads: &'a [PathBuf],
    /// The start directories, at least one, each with its resolutions.
    pub starts: Vec<Start>,
    /// The findings, sorted.
    pub diagnostics: Vec<Diagnostic>,
    files: &'a dyn Files,
    redactor: &'a Redactor,
    looked_at: RefCell<Stretch>,
}

/// A part of a file in which secrets were looked for. Findings are sorted, so the next excerpt is mostly in it too.
#[derive(Default)]
struct Stretch {
    path: PathBuf,
    /// What may be shown of it.
    part: Range<usize>,
    /// What is to be hidden in it, as bytes of the file's text.
    hidden: Vec<Range<usize>>,
}

/// The lines around a place, redacted.
pub struct Excerpt {
    /// What stands before the place on its first line.
    pub before: String,
    /// The place itself; of a long one its start and its end.
    pub inside: String,
    /// What stands behind it on its last line.
    pub after: String,
    /// Where the excerpt begins.
    pub start: Position,
}

/// The longest part of a line that is shown before, in or behind a place, in bytes.
const LONG_LINE: usize = 400;

impl<'a> Report<'a> {
    /// A report of `starts` and `diagnostics`, with what `redactor` knows taken out.
    pub fn new(
        files: &'a dyn Files,
        redactor: &'a Redactor,
        project: &'a Path,
        reads: &'a [PathBuf],
        starts: &[Start],
        diagnostics: &[Diagnostic],
    ) -> Self {
        Self {
            project,
            base: project,
            in_baseline: 0,
            reads,
            starts: starts.iter().map(|start| redacted_start(redactor, start)).collect(),
            // A repair holds texts as they are, and no format prints it.
            diagnostics: diagnostics.iter().map(|found| Diagnostic { repair: None, ..found.clone() }).collect(),
            files,
            redactor,
            looked_at: RefCell::default(),
        }
    }

    /// `path` relative to the base with `/`, or absolute when it lies outside.
    pub fn relative(&self, path: &Path) -> String {
        self.relative_to(self.base, path)
    }

    fn relative_to(&self, base: &Path, path: &Path) -> String {
        let name = match path.strip_prefix(base) {
            Ok(inside) if inside.as_os_str().is_empty() => ".".into(),
            Ok(inside) if cfg!(windows) => path_text(inside).replace('\\', "/"),
            Ok(inside) => path_text(inside).into_owned(),
            Err(_) => path_text(path).into_owned(),
        };
        self.redactor.redact(&name).into_owned()
    }

    /// What a location is called in the output.
    pub fn name(&self, location: &Location) -> String {
        match location {
            Location::File(path) => self.relative(path),
            Location::Url(text) | Location::Argument(text) => text.clone(),
        }
    }

    /// Whether anything is at `path`.
    pub fn exists(&self, path: &Path) -> bool {
        self.files.entry(path).is_some()
    }

    /// The first and the last position of a place; `None` for a file as a whole, and for one that cannot be read.
    pub fn ends(&self, place: &Place) -> Option<(Position, Position)> {
        let span = place.span?;
        let content = self.files.read(&place.path).ok()?;
        let lines = content.lines();
        Some((lines.position(span.start), lines.position(span.end)))
    }

    /// The first position of a place.
    pub fn start(&self, place: &Place) -> Option<Position> {
        self.ends(place).map(|(start, _)| start)
    }

    /// The lines of a place; for a file as a whole its first line, for what cannot be read nothing.
    pub fn excerpt(&self, place: &Place) -> Excerpt {
        let span = place.span.map_or(0..0, Range::from);
        let Ok(content) = self.files.read(&place.path) else {
            return Excerpt {
                before: String::new(),
                inside: String::new(),
                after: String::new(),
                start: Position { line: 1, column: 1 },
            };
        };
        let (text, lines) = (content.text(), content.lines());
        let span = clamp(text, span);
        // A line without end would bury the finding.
        let start = lines.line(span.start).start.max(span.start.saturating_sub(LONG_LINE));
        let end = lines.line(span.end).end.clamp(span.end, span.end + LONG_LINE);
        let window = clamp(text, start..end);
        let mut known = self.looked_at.borrow_mut();
        if known.path != place.path || window.start < known.part.start || window.end > known.part.end {
            let part = clamp(text, window.start..window.end + AROUND);
            // A value may reach over both ends, so a good part of what is around is looked at too.
            let around = clamp(text, part.start.saturating_sub(AROUND)..part.end + AROUND);
            let found = self.redactor.hidden(&text[around.clone()]).into_iter();
            let hidden = found.map(|range| range.start + around.start..range.end + around.start).collect();
            *known = Stretch { path: place.path.clone(), part, hidden };
        }
        let (redacted, inside) = redact_window(text, &window, &known.hidden, &span);
        Excerpt {
            before: redacted[..inside.start].to_string(),
            inside: brief(&redacted[inside.clone()], LONG_LINE).into_owned(),
            after: redacted[inside.end..].to_string(),
            start: lines.position(window.start),
        }
    }

    /// A name for a finding that outlives moved lines: of its rule, its file, its message and the text of its line. Two that
    /// are alike have the same.
    pub fn fingerprint(&self, diagnostic: &Diagnostic) -> String {
        let excerpt = self.excerpt(&diagnostic.place);
        let line = format!("{}{}{}", excerpt.before, excerpt.inside, excerpt.after);
        let path = self.relative_to(self.project, &diagnostic.place.path);
        // Where it is a secret, its own name says more than a line in which it is not to be seen.
        let line = diagnostic.fingerprint.as_deref().unwrap_or(line.trim());
        let mut name = digest(format!("{}\0{path}\0{}\0{line}", diagnostic.rule, diagnostic.message).as_bytes());
        name.truncate(20);
        name
    }

    /// How many findings have this level.
    pub fn count(&self, level: Level) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.level == level).count()
    }
}

/// How far ahead, and how far around that, secrets are looked for, in bytes.
const AROUND: usize = 16 * 1024;

fn redacted_start(redactor: &Redactor, start: &Start) -> Start {
    let mut resolutions = start.resolutions.clone();
    let redact = |text: &mut String| {
        if let Cow::Owned(redacted) = redactor.redact(text) {
            *text = redacted;
        }
    };
    for resolution in &mut resolutions {
        for refusal in
            resolution.refusal.iter_mut().chain(&mut resolution.ignored_config).chain(&mut resolution.cut_short)
        {
            redact(&mut refusal.why);
        }
        for source in &mut resolution.sources {
            source.inline = None;
            match &mut source.location {
                Location::Url(text) | Location::Argument(text) => redact(text),
                Location::File(_) => {}
            }
            if let Outcome::Unsupported { why } = &mut source.outcome {
                redact(why);
            }
            if let Phase::Lazy(Trigger::Patterns { patterns, .. }) = &mut source.phase {
                patterns.iter_mut().for_each(redact);
            }
        }
    }
    Start { cwd: start.cwd.clone(), resolutions }
}

/// `text` with control and format characters made visible, so that nothing in a project can forge output.
pub fn visible(text: &str) -> String {
    if !text.contains(is_hidden) {
        return text.to_string();
    }
    text.chars().map(|c| if is_hidden(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

/// `json`, a text of JSON, with the same characters escaped: the values stay, and nothing in it changes how it looks.
pub fn visible_json(json: String) -> String {
    // Of the ASCII ones, JSON itself escapes all but one.
    if json.is_ascii() && memchr(0x7f, json.as_bytes()).is_none() {
        return json;
    }
    let stays = |c: char| c == '\n' || !is_hidden(c);
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if stays(c) {
            out.push(c);
        } else {
            out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    out
}

/// As [`visible`], and of a text that would bury the rest only the ends.
pub fn shown(text: &str) -> String {
    visible(&brief(text, LONG_LINE))
}

#[cfg(test)]
mod tests {
    use super::human::Style;
    use super::*;
    use crate::clients::{CLIENTS, Scene, Session};
    use crate::discover::discover;
    use crate::files::Memory;
    use crate::rules::{Lint, RULES, lint};
    use crate::secrets::sample::fill;
    use crate::secrets::{DETECTORS, Scanned, scan};

    /// Every example of every detector, in each kind of source, through each format: no ten characters of it come out.
    #[test]
    fn no_format_prints_a_secret() {
        for detector in DETECTORS {
            for hit in detector.hits {
                let text = fill(hit);
                for (place, text, files) in places(&text) {
                    let printed = print_all(&files);
                    let values: Vec<&str> = scan(&text).iter().map(|secret| &text[secret.span.clone()]).collect();
                    for line in values.iter().flat_map(|value| value.lines()).filter(|line| !is_common(line)) {
                        let line: Vec<char> = line.chars().collect();
                        for window in line.windows(10).map(|window| window.iter().collect::<String>()) {
                            let at = printed.lines().find(|printed| printed.contains(&window));
                            assert!(at.is_none(), "{} in {place}: {hit}: {at:?}", detector.id);
                        }
                    }
                }
            }
        }
    }

    /// Whether every key of a kind has this line, so that it is no secret.
    fn is_common(line: &str) -> bool {
        line.contains("-----") || line.starts_with("PuTTY-")
    }

    /// The text in an instruction file, in the patterns of a rule, in a configuration, and in an address.
    fn places(text: &str) -> [(&'static str, String, Memory); 4] {
        let json = serde_json::to_string(text).unwrap();
        [
            ("/p/CLAUDE.md", format!("nouns @nothing.md\n{text}\n@nothing.md\n")),
            ("/p/.claude/rules/r.md", format!("---\npaths: {json}\n---\nnouns\n")),
            ("/home/.codex/config.toml", format!("developer_instructions = {json}\n")),
            ("/p/opencode.json", format!("{{\"instructions\": [{json}]}}")),
        ]
        .map(|(path, text)| {
            let mut memory = Memory::default();
            memory.file("/p/.git/HEAD", "ref: refs/heads/main\n").dir("/p/.git/objects").dir("/p/.git/refs");
            memory.dir("/home").file(path, &text);
            (path, text, memory)
        })
    }

    fn print_all(files: &Memory) -> String {
        let mut session = Session::new("/p");
        session.home = Some("/home".into());
        let project = discover(files, Path::new("/p"), Path::new("/p"));
        let scene = Scene { files, session: &session, project: &project };
        let resolutions: Vec<Resolution> =
            CLIENTS.iter().map(|client| client.resolve(&scene, client.default)).collect();
        let secrets = Scanned::new(files, "", &resolutions);
        let diagnostics = lint(RULES, &Lint { scene: &scene, resolutions: &resolutions, secrets: &secrets });
        let starts = [Start { cwd: "/p".into(), resolutions }];
        let report = Report::new(files, secrets.redactor(), Path::new("/p"), &[], &starts, &diagnostics);
        let style = Style { color: false, width: 200, quiet: false };
        [
            human::check(&report, style),
            human::sources(&report),
            human::why(&report, Path::new("/p/CLAUDE.md")),
            json::check(&report),
            json::sources(&report),
            format!("{diagnostics:?}"),
        ]
        .join("\n")
    }

    #[test]
    fn control_and_bidirectional_characters_are_made_visible() {
        assert_eq!(visible("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        assert_eq!(visible("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(visible("día"), "día");
        let value = "a\u{202e}\u{200b}\u{7f}\u{e0041}día\n";
        let json = visible_json(serde_json::to_string(value).unwrap());
        assert_eq!(json, r#""a\u202e\u200b\u007f\udb40\udc41día\n""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), value);
    }
}
