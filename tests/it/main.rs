//! One test binary: the recorded runs, and whatever else is tried from outside.

mod layout;
mod runs;
