//! A random project with secrets in its texts and names: whatever is printed, they are not in it.
#![no_main]

#[path = "../shared.rs"]
mod shared;

use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use shared::holds::{look, printed};
use shared::random::{project, session};
use shared::versions;

/// In two parts, so that they are found in projects, and not in this file.
const SECRETS: &[(&str, &str)] = &[
    ("ghp_", "v2NNw4B0M6wDq5OMfR2mgptW3xW3lDSI7IWE"),
    ("AKIA", "Q3EGRZT7XW2NKV5B"),
    ("sk-ant-api03-", "vT8qLw2Zx7Nf4Rb9Kd3Hs6Jm1Pc5Gy0Tu8Aq2We4Zr7Xv9Bn3Mk6Lp1Od5Sf8Gh2Jt4Yw7Uc0Ie3Ra6QgAA"),
    ("postgres://me:", "hZ4kW9tQ2mX7@db/oak"),
];

fuzz_target!(|data: &[u8]| {
    let secrets: Vec<String> = SECRETS.iter().map(|(start, rest)| format!("{start}{rest}")).collect();
    let lines = secrets.iter().map(|secret| format!("\ntoken = \"{secret}\"\n"));
    let texts: Vec<String> = lines.chain(secrets.iter().map(|secret| format!("{secret}\n"))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut chance = Unstructured::new(data);
    let files = project(&mut chance, &texts);
    let (session, clients) = (session(&mut chance, &files), versions(&mut chance));
    let printed = printed(&files, &session, &clients, &look(&files, &session, &clients));
    for (_, value) in SECRETS {
        assert!(!printed.contains(&value[..10]), "{value}");
    }
});
