//! A random project in each format.
#![no_main]

#[path = "../shared.rs"]
mod shared;

use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use shared::holds::{look, printed};
use shared::random::{project, session};
use shared::versions;

fuzz_target!(|data: &[u8]| {
    let mut chance = Unstructured::new(data);
    let (clients, files) = (versions(&mut chance), project(&mut chance, &[]));
    let session = session(&mut chance, &files);
    printed(&files, &session, &clients, &look(&files, &session, &clients));
});
