//! OpenCode: what it loads, in the order of its documentation.

use std::path::Path;

use crate::clients::{Client, PassedOver, Scene, Version};
use crate::resolution::{Outcome, Resolution};

/// OpenCode, all versions.
pub static CLIENT: Client = Client {
    name: "opencode",
    title: "OpenCode",
    default: Version::Release(1, 18, 7),
    recorded: &[Version::Release(1, 18, 7)],
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
