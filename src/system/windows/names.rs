//! File names as bytes in UTF-8, for git and the runner.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// A path with slashes, for lists, settings and agents.
pub fn with_slashes(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

pub fn from_bytes(name: &[u8]) -> Cow<'_, OsStr> {
    match String::from_utf8_lossy(name) {
        Cow::Borrowed(name) => Cow::Borrowed(OsStr::new(name)),
        Cow::Owned(name) => Cow::Owned(name.into()),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "elsewhere the bytes are the name")]
pub fn from_vec(name: Vec<u8>) -> OsString {
    from_bytes(&name).into_owned()
}
