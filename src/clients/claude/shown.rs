//! A text as it is put before the model.

use std::ops::Range;

use crate::markdown::Markdown;

/// `text` without its front matter and without the comments that stand in blocks of their own.
pub(super) fn strip(text: &str, markdown: &Markdown) -> String {
    let front = markdown.front_matter.iter().map(|front| front.span.clone());
    let comments = markdown.comments.iter().filter(|comment| comment.block).map(|comment| comment.span.clone());
    let mut gone: Vec<Range<usize>> = front.chain(comments).collect();
    gone.sort_by_key(|span| span.start);
    let mut shown = String::with_capacity(text.len());
    let mut at = 0;
    for span in gone {
        shown.push_str(text.get(at..span.start).unwrap_or_default());
        at = at.max(span.end);
    }
    shown.push_str(&text[at..]);
    shown
}
