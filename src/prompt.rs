//! The instruction text as a client would put it before its model, part by part, with the secrets taken out.

use crate::clients::Client;
use crate::files::Files;
use crate::resolution::{Phase, Resolution, Source};
use crate::secrets::Redactor;

/// One source's part of the prompt.
pub struct Part<'a> {
    /// The source.
    pub source: &'a Source,
    /// Its text as the client sends it: what it strips is gone, what it cuts is cut, secrets are redacted. `None` for
    /// what is fetched, which is not known here.
    pub text: Option<String>,
    /// Its size in bytes, before anything was redacted.
    pub bytes: usize,
    /// The size of all parts up to this one.
    pub total: usize,
}

/// The parts of the start, then those that the simulated reads load, in order.
pub fn parts<'a>(client: &Client, files: &dyn Files, redactor: &Redactor, resolution: &'a Resolution) -> Vec<Part<'a>> {
    let now = |source: &&Source| source.phase == Phase::Startup || source.activated_by.is_some();
    let mut total = 0;
    let sources = resolution.sources.iter().filter(|source| source.is_loaded()).filter(now);
    sources
        .map(|source| {
            let text = client.text(files, resolution.version, source);
            let bytes = text.as_ref().map_or(0, String::len);
            total += bytes;
            Part { source, text: text.map(|text| redactor.redact(&text).into_owned()), bytes, total }
        })
        .collect()
}
