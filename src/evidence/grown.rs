//! A project that has outgrown a look, and the folder that grew.

use crate::engine::order::sorted;

/// With so many new files, a slow look means that the project is too large.
pub const MANY_NEW: usize = 2_000;
/// The same limit in bytes of new files.
pub const MUCH_NEW: u64 = 32 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoLook {
    /// More files or bytes than are looked at, or a slow look with many new ones.
    TooLarge {
        /// The folder with most of the new files, with its last slash; empty if unknown.
        folder: String,
    },
    /// The look took too long, or the project cannot be read: the next look may succeed.
    NotNow,
}

/// The deepest folder with more than half of the files' weight, with its last slash; empty without one.
pub fn fullest(mut files: Vec<(Vec<u8>, u64)>) -> String {
    files = sorted(files, |(one, _), (other, _)| one.cmp(other));
    let all: u64 = files.iter().map(|(_, weight)| weight).sum();
    // A folder with more than half of the weight has the middle file.
    let mut before = 0;
    let middle = files.iter().find(|(_, weight)| {
        before += weight;
        before * 2 > all
    });
    let Some((middle, _)) = middle else { return String::new() };
    let weight = |folder: &[u8]| {
        let inside = files.iter().filter(|(path, _)| path.starts_with(folder));
        inside.map(|(_, weight)| weight).sum::<u64>()
    };
    let slashes = middle.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/');
    let mut folders = slashes.map(|(at, _)| &middle[..=at]);
    let folder = folders.find(|folder| weight(folder) * 2 > all).unwrap_or_default();
    String::from_utf8_lossy(folder).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_folder_is_named() {
        for (files, wanted) in [
            (&[("junk/a/1", 1), ("junk/b/1", 1), ("src/a.rs", 1)][..], "junk/"),
            (&[("a/junk/1", 1), ("a/junk/2", 1), ("b", 1)][..], "a/junk/"),
            (&[("data/large", 9), ("src/a.rs", 1), ("src/b.rs", 1)][..], "data/"),
            (&[("a", 1), ("b/c", 1)][..], ""),
            (&[][..], ""),
        ] {
            let files = files.iter().map(|(path, weight)| (path.as_bytes().to_vec(), *weight));
            assert_eq!(fullest(files.collect()), wanted);
        }
    }
}
