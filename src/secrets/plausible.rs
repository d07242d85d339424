//! Whether a value can be a secret at all: not a placeholder, not a variable, not a word, but random, or at least as
//! odd as a password is.
//!
//! Everything here reads a value once or twice, never more: its work is linear in the length of the value.

use super::words::{DOCUMENTED, PLACEHOLDERS, WORDS};

/// For each letter, the letters that often follow it in technical English: bit 0 is `a`. The 252 pairs that make up
/// 95 % of the pairs inside words of documentation.
const FOLLOWS: [u32; 26] = [
    0x13ebd6e, 0x0164911, 0x01e4d95, 0x0144119, 0x1efb97f, 0x1104931, 0x01669d1, 0x01a4111, 0x2aef87f, 0x0000000,
    0x0040110, 0x11c4919, 0x014d111, 0x03ced7d, 0x07efd6f, 0x01ec911, 0x0100000, 0x13e7d7d, 0x11cdd95, 0x11e4995,
    0x00eb95f, 0x0000111, 0x0066191, 0x0088110, 0x004a000, 0x0000010,
];

/// How many different bytes `value` has.
pub(super) fn distinct(value: &str) -> usize {
    let mut seen = [false; 256];
    value.bytes().for_each(|byte| seen[usize::from(byte)] = true);
    seen.iter().filter(|seen| **seen).count()
}

/// Shannon entropy of the bytes of `value`, in bits for each.
pub(super) fn entropy(value: &str) -> f32 {
    let mut counts = [0u32; 256];
    value.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let length = value.len() as f32;
    counts.iter().filter(|count| **count > 0).map(|count| *count as f32 / length).map(|part| -part * part.log2()).sum()
}

/// Stands for a value instead of being one: a variable, a template, a command, a word such as `changeme`, a row of
/// one character, an alphabet in its order, a key from a vendor's documentation.
pub(super) fn placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    reference(value)
        || PLACEHOLDERS.iter().any(|part| lower.contains(part))
        || DOCUMENTED.iter().any(|key| value.contains(key))
        || repeats(&lower)
        || ordered(&lower)
}

/// A variable or a command in any of the ways that shells, templates and programs write one.
fn reference(value: &str) -> bool {
    let value = value.trim_matches(['"', '\'', '`']);
    let value = if value.starts_with('$') { value.trim_end_matches('$') } else { value };
    let name = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':'))
    };
    let variable = |text: &str| name(text) && text.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_');
    value.strip_prefix('$').is_some_and(variable)
        || value.strip_prefix('%').and_then(|text| text.strip_suffix('%')).is_some_and(name)
        || value.strip_prefix('@').is_some_and(variable) && !value.bytes().any(|byte| byte.is_ascii_digit())
        || value.starts_with(['(', '[', '{', '&', '*'])
        || value.starts_with("!") && value.get(1..).is_some_and(variable)
}

/// One character, or a few, again and again.
fn repeats(lower: &str) -> bool {
    let bytes: Vec<u8> = lower.bytes().filter(u8::is_ascii_alphanumeric).collect();
    if bytes.len() < 6 {
        return false;
    }
    let mut longest = 1;
    let mut run = 1;
    for pair in bytes.windows(2) {
        run = if pair[0] == pair[1] { run + 1 } else { 1 };
        longest = longest.max(run);
    }
    let period = |length: usize| bytes.len() >= length * 3 && bytes[length..].iter().zip(&bytes).all(|(a, b)| a == b);
    longest >= 6
        || longest * 2 >= bytes.len()
        || distinct(lower) <= 3.max(bytes.len().min(32) / 6)
        || (2..=8).any(period)
}

