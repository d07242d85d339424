//! Brace expansion: `{a,b}`, `{1..3}`, `{a..c}`, nested; what is not well formed stays as it is.

use std::collections::BTreeSet;

/// The longest pattern that is looked at, in bytes; the clients' own libraries take no longer one either.
pub const MAX_LENGTH: usize = 64 * 1024;

/// The most patterns that one expands to.
pub const MAX_BRANCHES: usize = 4096;

/// The most bytes that all of them may have.
const MAX_BYTES: usize = 1 << 20;

/// How deep braces may nest.
const MAX_DEPTH: usize = 16;

/// How many closing braces of one pattern may turn out to be plain text.
const MAX_REWRITES: usize = 16;

/// The patterns that `pattern` stands for, in order, each once; `None` beyond the limits. Escapes stay escaped.
pub fn expand(pattern: &str) -> Option<Vec<String>> {
    if pattern.len() > MAX_LENGTH {
        return None;
    }
    // A pair of braces at the very start is never part of a list.
    let (head, rest) = pattern.strip_prefix("{}").map_or(("", pattern), |rest| ("{}", rest));
    let mut seen = BTreeSet::new();
    let all = expansions(rest, 0)?.into_iter().map(|branch| format!("{head}{branch}"));
    Some(all.filter(|branch| seen.insert(branch.clone())).collect())
}

fn expansions(pattern: &str, depth: usize) -> Option<Vec<String>> {
    let mut found = vec![String::new()];
    let mut plain = BTreeSet::new();
    // The groups still to come, the next one last.
    let mut groups = pairs(pattern, &plain);
    if depth > MAX_DEPTH && !groups.is_empty() {
        return None;
    }
    groups.reverse();
    let mut at = 0;
    while let Some((open, close)) = groups.pop() {
        let (before, inside, rest) = (&pattern[at..open], &pattern[open + 1..close], &pattern[close + 1..]);
        let values = if before.ends_with('$') {
            vec![format!("{{{inside}}}")]
        } else if let Some(values) = sequence(inside) {
            values?
        } else if !has_comma(inside) {
            // In `{a},b}` the first brace does not close the list; with no list to come, all the rest is plain.
            if list_follows(rest) {
                if plain.len() == MAX_REWRITES {
                    return None;
                }
                plain.insert(close);
                groups = pairs(pattern, &plain);
                groups.retain(|(open, _)| *open >= at);
                groups.reverse();
                continue;
            }
            break;
        } else {
            match items(inside).as_slice() {
                [only] => expansions(only, depth + 1)?.iter().map(|value| format!("{{{value}}}")).collect(),
                items => {
                    let mut values = Vec::new();
                    for item in items {
                        values.extend(expansions(item, depth + 1)?);
                        if values.len() > MAX_BRANCHES {
                            return None;
                        }
                    }
                    values
                }
            }
        };
        found = joined(&found, before, &values)?;
        at = close + 1;
    }
    joined(&found, &pattern[at..], &[String::new()])
}

/// Every one of `heads` before `middle` before every one of `tails`; `None` beyond the limits.
fn joined(heads: &[String], middle: &str, tails: &[String]) -> Option<Vec<String>> {
    let bytes = |texts: &[String]| texts.iter().map(String::len).sum::<usize>();
    let count = heads.len() * tails.len();
    if count > MAX_BRANCHES
        || bytes(heads) * tails.len() + middle.len() * count + bytes(tails) * heads.len() > MAX_BYTES
    {
        return None;
    }
    Some(heads.iter().flat_map(|head| tails.iter().map(move |tail| format!("{head}{middle}{tail}"))).collect())
}

/// The bytes of `pattern` that are not escaped, with their places.
fn unescaped(pattern: &str) -> impl Iterator<Item = (usize, u8)> {
    let mut escaped = false;
    pattern.bytes().enumerate().filter(move |(_, byte)| {
        let plain = !escaped;
        escaped = plain && *byte == b'\\';
        plain
    })
}

/// The outermost pairs of braces, in order. A brace without its partner is plain text, and so are those of `plain`.
fn pairs(pattern: &str, plain: &BTreeSet<usize>) -> Vec<(usize, usize)> {
    let mut open = Vec::new();
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (at, byte) in unescaped(pattern) {
        match byte {
            b'{' => open.push(at),
            b'}' if !plain.contains(&at) => {
                if let Some(start) = open.pop() {
                    while pairs.last().is_some_and(|(inner, _)| *inner > start) {
                        pairs.pop();
                    }
                    pairs.push((start, at));
                }
            }
            _ => {}
        }
    }
    pairs
}

fn has_comma(text: &str) -> bool {
    unescaped(text).any(|(_, byte)| byte == b',')
}

