//! The scan: one automaton over all keywords, and patterns on bounded windows around them.
//!
//! Why it is linear: each keyword hit costs at most a constant number of bytes ([`REACH`] behind it, or what the
//! detector's place says, at most a few hundred, before it), and what a detector has judged once, match or not, it
//! does not look at again. A value that runs on past its window is followed to its end by a plain loop, and hits
//! inside it are skipped.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::bytes::{Regex, RegexBuilder};

use super::names::{self, Judged, Kind};
use super::{DETECTORS, Detector, Place, Rank, Secret, plausible};
use crate::text;

/// How many bytes a pattern sees from its keyword on.
const REACH: usize = 1024;
/// The same for what has a long body: private keys.
const LONG_REACH: usize = 16 * 1024;
/// The longest name, to either side of a keyword.
const NAME: usize = 64;
/// How much of a long value is looked at for placeholders.
const LOOK: usize = 512;

/// From this length of text on, the faster automaton is worth what building it takes (about ten milliseconds).
const LONG_TEXT: usize = 1 << 20;

struct Index {
    keywords: Vec<&'static str>,
    /// For each keyword, the detectors that have it.
    owners: Vec<Vec<usize>>,
    /// For each detector, its pattern, once it was needed.
    patterns: Vec<OnceLock<Option<Regex>>>,
    quickly_built: OnceLock<Option<AhoCorasick>>,
    quickly_run: OnceLock<Option<AhoCorasick>>,
}

impl Index {
    /// Finds the keywords in any case. `None` only if they could not be compiled, which a test rules out.
    fn automaton(&self, length: usize) -> Option<&AhoCorasick> {
        let (automaton, kind) = if length < LONG_TEXT {
            (&self.quickly_built, AhoCorasickKind::ContiguousNFA)
        } else {
            (&self.quickly_run, AhoCorasickKind::DFA)
        };
        let build = || {
            let mut builder = AhoCorasick::builder();
            builder.ascii_case_insensitive(true).match_kind(MatchKind::Standard).kind(Some(kind));
            builder.build(&self.keywords).ok()
        };
        automaton.get_or_init(build).as_ref()
    }
}

fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut owners: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (number, detector) in DETECTORS.iter().enumerate() {
            for keyword in detector.keywords {
                owners.entry(keyword).or_default().push(number);
            }
        }
        Index {
            keywords: owners.keys().copied().collect(),
            owners: owners.into_values().collect(),
            patterns: DETECTORS.iter().map(|_| OnceLock::new()).collect(),
            quickly_built: OnceLock::new(),
            quickly_run: OnceLock::new(),
        }
    })
}

/// The compiled pattern of detector `number`.
pub(super) fn pattern(number: usize) -> Option<&'static Regex> {
    let compiled = index().patterns[number].get_or_init(|| {
        let detector = &DETECTORS[number];
        let anchor = if matches!(detector.place, Place::Near { .. }) { "" } else { r"\A" };
        RegexBuilder::new(&format!("{anchor}(?:{})", detector.pattern)).unicode(false).build().ok()
    });
    compiled.as_ref()
}

/// The secrets in `text`, and the number of bytes that were looked at beside the automaton's one pass.
pub(super) fn scan(text: &str) -> (Vec<Secret>, usize) {
    let index = index();
    let Some(automaton) = index.automaton(text.len()) else { return (Vec::new(), 0) };
    let mut scan = Scan { text, bytes: text.as_bytes(), judged: vec![0; DETECTORS.len()], found: Vec::new(), work: 0 };
    for hit in automaton.find_overlapping_iter(text) {
        for number in &index.owners[hit.pattern().as_usize()] {
            if hit.start() >= scan.judged[*number] {
                scan.hit(*number, hit.range());
            }
        }
    }
    (settle(scan.found), scan.work)
}

