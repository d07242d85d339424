//! Copies of remote instruction sources, kept in the project with the record of what was fetched when.
//!
//! `.rulecheck/frozen.json` holds the records; the copies lie beside it. Nothing here ever fetches.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::files::{Files, Unreadable};

/// The records of a project, relative to its directory.
pub const RECORDS: &str = ".rulecheck/frozen.json";

/// The file of records.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Records {
    /// One a copy.
    pub frozen: Vec<Record>,
}

/// What was fetched, when, and where its copy lies.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The address.
    pub url: String,
    /// When it was fetched, UTC.
    pub retrieved_at: String,
    /// The SHA-256 of the copy, in hexadecimal digits.
    pub sha256: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The copy, relative to the project.
    pub file: String,
}

/// How a copy is, next to its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// As it was fetched.
    Intact,
    /// It has other bytes.
    Changed,
    /// It cannot be read.
    Gone(Unreadable),
}

/// The records of the project at `root`; none when there is no file of records.
///
/// # Errors
/// Says what is wrong with the file.
pub fn records(files: &dyn Files, root: &Path) -> Result<Vec<Record>, String> {
    match files.read(&root.join(RECORDS)) {
        Ok(bytes) => {
            serde_json::from_slice::<Records>(&bytes).map(|records| records.frozen).map_err(|error| error.to_string())
        }
        Err(Unreadable::Missing | Unreadable::NotADirectory) => Ok(Vec::new()),
        Err(why) => Err(why.to_string()),
    }
}

/// A copy that is about to be kept.
pub struct Freeze {
    /// Its record.
    pub record: Record,
    /// The new file of records.
    pub records: String,
}

/// The record of `bytes`, fetched from `url` at `retrieved_at`, and the records with it in the place of an older one.
///
/// # Errors
/// Says why the address cannot be frozen, or the records not be read.
pub fn freeze(files: &dyn Files, root: &Path, url: &str, retrieved_at: &str, bytes: &[u8]) -> Result<Freeze, String> {
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(format!(
            "`{url}` is no address that a client fetches: it begins with http:// or https://, in lower case"
        ));
    }
    let sha256 = digest(bytes);
    let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = path.rsplit('/').next().unwrap_or_default().chars().filter(|c| plain(*c)).collect();
    let name = name.trim_start_matches('.');
    let ending = if name.contains('.') { "" } else { ".md" };
    let record = Record {
        url: url.to_string(),
        retrieved_at: retrieved_at.to_string(),
        file: format!(".rulecheck/frozen/{}-{name}{ending}", &sha256[..12]),
        bytes: bytes.len() as u64,
        sha256,
    };
    let mut all = records(files, root)?;
    all.retain(|known| known.url != record.url);
    all.push(record.clone());
    all.sort_by(|a, b| a.url.cmp(&b.url));
    let records = serde_json::to_string_pretty(&Records { frozen: all }).unwrap_or_default();
    Ok(Freeze { record, records: format!("{records}\n") })
}

impl Record {
    /// Where the copy lies in the project at `root`.
    pub fn path(&self, root: &Path) -> PathBuf {
        crate::files::absolute(root, Path::new(&self.file))
    }

    /// How the copy is.
    pub fn state(&self, files: &dyn Files, root: &Path) -> State {
        match files.read(&self.path(root)) {
            Ok(bytes) if digest(&bytes).eq_ignore_ascii_case(&self.sha256) => State::Intact,
            Ok(_) => State::Changed,
            Err(why) => State::Gone(why),
        }
    }
}

/// The SHA-256 of `bytes`, in lower-case hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_the_known_one() {
        assert_eq!(digest(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
