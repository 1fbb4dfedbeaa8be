//! Names of files as bytes: git and the runner write them so, in UTF-8.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Returns a path with a slash between its parts, as lists, settings and agents write it.
pub fn with_slashes(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

/// Returns the name with these bytes.
pub fn from_bytes(name: &[u8]) -> Cow<'_, OsStr> {
    match String::from_utf8_lossy(name) {
        Cow::Borrowed(name) => Cow::Borrowed(OsStr::new(name)),
        Cow::Owned(name) => Cow::Owned(name.into()),
    }
}

/// Returns the name with these bytes.
#[expect(clippy::needless_pass_by_value, reason = "elsewhere the bytes are the name")]
pub fn from_vec(name: Vec<u8>) -> OsString {
    from_bytes(&name).into_owned()
}