/// `abcdef123456`, `1234567890`, `a1b2c3d4`: the letters and the digits each run through their alphabet.
fn ordered(lower: &str) -> bool {
    let count = |keep: fn(&u8) -> bool| {
        let kept: Vec<u8> = lower.bytes().filter(keep).collect();
        let next = |pair: &&[u8]| {
            let step = i16::from(pair[1]) - i16::from(pair[0]);
            matches!(step, 1 | -1)
                || matches!((pair[0], pair[1]), (b'9', b'0') | (b'0', b'9') | (b'z', b'a') | (b'f', b'a'))
        };
        (kept.windows(2).filter(next).count(), kept.len().saturating_sub(1))
    };
    let (letters, of_letters) = count(u8::is_ascii_lowercase);
    let (digits, of_digits) = count(u8::is_ascii_digit);
    let all = of_letters + of_digits;
    all >= 5 && (letters + digits) * 10 >= all * 6
}

/// Only words, in any spelling that joins them: `user-token`, `getAccessToken`, `com.example.Key2`. Numbers that
/// stand alone between the words (`sonnet-20241022`) do not count.
fn words(value: &str) -> bool {
    let mut wordlike = 0;
    let mut letters = 0;
    let mut other = 0;
    for part in value.split(|char: char| !char.is_ascii_alphanumeric()) {
        let alone = part.len() <= 8 && part.bytes().all(|byte| byte.is_ascii_digit());
        for hump in humps(part).into_iter().filter(|_| !alone) {
            let count = hump.bytes().filter(u8::is_ascii_alphabetic).count();
            letters += count;
            other += hump.len() - count;
            if count >= 3 && odd_pairs(hump) * 4 <= count {
                wordlike += count;
            }
        }
    }
    wordlike * 10 >= letters * 6 && letters >= other * 3
}

/// `module.Type`, `request.body.token`: a path through a program's names, unlike a key with dots.
pub(super) fn code_path(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let parts = || value.split('.');
    let name = |part: &str| {
        part.len() <= 20
            && part.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'?' | b'!'))
    };
    digits <= 2 && parts().count() >= 2 && parts().all(name)
}

/// The parts of a camel-case name; a run of capitals stays together.
fn humps(part: &str) -> Vec<&str> {
    let bytes = part.as_bytes();
    let mut starts = vec![0];
    for at in 1..bytes.len() {
        let upper = bytes[at].is_ascii_uppercase();
        let after_lower = bytes[at - 1].is_ascii_lowercase();
        let before_lower = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        if upper && (after_lower || before_lower) {
            starts.push(at);
        }
    }
    starts.push(bytes.len());
    starts.windows(2).map(|pair| &part[pair[0]..pair[1]]).filter(|hump| !hump.is_empty()).collect()
}

/// How many neighbouring letters seldom are neighbours in words.
fn odd_pairs(text: &str) -> usize {
    let odd = |pair: &&[u8]| {
        let (first, second) = (pair[0].to_ascii_lowercase(), pair[1].to_ascii_lowercase());
        first.is_ascii_lowercase()
            && second.is_ascii_lowercase()
            && FOLLOWS[usize::from(first - b'a')] >> (second - b'a') & 1 == 0
    };
    text.as_bytes().windows(2).filter(odd).count()
}

/// Looks drawn at random from some alphabet: hexadecimal, base 32, base 62, base 64.
pub(super) fn random(value: &str) -> bool {
    let bytes: Vec<u8> = value.bytes().filter(u8::is_ascii_alphanumeric).collect();
    let length = bytes.len();
    if length < 10 || length * 10 < value.len() * 7 || distinct(value) < 8.min(length * 2 / 3) || placeholder(value) {
        return false;
    }
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    if digits == length {
        return length >= 24 && entropy(value) >= 2.8;
    }
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        _ => 2,
    };
    let hexadecimal = bytes.iter().all(u8::is_ascii_hexdigit);
    let changes = bytes.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
    let letters = length - digits;
    let odd = odd_pairs(value);
    let pairs = value.as_bytes().windows(2).filter(|pair| pair.iter().all(u8::is_ascii_alphabetic)).count();
    if hexadecimal {
        let usual = matches!(length, 32 | 40 | 48 | 64);
        return digits >= 2 && (usual || changes * 8 >= length) && changes >= 3 && entropy(value) >= 2.6;
    }
    if words(value) || prose_in_base64(value) {
        return false;
    }
    let mixed = digits >= 2 && changes * 100 >= (length - 1) * 25;
    let strange = letters >= 12 && odd * 100 >= pairs * 35;
    let both = digits >= 1 && odd * 100 >= pairs * 30 && changes * 100 >= (length - 1) * 15;
    let numbered = length >= 16 && digits * 100 >= length * 20 && changes >= 4;
    (mixed || strange || both || numbered) && entropy(value) >= if length >= 16 { 3.0 } else { 2.8 }
}

