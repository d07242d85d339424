//! What a token says about itself: checksums that prove it, and structures that it must have.

use sha2::{Digest, Sha256};

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BECH32: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// CRC-32 as in zlib.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 })
    })
}

/// `number` in base 62, six digits.
fn base62(number: u32) -> [u8; 6] {
    let mut digits = [b'0'; 6];
    let mut rest = number as usize;
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[rest % 62];
        rest /= 62;
    }
    digits
}

/// GitHub and npm: after the prefix and its `_`, thirty random characters, then their CRC-32 in base 62.
pub(super) fn crc_in_base62(token: &str) -> bool {
    let Some((_, body)) = token.rsplit_once('_') else { return false };
    let Some(at) = body.len().checked_sub(6).filter(|at| *at > 0 && body.is_ascii()) else { return false };
    base62(crc32(&body.as_bytes()[..at])) == body.as_bytes()[at..]
}

/// Grafana and Atlassian: the last eight hexadecimal digits are the CRC-32 of what stands before their separator.
pub(super) fn crc_in_hex(token: &str) -> bool {
    let Some((before, sum)) = token.rsplit_once(['_', '=']) else { return false };
    let body = before.strip_prefix("glsa_").unwrap_or(before);
    sum.len() == 8
        && u32::from_str_radix(sum, 16)
            .is_ok_and(|sum| sum == crc32(body.as_bytes()) || sum == crc32(before.as_bytes()))
}

/// The checksum of Bech32 (BIP 173), in which age writes its keys.
pub(super) fn bech32(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let Some((human, data)) = key.rsplit_once('1') else { return false };
    let step = |sum: u32, value: u32| {
        const GENERATOR: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
        let top = sum >> 25;
        let shifted = ((sum & 0x1ff_ffff) << 5) ^ value;
        GENERATOR.iter().enumerate().filter(|(bit, _)| top >> bit & 1 == 1).fold(shifted, |sum, (_, part)| sum ^ part)
    };
    let high = human.bytes().map(|byte| u32::from(byte) >> 5);
    let low = human.bytes().map(|byte| u32::from(byte) & 31);
    let mut sum = high.chain([0]).chain(low).fold(1, step);
    for byte in data.bytes() {
        let Some(value) = BECH32.iter().position(|known| *known == byte) else { return false };
        sum = step(sum, value as u32);
    }
    sum == 1
}

/// The bytes that `text` says in base 64 of either alphabet, with or without padding.
pub(super) fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut held, mut bits) = (0u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        held = held << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    Some(bytes)
}

/// A JSON Web Token's first part is an object that names an algorithm or a type, and its signature is no sample's.
pub(super) fn json_web_token(token: &str) -> bool {
    let mut parts = token.split('.');
    let header = parts.next().and_then(base64);
    let named = |header: Vec<u8>| {
        let header = String::from_utf8_lossy(&header).into_owned();
        header.starts_with('{') && ["\"alg\"", "\"typ\"", "\"kid\"", "\"enc\""].iter().any(|key| header.contains(key))
    };
    // The signatures of the samples in RFC 7515 and on jwt.io.
    const SAMPLES: [&str; 4] =
        ["SflKxwRJSMeKKF2QT4fw", "TJVA95OrM7E2cBab30RM", "dBjftJeZ4CVP-mB92K27", "XbPfbIHMI6arZ3Y922Bh"];
    header.is_some_and(named) && !SAMPLES.iter().any(|sample| token.contains(sample))
}

/// Basic authentication: the value says `user:password`, and the password is none that samples have.
pub(super) fn basic(value: &str) -> bool {
    let Some(bytes) = base64(value) else { return false };
    match std::str::from_utf8(&bytes) {
        Ok(text) => match text.split_once(':') {
            Some((user, password)) => {
                let printable = text.chars().all(|char| !char.is_control());
                // Either half may be the secret: some services take a key as the user, without a password.
                let secret = |half: &str| super::plausible::password(half) || super::plausible::random(half);
                printable && (secret(password) || secret(user))
            }
            None => super::plausible::random(value) && value.len() >= 20,
        },
        Err(_) => super::plausible::random(value),
    }
}

/// A key block has a body: at least one long line of base 64, none of it elided.
pub(super) fn key_block(block: &str) -> bool {
    let body = block.split_once("KEY").map_or(block, |(_, body)| body);
    let run = |line: &str| {
        let longest = line
            .split(|char: char| !char.is_ascii_alphanumeric() && !matches!(char, '+' | '/' | '='))
            .max_by_key(|run| run.len())
            .unwrap_or_default();
        longest.len() >= 24 && super::plausible::distinct(longest) >= 10 && !super::plausible::placeholder(longest)
    };
    run(body)
}

/// Base 64 of a private key block.
pub(super) fn encoded_key_block(text: &str) -> bool {
    let joined: String = text.chars().filter(|char| !char.is_whitespace()).collect();
    base64(&joined).is_some_and(|bytes| String::from_utf8_lossy(&bytes).contains("PRIVATE KEY"))
}

/// SHA-256 in lowercase hexadecimal.
pub(super) fn sha256_hex(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        // The length in front keeps the parts apart.
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
pub(super) fn with_crc(prefix: &str, body: &str) -> String {
    format!("{prefix}{body}{}", String::from_utf8_lossy(&base62(crc32(body.as_bytes()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert!(crc_in_base62(&with_crc("ghp_", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1")));
        assert!(!crc_in_base62("ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1000000"));
        let sum = crc32(b"aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1xx");
        assert!(crc_in_hex(&format!("glsa_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1xx_{sum:08x}")));
    }

    #[test]
    fn bech32_of_the_standard() {
        assert!(bech32("A12UEL5L"));
        assert!(!bech32("A12UEL5M"));
    }

    #[test]
    fn base64_of_both_alphabets() {
        assert_eq!(base64("aGVsbG8=").as_deref(), Some(b"hello".as_slice()));
        assert_eq!(base64("_-8"), base64("/+8"));
        assert_eq!(base64("no!"), None);
    }
}
