//! What mends a project: the repairs of the findings, tried out on paper until none is left.
//!
//! Each round carries out the repairs of all findings on an [`Overlay`], resolves and lints what that shows, and keeps
//! the result if every finding that was answered is gone and no client lost a file that it loaded. Where that is not
//! so, the repairs are tried one by one, and those that do harm are left out. So a plan never promises what it does not
//! keep, and a second one finds nothing to do.
//!
//! A plan is made of what was read. When it is written, a file that is not what it was then (which is all that "dirty"
//! can mean without asking git), or a name that was free and is taken, is an error, and nothing is changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::clients::{Scene, Session, Version, client};
use crate::config::{Config, Selected};
use crate::diagnostic::{Diagnostic, Repair};
use crate::discover::discover;
use crate::files::{Entry, Files, Overlay, Unwritten, Write, apply};
use crate::markdown;
use crate::resolution::Resolution;
use crate::rules::{Lint, RULES, findings, has_imports, is_foreign};
use crate::secrets::Scanned;
use crate::text::lossy;

/// A project, and how it is looked at.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// Its directory, absolute, links resolved. Nothing outside it is changed.
    pub root: &'a Path,
    /// The sessions, at least one.
    pub sessions: &'a [Session],
    /// The clients.
    pub selected: &'a [Selected],
    /// The levels of the findings, and those that are accepted, which nothing mends.
    pub config: &'a Config,
    /// The paths that the findings are limited to.
    pub only: Option<&'a [PathBuf]>,
}

/// What is to be changed.
#[derive(Debug)]
pub struct Plan {
    root: PathBuf,
    /// The changes, in an order in which they can be made: first those that are written, then those that are made only
    /// in a migration.
    pub changes: Vec<Change>,
    /// Findings about the layout that are left, each with its file and what to do by hand.
    pub left: Vec<(PathBuf, String)>,
}

/// A change, and the rules whose findings it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The names of the rules, sorted.
    pub rules: Vec<&'static str>,
    /// Whether the plan is to write it; otherwise another layout that works is given up for it, and nobody said so.
    pub write: bool,
    /// What happens to which file.
    pub what: Write,
}

impl Plan {
    /// What mends the project, with `migrate` also where another layout that works is given up for the portable one.
    pub fn new(files: &dyn Files, setting: Setting<'_>, migrate: bool) -> Self {
        let start = State::new(files, setting);
        let mut left = BTreeMap::new();
        let safe = start.clone().settled(if migrate { Reach::Layouts } else { Reach::Safe }, &mut left);
        // What did harm at first may be out of the question.
        left.retain(|path, _| safe.finds(path, |found| found.repair.is_some()));
        let mut changes = safe.since(&start, true);
        let mut end = State { rules: BTreeMap::new(), ..safe };
        if !migrate {
            let before = end.clone();
            end = end.settled(Reach::Findings, &mut left);
            changes.extend(end.since(&before, false));
        }
        // What did harm at first may have become possible.
        left.retain(|path, _| end.finds(path, |_| true));
        for diagnostic in &end.seen.diagnostics {
            if LAYOUT.contains(&diagnostic.rule) {
                let why = || match diagnostic.repair.as_ref().and_then(new_name) {
                    Some(to) => format!("other files would be called `{}` too", name_of(&to)),
                    None => diagnostic.help.clone().unwrap_or_default(),
                };
                left.entry(diagnostic.place.path.clone()).or_insert_with(why);
            }
        }
        Self { root: setting.root.to_path_buf(), changes, left: left.into_iter().collect() }
    }

    /// Makes the changes that are to be written, all or none.
    ///
    /// # Errors
    /// Says which file is not what it was, or cannot be written.
    pub fn write(&self) -> Result<(), Unwritten> {
        let changes: Vec<Write> =
            self.changes.iter().filter(|change| change.write).map(|change| change.what.clone()).collect();
        apply(&self.root, &changes)
    }
}

/// The rules about the layout. What they find and nothing mends is said, so that nobody thinks it mended.
const LAYOUT: &[&str] = &["client-gap", "unsupported-name"];

/// How far repairs may go.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// What mends a finding and takes nothing from anybody.
    Safe,
    /// Also what mends a finding and gives up another layout for it.
    Findings,
    /// Also other layouts in which nothing is wrong.
    Layouts,
}

