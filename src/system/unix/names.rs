//! Names of files as bytes: git and the runner write them so.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Returns the name with these bytes.
pub fn from_bytes(name: &[u8]) -> Cow<'_, OsStr> {
    Cow::Borrowed(OsStr::from_bytes(name))
}

/// Returns the name with these bytes.
pub fn from_vec(name: Vec<u8>) -> OsString {
    OsString::from_vec(name)
}
