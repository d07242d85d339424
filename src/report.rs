//! Stage 4: one report, rendered in one of several formats.
