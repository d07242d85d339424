//! Each client's glob dialect.
