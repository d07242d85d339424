//! rulecheck says which instruction files a coding client loads, and what is wrong with them.
//!
//! Data flows one way:
//!
//! ```text
//! discover  ->  resolve (per client and version)  ->  lint  ->  report
//! ```
//!
//! * [`discover`] walks the project once and finds every instruction-like file.
//! * [`clients`] resolve, each at a named version, what is loaded, shadowed, unsupported or left out.
//! * [`rules`] judge the resolutions; a resolver never judges.
//! * [`fix`] tries out the repairs of the findings on paper, and writes those that hold.
//! * [`report`] renders; nothing knows the command line but `main.rs` and [`cli`].
//!
//! What always holds:
//!
//! * Only [`files`] touches a file system, and only `main.rs` the environment. Nothing opens a network connection.
//! * A resolution never fails and never depends on the clock or on the order of directory entries.
//! * A resolver never compares versions: a version is a fold over the client's history.
//! * Every source names the claims that it rests on, and every claim is in [`evidence`].
//! * An import outside the project that is not approved is named and never opened.

pub mod baseline;
pub mod cli;
pub mod clients;
pub mod config;
pub mod diagnostic;
pub mod discover;
pub mod evidence;
pub mod fates;
pub mod files;
pub mod fix;
pub mod front_matter;
pub mod frozen;
pub mod glob;
pub mod markdown;
pub mod prompt;
pub mod report;
pub mod resolution;
pub mod rules;
pub mod secrets;
pub mod suppress;
pub mod text;
