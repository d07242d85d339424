//! The pages of the rules: each example gives findings of its rule and of no other, and what is mended gives none.
//!
//! In the sections `Example` and `Fixed` a block ` ```file PATH ` is a file of the project, and a block ` ```session ` says
//! what `case.yaml` would: the start directory, the clients, what a repository cannot hold. The project is a repository.

use std::fmt::Write;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use rulecheck::evidence::{claim, observations};
use rulecheck::files::{Memory, absolute};
use rulecheck::rules::{RULES, Rule};

use crate::cases::{Case, Said, add, say};

/// The sections of a page, in order.
const SECTIONS: [&str; 5] = ["Why it matters", "Example", "Fixed", "When to suppress", "Evidence"];

#[test]
fn every_example_is_found_and_every_mended_one_is_quiet() {
    let mut wrong = String::new();
    for rule in RULES {
        judge(rule, &sections(rule.page), &mut wrong);
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn pages_name_claims_that_are_known() {
    let mut unknown = String::new();
    for rule in RULES {
        for section in sections(rule.page).iter().filter(|section| section.title == "Evidence") {
            for id in section.codes.iter().filter(|id| has_claims(id) && claim(id).is_none()) {
                let _ = writeln!(unknown, "{}: {id}", rule.name);
            }
        }
    }
    assert!(unknown.is_empty(), "\n{unknown}");
}

/// Whether `id` is that of a claim about a client whose claims are written down.
fn has_claims(id: &str) -> bool {
    let client = id.split('/').next().filter(|_| id.contains('#')).unwrap_or_default();
    observations(client).is_ok_and(|all| all.iter().any(|observation| !observation.claims.is_empty()))
}

/// Writes down what is wrong with a page.
fn judge(rule: &Rule, sections: &[Section], wrong: &mut String) {
    let titles: Vec<&str> = sections.iter().map(|section| section.title.as_str()).collect();
    if titles != SECTIONS {
        let _ = writeln!(wrong, "{}: the sections are {titles:?}, not {SECTIONS:?}", rule.name);
    }
    for section in sections {
        let title = section.title.as_str();
        if !matches!(title, "Example" | "Fixed") {
            continue;
        }
        let Said { sources, findings } = section.run(rule.name);
        let own = findings.iter().filter(|(name, _)| *name == rule.name).count();
        let fault = match title {
            "Example" if own == 0 => "does not find its example",
            "Example" if own < findings.len() => "is not alone in finding something in its example",
            "Fixed" if !findings.is_empty() => "has something left to find where it is mended",
            _ => continue,
        };
        let _ = writeln!(wrong, "{} {fault}:", rule.name);
        for line in findings.iter().flat_map(|(_, text)| text.lines()).chain(sources.lines()) {
            let _ = writeln!(wrong, "    {line}");
        }
    }
}

/// A section of a page.
#[derive(Default)]
struct Section {
    title: String,
    /// The paths and texts of the files.
    files: Vec<(String, String)>,
    session: String,
    /// The pieces of code in its text.
    codes: Vec<String>,
}

impl Section {
    fn run(&self, rule: &str) -> Said {
        let yaml = format!("about: {rule}\n{}", self.session);
        let case: Case = serde_yaml::from_str(&yaml).unwrap_or_else(|error| panic!("{rule}: {error}"));
        let mut memory = Memory::default();
        memory.dir(&case.project).dir(&case.home);
        if case.git {
            let git = case.project.join(".git");
            memory.file(git.join("HEAD"), "ref: refs/heads/main\n").dir(git.join("objects")).dir(git.join("refs"));
        }
        for (path, text) in &self.files {
            memory.file(absolute(&case.project, path.as_ref()), text);
        }
        add(&case, &mut memory);
        say(&case, &memory, RULES)
    }
}

fn sections(page: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut in_title = false;
    let mut block: Option<String> = None;
    for event in Parser::new_ext(page, Options::empty()) {
        match event {
            Event::Start(Tag::Heading { level, .. }) if level as usize == 2 => {
                sections.push(Section::default());
                in_title = true;
            }
            Event::End(TagEnd::Heading(_)) => in_title = false,
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                if let (Some(path), Some(section)) = (info.strip_prefix("file "), sections.last_mut()) {
                    section.files.push((path.trim().to_string(), String::new()));
                }
                block = Some(info.to_string());
            }
            Event::End(TagEnd::CodeBlock) => block = None,
            Event::Code(code) => {
                sections.iter_mut().last().into_iter().for_each(|last| last.codes.push(code.to_string()))
            }
            Event::Text(text) => {
                let Some(section) = sections.last_mut() else { continue };
                match block.as_deref() {
                    _ if in_title => section.title.push_str(&text),
                    Some("session") => section.session.push_str(&text),
                    Some(info) if info.starts_with("file ") => {
                        section.files.iter_mut().last().into_iter().for_each(|(_, file)| file.push_str(&text));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    sections
}
