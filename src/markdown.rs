//! A Markdown text as Claude Code lexes it: front matter, comments, and every `@path` with whether it is an import.
//!
//! The client's lexer knows CommonMark without GitHub's additions. An import is looked for in each run of plain text,
//! as it stands in the source. Three habits of that lexer are not CommonMark's and are kept here: the lines of a list
//! item are searched as they are too, code and all; a line that is nothing but a tag ends such an item's text; and a
//! processing instruction, a declaration or a CDATA section ends right behind its mark.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// What was found in a text. All spans are bytes of that text.
#[derive(Clone, Debug, Default)]
pub struct Markdown {
    /// The front matter, if the text opens with one.
    pub front_matter: Option<FrontMatter>,
    /// The HTML comments, in order.
    pub comments: Vec<Comment>,
    /// Everything that looks like `@path`, in order.
    pub mentions: Vec<Mention>,
}

/// A front matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrontMatter {
    /// All of it, with both fences and the white space behind the second.
    pub span: Range<usize>,
    /// What is between the fences.
    pub yaml: Range<usize>,
}

/// An HTML comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// From `<!--` to `-->`.
    pub span: Range<usize>,
    /// Whether it stands in a block of its own at the top level: the client leaves such a comment out.
    pub block: bool,
}

/// Something that looks like `@path`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// From the `@` to the end of the path, a `#fragment` included.
    pub span: Range<usize>,
    /// The path as written, without `@` and fragment, `\ ` made a space.
    pub path: String,
    /// Why it is not an import; `None` when it is one.
    pub ignored: Option<Ignored>,
}

/// Why an `@path` is not an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// It is in a block of code, fenced or indented.
    Code,
    /// It is between backticks.
    CodeSpan,
    /// It is in an HTML tag or block.
    Html,
    /// It is in an HTML comment.
    Comment,
    /// It is in the front matter.
    FrontMatter,
    /// It is in the target or the title of a link, or in an image.
    Link,
    /// A character other than white space stands before it.
    Glued,
}

/// Lexes `text`. With `bom`, a byte order mark may stand before the front matter.
pub fn lex(text: &str, bom: bool) -> Markdown {
    let front_matter = front_matter(text, bom);
    let body = front_matter.as_ref().map_or(0, |front| front.span.end);
    let mut lexer = Lexer { text, ..Lexer::default() };
    if let Some(front) = &front_matter {
        lexer.seen.push((front.span.clone(), Ignored::FrontMatter));
    }
    lexer.lex(body);
    let mentions = mentions(text, lexer.imports, &lexer.seen, &lexer.plain);
    Markdown { front_matter, comments: lexer.comments, mentions }
}

/// Everything in `text` that looks like `@path`: the imports, and what is none for one of the reasons `seen`.
fn mentions(
    text: &str,
    mut imports: Vec<Mention>,
    seen: &[(Range<usize>, Ignored)],
    plain: &[Range<usize>],
) -> Vec<Mention> {
    imports.sort_by_key(|import| (import.span.start, import.span.end));
    let mut found: Vec<Mention> = Vec::new();
    let mut imports = imports.into_iter().peekable();
    let mut past = 0;
    for (sign, _) in text.match_indices('@') {
        while let Some(import) = imports.next_if(|import| import.span.start == sign) {
            past = past.max(import.span.end);
            // In a list item the same one is found in the lines and in the text.
            if found.last() != Some(&import) {
                found.push(import);
            }
        }
        // A sign behind a letter or a digit is an address.
        if sign < past || text[..sign].ends_with(char::is_alphanumeric) {
            continue;
        }
        let (path, end) = path(text, sign);
        past = end;
        if let Some(path) = path {
            let reason = holding(seen, sign, |(span, _)| span).map(|(_, why)| *why);
            let in_text = holding(plain, sign, |span| span).is_some();
            let ignored = reason.unwrap_or(if in_text { Ignored::Glued } else { Ignored::Link });
            found.push(Mention { span: sign..end, path, ignored: Some(ignored) });
        }
    }
    found
}

