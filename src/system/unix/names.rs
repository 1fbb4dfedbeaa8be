//! Names of files as bytes: git and the runner write them so.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Returns a path with a slash between its parts, as lists, settings and agents write it.
pub fn with_slashes(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns the name with these bytes.
pub fn from_bytes(name: &[u8]) -> Cow<'_, OsStr> {
    Cow::Borrowed(OsStr::from_bytes(name))
}

/// Returns the name with these bytes.
pub fn from_vec(name: Vec<u8>) -> OsString {
    OsString::from_vec(name)
}