/// Base 64 of a sentence, as samples have it: `not my real password`.
fn prose_in_base64(value: &str) -> bool {
    let text = super::proof::base64(value).and_then(|bytes| String::from_utf8(bytes).ok());
    text.is_some_and(|text| {
        text.len() >= 8 && text.chars().all(|char| char == ' ' || char.is_ascii_graphic()) && text.contains(' ')
    })
}

/// Could be a password that a person chose: odd enough not to be a word of prose, code or a sample.
pub(super) fn password(value: &str) -> bool {
    let length = value.chars().count();
    if !(6..=128).contains(&length) || value.contains(char::is_whitespace) || placeholder(value) || sample_word(value) {
        return false;
    }
    if value.starts_with(['/', '.', '~', '-', '<', '=', '^', '#', '@'])
        && !value.contains(|char: char| char.is_ascii_digit())
        || value.contains("://")
        || value.contains("()")
        || value.contains("::")
        || value.ends_with([':', '/', '('])
    {
        return false;
    }
    if length >= 12 && prose_in_base64(value) {
        return false;
    }
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let symbols = value.bytes().filter(|byte| b"!@#$%^&*?~+=|".contains(byte)).count();
    if letters == 0 {
        return digits >= 8 && symbols + digits == length && entropy(value) > 2.2;
    }
    if file_or_version(value) {
        return false;
    }
    let lower_only = value.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if lower_only && digits == 1 && letters < 10 && !value.ends_with(|char: char| char.is_ascii_digit()) {
        // A word with a digit in the place of a letter.
        return false;
    }
    digits > 0 && letters >= 2 && !joined_words(value)
        || symbols >= 2 && letters >= 4
        || symbols == 1 && letters >= 6 && !value.ends_with(['!', '?', '*', '%', '+', '='])
        || digits == 0 && letters >= 10 && random(value)
}

/// `name.ext`, `v1.2.3`, `2024-01-31`, `12px`, a regular expression.
fn file_or_version(value: &str) -> bool {
    const EXTENSIONS: &[&str] = &[
        "md", "txt", "json", "yaml", "yml", "toml", "env", "pem", "key", "sh", "py", "js", "ts", "tsx", "jsx", "go",
        "rs", "rb", "html", "xml", "sql", "cfg", "conf", "ini", "png", "svg", "com", "org", "net", "io", "dev",
    ];
    let lower = value.to_ascii_lowercase();
    let named = lower.rsplit_once('.').is_some_and(|(_, last)| EXTENSIONS.contains(&last));
    let dotted = lower.trim_start_matches('v').bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
    let pattern = lower.contains("[a-z") || lower.contains("\\d") || lower.contains(".*") || lower.contains("{8,");
    let path = lower.split('.').count() > 1
        && !lower.contains(|char: char| {
            !char.is_ascii_alphanumeric() && !matches!(char, '.' | '_' | '-' | '[' | ']' | '(' | ')')
        });
    named || dotted || pattern || path && words(&lower)
}

/// Words with `-`, `_` or `.` between them, and at most a number at the end of one: `step-2`, `oauth2_flow`.
fn joined_words(value: &str) -> bool {
    let parts: Vec<&str> = value.split(['-', '_', '.', '/']).collect();
    parts.len() > 1
        && parts.iter().all(|part| {
            let word = part.trim_end_matches(|char: char| char.is_ascii_digit());
            word.is_empty()
                || word.len() >= 2
                    && word.bytes().all(|byte| byte.is_ascii_alphabetic())
                    && odd_pairs(word) * 3 <= word.len()
        })
}