/// The one of `spans`, sorted and apart, that holds byte `at`.
fn holding<T>(spans: &[T], at: usize, span: impl Fn(&T) -> &Range<usize>) -> Option<&T> {
    let behind = spans.partition_point(|one| span(one).start <= at);
    spans[..behind].last().filter(|one| span(one).contains(&at))
}

/// The front matter of `text`: it opens at the first byte with a line of `---` and ends at the next `---`, wherever
/// that stands.
pub fn front_matter(text: &str, bom: bool) -> Option<FrontMatter> {
    let start = if bom && text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let rest = text[start..].strip_prefix("---")?;
    let after = start + 3;
    // Blank lines may follow the first fence.
    let blank = rest.len() - rest.trim_start_matches(is_space).len();
    let open = after + rest[..blank].rfind('\n')? + 1;
    let close = open + text[open..].find("---")?;
    let end = text.len() - text[close + 3..].trim_start_matches(is_space).len();
    Some(FrontMatter { span: 0..end, yaml: open..close })
}

/// White space as JavaScript's `\s` has it.
pub fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// A run of plain text, put together from pieces of the source.
#[derive(Default)]
struct Run {
    text: String,
    /// Where in `text` each piece starts, and where in the source.
    pieces: Vec<(usize, usize)>,
}

impl Run {
    fn push(&mut self, at: usize, piece: &str) {
        self.pieces.push((self.text.len(), at));
        self.text.push_str(piece);
    }

    /// The place in the source of a byte of the run.
    fn source(&self, at: usize) -> usize {
        let piece = self.pieces.partition_point(|(start, _)| *start <= at).saturating_sub(1);
        self.pieces.get(piece).map_or(at, |(start, source)| source + (at - start))
    }

    fn clear(&mut self) {
        self.text.clear();
        self.pieces.clear();
    }

    fn span(&self, part: &Range<usize>) -> Range<usize> {
        self.source(part.start)..self.source(part.end.max(1) - 1) + 1
    }

    /// The pieces of `part`, each with its place in the source.
    fn parts(&self, part: &Range<usize>) -> Vec<(usize, &str)> {
        let starts = self.pieces.iter().map(|(start, _)| *start);
        let ends = starts.clone().skip(1).chain([self.text.len()]);
        starts
            .zip(ends)
            .map(|(start, end)| start.max(part.start)..end.min(part.end))
            .filter(|piece| piece.start < piece.end)
            .map(|piece| (self.source(piece.start), &self.text[piece]))
            .collect()
    }

    fn imports(&self, found: &mut Vec<Mention>) {
        let mut at = 0;
        while let Some(next) = self.text[at..].find('@') {
            let sign = at + next;
            at = sign + 1;
            if !self.text[..sign].chars().next_back().is_none_or(is_space) {
                continue;
            }
            let (path, end) = path(&self.text, sign);
            at = end.max(at);
            if let Some(path) = path {
                found.push(Mention { span: self.source(sign)..self.source(end - 1) + 1, path, ignored: None });
            }
        }
    }
}

/// The path behind the `@` at `sign`, `None` when it can be none, and where what is written there ends.
fn path(text: &str, sign: usize) -> (Option<String>, usize) {
    let start = sign + 1;
    let mut end = start;
    let mut chars = text[start..].chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\\' && chars.next_if_eq(&' ').is_some() {
            end += 2;
        } else if c == '\\' || is_space(c) {
            break;
        } else {
            end += c.len_utf8();
        }
    }
    let written = text[start..end].split('#').next().unwrap_or_default();
    let named = written.starts_with(|c: char| c.is_ascii_alphanumeric() || "._-".contains(c));
    let placed = written.starts_with("~/") || (written.starts_with('/') && written.len() > 1);
    ((named || placed).then(|| written.replace("\\ ", " ")), end)
}

#[derive(Default)]
struct Lexer<'a> {
    text: &'a str,
    imports: Vec<Mention>,
    comments: Vec<Comment>,
    /// What is not plain text, and why nothing in it is an import.
    seen: Vec<(Range<usize>, Ignored)>,
    /// The plain text.
    plain: Vec<Range<usize>>,
    run: Run,
    /// The containers around, outermost first: whether each is a list item.
    containers: Vec<bool>,
    /// The text of the list item's block that is being read.
    item_text: Option<Range<usize>>,
    /// How many imports were found before that block.
    before_item: usize,
    /// Where the last piece of inline text ended.
    past: usize,
    in_code: bool,
    /// How many images are around.
    images: usize,
}

