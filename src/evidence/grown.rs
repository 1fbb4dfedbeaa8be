//! A project that has grown to more than can be looked at, and where it has.

use crate::engine::order::sorted;

/// How many new files make a look that takes too long one of too much.
pub const MANY_NEW: usize = 2_000;
/// The same for the bytes of new files.
pub const MUCH_NEW: u64 = 32 << 20;

/// Why there is no look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoLook {
    /// There are more files or bytes than are looked at, or it took too long and much of it is new.
    TooLarge {
        /// The folder with most of what is new since the earlier look, with its last slash; empty where that is not known.
        folder: String,
    },
    /// It took too long, or the project cannot be read: it may be otherwise the next time.
    NotNow,
}

/// Returns the deepest folder that has more than half of these files by their weights, with its last slash; empty without any.
pub fn fullest(mut files: Vec<(Vec<u8>, u64)>) -> String {
    files = sorted(files, |(one, _), (other, _)| one.cmp(other));
    let all: u64 = files.iter().map(|(_, weight)| weight).sum();
    // What has more than half of them has the middle one.
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
    fn the_folder_with_most_of_what_is_new_is_named() {
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
