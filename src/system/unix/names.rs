//! File names as bytes, for git and the runner.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// A path with slashes, for lists, settings and agents.
pub fn with_slashes(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

pub fn from_bytes(name: &[u8]) -> Cow<'_, OsStr> {
    Cow::Borrowed(OsStr::from_bytes(name))
}

pub fn from_vec(name: Vec<u8>) -> OsString {
    OsString::from_vec(name)
}
