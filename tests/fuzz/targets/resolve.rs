//! A random project as each client resolves it.
#![no_main]

#[path = "../shared.rs"]
mod shared;

use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use shared::holds::look;
use shared::random::{project, session};
use shared::versions;

fuzz_target!(|data: &[u8]| {
    let mut chance = Unstructured::new(data);
    let (clients, files) = (versions(&mut chance), project(&mut chance, &[]));
    look(&files, &session(&mut chance, &files), &clients);
});
