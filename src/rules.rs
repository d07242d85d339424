//! Stage 3: the rules judge the resolutions. A rule is one file, with its page beside it.