/// The most specific first; what overlaps with one that was taken is left out.
fn settle(mut found: Vec<(usize, Secret)>) -> Vec<Secret> {
    found.sort_by_key(|(number, secret)| (secret.detector.rank, secret.span.start, Reverse(secret.span.end), *number));
    let mut taken: BTreeMap<usize, Secret> = BTreeMap::new();
    for (_, secret) in found {
        let before = taken.range(..secret.span.end).next_back();
        if before.is_none_or(|(_, other)| other.span.end <= secret.span.start) {
            taken.insert(secret.span.start, secret);
        }
    }
    taken.into_values().collect()
}

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// For each detector, up to where it has judged: it takes no keyword before that.
    judged: Vec<usize>,
    /// With the number of the detector, which decides where rank and span do not.
    found: Vec<(usize, Secret)>,
    work: usize,
}

impl Scan<'_> {
    fn hit(&mut self, number: usize, keyword: Range<usize>) {
        let detector = &DETECTORS[number];
        match detector.place {
            Place::Start => self.at_start(number, detector, keyword),
            Place::Near { before, after } => {
                let window = keyword.start.saturating_sub(before)..self.bytes.len().min(keyword.end + after);
                self.nearby(number, detector, &keyword, window);
            }
            Place::Name(kind) => self.named(number, detector, kind, keyword),
        }
    }

    fn at_start(&mut self, number: usize, detector: &'static Detector, keyword: Range<usize>) {
        let grouped = pattern(number).is_some_and(|pattern| pattern.captures_len() > 1);
        if !grouped && !begins(self.bytes, keyword.start) {
            return;
        }
        let hopeless = match detector.rank {
            Rank::Vendor => !self.value_follows(keyword.end),
            Rank::Structure => detector.needs.is_some_and(|byte| !self.word_has(keyword.end, byte)),
            Rank::Token | Rank::Generic => false,
        };
        if hopeless {
            return;
        }
        let reach =
            if detector.id.contains("private-key") || detector.id.contains("account") { LONG_REACH } else { REACH };
        let window = keyword.start..self.bytes.len().min(keyword.start + reach);
        let Some((all, value)) = self.matched(number, window.clone(), 0) else { return };
        self.judged[number] = all.end;
        if detector.rank == Rank::Vendor && names::about_something_else(&self.bytes[keyword.start..value.start]) {
            return;
        }
        let value = if all.end == window.end { self.follow(value) } else { value };
        self.judged[number] = all.end.max(value.end);
        self.judge(number, detector, keyword, value);
    }

    fn nearby(&mut self, number: usize, detector: &'static Detector, keyword: &Range<usize>, window: Range<usize>) {
        let mut from = 0;
        while let Some((all, value)) = self.matched(number, window.clone(), from) {
            if all.end > keyword.start {
                self.judged[number] = all.end;
                if begins(self.bytes, value.start) {
                    self.judge(number, detector, keyword.clone(), value);
                }
                return;
            }
            from = (all.end - window.start).max(from + 1);
        }
    }

    /// The whole match in `window`, from `from` bytes into it, and the value in the match.
    fn matched(&mut self, number: usize, window: Range<usize>, from: usize) -> Option<(Range<usize>, Range<usize>)> {
        let pattern = pattern(number)?;
        let start = window.start;
        let part = &self.bytes[window];
        let shift = |range: Range<usize>| range.start + start..range.end + start;
        let matched = if pattern.captures_len() == 1 {
            pattern.find_at(part, from).map(|all| (shift(all.range()), shift(all.range())))
        } else {
            // Most attempts fail, and finding that out needs no groups.
            let groups = pattern.is_match_at(part, from).then(|| pattern.captures_at(part, from)).flatten();
            groups.and_then(|groups| {
                let value = (1..groups.len()).find_map(|group| groups.get(group))?;
                Some((shift(groups.get(0)?.range()), shift(value.range())))
            })
        };
        self.work += matched.as_ref().map_or(part.len(), |(all, _)| all.end - start);
        matched
    }

    /// Whether a long run of letters and digits, with a digit in it, stands in the next bytes of the line.
    fn value_follows(&mut self, from: usize) -> bool {
        let mut run = 0;
        let mut digit = false;
        for byte in self.bytes[from..].iter().take(112) {
            self.work += 1;
            if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_') {
                run += 1;
                digit |= byte.is_ascii_digit();
                if run >= 16 && digit {
                    return true;
                }
            } else if *byte == b'\n' {
                return false;
            } else {
                (run, digit) = (0, false);
            }
        }
        false
    }

    /// Whether `wanted` stands in the rest of the word.
    fn word_has(&mut self, from: usize, wanted: u8) -> bool {
        let mut word = self.bytes[from..]
            .iter()
            .take(300)
            .take_while(|byte| !byte.is_ascii_whitespace() && !b"\"'`<>)".contains(byte));
        self.work += 1;
        word.any(|byte| *byte == wanted)
    }

    /// A value that its window cut, up to where it really ends.
    fn follow(&mut self, value: Range<usize>) -> Range<usize> {
        let more = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=_-.~%".contains(byte);
        let rest = self.bytes[value.end..].iter().take_while(more).count();
        self.work += rest;
        value.start..value.end + rest
    }

    /// A name with the keyword in it, and the value after it.
    fn named(&mut self, number: usize, detector: &'static Detector, kind: Kind, keyword: Range<usize>) {
        let in_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        // A keyword may end with the sign that follows the name.
        let inside = self.bytes[keyword.clone()].iter().take_while(in_name).count();
        let keyword = keyword.start..keyword.start + inside;
        let left = self.bytes[..keyword.start].iter().rev().take(NAME).take_while(in_name).count();
        let right = self.bytes[keyword.end..].iter().take(NAME).take_while(in_name).count();
        self.work += left + right;
        let mut end = keyword.end + right;
        self.judged[number] = end;
        let mut start = keyword.start - left;
        if start >= 1 && self.bytes[start - 1] == b'\\' && matches!(self.bytes[start], b'n' | b'r' | b't') {
            start += 1;
        }
        while end > keyword.end && matches!(self.bytes[end - 1], b'-' | b'.' | b'_') {
            end -= 1;
        }
        if left == NAME || right == NAME || start > keyword.start || !self.assigned_after(end) {
            return;
        }
        let line = self.bytes[..start].iter().rev().take(NAME).take_while(|byte| **byte != b'\n').count();
        let before = String::from_utf8_lossy(&self.bytes[start - line..start]);
        let Some(name) = self.text.get(start..end) else { return };
        // `arn:…:secret:name` is a name, and the token of a badge is public.
        let path = before.ends_with([':', '/']) && self.bytes.get(end) == Some(&b':');
        if path || before.contains(".svg?") || before.contains("badge") {
            return;
        }
        let Some(judged) = names::judge(name, &before).filter(|judged| judged.kind == kind) else { return };
        let window = end..self.bytes.len().min(end + REACH);
        let Some((all, value)) = self.matched(number, window.clone(), 0) else { return };
        let option = self.bytes[start] == b'-';
        let opened = if option { b'-' } else { start.checked_sub(1).map_or(b' ', |at| self.bytes[at]) };
        let Some(assignment) = Assignment::of(self.text, end, &all, value, opened) else { return };
        let runs_on = all.end == window.end;
        let span = if runs_on { self.follow(assignment.value.clone()) } else { assignment.value.clone() };
        let span = text::clamp(self.text, span);
        if runs_on {
            // Names inside it were followed with it; to follow each again would be quadratic.
            self.judged[number] = span.end;
        }
        if assignment.plausible(self.text, judged, &span) {
            self.judged[number] = span.end;
            self.found.push((number, Secret { detector, span }));
        }
    }

    /// Whether what stands behind a name can be an assignment: a sign of one, or a space and a word with a digit.
    fn assigned_after(&mut self, end: usize) -> bool {
        let mut rest = self.bytes[end..].iter().take(80).peekable();
        match rest.peek() {
            Some(b' ' | b'\t') => {
                let mut words = 0;
                let mut inside = false;
                for byte in rest {
                    self.work += 1;
                    match byte {
                        b' ' | b'\t' => inside = false,
                        b'=' | b':' | b'|' | b'>' | b'?' | b'0'..=b'9' | b'"' | b'\'' | b'`' => return true,
                        b'\n' => return false,
                        _ if !inside => {
                            inside = true;
                            words += 1;
                            if words > 2 {
                                return false;
                            }
                        }
                        _ => {}
                    }
                }
                false
            }
            Some(b'\n' | b'\r') => {
                self.work += 48;
                self.bytes[end..]
                    .iter()
                    .take(48)
                    .find(|byte| byte.is_ascii_alphabetic())
                    .is_some_and(|byte| byte.eq_ignore_ascii_case(&b'v'))
            }
            Some(byte) => b"\"'`]):=*>|,!?\\".contains(byte),
            None => false,
        }
    }

    fn judge(&mut self, number: usize, detector: &'static Detector, keyword: Range<usize>, value: Range<usize>) {
        let after = self.bytes.get(value.end);
        let rest = &self.bytes[value.end..];
        let elided = rest.starts_with(b"...") || rest.starts_with("…".as_bytes());
        if detector.rank <= Rank::Vendor && (after.is_some_and(u8::is_ascii_alphanumeric) || elided) {
            return;
        }
        let span = text::clamp(self.text, value);
        let value = &self.text[span.clone()];
        let prefix = if keyword.start == span.start { keyword.len() } else { 0 };
        let body = text::clamp(value, prefix..value.len().min(prefix + LOOK));
        let body = &value[body];
        self.work += value.len();
        let proven = detector.proof.is_some_and(|proof| proof(value));
        let looks = || {
            detector.check.is_none_or(|check| check(value))
                && detector
                    .entropy
                    .is_none_or(|least| plausible::entropy(body) >= least && !plausible::placeholder(body))
        };
        if !value.is_empty() && (proven || looks()) {
            self.found.push((number, Secret { detector, span }));
        }
    }
}

