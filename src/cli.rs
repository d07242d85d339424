//! The command line, as types. Nothing else in the crate knows it.
