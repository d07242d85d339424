//! What holds for every project, tried on random ones. The random numbers are always the same.

use std::collections::BTreeSet;

use rulecheck::clients::{CLIENTS, Client, Version};

use crate::holds::{look, printed};
use crate::random::{Chance, project, session};

/// A small generator: the tests need variety, not quality.
struct Random(u64);

impl Chance for Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

#[test]
fn every_project_has_a_sound_answer() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut rules: BTreeSet<&str> = BTreeSet::new();
    let all = |client: &'static &Client| client.recorded.iter().map(|version| (*client, *version));
    let clients: Vec<(&Client, Version)> = CLIENTS.iter().flat_map(all).collect();
    for _ in 0..400 {
        let files = project(&mut random, &[]);
        let session = session(&mut random, &files);
        let looked = look(&files, &session, &clients);
        rules.extend(looked.findings.iter().map(|found| found.rule));
        let printed = printed(&files, &session, &clients, &looked);
        assert_eq!(printed.lines().find(|line| line.contains("mJ6wR3xTq8")), None, "{files:?}");
    }
    assert!(rules.len() >= 15, "the projects are too tame: {rules:?}");
}