/// Whether a value can begin at `at`: not inside a word, but behind an escape such as `\n`, `%20` or a colour code.
fn begins(bytes: &[u8], at: usize) -> bool {
    let Some(last) = at.checked_sub(1).map(|at| bytes[at]) else { return true };
    if !last.is_ascii_alphanumeric() || !bytes[at].is_ascii_alphanumeric() {
        return true;
    }
    let behind = |count: usize| at.checked_sub(count).map(|at| bytes[at]);
    let escaped = matches!(last, b'n' | b'r' | b't') && behind(2) == Some(b'\\');
    let encoded =
        last.is_ascii_hexdigit() && behind(2).is_some_and(|byte| byte.is_ascii_hexdigit()) && behind(3) == Some(b'%');
    let code =
        || bytes[..at - 1].iter().rev().take(8).find(|byte| !byte.is_ascii_digit() && **byte != b';') == Some(&b'[');
    escaped || encoded || bytes[..at].ends_with(b"bot") || last == b'm' && code()
}

/// A value after a name, and how it stands there.
struct Assignment {
    value: Range<usize>,
    /// Between quotes.
    quoted: bool,
    /// With a sign between name and value, and not only a space.
    signed: bool,
    /// What follows on the line.
    rest: Range<usize>,
}

impl Assignment {
    /// `opened` is the byte before the name. `None` if the value cannot be one of that name.
    fn of(text: &str, name_end: usize, all: &Range<usize>, value: Range<usize>, opened: u8) -> Option<Self> {
        let bytes = text.as_bytes();
        let between = &bytes[name_end..value.start];
        let element = between.first() == Some(&b'>');
        if element && (opened != b'<' || !matches!(bytes.get(value.end), Some(b'<' | b'}'))) {
            return None;
        }
        let quoted = between.last().is_some_and(|byte| matches!(byte, b'"' | b'\'' | b'`'));
        let signed = opened == b'-'
            || between.iter().any(|byte| b"=:>|?,".contains(byte))
            || between.windows(5).any(|word| word.eq_ignore_ascii_case(b"value"));
        let query = matches!(opened, b'?' | b'&');
        let mut value = value;
        if opened == b'{' && between == b":" {
            // `${NAME:-default}`, `${NAME:?message}`.
            if bytes.get(value.start) != Some(&b'-') {
                return None;
            }
            value.start += 1;
        }
        if !quoted {
            let part = &bytes[value.clone()];
            let cut = |at: usize| value.start + at;
            let escape =
                part.windows(2).position(|pair| pair[0] == b'\\' && matches!(pair[1], b'n' | b'r' | b't' | b'"'));
            let next = part.iter().position(|byte| *byte == b'&').filter(|_| query);
            let end = [escape, next].into_iter().flatten().min().map_or(value.end, cut);
            value.end = end;
            while value.end > value.start && matches!(bytes[value.end - 1], b'\\' | b'.' | b'*' | b':' | b'_') {
                value.end -= 1;
            }
        }
        let end = value.end.max(all.end.min(value.end + 1));
        if bytes[value.end..].starts_with(b"...") || bytes[value.end..].starts_with("…".as_bytes()) {
            return None;
        }
        let line = bytes[end..].iter().take(80).take_while(|byte| **byte != b'\n').count();
        Some(Self { value, quoted, signed, rest: end..end + line })
    }

