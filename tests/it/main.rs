//! One test binary: the recorded runs, and whatever else is tried from outside.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test lays out files and stops at the first surprise"
)]

mod binary;
mod cases;
#[cfg(unix)]
mod commands;
mod dialects;
mod fix;
#[cfg(unix)]
mod formats;
mod holds;
#[cfg(unix)]
mod hostile;
mod layout;
mod pages;
mod promises;
mod properties;
mod random;
mod runs;
