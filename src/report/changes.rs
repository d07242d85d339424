//! What `rulecheck fix` prints: each change as a diff, what is left, and the count.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

use serde::Serialize;

use crate::files::Write;
use crate::fix::{Change, Plan};
use crate::report::human::Style;
use crate::report::{Report, visible, visible_json};
use crate::secrets::{Redactor, scan};
use crate::text::lossy;

/// The lines that are shown around a change.
const CONTEXT: usize = 3;

/// The largest table that is made to find what two texts have in common, in cells. Beyond it, all between the first and
/// the last difference counts as changed.
const LARGE: usize = 4_000_000;

/// For people: diffs as git writes them, so that they can be applied where nothing had to be hidden in them.
pub fn human(report: &Report<'_>, plan: &Plan, written: bool, style: Style) -> String {
    let redactor = taught(report.redactor, plan);
    let mut out = String::new();
    for change in &plan.changes {
        let when = match change.write {
            true if written => "written",
            true => "with --write",
            false => "only with --migrate",
        };
        let _ = writeln!(out, "{}", paint(style, "1", &format!("# {}, {when}", change.rules.join(", "))));
        for line in diff(report, change, &redactor) {
            let color = match line.as_bytes() {
                [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] | [b'd' | b'n' | b'r', ..] => "1",
                [b'@', ..] => "36",
                [b'-', ..] => "31",
                [b'+', ..] => "32",
                _ => "",
            };
            let _ = writeln!(out, "{}", paint(style, color, &line));
        }
        out.push('\n');
    }
    for (path, why) in &plan.left {
        let _ = writeln!(out, "left: {}: {}", visible(&report.relative(path)), visible(&redactor.redact(why)));
    }
    let _ = writeln!(out, "{}", summary(plan, written));
    out
}

fn summary(plan: &Plan, written: bool) -> String {
    let own = plan.changes.iter().filter(|change| change.write).count();
    let migrations = plan.changes.len() - own;
    let count = match plan.changes.len() {
        0 => return "Nothing to change.".into(),
        1 => "1 change".to_string(),
        many => format!("{many} changes"),
    };
    let with = if written { "written" } else { "with --write" };
    let need = |count: usize| if count == 1 { "needs --migrate" } else { "need --migrate" };
    match (own, migrations) {
        (_, 0) => format!("{count}, {with}."),
        (0, many) => format!("{count}, {}.", need(many)),
        (own, many) => format!("{count}, {own} of them {with}, {many} {}.", need(many)),
    }
}

fn paint(style: Style, color: &str, text: &str) -> String {
    if style.color && !color.is_empty() { format!("\u{1b}[{color}m{text}\u{1b}[0m") } else { text.to_string() }
}

/// For programs.
pub fn json(report: &Report<'_>, plan: &Plan, written: bool) -> String {
    #[derive(Serialize)]
    struct Out {
        schema: &'static str,
        written: bool,
        changes: Vec<Item>,
        left: Vec<Left>,
    }
    #[derive(Serialize)]
    struct Item {
        rules: Vec<&'static str>,
        kind: &'static str,
        path: String,
        from: Option<String>,
        /// Whether `--write` is enough for it.
        write: bool,
        diff: String,
    }
    #[derive(Serialize)]
    struct Left {
        path: String,
        help: String,
    }
    let redactor = taught(report.redactor, plan);
    let item = |change: &Change| {
        let (kind, from) = match &change.what {
            Write::Create { .. } => ("create", None),
            Write::Edit { .. } => ("edit", None),
            Write::Rename { from, .. } => ("rename", Some(report.relative(from))),
        };
        let diff = diff(report, change, &redactor).into_iter().map(|line| line + "\n").collect();
        let path = report.relative(change.what.path());
        Item { rules: change.rules.clone(), kind, path, from, write: change.write, diff }
    };
    let left = |(path, why): &(_, String)| Left {
        path: report.relative(AsRef::<Path>::as_ref(path)),
        help: redactor.redact(why).into_owned(),
    };
    let out = Out {
        schema: "rulecheck.fix/1",
        written,
        changes: plan.changes.iter().map(item).collect(),
        left: plan.left.iter().map(|entry: &(std::path::PathBuf, String)| left(entry)).collect(),
    };
    visible_json(serde_json::to_string_pretty(&out).unwrap_or_default()) + "\n"
}

/// A redactor that knows the secrets of all texts of the plan, which no client need have loaded.
fn taught(redactor: &Redactor, plan: &Plan) -> Redactor {
    let mut redactor = redactor.clone();
    for change in &plan.changes {
        let (old, new) = change.what.texts();
        for bytes in old.into_iter().chain([new]) {
            let text = lossy(bytes);
            redactor.learn(&text, &scan(&text));
        }
    }
    redactor
}

