//! What the client's read tool makes of a file.

use std::path::Path;

use crate::files::Files;

/// How a read ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// The text is shown, and the instruction files with it.
    Text,
    /// The file is shown as an image or a document; the instruction files count as loaded and are not shown.
    Image,
    /// There is nothing to show: it is a directory or a binary file, or it is not there.
    Refused,
}

/// The endings that the tool takes for a binary file.
const BINARY: [&str; 28] = [
    "zip", "tar", "gz", "exe", "dll", "so", "class", "jar", "war", "7z", "doc", "docx", "xls", "xlsx", "ppt", "pptx",
    "odt", "ods", "odp", "bin", "dat", "obj", "o", "a", "lib", "wasm", "pyc", "pyo",
];

/// The endings that it takes for an image or a document, whatever is in the file.
const IMAGE: [&str; 6] = ["png", "jpg", "jpeg", "gif", "webp", "pdf"];

/// What such files begin with, whatever their ending.
const SIGNATURES: [&[u8]; 4] = [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"%PDF-"];

/// How many bytes it looks at.
const SAMPLE: usize = 4096;

/// How a read of `path` ends.
pub(super) fn kind(files: &dyn Files, path: &Path) -> Reading {
    let Ok(bytes) = files.read(path) else { return Reading::Refused };
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    let webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    if IMAGE.contains(&ending.as_str()) || webp || SIGNATURES.iter().any(|signature| bytes.starts_with(signature)) {
        Reading::Image
    } else if BINARY.contains(&ending.as_str()) || is_binary(bytes.get(..SAMPLE).unwrap_or(&bytes)) {
        Reading::Refused
    } else {
        Reading::Text
    }
}

/// Whether a sample has a NUL, or control characters for more than three in ten bytes.
fn is_binary(sample: &[u8]) -> bool {
    let control = sample.iter().filter(|byte| matches!(byte, 0..=8 | 14..=31)).count();
    sample.contains(&0) || control * 10 > sample.len() * 3
}
