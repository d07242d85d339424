//! Claude Code: what it loads, in the order of its documentation.

use std::path::Path;

use crate::clients::{Client, PassedOver, Scene, Version};
use crate::resolution::{Outcome, Resolution};

/// Claude Code, all versions.
pub static CLIENT: Client = Client {
    name: "claude",
    title: "Claude Code",
    default: Version::Release(2, 1, 220),
    recorded: &[Version::Release(2, 1, 220)],
    history: Vec::new,
    resolve,
    passed_over,
    shown: |text, _, _| text.to_string(),
};

fn resolve(_scene: &Scene<'_>, version: Version) -> Resolution {
    Resolution { client: CLIENT.name, version, refusal: None, ignored_config: Vec::new(), sources: Vec::new() }
}

fn passed_over(_scene: &Scene<'_>, _version: Version, _path: &Path) -> PassedOver {
    PassedOver { outcome: Outcome::Unsupported { why: String::new() }, evidence: "" }
}
