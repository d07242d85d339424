//! The dated observations that every answer rests on, embedded in the program. They are data, never instructions.

use std::sync::OnceLock;

use serde::Deserialize;

/// One observation: a page, a piece of source or a run of a released binary, at a moment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// Its name, unique in its client.
    pub id: String,
    /// What was observed.
    pub kind: Kind,
    /// Where it was.
    pub url: String,
    /// When it was observed, UTC.
    pub seen_at: String,
    /// The SHA-256 of what was observed, where it is known.
    pub sha256: Option<String>,
    /// The commit, for source.
    pub commit: Option<String>,
    /// The version of the client.
    pub version: Option<String>,
    /// Anything else to know of it.
    pub note: Option<String>,
    /// What it says, in this project's words.
    pub claims: Vec<Claim>,
}

/// What kind of thing was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Documentation.
    Doc,
    /// Source code.
    Source,
    /// Runs of the released binary with a stub model.
    Run,
}

/// One sentence of an observation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its name, unique in its observation.
    pub id: String,
    /// The sentence.
    pub says: String,
    /// The claims that say otherwise, as `client/observation#claim`.
    #[serde(default)]
    pub contradicts: Vec<String>,
}

/// The observations of one client, as they are in `evidence/`, read when they are first asked for.
struct Known {
    client: &'static str,
    text: &'static str,
    read: OnceLock<Result<Vec<Observation>, String>>,
}

static KNOWN: [Known; 3] = [
    Known { client: "codex", text: include_str!("../evidence/codex/observations.yaml"), read: OnceLock::new() },
    Known { client: "opencode", text: include_str!("../evidence/opencode/observations.yaml"), read: OnceLock::new() },
    Known { client: "claude", text: include_str!("../evidence/claude/observations.yaml"), read: OnceLock::new() },
];

/// The observations of `client`, in the order of their file.
///
/// # Errors
/// The text is embedded, so an error is a defect of the program; a test reads all of them.
pub fn observations(client: &str) -> Result<&'static [Observation], String> {
    let known = KNOWN.iter().find(|known| known.client == client).ok_or_else(|| format!("no client {client}"))?;
    let read = known.read.get_or_init(|| serde_yaml::from_str(known.text).map_err(|error| error.to_string()));
    read.as_deref().map_err(|error| format!("evidence of {client}: {error}"))
}

/// The observation and the claim called `id`, as `client/observation#claim`.
pub fn claim(id: &str) -> Option<(&'static Observation, &'static Claim)> {
    let (client, rest) = id.split_once('/')?;
    let (observation, claim) = rest.split_once('#')?;
    let observation = observations(client).ok()?.iter().find(|candidate| candidate.id == observation)?;
    let claim = observation.claims.iter().find(|candidate| candidate.id == claim)?;
    Some((observation, claim))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::CLIENTS;
    use std::collections::BTreeSet;

    #[test]
    fn observations_read_and_name_each_other() {
        for client in CLIENTS {
            let observations = observations(client.name).unwrap();
            let mut seen = BTreeSet::new();
            for observation in observations {
                for claim in &observation.claims {
                    assert!(seen.insert(format!("{}/{}#{}", client.name, observation.id, claim.id)));
                    for other in &claim.contradicts {
                        let (_, other) = super::claim(other).unwrap_or_else(|| panic!("{other} is not a claim"));
                        let this = format!("{}/{}#{}", client.name, observation.id, claim.id);
                        assert!(other.contradicts.contains(&this), "{} does not name {this}", other.id);
                    }
                }
            }
            for row in (client.history)() {
                for id in row.evidence {
                    assert!(claim(id).is_some(), "{id} is not a claim");
                }
            }
        }
    }
}
