//! The claims that this client's answers rest on.

/// Defines a constant for each claim, and the list of all of them.
macro_rules! claims {
    ($($name:ident = $id:literal;)*) => {
        $(pub(super) const $name: &str = $id;)*

        #[cfg(test)]
        const ALL: &[&str] = &[$($id),*];
    };
}

claims! {
    AGENTS_FAMILY = "claude/run-2.1.332#agents-md-family";
    AGENTS_SINCE = "claude/run-2.1.332#agents-md-since-2-1-281";
    AGENTS_UNREAD = "claude/memory-2026-07-28#agents-md-unread";
    ADDED = "claude/run-2.1.220#added-directories";
    ADDED_NORMALIZED = "claude/run-2.1.332#added-directories-normalized";
    BLANK = "claude/run-2.1.220#blank-files";
    BOM_ACCEPTED = "claude/run-2.1.332#bom-before-front-matter";
    BRACES = "claude/run-2.1.220#brace-limit";
    CONDITIONAL = "claude/memory-2026-07-28#conditional-rules";
    DESCENDANTS = "claude/memory-2026-07-28#descendant-files";
    EXCLUDES = "claude/run-2.1.220#excludes";
    EXCLUDES_AS_REACHED = "claude/run-2.1.332#excludes-linked-rules";
    EXTERNAL_IMPORTS = "claude/memory-2026-07-28#external-imports";
    IMPORTS = "claude/memory-2026-07-28#imports";
    IMPORT_CYCLES = "claude/memory-2026-07-28#import-cycles";
    IMPORT_ENDINGS = "claude/run-2.1.220#import-endings";
    IMPORT_HOPS = "claude/memory-2026-07-28#import-hops";
    LAUNCH = "claude/memory-2026-07-28#launch-files";
    LINKS_OUT = "claude/run-2.1.332#links-out-are-external";
    LOCAL_SETTINGS = "claude/run-2.1.220#local-settings-of-main";
    MANAGED = "claude/run-2.1.220#managed-files";
    MANAGED_TEXT = "claude/run-2.1.220#managed-text";
    NAMES = "claude/run-2.1.220#native-names";
    NOT_IN_CHAIN = "claude/run-2.1.220#other-directories";
    ONCE = "claude/run-2.1.220#files-load-once";
    PATTERNS = "claude/run-2.1.220#rule-patterns";
    RULES = "claude/memory-2026-07-28#project-rules";
    RULE_NAMES = "claude/run-2.1.220#rule-names";
    SETTINGS_IGNORED = "claude/run-2.1.220#ignored-settings";
    SETTING_SOURCES = "claude/run-2.1.220#setting-sources";
    SIZE = "claude/run-2.1.220#memory-size";
    SOURCES_OF_RULES = "claude/run-2.1.220#sources-of-rules";
    STATE_FILE = "claude/run-2.1.220#state-file";
    SWITCHES = "claude/run-2.1.220#switches";
    USER = "claude/run-2.1.220#user-files";
    WORKTREES = "claude/run-2.1.220#worktrees";
    WORKTREE_RULES = "claude/run-2.1.332#worktree-rules";
    WORKTREE_READS = "claude/run-2.1.332#worktree-reads";
}

#[cfg(test)]
mod tests {
    use super::ALL;
    use crate::evidence::claim;

    #[test]
    fn every_claim_is_in_the_evidence() {
        let missing: Vec<&&str> = ALL.iter().filter(|id| claim(id).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
