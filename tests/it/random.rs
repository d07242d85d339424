//! Random projects: files, links and what cannot be read, in the places that some client looks at.

use std::path::{Path, PathBuf};

use rulecheck::clients::Session;
use rulecheck::files::{Files, Memory};

/// Where chance comes from.
pub(crate) trait Chance {
    /// A number below `limit`, which is not zero.
    fn below(&mut self, limit: usize) -> usize;

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const TOPS: &[&str] = &["/p/", "/p/", "/p/", "/p/", "/home/", "/home/.config/opencode/", "/etc/", "/"];
const DIRS: &[&str] = &[
    "",
    "a/",
    "a/b/",
    ".claude/",
    ".claude/rules/",
    "a/.claude/rules/",
    "docs/",
    "a/b/c/",
    ".codex/",
    ".opencode/",
    "claude-code/",
    "codex/",
    "g\n::error file=x::h/",
    "c:d,e%0Af/",
];
const NAMES: &[&str] = &[
    "AGENTS.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.override.md",
    "CONTEXT.md",
    "r.md",
    "x.ts",
    ".claude.local.md",
    "config.toml",
    "opencode.json",
    "opencode.jsonc",
    "settings.json",
    "rules",
    "a",
    "rulecheck.yaml",
    "agents.md",
    "s.mdc",
    "managed-settings.json",
    "día \u{202e}#?.md",
];
const PIECES: &[&str] = &[
    "notes\n",
    "@AGENTS.md\n",
    "@docs/r.md",
    "@../CLAUDE.md ",
    "@a/b/../r.md.",
    "@",
    "@@",
    "@~/x.md",
    "@/etc/x.md",
    "---\n",
    "paths: \"**/*.ts\"\n",
    "paths: [a, {b,c}/**]\n",
    "paths: *x\n",
    "globs: a\n",
    "```\n",
    "`",
    "<!-- ",
    " -->",
    "<div>\n",
    "\n",
    "    ",
    "\t",
    "- ",
    "> ",
    "*",
    "_",
    "[x](",
    ")",
    "\\",
    "\u{feff}",
    "\u{202e}",
    "día",
    "\u{0}",
    "{",
    "}",
    "\"",
    "//",
    "/*",
    "\"instructions\": [\"**/*.md\", \"a\"]",
    "{\"instructions\":[\"docs/*.md\",\"https://x.y/z\"]}",
    "project_doc_max_bytes = 3\n",
    "project_doc_fallback_filenames = [\"CLAUDE.md\", \"../x\"]\n",
    "{\"claudeMdExcludes\":[\"**/a/**\"]}",
    "\r\n",
    "&amp;",
    "[[",
    "]]",
    "\"{file:a}\"",
    "{env:HOME}",
    "[projects.\"/p\"]\ntrust_level = \"trusted\"\n",
    "developer_instructions = \"oak\"\n",
    "<!-- rulecheck: ignore[secret] x -->",
    "password = \"mJ6wR3xTq8VbK5zD\"\n",
];

/// Texts that mean something.
const WHOLE: &[&str] = &[
    "@AGENTS.md\n",
    "@docs/r.md.\n@a/x.ts, and @./r.md\n",
    "@docs/gone.md\n@../../../etc/x.md\n@logo.png\n@docs\n",
    "`@AGENTS.md`\n(@docs/r.md)\n[notes](AGENTS.md)\n",
    "@r.md\n@docs/r.md#part\n",
    "---\npaths: \"**/*.ts\"\n---\n@../../docs/r.md\n",
    "---\npaths: \"./src/**\"\n---\nnotes\n",
    "---\nglobs: \"**/*.ts\"\n---\nnotes\n",
    "---\npaths: \"gone/**\"\n---\nnotes\n",
    "{ \"instructions\": [\"docs/*.md\", \"gone/*.md\", \"https://example.com/style.md\"] }\n",
    "project_doc_max_bytes = 3\n",
    "<!-- rulecheck: ignore[client-gap] known -->\nnotes\n",
    "notes \u{fffd}\n",
];

/// A project at `/p`, a home, and what belongs to the machine. Its texts and names may hold `more`.
pub(crate) fn project(chance: &mut impl Chance, more: &[&str]) -> Memory {
    let pieces = [PIECES, more].concat();
    let names = [NAMES, more].concat();
    let mut memory = Memory::default();
    memory.dir("/p").dir("/home/.codex").dir("/home/.claude");
    if chance.below(3) > 0 {
        memory.file("/p/.git/HEAD", "ref: refs/heads/main\n").dir("/p/.git/objects").dir("/p/.git/refs");
    }
    for _ in 0..chance.below(16) {
        let path = format!("{}{}{}", chance.pick(TOPS), chance.pick(DIRS), chance.pick(&names));
        let parent = Path::new(&path).parent().unwrap().to_path_buf();
        // A file may not stand where a directory is needed.
        if parent.ancestors().any(|dir| memory.entry(dir).is_some() && !memory.is_dir(dir))
            || memory.is_dir(Path::new(&path))
        {
            continue;
        }
        match chance.below(14) {
            0 => memory.link(&path, chance.pick(&["AGENTS.md", "../CLAUDE.md", ".", "..", "nothing", "/p/a", "a"])),
            1 => memory.dir(&path),
            2 => memory.denied(&path),
            3 => memory.other(&path),
            4..8 => memory.file(&path, chance.pick(WHOLE)),
            _ => memory.file(&path, text(chance, &pieces)),
        };
    }
    memory
}

/// A text of `pieces`, and now and then of any bytes.
fn text(chance: &mut impl Chance, pieces: &[&str]) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..chance.below(16) {
        match pieces.get(chance.below(pieces.len() + pieces.len() / 8)) {
            Some(piece) => text.extend_from_slice(piece.as_bytes()),
            None => text.push(u8::try_from(chance.below(256)).unwrap()),
        }
    }
    text
}

