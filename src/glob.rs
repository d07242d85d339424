//! Each client's glob dialect.

pub mod shell;