    fn plausible(&self, text: &str, name: Judged, span: &Range<usize>) -> bool {
        let value = &text[span.clone()];
        let look = &value[text::clamp(value, 0..LOOK)];
        if look.contains(char::is_whitespace) || !self.quoted && (look.contains('(') || plausible::code_path(look)) {
            return false;
        }
        let length = look.len();
        let random = || plausible::random(look);
        match name.kind {
            Kind::Password => {
                let strong = || {
                    length >= 8
                        && (random()
                            || plausible::password(look) && look.bytes().filter(u8::is_ascii_digit).count() >= 1)
                };
                if !self.signed {
                    strong() && (self.ends(text) || random())
                } else if name.weak {
                    strong() && self.ends(text)
                } else {
                    (plausible::password(look) || random()) && (self.quoted || self.ends(text) || random())
                }
            }
            Kind::Secret => {
                let drawn = plausible::uuid(look) && !name.bare && (self.signed || !name.weak);
                let digest = plausible::digest(look);
                let least = match (self.signed, name.weak, name.bare) {
                    (true, false, false) => 10,
                    (true, false, true) => 12,
                    (true, true, true) => 20,
                    _ => 16,
                };
                let letters = look.bytes().filter(|byte| byte.is_ascii_alphanumeric()).count();
                let enough =
                    letters >= least && !(digest && name.weak && name.bare) && !(digest && !self.signed && name.bare);
                let odd = || {
                    self.signed
                        && !name.weak
                        && length >= 8
                        && plausible::password(look)
                        && look.bytes().filter(u8::is_ascii_digit).count() >= 2
                };
                drawn || enough && random() || odd() && (self.quoted || self.ends(text))
            }
        }
    }

    /// Whether the line ends with the value, or something follows that does not go on in prose.
    fn ends(&self, text: &str) -> bool {
        let rest = text.get(text::clamp(text, self.rest.clone())).unwrap_or_default();
        let rest =
            rest.trim_start_matches(['"', '\'', '`', ')', ']', '}', ',', ';', '.', '*', '_', '|', '<', '\\', '&']);
        let rest = rest.trim_start();
        rest.is_empty()
            || !rest.starts_with(|char: char| char.is_alphabetic())
            || rest.contains(['=', ':', '{', '$', '"'])
    }
}
