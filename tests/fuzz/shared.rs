//! What the targets share with the tests.

#![allow(dead_code, clippy::unwrap_used, reason = "no target needs all of it, and each stops at the first surprise")]

use libfuzzer_sys::arbitrary::Unstructured;
use rulecheck::clients::{CLIENTS, Client, Version};

use self::random::Chance;

#[path = "../it/holds.rs"]
pub(crate) mod holds;
#[path = "../it/random.rs"]
pub(crate) mod random;

impl Chance for Unstructured<'_> {
    fn below(&mut self, limit: usize) -> usize {
        self.choose_index(limit).unwrap_or(0)
    }
}

/// A version of each client.
pub(crate) fn versions(chance: &mut impl Chance) -> Vec<(&'static Client, Version)> {
    CLIENTS.iter().map(|client| (*client, client.recorded[chance.below(client.recorded.len())])).collect()
}
