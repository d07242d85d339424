//! One finding, through miette, with the offending text. Nothing else in the crate names miette.

use std::fmt;
use std::ops::Range;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, Severity, SourceCode,
    SourceSpan, SpanContents,
};

use super::Style;
use crate::diagnostic::{Diagnostic, Level};
use crate::evidence::{Claim, claim};
use crate::report::{Report, visible};
use crate::text::Place;

/// Prints a finding; `also` are the other places where it is found.
pub(super) fn print(report: &Report<'_>, diagnostic: &Diagnostic, also: &[&Place], style: Style, out: &mut String) {
    let theme = if style.color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler =
        GraphicalReportHandler::new_themed(theme).with_links(false).with_width(style.width).with_context_lines(0);
    let finding = Finding::new(report, diagnostic, also);
    if handler.render_report(out, &finding).is_err() {
        out.push_str(&finding.message);
    }
    out.push('\n');
}

/// A finding as miette takes it.
#[derive(Debug)]
struct Finding {
    rule: &'static str,
    level: Level,
    message: String,
    help: Option<String>,
    excerpt: Excerpt,
}

/// The lines of a place, made safe to print.
#[derive(Debug)]
struct Excerpt {
    name: String,
    text: String,
    span: Range<usize>,
    line: usize,
    column: usize,
}

impl Finding {
    fn new(report: &Report<'_>, diagnostic: &Diagnostic, also: &[&Place]) -> Self {
        Self {
            rule: diagnostic.rule,
            level: diagnostic.level,
            message: visible(&diagnostic.message),
            help: Some(help(report, diagnostic, also)).filter(|help| !help.is_empty()),
            excerpt: Excerpt::new(report, &diagnostic.place),
        }
    }
}

/// What to do, what belongs to it, where else it is found, for whom, and why.
fn help(report: &Report<'_>, diagnostic: &Diagnostic, also: &[&Place]) -> String {
    let at = |place: &Place| {
        let at = report.start(place).map_or(String::new(), |at| format!(":{}:{}", at.line, at.column));
        format!("{}{at}", visible(&report.relative(&place.path)))
    };
    let mut lines = Vec::new();
    lines.extend(diagnostic.help.as_deref().map(visible));
    lines.extend(diagnostic.related.iter().map(|(place, message)| format!("see: {}: {}", at(place), visible(message))));
    lines.extend(also.iter().map(|place| format!("also: {}", at(place))));
    lines.extend(diagnostic.fingerprint.as_ref().map(|name| format!("fingerprint: {name}")));
    let whom: Vec<String> =
        diagnostic.clients.iter().map(|whom| format!("{} {} ({})", whom.client, whom.version, whom.phase)).collect();
    if !whom.is_empty() {
        lines.push(format!("for: {}", whom.join(", ")));
    }
    lines.extend(reasons(diagnostic).map(|(id, claim)| format!("why: {} [{id}]", claim.says)));
    lines.join("\n")
}

/// The first claim about each client.
fn reasons(diagnostic: &Diagnostic) -> impl Iterator<Item = (&'static str, &'static Claim)> {
    let mut clients = Vec::new();
    diagnostic.evidence.iter().filter_map(move |id| {
        let (client, _) = id.split_once('/')?;
        let (_, claim) = claim(id).filter(|_| !clients.contains(&client))?;
        clients.push(client);
        Some((*id, claim))
    })
}

impl Excerpt {
    fn new(report: &Report<'_>, place: &Place) -> Self {
        let excerpt = report.excerpt(place);
        let before = visible(&excerpt.before);
        let inside = visible_lines(&excerpt.inside);
        let after = visible(&excerpt.after);
        Self {
            name: visible(&report.relative(&place.path)),
            span: before.len()..before.len() + inside.len(),
            text: format!("{before}{inside}{after}"),
            line: excerpt.start.line - 1,
            column: excerpt.start.column - 1,
        }
    }
}

/// As [`visible`], with the line breaks kept.
fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        _span: &SourceSpan,
        _before: usize,
        _after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let whole = SourceSpan::from(0..self.text.len());
        let lines = self.text.matches('\n').count() + 1;
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            self.text.as_bytes(),
            whole,
            self.line,
            self.column,
            lines,
        )))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Finding {}

impl miette::Diagnostic for Finding {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.rule))
    }

    fn severity(&self) -> Option<Severity> {
        Some(match self.level {
            Level::Error => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Note => Severity::Advice,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.excerpt)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        // Without a label the path would not be printed.
        let span = LabeledSpan::new(None, self.excerpt.span.start, self.excerpt.span.len());
        Some(Box::new(std::iter::once(span)))
    }
}