/// A word that samples use, also with digits and marks behind it or letters exchanged for digits: `Passw0rd123!`.
pub(super) fn sample_word(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let bare = lower.trim_end_matches(|char: char| !char.is_ascii_alphabetic());
    let plain: String = bare
        .chars()
        .map(|char| match char {
            '0' => 'o',
            '1' => 'l',
            '3' => 'e',
            '@' | '4' => 'a',
            '$' | '5' => 's',
            _ => char,
        })
        .collect();
    let known = |word: &str| WORDS.binary_search_by(|known| (*known).cmp(word)).is_ok() || WORDS.contains(&word);
    let joined = |word: &str| {
        !word.is_empty() && word.split(['-', '_', '.', ' ', ':']).all(|part| part.is_empty() || known(part))
    };
    let two = |word: &str| {
        word.is_ascii() && (2..word.len().saturating_sub(1)).any(|at| known(&word[..at]) && known(&word[at..]))
    };
    known(&lower)
        || known(bare)
        || two(bare)
        || two(&plain)
        || joined(&lower)
        || joined(bare)
        || joined(&plain)
        || ["password", "secret"].iter().any(|word| plain.contains(word))
}

/// A UUID that was drawn, not written: none with zeros or a pattern in it.
pub(super) fn uuid(value: &str) -> bool {
    let shape = value.len() == 36
        && value.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_alphanumeric(),
        });
    shape && !placeholder(value) && distinct(value) >= 9 && !value.contains("0000-0000")
}

/// Has the shape of a digest: hexadecimal, of the length that a hash function gives.
pub(super) fn digest(value: &str) -> bool {
    matches!(value.len(), 32 | 40 | 56 | 64 | 96 | 128) && value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders() {
        for value in [
            "${TOKEN}",
            "$TOKEN",
            "{{ token }}",
            "<token>",
            "%TOKEN%",
            "process.env.TOKEN",
            "os.environ[\"X\"]",
            "$(op read op://x/y)",
            "op://vault/item",
            "xxxxxxxx",
            "********",
            "your-api-key",
            "changeme",
            "abcdef123456",
            "1234567890",
            "a1b2c3d4e5f6",
            "AKIAIOSFODNN7EXAMPLE",
            "aaaaaaaaaaaaaaaa",
            "00000000-0000-0000-0000-000000000000",
            "deadbeefdeadbeef",
            "!Ref",
            "[secret]",
        ] {
            assert!(placeholder(value), "{value}");
        }
    }

    #[test]
    fn random_values() {
        for value in
            ["zt7GaO3JR245xhYj", "f395aedd810df87e", "bh5q2adzdusx8b83vm6qdb4tro", "kETSYDrvPqWzLwLkoXgEVyTYFoHPa"]
        {
            assert!(random(value), "{value}");
        }
        for value in [
            "generateApiKeyForOrganization",
            "tls-wildcard-example-com-2024",
            "com.acme.feature.NewCheckoutFlow2",
            "user_account_identifier_v2",
            "settings.security.two_factor.enable",
            "abc123",
            "Qwen2TokenizerFast",
            "claude-3-5-sonnet-20241022",
            "text-embedding-3-large",
            "ubuntu-22.04-arm64",
        ] {
            assert!(!random(value), "{value}");
        }
    }

    #[test]
    fn passwords() {
        for value in ["Tr0ub4dor&3", "hunter2x9", "macoin!1", "#getr0m3", "Sne3sd8AZjq", "pa55!wOrd9q"] {
            assert!(password(value), "{value}");
        }
        for value in [
            "string",
            "required",
            "secret",
            "changeme",
            "postgres",
            "Password123!",
            "password1",
            "forgot-password",
            "z.string",
            "req.body.password",
            "vault.yml",
            "^[a-z0-9]{8,}$",
            "step-2",
            "/etc/pass1",
            "true",
            "admin123",
        ] {
            assert!(!password(value), "{value}");
        }
    }
}
