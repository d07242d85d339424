//! The clients' glob dialects.

pub mod gitignore;
pub mod shell;
