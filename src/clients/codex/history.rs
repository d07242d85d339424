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
    /// A profile is a table of `profiles`, not a file of its own.
    pub(super) profile_is_a_table: bool,
    /// A trusted project's configuration may choose the profile and the model provider.
    pub(super) project_chooses: bool,
    /// A fallback name or a root marker that starts with `~/` is below the user's home directory.
    pub(super) tilde_is_home: bool,
    /// A global file that is not UTF-8 counts as missing.
    pub(super) global_must_be_utf8: bool,
}

pub(super) static HISTORY: &[Change<Behaviour>] = &[
    Change {
        since: Manual(2026, 7, 31),
        what: "in each directory the first name whose file is not empty is taken",
        evidence: &["codex/manual-2026-07-31#project-chain"],
        apply: |behaviour| behaviour.blank_is_taken = false,
    },
    Change {
        since: Release(0, 122, 0),
        what: "in each directory the first name that exists as a file is taken; when it is blank, the directory contributes nothing",
        evidence: &["codex/run-0.145.0#blank-is-taken"],
        apply: |behaviour| behaviour.blank_is_taken = true,
    },
    Change {
        since: Release(0, 122, 0),
        what: "a root marker whose path cannot be followed makes the client give up all project files",
        evidence: &["codex/run-0.145.0#unfollowable-paths"],
        apply: |behaviour| behaviour.marker_errors_abort = true,
    },
    Change {
        since: Release(0, 122, 0),
        what: "a profile is a table of `profiles`, which `--profile` or the key `profile` selects; the client does not start without it",
        evidence: &["codex/run-0.122.0#profile-tables"],
        apply: |behaviour| behaviour.profile_is_a_table = true,
    },
    Change {
        since: Release(0, 122, 0),
        what: "a trusted project's configuration may choose a profile and a model provider",
        evidence: &["codex/run-0.122.0#project-chooses"],
        apply: |behaviour| behaviour.project_chooses = true,
    },
    Change {
        since: Release(0, 122, 0),
        what: "a global file that is not UTF-8 counts as missing",
        evidence: &["codex/run-0.122.0#global-utf8"],
        apply: |behaviour| behaviour.global_must_be_utf8 = true,
    },
    Change {
        since: Release(0, 122, 0),
        what: "a fallback name or a root marker that is `~`, or starts with `~/`, is in the user's home directory",
        evidence: &["codex/run-0.122.0#tilde-is-home"],
        apply: |behaviour| behaviour.tilde_is_home = true,
    },
    Change {
        since: Release(0, 129, 0),
        what: "`profile`, `profiles`, `model_provider` and `model_providers` in a project's configuration are ignored",
        evidence: &["codex/run-0.129.0#project-does-not-choose"],
        apply: |behaviour| behaviour.project_chooses = false,
    },
    Change {
        since: Release(0, 133, 0),
        what: "a global file that is not UTF-8 is loaded, its wrong bytes replaced",
        evidence: &["codex/run-0.133.0#global-lossy"],
        apply: |behaviour| behaviour.global_must_be_utf8 = false,
    },
    Change {
        since: Release(0, 134, 0),
        what: "a profile is the file `NAME.config.toml`, which `--profile NAME` lays over the user's configuration; the key `profile` keeps the client from starting",
        evidence: &["codex/run-0.134.0#profile-files"],
        apply: |behaviour| behaviour.profile_is_a_table = false,
    },
    Change {
        since: Release(0, 142, 0),
        what: "in a fallback name or a root marker `~` is a name like any other",
        evidence: &["codex/run-0.142.0#tilde-is-a-name"],
        apply: |behaviour| behaviour.tilde_is_home = false,
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
        evidence: &["codex/run-0.150.0#untrusted-supplies-nothing"],
        apply: |behaviour| behaviour.untrusted_supplies_nothing = true,
    },
    Change {
        since: Release(0, 156, 0),
        what: "a fallback name with a path separator is ignored",
        evidence: &["codex/run-0.156.0#plain-fallbacks-only"],
        apply: |behaviour| behaviour.plain_fallbacks_only = true,
    },
    Change {
        since: Release(0, 164, 0),
        what: "the text of `model_instructions_file`, or else of `instructions`, stands first in the model's input",
        evidence: &["codex/run-0.164.0#base-instructions-show"],
        apply: |behaviour| behaviour.base_instructions_show = true,
    },
];
