//! Any text as Claude Code lexes it, and what the client makes of it.
#![no_main]

#[path = "../shared.rs"]
mod shared;

use libfuzzer_sys::fuzz_target;
use rulecheck::clients::{Session, claude};
use rulecheck::files::Memory;
use rulecheck::markdown::lex;
use shared::holds::look;

fuzz_target!(|text: &str| {
    for bom in [false, true] {
        let found = lex(text, bom);
        if let Some(front) = &found.front_matter {
            assert!(text[front.span.clone()].contains(&text[front.yaml.clone()]));
        }
        assert!(found.comments.iter().all(|comment| text[comment.span.clone()].starts_with("<!--")));
        assert!(found.comments.is_sorted_by_key(|comment| comment.span.start));
        assert!(found.mentions.iter().all(|mention| text[mention.span.clone()].starts_with('@')));
        assert!(found.mentions.is_sorted_by_key(|mention| mention.span.start));
    }
    let mut files = Memory::default();
    files.file("/p/CLAUDE.md", text).file("/p/a.md", "oak\n@b.md\n").file("/p/.claude/rules/r.md", text);
    files.dir("/p/b").file("/home/n.md", "elm\n").link("/p/b.md", "CLAUDE.md");
    let mut session = Session::new("/p");
    session.home = Some("/home".into());
    look(
        &files,
        &session,
        &claude::CLIENT.recorded.iter().map(|version| (&claude::CLIENT, *version)).collect::<Vec<_>>(),
    );
});