/// How the clients are started in the project `files`.
pub(crate) fn session(chance: &mut impl Chance, files: &Memory) -> Session {
    let cwd = PathBuf::from(chance.pick(&["/p", "/p/a", "/p/a/b"]));
    let mut session = Session::new(files.real(&cwd).filter(|cwd| files.is_dir(cwd)).unwrap_or("/p".into()));
    session.home = Some("/home".into());
    session.user = chance.below(8) > 0;
    session.reads =
        ["x.ts", "a/x.ts", "a/b/c/x.ts", "docs/r.md"].iter().map(|read| Path::new("/p").join(read)).collect();
    session.env.insert("HOME".into(), "/home".into());
    for _ in 0..chance.below(8).saturating_sub(5) {
        let (name, value) = chance.pick(VARIABLES).split_once('=').unwrap();
        session.env.insert(name.into(), value.into());
    }
    for _ in 0..chance.below(8).saturating_sub(5) {
        let (client, arguments) = chance.pick(ARGUMENTS).split_once(' ').unwrap();
        session.args.entry(client.into()).or_default().extend(arguments.split(' ').map(String::from));
    }
    session
}

const VARIABLES: &[&str] = &[
    "CODEX_HOME=/home/a",
    "CODEX_HOME=docs",
    "CLAUDE_CONFIG_DIR=/p/.claude",
    "XDG_CONFIG_HOME=/etc",
    "GIT_DIR=/p/a",
    "OPENCODE_CONFIG=/p/a/opencode.json",
    "OPENCODE_CONFIG_DIR=/p/docs",
    "OPENCODE_CONFIG_CONTENT={\"instructions\":[\"{file:docs/r.md}\",\"a/*.md\"]}",
    "OPENCODE_DISABLE_PROJECT_CONFIG=1",
    "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD=1",
];

const ARGUMENTS: &[&str] = &[
    "claude --add-dir ../home docs",
    "claude --settings {\"claudeMdExcludes\":[\"a\"]}",
    "claude --setting-sources user,local",
    "claude --bare",
    "codex -c developer_instructions=oak",
    "codex -c model_instructions_file=docs/r.md",
    "codex --profile a",
    "codex --cd a",
    "opencode run --dir a",
    "opencode --",
];
