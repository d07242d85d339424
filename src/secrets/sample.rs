//! Examples of detectors: templates in the source, values only while a test runs.

/// `template` with its places filled: `{w36}` are 36 letters and digits, and so on by letter: `d` digits, `h` and `H`
/// hexadecimal, `l` lowercase and digits, `u` uppercase and digits, `w` letters and digits, `a` letters, `b` base 64,
/// `s` base 64 for URLs, `k` and `K` base 32, `q` the data alphabet of Bech32 in capitals, `x` the letter itself,
/// `U` one UUID (its number is how many).
pub(crate) fn fill(template: &str) -> String {
    let mut seed = template.bytes().fold(7u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let mut next = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize
    };
    let mut filled = String::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        filled.push_str(&rest[..open]);
        let inner = &rest[open + 1..];
        let place = inner.find('}').and_then(|close| {
            let class = inner.chars().next()?;
            let count: usize = inner.get(1..close)?.parse().ok()?;
            Some((class, count, close))
        });
        let Some((class, count, close)) = place else {
            filled.push('{');
            rest = inner;
            continue;
        };
        let alphabet: String = match class {
            'd' => "0123456789".into(),
            'h' => "0123456789abcdef".into(),
            'H' => "0123456789ABCDEF".into(),
            'l' => ('a'..='z').chain('0'..='9').collect(),
            'u' => ('A'..='Z').chain('0'..='9').collect(),
            'w' => ('a'..='z').chain('A'..='Z').chain('0'..='9').collect(),
            'a' => ('a'..='z').chain('A'..='Z').collect(),
            'b' => ('a'..='z').chain('A'..='Z').chain('0'..='9').chain(['+', '/']).collect(),
            's' => ('a'..='z').chain('A'..='Z').chain('0'..='9').chain(['-', '_']).collect(),
            'k' => ('a'..='z').chain('2'..='7').collect(),
            'K' => ('A'..='Z').chain('2'..='7').collect(),
            'q' => "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L".into(),
            _ => class.to_string(),
        };
        let alphabet = alphabet.as_bytes();
        if class == 'U' {
            for part in [8, 4, 4, 4, 12] {
                filled.extend((0..part).map(|_| char::from(b"0123456789abcdef"[next() % 16])));
                filled.push('-');
            }
            filled.pop();
        } else {
            let mut last = 0;
            for at in 0..count {
                let mut byte = alphabet[next() % alphabet.len()];
                // Chance must not write a placeholder, nor end a value with a sign.
                while alphabet.len() > 1 && (byte == last || (at + 1 == count && !byte.is_ascii_alphanumeric())) {
                    byte = alphabet[next() % alphabet.len()];
                }
                last = byte;
                filled.push(char::from(byte));
            }
        }
        rest = &inner[close + 1..];
    }
    filled.push_str(rest);
    filled
}