impl Lexer<'_> {
    fn lex(&mut self, body: usize) {
        let text = self.text;
        let mut html: Vec<Range<usize>> = Vec::new();
        for (event, range) in Parser::new_ext(&text[body..], Options::empty()).into_offset_iter() {
            let range = range.start + body..range.end + body;
            match event {
                Event::Start(Tag::Item) => self.enter(true),
                // The text of a heading is lexed in a list item too, and code is not text.
                Event::Start(Tag::BlockQuote(_) | Tag::Heading { .. }) => self.enter(false),
                Event::Start(Tag::CodeBlock(_)) => {
                    self.end_block();
                    self.seen.push((range.clone(), Ignored::Code));
                    self.in_code = true;
                }
                Event::End(TagEnd::CodeBlock) => self.in_code = false,
                _ if self.in_code => {}
                Event::End(TagEnd::Item | TagEnd::BlockQuote(_) | TagEnd::Heading(_)) => {
                    self.end_block();
                    self.containers.pop();
                }
                Event::Start(Tag::HtmlBlock) => {
                    self.end_block();
                    html.clear();
                }
                Event::Html(_) => html.push(range.clone()),
                Event::End(TagEnd::HtmlBlock) => self.html_block(&html),
                Event::Start(Tag::Paragraph | Tag::List(_))
                | Event::End(TagEnd::Paragraph | TagEnd::List(_))
                | Event::Rule => self.end_block(),
                inline => self.inline(&inline, range),
            }
        }
        self.end_block();
        self.seen.sort_by_key(|(span, _)| span.start);
        self.plain.sort_by_key(|span| span.start);
    }

    fn enter(&mut self, item: bool) {
        self.end_block();
        self.containers.push(item);
    }

    fn inline(&mut self, event: &Event<'_>, range: Range<usize>) {
        let text = self.text;
        // An escaped character is a token of its own: the text starts anew behind it.
        let escaped = self.past < range.start && text[..range.start].ends_with('\\');
        self.past = range.end;
        let tag = matches!(event, Event::InlineHtml(html) if is_tag(html));
        match event {
            Event::Start(Tag::Image { .. }) => {
                if self.images == 0 {
                    self.seen.push((range.clone(), Ignored::Link));
                }
                self.images += 1;
            }
            Event::End(TagEnd::Image) => self.images -= 1,
            Event::Code(_) => self.seen.push((range.clone(), Ignored::CodeSpan)),
            Event::InlineHtml(html) if tag => {
                let comment = html.starts_with("<!--");
                if comment {
                    self.comments.push(Comment { span: range.clone(), block: false });
                }
                self.seen.push((range.clone(), if comment { Ignored::Comment } else { Ignored::Html }));
            }
            // Its text comes in events of its own.
            Event::Start(_) => self.past = range.start,
            _ => {}
        }
        if self.containers.last() == Some(&true) {
            let start = range.start - usize::from(escaped);
            self.item_text = match self.item_text.take() {
                Some(so_far) => Some(so_far.start..so_far.end.max(range.end)),
                None => {
                    self.before_item = self.imports.len();
                    Some(start..range.end)
                }
            };
        }
        match event {
            _ if self.images > 0 => self.end_run(),
            Event::Text(_) | Event::InlineHtml(_) if !tag => {
                let mut start = range.start;
                if escaped {
                    self.end_run();
                    start += text[start..].chars().next().map_or(0, char::len_utf8);
                }
                self.run.push(start, &text[start..range.end.max(start)]);
                self.plain.push(range);
            }
            Event::SoftBreak => self.run.push(range.start, "\n"),
            _ => self.end_run(),
        }
    }

    fn end_run(&mut self) {
        self.run.imports(&mut self.imports);
        self.run.clear();
    }

    /// Ends a block of text; that of a list item is searched as it stands.
    fn end_block(&mut self) {
        self.end_run();
        let Some(block) = self.item_text.take() else { return };
        let quoted = self.containers.contains(&false);
        let mut at = block.start;
        for line in self.text[block.clone()].split_inclusive(['\n', '\r']) {
            let content = if at == block.start { line } else { line.trim_start_matches([' ', '\t']) };
            let content =
                if at == block.start || !quoted { content } else { content.trim_start_matches(['>', ' ', '\t']) };
            if at > block.start && is_lone_tag(content) {
                self.seen.push((at..block.end, Ignored::Html));
                let found = self.imports.split_off(self.before_item);
                self.imports.extend(found.into_iter().filter(|import| import.span.start < at));
                break;
            }
            self.run.push(at + line.len() - content.len(), content);
            at += line.len();
        }
        self.plain.push(block);
        self.end_run();
    }

    /// An HTML block, line by line: only one that starts with a comment has text, which is what its comments leave.
    fn html_block(&mut self, lines: &[Range<usize>]) {
        for line in lines {
            self.run.push(line.start, &self.text[line.clone()]);
        }
        let html = std::mem::take(&mut self.run);
        let raw = html.text.as_str();
        let indent = raw.len() - raw.trim_start().len();
        let opening = &raw[indent..];
        let comments = comments(raw);
        let starts_with_comment = opening.starts_with("<!--") && opening.contains("-->");
        for comment in &comments {
            let span = html.span(comment);
            let block = starts_with_comment && self.containers.is_empty();
            self.comments.push(Comment { span: span.clone(), block });
            if starts_with_comment {
                self.seen.push((span, Ignored::Comment));
            }
        }
        let text = if starts_with_comment {
            let starts = [0].into_iter().chain(comments.iter().map(|comment| comment.end));
            let ends = comments.iter().map(|comment| comment.start).chain([raw.len()]);
            starts.zip(ends).map(|(start, end)| start..end).collect()
        } else if let Some(end) = end_of_instruction(opening) {
            self.seen.push((html.span(&(indent..indent + end)), Ignored::Html));
            std::iter::once(indent + end..raw.len()).collect()
        } else {
            let why = if opening.starts_with("<!--") { Ignored::Comment } else { Ignored::Html };
            self.seen.push((html.span(&(0..raw.len())), why));
            Vec::new()
        };
        for part in text.into_iter().filter(|part: &Range<usize>| !part.is_empty()) {
            for (at, piece) in html.parts(&part) {
                self.run.push(at, piece);
            }
            self.plain.push(html.span(&part));
        }
        self.end_run();
    }
}

