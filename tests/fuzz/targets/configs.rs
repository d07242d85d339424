//! Any text in the place of each configuration that is read; the first byte says which.
#![no_main]

#[path = "../shared.rs"]
mod shared;

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use rulecheck::baseline::{self, Baseline};
use rulecheck::clients::{CLIENTS, Session};
use rulecheck::config::Config;
use rulecheck::files::Memory;
use rulecheck::frozen::records;
use shared::holds::{ROOT, look};

const PLACES: &[&str] = &[
    "/home/.codex/config.toml",
    "/p/.codex/config.toml",
    "/etc/codex/config.toml",
    "/home/.config/opencode/opencode.json",
    "/home/.config/opencode/config",
    "/p/opencode.json",
    "/p/a/opencode.jsonc",
    "/p/.opencode/opencode.json",
    "/home/.claude/settings.json",
    "/home/.claude.json",
    "/p/.claude/settings.json",
    "/p/.claude/settings.local.json",
    "/etc/claude-code/managed-settings.json",
    "/p/rulecheck.yaml",
    "/p/rulecheck-baseline.json",
    "/p/.rulecheck/frozen.json",
    "/p/CLAUDE.md",
];

fuzz_target!(|data: &[u8]| {
    let Some((first, text)) = data.split_first() else { return };
    let mut files = Memory::default();
    files.file("/p/.git/HEAD", "ref: refs/heads/main\n").dir("/p/.git/objects").dir("/p/.git/refs");
    files.file("/p/AGENTS.md", "oak\n").file("/p/CLAUDE.md", "@docs/r.md\n@/x.md\n").file("/p/docs/r.md", "elm\n");
    files.file("/p/a/AGENTS.md", "ash\n").file("/p/.claude/rules/r.md", "---\npaths: \"*.ts\"\n---\nyew\n");
    files.file("/home/.codex/config.toml", "[projects.\"/p\"]\ntrust_level = \"trusted\"\n").file("/x.md", "ivy\n");
    let mut session = Session::new("/p/a");
    session.home = Some("/home".into());
    match PLACES.get(usize::from(*first & 0x7f) % (PLACES.len() + 3)) {
        Some(place) => drop(files.file(place, text)),
        None => {
            let text = String::from_utf8_lossy(text).into_owned();
            session.env.insert("OPENCODE_CONFIG_CONTENT".into(), text.clone());
            session.args.insert("codex".into(), vec!["-c".into(), text.clone()]);
            session.args.insert("claude".into(), vec!["--settings".into(), text]);
        }
    }
    let version = usize::from(*first >> 7);
    let clients = CLIENTS.iter().map(|client| (*client, client.recorded[client.recorded.len() - 1 - version]));
    look(&files, &session, &clients.collect::<Vec<_>>());
    let root = Path::new(ROOT);
    if let Err(invalid) = Config::of_project(&files, root) {
        assert!(invalid.cause.starts_with("/p/") && !invalid.help.is_empty(), "{}", invalid.cause);
    }
    if let Ok(Some(known)) = Baseline::read(&files, root) {
        files.file(root.join(baseline::FILE), known.to_text());
        assert_eq!(Baseline::read(&files, root).unwrap().unwrap().to_text(), known.to_text());
    }
    for record in records(&files, root).unwrap_or_default() {
        record.state(&files, root);
    }
});
