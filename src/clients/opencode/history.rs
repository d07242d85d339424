//! What changed in OpenCode, since which version, and on which evidence.

use crate::clients::{Change, Version};

/// The behaviour of OpenCode at a version. The default is 1.15.13.
#[derive(Clone, Debug)]
pub(super) struct Behaviour {
    /// The configuration keys that the client will know only later.
    pub(super) later_keys: Vec<&'static str>,
    /// A compatibility switch with a value that the client does not know keeps it from starting.
    pub(super) refuses_unknown_values: bool,
    /// A top-level configuration key that the client does not know keeps it from starting.
    pub(super) refuses_unknown_keys: bool,
    /// Settings of OpenCode 2 are translated where they can be.
    pub(super) translates_next: bool,
    /// The permissions of OpenCode 2 keep the client from starting.
    pub(super) refuses_next_permissions: bool,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            later_keys: vec!["references", "subagent_depth"],
            refuses_unknown_values: false,
            refuses_unknown_keys: true,
            translates_next: false,
            refuses_next_permissions: false,
        }
    }
}

/// The changes since 1.15.13, oldest first.
pub(super) static HISTORY: &[Change<Behaviour>] = &[
    Change {
        since: Version::Release(1, 17, 9),
        what: "the configuration key `references` is known",
        evidence: &["opencode/run-1.17.9#references-known"],
        apply: |behaviour| behaviour.later_keys.retain(|key| *key != "references"),
    },
    Change {
        since: Version::Release(1, 17, 11),
        what: "a compatibility switch with a value that is none of those it takes keeps the client from starting",
        evidence: &["opencode/run-1.17.11#switch-values-refuse"],
        apply: |behaviour| behaviour.refuses_unknown_values = true,
    },
    Change {
        since: Version::Release(1, 18, 3),
        what: "the configuration key `subagent_depth` is known",
        evidence: &["opencode/run-1.18.3#subagent-depth-known"],
        apply: |behaviour| behaviour.later_keys.retain(|key| *key != "subagent_depth"),
    },
    Change {
        since: Version::Release(1, 18, 16),
        what: "a top-level configuration key that the client does not know is passed over",
        evidence: &["opencode/run-1.18.33#unknown-key-passes", "opencode/run-1.18.16#first-to-pass-unknown-keys"],
        apply: |behaviour| behaviour.refuses_unknown_keys = false,
    },
    Change {
        since: Version::Release(1, 18, 24),
        what: "settings of OpenCode 2 are translated or passed over",
        evidence: &["opencode/run-1.18.24#next-settings-pass"],
        apply: |behaviour| behaviour.translates_next = true,
    },
    Change {
        since: Version::Release(1, 18, 24),
        what: "`permissions`, as OpenCode 2 has them, keep the client from starting",
        evidence: &["opencode/run-1.18.24#next-permissions-refuse"],
        apply: |behaviour| behaviour.refuses_next_permissions = true,
    },
];