/// What tells the repair of a finding from others. Its place is no part of it: that moves.
type Id = (&'static str, PathBuf, String, String);

/// What was said of the files.
#[derive(Clone)]
struct Seen {
    diagnostics: Vec<Diagnostic>,
    /// What each client loads from each start directory, links resolved.
    loaded: BTreeSet<(PathBuf, &'static str, Version, PathBuf)>,
    instructions: BTreeSet<PathBuf>,
}

/// The files after some repairs.
#[derive(Clone)]
struct State<'a> {
    setting: Setting<'a>,
    files: Overlay<'a>,
    seen: Rc<Seen>,
    /// The old names of what was renamed, by the new ones.
    renamed: BTreeMap<PathBuf, PathBuf>,
    /// The files whose permissions those that were made get.
    like: BTreeMap<PathBuf, PathBuf>,
    /// The rules that each changed file answers.
    rules: BTreeMap<PathBuf, BTreeSet<&'static str>>,
}

impl<'a> State<'a> {
    fn new(files: &'a dyn Files, setting: Setting<'a>) -> Self {
        let files = Overlay::new(files);
        let seen = Rc::new(look(&files, &setting));
        Self { setting, files, seen, renamed: BTreeMap::new(), like: BTreeMap::new(), rules: BTreeMap::new() }
    }

    /// Whether there is such a finding about the file at `path`.
    fn finds(&self, path: &Path, is_such: impl Fn(&Diagnostic) -> bool) -> bool {
        let about = |at: &Path| at == path || self.files.real(at).as_deref() == Some(path);
        self.seen.diagnostics.iter().any(|found| is_such(found) && about(&found.place.path))
    }

    /// The state in which no repair is left to do. What does harm is not done, and told to `left`.
    fn settled(mut self, reach: Reach, left: &mut BTreeMap<PathBuf, String>) -> Self {
        let mut tried: BTreeSet<Id> = BTreeSet::new();
        let mut one_by_one = false;
        loop {
            let mut todo = self.repairs(reach);
            todo.retain(|(rule, repair)| !tried.contains(&id(rule, repair)));
            if one_by_one {
                todo.truncate(1);
            }
            if todo.is_empty() {
                return self;
            }
            let mut next = self.clone();
            let done: Vec<_> = next.carry_out(todo.clone());
            next.seen = Rc::new(look(&next.files, &self.setting));
            let harm = self.harm(&next, &done);
            match (harm, todo.as_slice()) {
                (None, _) => {
                    // What could not be done beside the others may be possible after them, or never.
                    let done = if done.is_empty() { todo } else { done };
                    tried.extend(done.iter().map(|(rule, repair)| id(rule, repair)));
                    self = next;
                }
                (Some(why), [(rule, repair)]) => {
                    tried.insert(id(rule, repair));
                    left.insert(subject(repair).to_path_buf(), why);
                }
                (Some(_), _) => one_by_one = true,
            }
        }
    }

    /// The repairs of all findings, in the order in which they can be carried out, each once.
    fn repairs(&self, reach: Reach) -> Vec<(&'static str, Repair)> {
        let found = self.seen.diagnostics.iter().filter_map(|found| Some((found.rule, found.repair.clone()?)));
        let mut repairs: Vec<_> = found.chain(self.copies().into_iter().filter(|_| reach == Reach::Layouts)).collect();
        repairs.retain(|(_, repair)| reach > Reach::Safe || !matches!(repair, Repair::Move { .. }));
        repairs = repairs.into_iter().filter_map(|(rule, repair)| Some((rule, self.placed(repair)?))).collect();
        repairs.sort_by(|(_, a), (_, b)| order(a).cmp(&order(b)).then_with(|| a.cmp(b)));
        repairs.dedup_by(|(_, a), (_, b)| a == b);
        // Of two files that would get one name, neither is plainly the one that was meant.
        let targets: Vec<PathBuf> = repairs.iter().filter_map(|(_, repair)| new_name(repair)).collect();
        let is_meant_once = |to: PathBuf| targets.iter().filter(|target| **target == to).count() == 1;
        repairs.retain(|(_, repair)| new_name(repair).is_none_or(is_meant_once));
        repairs
    }

    /// The `CLAUDE.md` files that repeat an `AGENTS.md`: a layout that works, until one of the two is changed.
    fn copies(&self) -> Vec<(&'static str, Repair)> {
        let candidates = self.seen.instructions.iter().filter(|path| path.ends_with("CLAUDE.md"));
        let candidates = candidates.filter(|path| !is_foreign(self.setting.root, path) && self.is_wanted(path));
        candidates
            .filter_map(|path| {
                let agents = path.with_file_name("AGENTS.md");
                let is_file = matches!(self.files.entry(path), Some(Entry::File { .. }));
                let text = self.text(path)?;
                let same = !text.trim().is_empty() && is_copy(&text, &self.text(&agents)?);
                let line = "@AGENTS.md".into();
                (is_file && same).then_some(("client-gap", Repair::Import { file: path.clone(), of: agents, line }))
            })
            .collect()
    }

    fn is_wanted(&self, path: &Path) -> bool {
        self.setting.only.is_none_or(|only| only.iter().any(|only| path.starts_with(only)))
    }

    /// `repair` with the links on its paths resolved; `None` when one leads out of the project.
    fn placed(&self, repair: Repair) -> Option<Repair> {
        let inside = |path: PathBuf| {
            let is_own = path.starts_with(self.setting.root) && !path.iter().any(|part| part == ".git");
            is_own.then_some(path)
        };
        let name = |path: PathBuf| inside(self.files.real(path.parent()?)?.join(path.file_name()?));
        Some(match repair {
            Repair::Replace { path, span, old, new } => {
                Repair::Replace { path: inside(self.files.real(&path)?)?, span, old, new }
            }
            Repair::Rename { from, to } => Repair::Rename { from: name(from)?, to: name(to)? },
            Repair::Import { file, of, line } => Repair::Import { file: name(file)?, of, line },
            Repair::Move { file, to, line } => Repair::Move { file: name(file)?, to: name(to)?, line },
        })
    }

    /// Carries out what can be carried out together, and says what that is.
    fn carry_out(&mut self, repairs: Vec<(&'static str, Repair)>) -> Vec<(&'static str, Repair)> {
        // Texts are replaced from the end of a file on, so that the places before it stay; none may reach into another.
        let mut reached: BTreeMap<PathBuf, usize> = BTreeMap::new();
        let mut done = Vec::new();
        for (rule, repair) in repairs {
            if let Repair::Replace { path, span, .. } = &repair {
                if reached.get(path).is_some_and(|start| span.end > *start) {
                    continue;
                }
                reached.insert(path.clone(), span.start);
            }
            if let Some(changed) = self.apply(&repair) {
                for path in changed {
                    self.rules.entry(path).or_default().insert(rule);
                }
                done.push((rule, repair));
            }
        }
        done
    }

    /// Carries out one repair and names the files that it changes; `None` when they are not what it was made for.
    fn apply(&mut self, repair: &Repair) -> Option<Vec<PathBuf>> {
        match repair {
            Repair::Replace { path, span, old, new } => {
                let mut text = self.text(path)?;
                text.get(span.start..span.end).filter(|now| now == old)?;
                text.replace_range(span.start..span.end, new);
                self.files.put(path, text.into_bytes());
                Some(vec![path.clone()])
            }
            Repair::Rename { from, to } => {
                let bytes = self.files.read(from).ok().filter(|_| self.files.entry(to).is_none())?;
                self.files.put(to, &**bytes);
                self.files.remove(from);
                self.renamed.insert(to.clone(), from.clone());
                Some(vec![to.clone()])
            }
            Repair::Import { file, of, line } => {
                let imported = self.text(of)?;
                let text = match self.files.entry(file) {
                    None => format!("{line}{}", line_end(&imported)),
                    Some(_) => importing(&self.text(file)?, &imported, line)?,
                };
                self.files.put(file, text.into_bytes());
                Some(vec![file.clone()])
            }
            Repair::Move { file, to, line } => {
                let text = self.text(file)?;
                match self.files.entry(to) {
                    None => {
                        self.like.insert(to.clone(), file.clone());
                    }
                    Some(_) if self.text(to)?.trim().is_empty() => {}
                    Some(_) => return None,
                }
                let rest = format!("{line}{}", if text.ends_with('\n') { line_end(&text) } else { "" });
                self.files.put(to, text.into_bytes());
                self.files.put(file, rest.into_bytes());
                Some(vec![file.clone(), to.clone()])
            }
        }
    }

    /// What is worse in `next`, or not better for one of the repairs `done`.
    fn harm(&self, next: &Self, done: &[(&'static str, Repair)]) -> Option<String> {
        let still: BTreeSet<Id> = next.repairs(Reach::Layouts).iter().map(|(rule, repair)| id(rule, repair)).collect();
        if done.iter().any(|(rule, repair)| still.contains(&id(rule, repair))) {
            return Some("the change that is at hand would not mend it".into());
        }
        // What has another name, or has become the import of what it said, is not lost.
        let is_lost = |path: &Path| next.files.read(path).is_ok_and(|bytes| !is_import_alone(&lossy(&bytes)));
        let mut lost = self.seen.loaded.difference(&next.seen.loaded).filter(|(.., path)| is_lost(path));
        let (_, name, _, path) = lost.next()?;
        let title = client(name).map_or(*name, |client| client.title);
        let inside = path.strip_prefix(self.setting.root).unwrap_or(path);
        Some(format!("{title} would no longer load `{}`", inside.display()))
    }

    /// The text of a file; `None` when it cannot be read, or is no UTF-8 and could not be written as it was.
    fn text(&self, path: &Path) -> Option<String> {
        self.files.read(path).ok().and_then(|bytes| String::from_utf8(bytes.to_vec()).ok())
    }

    /// The changes that lead here from `before`.
    fn since(&self, before: &Self, write: bool) -> Vec<Change> {
        let bytes = |files: &Overlay<'_>, path: &Path| files.read(path).ok().map(|content| Rc::from(&**content));
        let (mut renames, mut others) = (Vec::new(), Vec::new());
        for path in self.files.changed() {
            let (old, new) = (bytes(&before.files, path), bytes(&self.files, path));
            // What is gone is under another name.
            let Some(new) = new.filter(|new| old.as_ref() != Some(new)) else { continue };
            let rules = self.rules.get(path).into_iter().flatten().copied().collect();
            let change = |what| Change { rules, write, what };
            let path = path.to_path_buf();
            let renamed = self.renamed.get(&path).filter(|from| before.files.is_file(from));
            match (old, renamed) {
                (Some(old), _) => others.push(change(Write::Edit { path, old, new })),
                (None, Some(from)) => {
                    let Some(text) = bytes(&before.files, from) else { continue };
                    if text != new {
                        let edit = Write::Edit { path: path.clone(), old: text.clone(), new };
                        others.push(change.clone()(edit));
                    }
                    renames.push(change(Write::Rename { from: from.clone(), to: path, text }));
                }
                (None, None) => {
                    let like = self.like.get(&path).cloned();
                    others.push(change(Write::Create { path, new, like }));
                }
            }
        }
        renames.append(&mut others);
        renames
    }
}

/// Resolves and lints the project.
fn look(files: &Overlay<'_>, setting: &Setting<'_>) -> Seen {
    let Setting { root, sessions, selected, config, only } = *setting;
    let cwd = sessions.first().map_or(root, |session| &session.cwd);
    let project = discover(files, root, cwd);
    let scenes: Vec<Scene<'_>> = sessions.iter().map(|session| Scene { files, session, project: &project }).collect();
    let resolve = |scene: &Scene<'_>| -> Vec<Resolution> {
        selected.iter().map(|selected| selected.client.resolve(scene, selected.version)).collect()
    };
    let starts: Vec<Vec<Resolution>> = scenes.iter().map(resolve).collect();
    // Nothing mends a secret, and what is printed in the end is redacted by whoever prints it.
    let secrets = Scanned::default();
    let lints: Vec<Lint<'_>> =
        scenes.iter().zip(&starts).map(|(scene, resolutions)| Lint { scene, resolutions, secrets: &secrets }).collect();
    let mut diagnostics = findings(RULES, &lints, config);
    diagnostics.retain(|found| only.is_none_or(|only| only.iter().any(|only| found.place.path.starts_with(only))));
    let loaded = sessions.iter().zip(&starts).flat_map(|(session, resolutions)| {
        resolutions.iter().flat_map(|resolution| {
            let sources = resolution.sources.iter().filter(|source| source.is_loaded());
            sources.filter_map(|source| {
                Some((session.cwd.clone(), resolution.client, resolution.version, source.real.clone()?))
            })
        })
    });
    Seen { diagnostics, loaded: loaded.collect(), instructions: project.instructions.clone() }
}

fn id(rule: &'static str, repair: &Repair) -> Id {
    let path = |path: &PathBuf| path.to_string_lossy().into_owned();
    match repair {
        Repair::Replace { path, old, new, .. } => (rule, path.clone(), old.clone(), new.clone()),
        Repair::Rename { from, to } => (rule, from.clone(), path(to), String::new()),
        Repair::Import { file, of, line } => (rule, file.clone(), path(of), line.clone()),
        Repair::Move { file, to, line } => (rule, file.clone(), path(to), line.clone()),
    }
}

/// Replacing comes first, since it needs the places as they were; in a file, from its end on.
fn order(repair: &Repair) -> (u8, &Path, std::cmp::Reverse<usize>) {
    let (class, start) = match repair {
        Repair::Replace { span, .. } => (0, span.start),
        Repair::Rename { .. } => (1, 0),
        Repair::Import { .. } => (2, 0),
        Repair::Move { .. } => (3, 0),
    };
    (class, subject(repair), std::cmp::Reverse(start))
}

/// The file that a repair is about.
fn subject(repair: &Repair) -> &Path {
    match repair {
        Repair::Replace { path, .. } => path,
        Repair::Rename { from, .. } => from,
        Repair::Import { of, .. } => of,
        Repair::Move { file, .. } => file,
    }
}

/// The name that a file gets.
fn new_name(repair: &Repair) -> Option<PathBuf> {
    if let Repair::Rename { to, .. } = repair { Some(to.clone()) } else { None }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// `text` with the import `line` before what it says. A text that is blank, or that only repeats `imported`, becomes the
/// import. `None` when there is no place for it.
fn importing(text: &str, imported: &str, line: &str) -> Option<String> {
    let end = line_end(text);
    let body = text.trim_start_matches('\u{feff}');
    let mark = &text[..text.len() - body.len()];
    if body.trim().is_empty() {
        return Some(format!("{mark}{line}{end}"));
    }
    if is_copy(text, imported) {
        // What a copy imports is relative to its own directory, and must stay so.
        let moves = line.contains('/') && has_imports(text);
        return (!moves).then(|| format!("{mark}{line}{}", if text.ends_with('\n') { end } else { "" }));
    }
    let (before, rest) = text.split_at(start_of_text(text, mark.len())?);
    let gap = if before.len() > mark.len() && !before.ends_with('\n') { end } else { "" };
    let rest = if rest.is_empty() { end.to_string() } else { format!("{end}{end}{rest}") };
    Some(format!("{before}{gap}{line}{rest}"))
}

/// Where the first line behind the front matter begins; without one, `start`.
fn start_of_text(text: &str, start: usize) -> Option<usize> {
    let Some(front) = markdown::front_matter(text, true) else { return Some(start) };
    let fence = front.yaml.end + 3;
    match text[fence..front.span.end].rfind('\n') {
        Some(at) => Some(fence + at + 1),
        // What stands on the line of the fence belongs to it as far as people can see.
        None => (front.span.end == text.len()).then_some(text.len()),
    }
}

/// Whether two texts are the same but for white space at the ends of lines, and blank lines.
fn is_copy(one: &str, other: &str) -> bool {
    lines(one).eq(lines(other))
}

/// The lines that say something.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.trim_start_matches('\u{feff}').lines().map(str::trim_end).filter(|line| !line.is_empty())
}

/// Whether `text` is an import and nothing else.
fn is_import_alone(text: &str) -> bool {
    lines(text).all(|line| line.starts_with('@'))
}

/// How the lines of `text` end.
fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::CLIENTS;
    use crate::files::Memory;

    fn plan(files: &dyn Files, migrate: bool) -> Plan {
        let mut session = Session::new("/p");
        session.home = Some("/home".into());
        let selected: Vec<Selected> =
            CLIENTS.iter().map(|client| Selected { client, version: client.default }).collect();
        let config = Config::of_project(files, Path::new("/p")).unwrap_or_default();
        let root = Path::new("/p");
        let setting = Setting { root, sessions: &[session], selected: &selected, config: &config, only: None };
        Plan::new(files, setting, migrate)
    }

    /// The project of `files`, which is a repository.
    fn project(files: &[(&str, &str)]) -> Memory {
        let mut memory = Memory::default();
        memory.file("/p/.git/HEAD", "ref: refs/heads/main\n").dir("/p/.git/objects").dir("/p/.git/refs").dir("/home");
        for (path, text) in files {
            memory.file(Path::new("/p").join(path), text);
        }
        memory
    }

    /// What a plan does, one line a change: a mark (`!` when it is to be written), the path and the text.
    fn told(plan: &Plan) -> Vec<String> {
        let short = |path: &Path| path.strip_prefix("/p").unwrap_or(path).display().to_string();
        let what = |what: &Write| match what {
            Write::Rename { from, to, .. } => format!("{} -> {}", short(from), short(to)),
            Write::Create { path, new, .. } => format!("+ {}: {}", short(path), lossy(new).escape_debug()),
            Write::Edit { path, new, .. } => format!("{}: {}", short(path), lossy(new).escape_debug()),
        };
        let mark = |change: &Change| if change.write { "! " } else { "? " };
        plan.changes.iter().map(|change| mark(change).to_string() + &what(&change.what)).collect()
    }

    #[track_caller]
    fn check(files: &[(&str, &str)], want: &[&str]) {
        assert_eq!(told(&plan(&project(files), false)), want, "{files:?}");
    }

    #[test]
    fn the_missing_half_is_made() {
        check(&[("AGENTS.md", "oak\n")], &["! + CLAUDE.md: @AGENTS.md\\n"]);
        check(&[("AGENTS.md", "oak\r\n"), ("CLAUDE.md", " ")], &["! CLAUDE.md: @AGENTS.md\\n"]);
        check(&[("AGENTS.md", "oak\r\n")], &["! + CLAUDE.md: @AGENTS.md\\r\\n"]);
        check(
            &[("AGENTS.md", "oak"), ("CLAUDE.md", "@AGENTS.md"), ("a/AGENTS.md", "elm")],
            &["! + a/CLAUDE.md: @AGENTS.md\\n"],
        );
        check(&[("AGENTS.md", "oak"), (".claude/CLAUDE.md", "elm")], &["! .claude/CLAUDE.md: @../AGENTS.md\\n\\nelm"]);
        check(&[("AGENTS.md", "oak"), ("CLAUDE.local.md", "elm")], &["! + CLAUDE.md: @AGENTS.md\\n"]);
    }

    #[test]
    fn the_import_stands_before_what_is_there() {
        for (text, want) in [
            ("elm\n", "@AGENTS.md\\n\\nelm\\n"),
            ("elm\r\nash", "@AGENTS.md\\r\\n\\r\\nelm\\r\\nash"),
            ("\u{feff}elm\n", "\\u{feff}@AGENTS.md\\n\\nelm\\n"),
            ("---\nx: y\n---\n\n    elm\n", "---\\nx: y\\n---\\n\\n@AGENTS.md\\n\\n    elm\\n"),
            ("---\nx: y\n---", "---\\nx: y\\n---\\n@AGENTS.md\\n"),
            ("See [parts](AGENTS.md).\n", "@AGENTS.md\\n\\nSee [parts](AGENTS.md).\\n"),
            ("`@AGENTS.md`\n", "@AGENTS.md\\n\\n`@AGENTS.md`\\n"),
            // A copy but for white space.
            ("oak  \r\n\r\nivy\r\n", "@AGENTS.md\\r\\n"),
        ] {
            check(&[("AGENTS.md", "oak\nivy\n"), ("CLAUDE.md", text)], &[&format!("! CLAUDE.md: {want}")]);
        }
        check(&[("AGENTS.md", "oak\nivy\n"), ("CLAUDE.md", "---\nx: y\n--- elm\n")], &[]);
    }

    #[test]
    fn a_layout_that_works_is_given_up_on_demand_only() {
        let lone = [("CLAUDE.md", "oak\r\n")];
        check(&lone, &["? + AGENTS.md: oak\\r\\n", "? CLAUDE.md: @AGENTS.md\\r\\n"]);
        let migrated = plan(&project(&lone), true);
        assert!(migrated.changes.iter().all(|change| change.write) && migrated.changes.len() == 2);
        let Write::Create { like, .. } = &migrated.changes[0].what else { panic!("{migrated:?}") };
        assert_eq!(like.as_deref(), Some(Path::new("/p/CLAUDE.md")));
        check(&[(".claude/CLAUDE.md", "oak")], &["? .claude/CLAUDE.md: @../AGENTS.md", "? + AGENTS.md: oak"]);
        // Its import would lead elsewhere.
        check(&[(".claude/CLAUDE.md", "oak @x.md"), (".claude/x.md", "elm")], &[]);
        check(&[("CLAUDE.md", "@x.md\n"), ("x.md", "elm")], &[]);
        let copy = project(&[("AGENTS.md", "oak\n"), ("CLAUDE.md", "oak\n")]);
        assert_eq!(told(&plan(&copy, false)), [""; 0]);
        assert_eq!(told(&plan(&copy, true)), ["! CLAUDE.md: @AGENTS.md\\n"]);
        let mut link = project(&[("AGENTS.md", "oak\n")]);
        link.link("/p/CLAUDE.md", "AGENTS.md");
        assert_eq!(told(&plan(&link, true)), [""; 0]);
    }

    #[test]
    fn names_that_can_only_mean_one_thing_are_mended() {
        check(&[("agents.md", "oak")], &["! agents.md -> AGENTS.md", "! + CLAUDE.md: @AGENTS.md\\n"]);
        check(&[(".claude.local.md", "oak")], &["! .claude.local.md -> CLAUDE.local.md"]);
        check(&[(".claude/CLAUDE.local.md", "oak")], &["! .claude/CLAUDE.local.md -> CLAUDE.local.md"]);
        check(
            &[(".claude/rules/x.mdc", "---\npaths: ./src/**\n---\noak"), ("src/x", "")],
            &["! .claude/rules/x.mdc -> .claude/rules/x.md", "! .claude/rules/x.md: ---\\npaths: src/**\\n---\\noak"],
        );
        let left = |files: &[(&str, &str)]| {
            let plan = plan(&project(files), false);
            assert!(told(&plan).is_empty(), "{plan:?}");
            plan.left
        };
        assert_eq!(left(&[("AGENTS.local.md", "oak"), (".agents.local.md", "elm")]).len(), 2);
        assert!(left(&[("agents.md", "oak"), ("AGENT.md", "elm")])[0].1.contains("other files"));
    }

    #[test]
    fn no_client_loses_a_file() {
        // For OpenCode `AGENTS.md` would take the place of `CLAUDE.md`.
        let plan = plan(&project(&[("CLAUDE.md", "oak"), ("AGENT.md", "ash")]), false);
        assert!(plan.changes.iter().all(|change| !change.write), "{plan:?}");
        assert_eq!(plan.left[0].1, "OpenCode would no longer load `CLAUDE.md`");
    }

    #[test]
    fn what_is_behind_an_import_moves_away() {
        let text = "Parts @x.md, (see @y.md). Then @z.md\r\n\r\n@w.md: more\r\n";
        let want = "! CLAUDE.md: Parts @x.md (see @y.md ). Then @z.md\\r\\n\\r\\n@w.md : more\\r\\n";
        let files = [("x.md", "1"), ("y.md", "2"), ("z.md", "3"), ("w.md", "4"), ("CLAUDE.md", text)];
        assert_eq!(told(&plan(&project(&files), false))[0], want);
    }

    #[test]
    fn what_is_accepted_is_left() {
        check(&[("AGENTS.md", "oak\n"), ("rulecheck.yaml", "rules: {client-gap: off}\n")], &[]);
    }

    #[test]
    fn nothing_outside_the_project_or_in_another_encoding_is_touched() {
        let mut files = project(&[("AGENTS.md", "oak")]);
        files.file("/p/CLAUDE.md", b"caf\xe9");
        files.file("/o/r.md", "---\npaths: ./src\n---\noak").link("/p/.claude/rules", "/o").file("/p/src/x", "");
        assert_eq!(told(&plan(&files, true)), [""; 0]);
    }
}
