//! What changed in Codex since which version.

use crate::clients::Change;
use crate::clients::Version::{Manual, Release};

/// How Codex behaves at one version.
#[derive(Clone, Debug, Default)]
pub(super) struct Behaviour {
    /// In a directory the first name that exists is taken, even when it is blank; otherwise the first that is not blank.
    pub(super) blank_is_taken: bool,
    /// A project that the user's configuration marks as untrusted supplies no files.
    pub(super) untrusted_supplies_nothing: bool,
    /// A fallback name with a path separator is passed over.
    pub(super) plain_fallbacks_only: bool,
    /// The base instructions of the configuration show in the model's input.
    pub(super) base_instructions_show: bool,
    /// A root marker whose path cannot be followed makes the client give up the project's files.
    pub(super) marker_errors_abort: bool,
    /// Trust that the managed configuration grants counts.
    pub(super) managed_trust_counts: bool,
}

pub(super) static HISTORY: &[Change<Behaviour>] = &[
    Change {
        since: Manual(2026, 7, 31),
        what: "in each directory the first name whose file is not empty is taken",
        evidence: &["codex/manual-2026-07-31#project-chain"],
        apply: |behaviour| behaviour.blank_is_taken = false,
    },
    Change {
        since: Release(0, 145, 0),
        what: "in each directory the first name that exists as a file is taken; when it is blank, the directory contributes nothing",
        evidence: &["codex/run-0.145.0#blank-is-taken"],
        apply: |behaviour| behaviour.blank_is_taken = true,
    },
    Change {
        since: Release(0, 145, 0),
        what: "a root marker whose path cannot be followed makes the client give up all project files",
        evidence: &["codex/run-0.145.0#unfollowable-paths"],
        apply: |behaviour| behaviour.marker_errors_abort = true,
    },
    Change {
        since: Release(0, 149, 0),
        what: "a project that the managed configuration marks as trusted is trusted",
        evidence: &["codex/run-0.149.0#managed-trust"],
        apply: |behaviour| behaviour.managed_trust_counts = true,
    },
    Change {
        since: Release(0, 149, 0),
        what: "a root marker whose path cannot be followed counts as missing",
        evidence: &["codex/run-0.149.0#unfollowable-markers"],
        apply: |behaviour| behaviour.marker_errors_abort = false,
    },
    Change {
        since: Release(0, 150, 0),
        what: "a project that the user's configuration marks as untrusted supplies no project files",
        evidence: &["codex/run-0.171.0#untrusted-supplies-nothing"],
        apply: |behaviour| behaviour.untrusted_supplies_nothing = true,
    },
    Change {
        since: Release(0, 156, 0),
        what: "a fallback name with a path separator is ignored",
        evidence: &["codex/run-0.171.0#plain-fallbacks-only"],
        apply: |behaviour| behaviour.plain_fallbacks_only = true,
    },
    Change {
        since: Release(0, 164, 0),
        what: "the text of `model_instructions_file`, or else of `instructions`, stands first in the model's input",
        evidence: &["codex/run-0.171.0#base-instructions-show"],
        apply: |behaviour| behaviour.base_instructions_show = true,
    },
];