/// The lines of the diff of one change.
fn diff(report: &Report<'_>, change: &Change, redactor: &Redactor) -> Vec<String> {
    let name = |path: &Path| visible(&report.relative(path));
    let path = name(change.what.path());
    let old_name = if let Write::Rename { from, .. } = &change.what { name(from) } else { path.clone() };
    let mut out = vec![format!("diff --git a/{old_name} b/{path}")];
    let mut before = format!("--- a/{path}");
    match &change.what {
        Write::Rename { .. } => {
            out.extend([format!("rename from {old_name}"), format!("rename to {path}")]);
            return out;
        }
        Write::Create { .. } => {
            out.push("new file mode 100644".into());
            before = "--- /dev/null".into();
        }
        Write::Edit { .. } => {}
    }
    out.extend([before, format!("+++ b/{path}")]);
    let (old, new) = change.what.texts();
    let (old, new) = (old.map(|old| lossy(old)).unwrap_or_default(), lossy(new));
    for line in unified(&old, &new) {
        let (sign, line) = line.split_at(1);
        // A tab is harmless, and is how many files are indented.
        let line: Vec<String> = redactor.redact(line).split('\t').map(visible).collect();
        out.push(format!("{sign}{}", line.join("\t")));
    }
    out
}

/// The hunks of a unified diff, line by line.
fn unified(old: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let edits = edits(&old, &new);
    let mut out = Vec::new();
    for hunk in edits.chunk_by(|a, b| b.0.start - a.0.end <= 2 * CONTEXT) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let lead = first.0.start.min(CONTEXT);
        let trail = (old.len() - last.0.end).min(CONTEXT);
        let range = |start: usize, end: usize| match end - start {
            0 => format!("{start},0"),
            1 => format!("{}", start + 1),
            count => format!("{},{count}", start + 1),
        };
        out.push(format!(
            "@@ -{} +{} @@",
            range(first.0.start - lead, last.0.end + trail),
            range(first.1.start - lead, last.1.end + trail)
        ));
        let mut at = first.0.start - lead;
        let mut push = |sign: char, lines: &[&str]| {
            for line in lines {
                out.push(format!("{sign}{}", line.strip_suffix('\n').unwrap_or(line)));
                if !line.ends_with('\n') {
                    out.push("\\ No newline at end of file".into());
                }
            }
        };
        for (gone, come) in hunk {
            push(' ', &old[at..gone.start]);
            push('-', &old[gone.clone()]);
            push('+', &new[come.clone()]);
            at = gone.end;
        }
        push(' ', &old[at..last.0.end + trail]);
    }
    out
}

/// The runs of lines of `old` that others of `new` take the place of, in order and apart from each other.
fn edits(old: &[&str], new: &[&str]) -> Vec<(Range<usize>, Range<usize>)> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    if a.is_empty() && b.is_empty() {
        return Vec::new();
    }
    if a.len().saturating_mul(b.len()) > LARGE {
        return vec![(head..head + a.len(), head..head + b.len())];
    }
    // How many lines the ends of both texts have in common at most, from each pair of places on.
    let width = b.len() + 1;
    let mut common = vec![0_u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i * width + j] = if a[i] == b[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let mut edits: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let takes = j == b.len() || (i < a.len() && common[(i + 1) * width + j] >= common[i * width + j + 1]);
        let (gone, come) = if takes { (i..i + 1, j..j) } else { (i..i, j..j + 1) };
        (i, j) = (gone.end, come.end);
        match edits.last_mut() {
            Some(last) if last.0.end == head + gone.start && last.1.end == head + come.start => {
                (last.0.end, last.1.end) = (head + i, head + j);
            }
            _ => edits.push((head + gone.start..head + i, head + come.start..head + j)),
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, want: &[&str]) {
        assert_eq!(unified(old, new), want);
    }

    #[test]
    fn differences_are_shown_with_what_is_around_them() {
        check("", "a\n", &["@@ -0,0 +1 @@", "+a"]);
        check("a\nb\n", "a\nb\n", &[]);
        check("a\nb\nc\n", "a\nx\nc\n", &["@@ -1,3 +1,3 @@", " a", "-b", "+x", " c"]);
        check(
            "a\nb",
            "a",
            &["@@ -1,2 +1 @@", "-a", "-b", "\\ No newline at end of file", "+a", "\\ No newline at end of file"],
        );
        check("a\r\n", "a\n", &["@@ -1 +1 @@", "-a\r", "+a"]);
    }

    #[test]
    fn differences_far_apart_are_hunks_of_their_own() {
        let old: String = (0..20).map(|line| format!("{line}\n")).collect();
        let new = old.replace("2\n3\n", "2\nx\n").replace("17\n", "");
        check(
            &old,
            &new,
            &[
                "@@ -1,7 +1,7 @@",
                " 0",
                " 1",
                " 2",
                "-3",
                "+x",
                " 4",
                " 5",
                " 6",
                "@@ -15,6 +15,5 @@",
                " 14",
                " 15",
                " 16",
                "-17",
                " 18",
                " 19",
            ],
        );
    }
}