/// Whether `rest` has a comma, not before another one, and a closing brace after it.
fn list_follows(rest: &str) -> bool {
    let signs: Vec<(usize, u8)> = unescaped(rest).filter(|(_, byte)| matches!(byte, b',' | b'}')).collect();
    let last = signs.iter().rposition(|(_, byte)| *byte == b'}').unwrap_or(0);
    signs[..last].iter().any(|(at, byte)| *byte == b',' && rest.as_bytes().get(at + 1) != Some(&b','))
}

/// The items of a list: `inside` cut at the commas that are not in inner braces.
fn items(inside: &str) -> Vec<&str> {
    let inner = pairs(inside, &BTreeSet::new());
    let mut items = Vec::new();
    let mut start = 0;
    let mut inner = inner.into_iter().peekable();
    for (at, byte) in unescaped(inside) {
        while inner.next_if(|(_, close)| *close < at).is_some() {}
        if byte == b',' && inner.peek().is_none_or(|(open, _)| at < *open) {
            items.push(&inside[start..at]);
            start = at + 1;
        }
    }
    items.push(&inside[start..]);
    items
}

/// The values of `1..3`, `01..03`, `a..c`, with or without a step; `Some(None)` when they are too many.
#[allow(clippy::option_option, reason = "no sequence, and one beyond the limits, are not the same")]
fn sequence(inside: &str) -> Option<Option<Vec<String>>> {
    let mut parts = inside.split("..");
    let (from, to, step) = (parts.next()?, parts.next()?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let step = usize::try_from(step.map_or(Some(1), integer)?.unsigned_abs()).ok()?.max(1);
    let letter = |text: &str| match text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(i64::from(*byte)),
        _ => None,
    };
    let (start, end, letters) = match (integer(from), integer(to)) {
        (Some(start), Some(end)) => (start, end, false),
        _ => (letter(from)?, letter(to)?, true),
    };
    let padded = [from, to].iter().any(|text| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        digits.len() > 1 && digits.starts_with('0')
    });
    let width = if padded && !letters { from.len().max(to.len()) } else { 0 };
    let show = |value: i64| match u8::try_from(value) {
        Ok(b'\\') if letters => String::new(),
        Ok(byte) if letters => char::from(byte).to_string(),
        _ => format!("{value:0width$}"),
    };
    let values: Vec<String> = if start <= end {
        (start..=end).step_by(step).take(MAX_BRANCHES + 1).map(show).collect()
    } else {
        (end..=start).rev().step_by(step).take(MAX_BRANCHES + 1).map(show).collect()
    };
    Some((values.len() <= MAX_BRANCHES).then_some(values))
}

/// A whole number with at most 15 digits.
fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.is_empty() && digits.len() <= 15 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_expand_as_in_a_shell() {
        for (pattern, want) in [
            ("a{b,c}d", "abd acd"),
            ("{a,{b,c}}", "a b c"),
            ("{a..c}", "a b c"),
            ("{3..1}", "3 2 1"),
            ("{01..03}", "01 02 03"),
            ("{1..10..9}", "1 10"),
            ("{-1..1}", "-1 0 1"),
            ("{c..A..10}", "c Y O E"),
            ("{a}", "{a}"),
            ("{}{a,b}", "{}a {}b"),
            ("{a,b", "{a,b"),
            ("a,b}", "a,b}"),
            ("{a,{b,c}", "{a,b {a,c"),
            ("{a},b}", "a} b"),
            ("{a},{b,c}", "{a},b {a},c"),
            ("{a}{1..3}", "{a}{1..3}"),
            ("x{{a,b}}y", "x{a}y x{b}y"),
            ("{1..a}", "{1..a}"),
            ("${a,b}{c,d}", "${a,b}c ${a,b}d"),
            ("a{,b}", "a ab"),
            ("{a\\,b,c}", "a\\,b c"),
            ("\\{a,b}", "\\{a,b}"),
            ("{a,a}", "a"),
        ] {
            assert_eq!(expand(pattern).unwrap().join(" "), want, "{pattern}");
        }
    }

    #[test]
    fn nothing_is_left_out_in_silence() {
        assert_eq!(expand("{1..4096}").map(|all| all.len()), Some(MAX_BRANCHES));
        assert_eq!(expand(&"{a,b}".repeat(12)).map(|all| all.len()), Some(MAX_BRANCHES));
        let nested = |depth| format!("{}a,b{}", "{".repeat(depth), "}".repeat(depth));
        assert!(expand(&nested(MAX_DEPTH)).is_some());
        let wide = "${a,b}".repeat(10_000);
        assert_eq!(expand(&wide), Some(vec![wide.clone()]));
        for beyond in [
            "{1..4097}".to_string(),
            "{a,b}".repeat(13),
            "{a,b}".repeat(1_000_000),
            nested(MAX_DEPTH + 2),
            "{a}".repeat(MAX_REWRITES + 1) + "{b,c}",
            "a".repeat(MAX_LENGTH + 1),
        ] {
            assert_eq!(expand(&beyond), None, "{}", &beyond[..9]);
        }
    }
}
