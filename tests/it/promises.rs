//! What the project promises of itself: what the README shows is what the program prints.

use std::path::Path;

use crate::binary::rulecheck;

/// The block behind `<!-- screen: COMMAND -->` is what the command prints. `UPDATE_README=1` writes it anew.
#[test]
fn the_readme_shows_what_the_program_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let mut written = String::new();
    let mut rest = readme.as_str();
    let mut screens = 0;
    while let Some((before, after)) = rest.split_once("<!-- screen: rulecheck ") {
        let (command, after) = after.split_once(" -->\n```text\n").unwrap();
        let (_, after) = after.split_once("```\n").unwrap();
        let output = rulecheck(&command.split(' ').collect::<Vec<_>>(), root);
        let screen = String::from_utf8(output.stdout).unwrap();
        written += &format!("{before}<!-- screen: rulecheck {command} -->\n```text\n{screen}```\n");
        rest = after;
        screens += 1;
    }
    written += rest;
    assert!(screens > 0);
    // The command to build it with prints the screen below it.
    let (_, built) = readme.split_once("cargo run --release --locked -- ").unwrap();
    let (_, shown) = readme.split_once("<!-- screen: rulecheck ").unwrap();
    assert_eq!(built.lines().next(), shown.lines().next().and_then(|line| line.strip_suffix(" -->")));
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(root.join("README.md"), &written).unwrap();
    }
    assert!(written == readme || std::env::var_os("UPDATE_README").is_some(), "README.md should be:\n{written}");
}

/// Every file, directory and command that the README names is there.
#[test]
fn the_readme_names_the_commands() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let help = String::from_utf8(rulecheck(&["--help"], root).stdout).unwrap();
    for line in readme.lines().filter(|line| line.starts_with("| `rulecheck ")) {
        let command = line.split(['`', ' ']).nth(3).unwrap();
        assert!(command.starts_with('[') || help.contains(&format!("  {command} ")), "{command}");
    }
}
