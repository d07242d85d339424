//! A text as it is put before the model.

use std::ops::Range;

use crate::markdown::{Markdown, is_space};

/// `text` without its front matter and without the comments that stand in blocks of their own.
pub(super) fn strip(text: &str, markdown: &Markdown) -> String {
    parts(text, markdown).concat()
}

/// Whether nothing but white space is left of `text`.
pub(super) fn is_blank(text: &str, markdown: &Markdown) -> bool {
    parts(text, markdown).iter().all(|part| part.trim_matches(is_space).is_empty())
}

fn parts<'t>(text: &'t str, markdown: &Markdown) -> Vec<&'t str> {
    let front = markdown.front_matter.iter().map(|front| front.span.clone());
    let comments = markdown.comments.iter().filter(|comment| comment.block).map(|comment| comment.span.clone());
    let mut gone: Vec<Range<usize>> = front.chain(comments).collect();
    gone.sort_by_key(|span| span.start);
    let mut parts = Vec::with_capacity(gone.len() + 1);
    let mut at = 0;
    for span in gone {
        parts.push(text.get(at..span.start).unwrap_or_default());
        at = at.max(span.end);
    }
    parts.push(&text[at..]);
    parts
}
