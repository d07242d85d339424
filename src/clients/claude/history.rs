//! What changed in Claude Code since the oldest version that is known.

use super::claims;
use crate::clients::{Change, Version};

/// How Claude Code behaves; the default is 2.1.207.
#[derive(Clone, Debug, Default)]
pub(super) struct Behaviour {
    /// Whether the local settings of the main checkout count below it and in its worktrees.
    pub(super) local_settings_of_main: bool,
    /// Whether `--setting-sources` keeps out the rules of a project that load later, too.
    pub(super) sources_limit_later_rules: bool,
    /// Whether the braces of one rule expand into a limited number of patterns.
    pub(super) limits_braces: bool,
    /// Whether an import or a rule that a link leads out of the start directory needs the approval for external imports.
    pub(super) links_out_are_external: bool,
    /// Whether an exclusion is tried on a rule as it is reached too, not only on what its link leads to.
    pub(super) excludes_rules_as_reached: bool,
    /// Whether a byte order mark may stand before the front matter.
    pub(super) bom_before_front_matter: bool,
    /// Whether the conditional rules of the main checkout stay out of a worktree inside it, too.
    pub(super) worktrees_drop_conditional: bool,
    /// Whether a read below `.claude/worktrees/NAME` passes over that directory and the one above it.
    pub(super) reads_skip_worktree_roots: bool,
    /// Whether the directories of `--add-dir` are brought into normal form, `~` included.
    pub(super) normalizes_added: bool,
    /// Whether `AGENTS.md` is read where no Claude file is.
    pub(super) agents_md: bool,
}

/// What changed, oldest first.
pub(super) static HISTORY: &[Change<Behaviour>] = &[
    Change {
        since: Version::Release(2, 1, 211),
        what: "`.claude/settings.local.json` of the main checkout counts for a session below it or in a worktree of it",
        evidence: &[claims::LOCAL_SETTINGS],
        apply: |behaviour| behaviour.local_settings_of_main = true,
    },
    Change {
        since: Version::Release(2, 1, 211),
        what: "`--setting-sources` without `project` keeps out the project's rules that a read loads, too",
        evidence: &[claims::SOURCES_OF_RULES],
        apply: |behaviour| behaviour.sources_limit_later_rules = true,
    },
    Change {
        since: Version::Release(2, 1, 217),
        what: "the braces of one rule expand into 1000 patterns at most; more stay as they are written",
        evidence: &[claims::BRACES],
        apply: |behaviour| behaviour.limits_braces = true,
    },
    Change {
        since: Version::Release(2, 1, 227),
        what: "in a worktree inside its main checkout the conditional rules of that checkout do not load either",
        evidence: &[claims::WORKTREE_RULES],
        apply: |behaviour| behaviour.worktrees_drop_conditional = true,
    },
    Change {
        since: Version::Release(2, 1, 232),
        what: "an import or a rule that a link leads out of the start directory needs the approval for external imports",
        evidence: &[claims::LINKS_OUT],
        apply: |behaviour| behaviour.links_out_are_external = true,
    },
    Change {
        since: Version::Release(2, 1, 239),
        what: "a byte order mark may stand before a front matter",
        evidence: &[claims::BOM_ACCEPTED],
        apply: |behaviour| behaviour.bom_before_front_matter = true,
    },
    Change {
        since: Version::Release(2, 1, 239),
        what: "an exclusion that names a linked rule by its link counts",
        evidence: &[claims::EXCLUDES_AS_REACHED],
        apply: |behaviour| behaviour.excludes_rules_as_reached = true,
    },
    Change {
        since: Version::Release(2, 1, 281),
        what: "`AGENTS.md` and `.claude/AGENTS.md` are read where the start directory and those above it hold no Claude file",
        evidence: &[claims::AGENTS_FAMILY, claims::AGENTS_SINCE],
        apply: |behaviour| behaviour.agents_md = true,
    },
    Change {
        since: Version::Release(2, 1, 286),
        what: "a read below `.claude/worktrees/NAME` loads no Claude files of that directory and the one above it",
        evidence: &[claims::WORKTREE_READS],
        apply: |behaviour| behaviour.reads_skip_worktree_roots = true,
    },
    Change {
        since: Version::Release(2, 1, 327),
        what: "a directory of `--add-dir` is brought into normal form, `~` included, before exclusions see it",
        evidence: &[claims::ADDED_NORMALIZED],
        apply: |behaviour| behaviour.normalizes_added = true,
    },
];
