//! Where the git repository around the start directory is. Only its files are looked at; git is never asked.

use std::path::{Path, PathBuf};

use crate::files::{Entry, Files, absolute};
use crate::text::lossy;

/// The repository around a directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Repository {
    /// The nearest directory that holds a `.git`.
    pub(super) root: PathBuf,
    /// The main checkout, when `root` is a worktree of it; else `root` too.
    pub(super) main: PathBuf,
}

impl Repository {
    /// Whether the memory files and rules of `dir` are left out, because a worktree inside its main checkout has its
    /// own. The local file of such a directory stays.
    pub(super) fn replaces(&self, dir: &Path) -> bool {
        self.root != self.main
            && self.root.starts_with(&self.main)
            && dir.starts_with(&self.main)
            && !dir.starts_with(&self.root)
    }
}

/// The repository around `cwd`.
pub(super) fn repository(files: &dyn Files, cwd: &Path) -> Option<Repository> {
    let root = cwd.ancestors().find(|dir| files.entry(&dir.join(".git")).is_some())?;
    let main = main_checkout(files, root).unwrap_or_else(|| root.to_path_buf());
    Some(Repository { root: root.to_path_buf(), main })
}

/// The main checkout of the worktree at `root`: its `.git` names a directory that points back to it and to the
/// common one. A submodule's has no common directory.
fn main_checkout(files: &dyn Files, root: &Path) -> Option<PathBuf> {
    let marker = root.join(".git");
    if !matches!(files.entry(&marker), Some(Entry::File { .. })) {
        return None;
    }
    let line = first_line(files, &marker)?;
    let admin = absolute(root, Path::new(line.strip_prefix("gitdir:")?.trim()));
    if absolute(&admin, Path::new(&first_line(files, &admin.join("gitdir"))?)) != marker {
        return None;
    }
    let common = absolute(&admin, Path::new(&first_line(files, &admin.join("commondir"))?));
    let common = files.real(&common).filter(|common| files.is_dir(common))?;
    if common.file_name()? == ".git" { common.parent().map(Path::to_path_buf) } else { Some(common) }
}

/// The text of a one-line file; `None` when it is empty or missing.
fn first_line(files: &dyn Files, path: &Path) -> Option<String> {
    let bytes = files.read(path).ok()?;
    let text = lossy(&bytes).trim().to_string();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Memory;

    #[test]
    fn a_worktree_has_a_main_checkout_and_a_submodule_has_none() {
        let mut files = Memory::default();
        files.file("/p/.git/HEAD", "x").file("/p/w/.git", "gitdir: /p/.git/worktrees/w\n");
        files.file("/p/.git/worktrees/w/commondir", "../..\n").file("/p/.git/worktrees/w/gitdir", "/p/w/.git\n");
        files.file("/p/s/.git", "gitdir: ../.git/modules/s").file("/p/.git/modules/s/HEAD", "x");
        let worktree = repository(&files, Path::new("/p/w/a")).unwrap();
        assert_eq!((worktree.root.as_path(), worktree.main.as_path()), (Path::new("/p/w"), Path::new("/p")));
        assert!(worktree.replaces(Path::new("/p")) && !worktree.replaces(Path::new("/p/w/a")));
        let submodule = repository(&files, Path::new("/p/s")).unwrap();
        assert_eq!(submodule.root, submodule.main);
        assert_eq!(repository(&files, Path::new("/q")), None);
    }
}
