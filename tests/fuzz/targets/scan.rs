//! Any text, scanned for secrets: what is found is found in order, and is not in the text that is redacted.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulecheck::secrets::{Redactor, scan};

fuzz_target!(|text: &str| {
    let secrets = scan(text);
    assert_eq!(secrets, scan(text));
    assert!(secrets.is_sorted_by(|a, b| a.span.end <= b.span.start), "{secrets:?}");
    let mut redactor = Redactor::default();
    redactor.learn(text, &secrets);
    let redacted = redactor.redact(text);
    // What also stands outside of every secret tells nothing of one.
    let mut others = text.as_bytes().to_vec();
    for secret in &secrets {
        others[secret.span.clone()].fill(0);
    }
    for secret in &secrets {
        let value = &text[secret.span.clone()];
        assert!(!value.is_empty());
        let kept = value.lines().filter(|line| !line.contains("-----") && !line.starts_with("PuTTY-"));
        let holds = |text: &[u8], window: &[u8]| text.windows(10).any(|other| other == window);
        for window in kept.flat_map(|line| line.as_bytes().windows(10)) {
            assert!(!holds(redacted.as_bytes(), window) || holds(&others, window), "{redacted:?}");
        }
    }
});