/// The comments in `html`.
fn comments(html: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = html[at..].find("<!--").map(|next| at + next)
        && let Some(length) = html[start + 4..].find("-->")
    {
        at = start + 4 + length + 3;
        found.push(start..at);
    }
    found
}

/// Where a processing instruction, a CDATA section or a declaration ends; `None` for any other block.
fn end_of_instruction(html: &str) -> Option<usize> {
    let close = if html.starts_with("<?") {
        "?>"
    } else if html.starts_with("<![CDATA[") {
        "]]>"
    } else if html.strip_prefix("<!").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic())) {
        ">"
    } else {
        return None;
    };
    html.find(close).map(|at| at + close.len())
}

/// Whether inline HTML is a tag to the client: a declaration is one only with white space behind its name.
fn is_tag(html: &str) -> bool {
    match html.strip_prefix("<!") {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).starts_with(is_space)
        }
        _ => html.starts_with('<'),
    }
}

/// Whether `line` is nothing but one complete tag.
fn is_lone_tag(line: &str) -> bool {
    let inside = line.trim_end().strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    inside.is_some_and(|tag| {
        let name = tag.strip_prefix('/').unwrap_or(tag);
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name
                .chars()
                .take_while(|c| !c.is_whitespace() && *c != '/')
                .all(|c| c.is_ascii_alphanumeric() || c == '-')
            && !tag.contains(['<', '>'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imports(text: &str) -> Vec<String> {
        let markdown = lex(text, false);
        let found: Vec<&Mention> = markdown.mentions.iter().filter(|mention| mention.ignored.is_none()).collect();
        for mention in &found {
            assert!(text[mention.span.clone()].starts_with('@'), "{text:?} {mention:?}");
        }
        found.into_iter().map(|mention| mention.path.clone()).collect()
    }

    fn ignored(text: &str) -> Option<Ignored> {
        lex(text, false).mentions.first().and_then(|mention| mention.ignored)
    }

    #[test]
    fn an_import_starts_a_text_or_follows_white_space() {
        for text in ["@a.md", "x @a.md y", "*@a.md*", "[@a.md](b)", "# @a.md", "> @a.md", "- x\n  @a.md", "\\*@a.md"] {
            assert_eq!(imports(text), ["a.md"], "{text:?}");
        }
        for text in ["x@a.md", "(@a.md)", "\\@a.md", "`@a.md`", "    @a.md", "[x](@a.md)", "![@a.md](b)", "@@a.md"] {
            assert_eq!(imports(text), [""; 0], "{text:?}");
        }
    }

    #[test]
    fn a_path_ends_at_white_space_and_loses_its_fragment() {
        assert_eq!(imports("@a.md#x y"), ["a.md"]);
        assert_eq!(imports("@a\\ b.md c"), ["a b.md"]);
        assert_eq!(imports("@a.md, @b.md\\x @#c"), ["a.md,", "b.md"]);
        assert_eq!(imports("@~/a @/b @/ @~c @ñ @./ñ"), ["~/a", "/b", "./ñ"]);
    }

    #[test]
    fn the_lines_of_a_list_item_are_searched_as_they_are() {
        assert_eq!(imports("- x ` @a.md `"), ["a.md"]);
        assert_eq!(imports("x ` @a.md `"), [""; 0]);
        assert_eq!(imports("- > x ` @a.md `"), [""; 0]);
        assert_eq!(imports("- x\n  <b>\n  @a.md"), [""; 0]);
    }

    #[test]
    fn html_blocks_hold_imports_only_behind_a_comment() {
        assert_eq!(imports("<!-- @a.md --> @b.md"), ["b.md"]);
        assert_eq!(imports("<div>\n@a.md\n</div>"), [""; 0]);
        assert_eq!(imports("<?x?> @a.md"), ["a.md"]);
        assert_eq!(imports("> <!-- x\n> --> @a.md"), ["a.md"]);
    }

    #[test]
    fn what_is_no_import_says_why() {
        for (text, why) in [
            ("`@a.md`", Ignored::CodeSpan),
            ("```\n@a.md\n```", Ignored::Code),
            ("<!-- @a.md -->", Ignored::Comment),
            ("x <!-- @a.md -->", Ignored::Comment),
            ("<div>@a.md</div>", Ignored::Html),
            ("---\nx: @a.md\n---\n", Ignored::FrontMatter),
            ("[x](@a.md)", Ignored::Link),
            ("[x]: @a.md", Ignored::Link),
            ("(@a.md)", Ignored::Glued),
        ] {
            assert_eq!(ignored(text), Some(why), "{text:?}");
        }
        assert_eq!(lex("a@b.c", false).mentions, []);
    }

    #[test]
    fn front_matter_ends_at_the_next_fence_wherever_it_stands() {
        let yaml = |text: &str| front_matter(text, false).map(|front| text[front.yaml].to_string());
        assert_eq!(yaml("---\na: 1\n---\nx").as_deref(), Some("a: 1\n"));
        assert_eq!(yaml("---\n\n  a: b---c").as_deref(), Some("  a: b"));
        assert_eq!(yaml("---\n---\n").as_deref(), Some(""));
        for none in ["----\na\n---", " ---\na\n---", "---x\n---", "---\na", "\u{feff}---\na\n---"] {
            assert_eq!(yaml(none), None, "{none:?}");
        }
        assert!(front_matter("\u{feff}---\na\n---", true).is_some());
        assert_eq!(front_matter("---\na\n---\n\n    @x", false).map(|front| front.span.end), Some(15));
    }

    #[test]
    fn comments_of_the_top_level_are_blocks() {
        let blocks = |text: &str| lex(text, false).comments.iter().map(|comment| comment.block).collect::<Vec<_>>();
        assert_eq!(blocks("<!-- a -->\nb <!-- c -->\n\n- <!-- d -->\n\n<p><!-- e -->"), [true, false, false, false]);
    }
}
