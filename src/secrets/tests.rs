use std::collections::{BTreeMap, BTreeSet};

use super::sample::fill;
use super::*;

/// What was measured: at least so many of a hundred published examples are found, and at most so many look-alikes.
const FOUND: usize = 90;
const FLAGGED: usize = 1;

#[test]
fn detectors_are_well_formed() {
    let mut ids = BTreeSet::new();
    for (number, detector) in DETECTORS.iter().enumerate() {
        assert!(ids.insert(detector.id), "{} twice", detector.id);
        assert!(search::pattern(number).is_some(), "{}: the pattern does not compile", detector.id);
        assert!(!detector.keywords.is_empty(), "{}", detector.id);
        assert!(detector.keywords.iter().all(|keyword| *keyword == keyword.to_ascii_lowercase()), "{}", detector.id);
        assert!(!detector.instead.is_empty() && !detector.advice.is_empty(), "{}", detector.id);
        assert!(!detector.misses.is_empty(), "{}", detector.id);
    }
}

#[test]
fn every_hit_is_found_by_its_detector() {
    let mut failures = Vec::new();
    for detector in DETECTORS {
        for hit in detector.hits {
            let text = fill(hit);
            let found = scan(&text);
            if !found.iter().any(|secret| secret.detector == detector) {
                failures.push(format!(
                    "{}: {hit}: {:?}",
                    detector.id,
                    found.iter().map(|secret| secret.detector.id).collect::<Vec<_>>()
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn no_miss_is_found() {
    let mut failures = Vec::new();
    for detector in DETECTORS {
        for miss in detector.misses {
            for secret in scan(&fill(miss)) {
                failures.push(format!("{}: {miss}: {}", detector.id, secret.detector.id));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The examples of `fixtures/secrets/examples.jsonl`: how many of each type are found, and how many look-alikes.
#[test]
#[allow(clippy::print_stdout, reason = "the table of types is for whoever works on the detectors")]
fn recall_on_published_examples() {
    #[derive(serde::Deserialize)]
    struct Example {
        r#type: String,
        // Written backwards, so that hosts which look for keys in what is pushed to them find none.
        reversed: String,
        #[serde(skip)]
        text: String,
        secret: bool,
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/secrets/examples.jsonl");
    #[allow(clippy::disallowed_methods, reason = "a test reads its examples")]
    let lines = std::fs::read_to_string(path).unwrap();
    let read = |line: &str| -> Example {
        let example: Example = serde_json::from_str(line).unwrap();
        Example { text: example.reversed.chars().rev().collect(), ..example }
    };
    let examples: Vec<Example> = lines.lines().map(read).collect();
    let (real, alike): (Vec<&Example>, Vec<&Example>) = examples.iter().partition(|example| example.secret);
    assert!(real.len() >= 300 && alike.len() >= 150);
    let mut types: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for example in &real {
        let found = usize::from(!scan(&example.text).is_empty());
        types.entry(&example.r#type).or_default()[found] += 1;
    }
    for (name, [missed, found]) in &types {
        println!("{name}: {found} of {}", missed + found);
    }
    let found: usize = types.values().map(|[_, found]| found).sum();
    let alarms: Vec<&str> = alike.iter().map(|one| &*one.text).filter(|text| !scan(text).is_empty()).collect();
    println!("found {found} of {}; flagged {} of {}: {alarms:#?}", real.len(), alarms.len(), alike.len());
    assert!(found * 100 >= real.len() * FOUND, "found {found} of {}", real.len());
    assert!(alarms.len() * 100 <= alike.len() * FLAGGED, "flagged {alarms:#?}");
}

/// No ten bytes in a row of `value`, but those that every key of its kind has, are in `text`.
fn assert_hidden(text: &str, value: &str, what: &str) {
    for line in value.split('\n').filter(|line| !line.contains("-----") && !line.contains("PuTTY")) {
        for window in line.as_bytes().windows(10) {
            let leak = text.as_bytes().windows(10).any(|part| part == window);
            assert!(!leak, "{what}: a part of the value is left");
        }
    }
}

/// All of `text` redacted, and where each of `spans` is then.
fn redact_spans(redactor: &Redactor, text: &str, spans: &[Range<usize>]) -> (String, Vec<Range<usize>>) {
    let hidden = redactor.hidden(text);
    let moved = |span| redact_window(text, &(0..text.len()), &hidden, span);
    (moved(&(0..0)).0, spans.iter().map(|span| moved(span).1).collect())
}

#[test]
fn every_value_is_redacted_wherever_it_turns_up() {
    for detector in DETECTORS {
        for hit in detector.hits {
            let text = fill(hit);
            let secrets = scan(&text);
            let mut redactor = Redactor::default();
            redactor.learn(&text, &secrets);
            let spans: Vec<_> = secrets.iter().map(|secret| secret.span.clone()).collect();
            let (redacted, moved) = redact_spans(&redactor, &text, &spans);
            assert_eq!(redacted, redactor.redact(&text));
            for (secret, span) in secrets.iter().zip(moved) {
                let value = &text[secret.span.clone()];
                assert_eq!(&redacted[span], MARKER, "{}", detector.id);
                assert_hidden(&redacted, value, detector.id);
                let name = fingerprint("", &text, secret);
                assert!(name.len() == 20 && !format!("{secret:?} {name} {redactor:?}").contains(value));
                if value.len() < 8 {
                    continue;
                }
                // In the middle of something, cut short at either end, and on lines of its own.
                let cut = crate::text::clamp(value, 3..value.len());
                let short = crate::text::clamp(value, 0..value.len() - 3);
                for other in [
                    format!("x{value}y"),
                    format!("a/{}", &value[cut]),
                    format!("{}\nb", &value[short]),
                    format!("\n{value}\n"),
                ] {
                    assert_hidden(&redactor.redact(&other), value, detector.id);
                }
            }
        }
    }
}

#[test]
fn spans_stay_right() {
    let text = fill("día DB_PASSWORD={w14} and DB_PASS: \"{w12}\" end");
    let secrets = scan(&text);
    assert_eq!(secrets.len(), 2);
    let redactor = Redactor::default();
    let at = |part: &str| text.find(part).map(|at| at..at + part.len()).unwrap();
    let first = secrets[0].span.clone();
    let spans = [
        at("día"),
        at("and"),
        at("end"),
        first.clone(),
        first.start + 2..first.start + 3,
        first.start - 3..first.start + 1,
        0..text.len(),
    ];
    let (redacted, moved) = redact_spans(&redactor, &text, &spans);
    let parts: Vec<&str> = moved.iter().map(|span| &redacted[span.clone()]).collect();
    assert_eq!(parts[..3], ["día", "and", "end"]);
    assert_eq!(parts[3..6], [MARKER, MARKER, "RD=[REDACTED]"]);
    assert_eq!(parts[6], redacted);
}

#[test]
fn short_values_are_hidden_where_they_stand_only() {
    let text = "password: \"q7!xZ2\"";
    let secrets = scan(text);
    assert_eq!(secrets.len(), 1);
    let mut redactor = Redactor::default();
    redactor.learn(text, &secrets);
    assert_eq!(redactor.redact(text), "password: \"[REDACTED]\"");
    assert_eq!(redactor.redact("see q7!xZ2"), "see q7!xZ2");
}

#[test]
fn a_key_is_hidden_line_by_line() {
    let text = fill("-----BEGIN RSA PRIVATE KEY-----\nMII{b61}\n{b64}\n{b20}==\n-----END RSA PRIVATE KEY-----");
    let mut redactor = Redactor::default();
    redactor.learn(&text, &scan(&text));
    for line in text.lines().filter(|line| !line.contains("-----")) {
        assert_eq!(redactor.redact(&format!("error near {line}")), "error near [REDACTED]");
    }
}

#[test]
fn a_checksum_decides_against_appearances() {
    let proven = proof::with_crc("ghp_", &"a1b2c3d4e5".repeat(3));
    assert_eq!(scan(&proven).len(), 1);
    let broken = format!("{}000000", &proven[..proven.len() - 6]);
    assert!(scan(&broken).is_empty());
}

#[test]
fn the_same_value_has_one_fingerprint_per_key() {
    let text = fill("API_TOKEN={w32}\nAPI_TOKEN={w32}");
    let other = format!("# moved\n{text}");
    let (here, there) = (scan(&text), scan(&other));
    assert_eq!(fingerprint("k", &text, &here[0]), fingerprint("k", &other, &there[0]));
    assert_ne!(fingerprint("k", &text, &here[0]), fingerprint("", &text, &here[0]));
    // Pinned: a change of it breaks every suppression.
    let text = format!("token: {}", "q8Zt3Vn1Lx7Rw5Kd");
    assert_eq!(fingerprint("", &text, &scan(&text)[0]), PINNED);
}

const PINNED: &str = "30555ace2afeebca2e6d";

/// Work is counted in bytes looked at, not by the clock: four times the text is at most about four times the work.
#[test]
fn work_is_linear() {
    let mut units: Vec<&str> = DETECTORS.iter().flat_map(|detector| detector.keywords.iter().copied()).collect();
    units.extend([
        "key=",
        "pw=",
        "password: a1 ",
        "-----BEGIN PRIVATE KEY-----",
        "PuTTY-User-Key-File-3:",
        "eyJabcdefgh.",
        "://a:b",
        "azure 1234567890123456 ",
        "\"key\", \"value\": ",
        "secret'",
        "machine a login b ",
        "a",
        "_",
        "-us1",
        "pass word ",
        "日本",
    ]);
    for unit in units {
        // Keys may be long: their detectors look at up to 16 KiB for each keyword.
        let long = ["private_key", "begin ", "putty-", "ls0tls"];
        let scale = if long.iter().any(|part| unit.to_ascii_lowercase().contains(part)) { 20 } else { 1 };
        let work = |bytes: usize| search::scan(&unit.repeat(bytes / unit.len() + 1)).1;
        let (small, large) = (work(4_000 * scale), work(16_000 * scale));
        assert!(large <= small * 6 + 40_000, "{unit:?}: {small} bytes of work, then {large}");
    }
}

#[test]
fn ten_thousand_secrets_in_one_line() {
    let many = |count: usize| -> String {
        (0..count).map(|at| fill(&format!("A{at}_PASSWORD=\"Zx{{w12}}{at}\", "))).collect()
    };
    let (small, large) = (search::scan(&many(250)), search::scan(&many(1_000)));
    assert_eq!((small.0.len(), large.0.len()), (250, 1_000));
    assert!(large.1 <= small.1 * 5, "{} bytes of work, then {}", small.1, large.1);
}

/// Keywords and signs in any order, with characters of several bytes between them, do not stop the scan.
#[test]
fn nothing_stops_the_scan() {
    let keywords: Vec<&str> = DETECTORS.iter().flat_map(|detector| detector.keywords.iter().copied()).collect();
    let others = [
        "–",
        "é",
        "\u{202e}",
        "\u{0}",
        "\"",
        "'",
        ":",
        "=",
        " ",
        "\n",
        "\\",
        "a1B2c3D4e5F6g7H8",
        "…",
        "://",
        "@",
        "{",
        "日",
    ];
    let mut seed = 1u64;
    let mut next = |count: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % count
    };
    let mut redactor = Redactor::default();
    for _ in 0..400 {
        let mut text = String::new();
        for _ in 0..40 {
            let part = if next(3) == 0 { keywords[next(keywords.len())] } else { others[next(others.len())] };
            text.push_str(part);
        }
        let secrets = scan(&text);
        assert!(secrets.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start));
        assert!(secrets.iter().all(|secret| text.get(secret.span.clone()).is_some()));
        redactor.learn(&text, &secrets);
        let (redacted, moved) = redact_spans(&redactor, &text, &[0..text.len(), 3..9]);
        assert!(moved.iter().all(|span| redacted.get(span.clone()).is_some()));
    }
}
