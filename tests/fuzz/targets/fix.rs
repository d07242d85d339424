//! A random project, mended on paper.
#![no_main]

#[path = "../shared.rs"]
mod shared;

use std::path::Path;

use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use rulecheck::config::{Config, Selected};
use rulecheck::fix::Setting;
use shared::holds::{ROOT, mended};
use shared::random::{Chance, project, session};
use shared::versions;

fuzz_target!(|data: &[u8]| {
    let mut chance = Unstructured::new(data);
    let migrate = chance.below(2) > 0;
    let selected = versions(&mut chance).into_iter().map(|(client, version)| Selected { client, version });
    let selected: Vec<Selected> = selected.collect();
    let files = project(&mut chance, &[]);
    let sessions = [session(&mut chance, &files)];
    let root = Path::new(ROOT);
    let config = Config::of_project(&files, root).unwrap_or_default();
    let setting = Setting { root, sessions: &sessions, selected: &selected, config: &config, only: None };
    mended(&files, setting, migrate).unwrap();
});
