//! A fingerprint of the work: equal fingerprints mean that an iteration changed nothing.

use serde::{Deserialize, Serialize};

use super::fields::read_fields;

/// What the work looked like at the end of one iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fingerprint {
    /// The task list and the place in it: cheap, taken at every stop.
    pub work: u64,
    /// The files of the work tree: taken only when `work` is what it was before.
    pub tree: Tree,
}

read_fields!(Fingerprint { work, tree });

/// What is known of the files of the work tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tree {
    /// Nobody looked: cheaper evidence had already changed.
    #[default]
    NotTaken,
    /// The tree is too large or too slow to look through.
    Unknown,
    /// A hash over the names, sizes and times of its files.
    Hash(u64),
}

impl Fingerprint {
    /// Returns whether the cheap part differs from an earlier one.
    pub fn work_changed_since(&self, earlier: Option<&Self>) -> bool {
        earlier.is_some_and(|earlier| earlier.work != self.work)
    }

    /// Returns whether both looked at the tree and saw different files.
    pub fn tree_changed_since(&self, earlier: Option<&Self>) -> bool {
        self.trees(earlier).is_some_and(|(now, before)| now != before)
    }

    /// Returns whether both looked at the tree and saw the same files.
    ///
    /// A tree that nobody looked at, or could look through, is no proof of standing still.
    pub fn tree_is_that_of(&self, earlier: Option<&Self>) -> bool {
        self.trees(earlier).is_some_and(|(now, before)| now == before)
    }

    fn trees(&self, earlier: Option<&Self>) -> Option<(u64, u64)> {
        match (self.tree, earlier?.tree) {
            (Tree::Hash(now), Tree::Hash(before)) => Some((now, before)),
            _ => None,
        }
    }
}

/// A 64-bit FNV-1a hasher: the same input gives the same number in every build, which
/// the standard library's hasher does not promise.
#[derive(Clone, Copy, Debug)]
pub struct Hasher(u64);

impl Default for Hasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher {
    /// Takes in bytes and returns the hasher for the next ones.
    #[must_use]
    pub fn with(mut self, bytes: &[u8]) -> Self {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        self
    }

    /// Takes in a number and returns the hasher for the next one.
    #[must_use]
    pub fn with_number(self, number: u64) -> Self {
        self.with(&number.to_le_bytes())
    }

    /// Returns the hash of all that was taken in.
    pub fn finish(self) -> u64 {
        self.0
    }
}

/// Returns a 64-bit hash of a long text, eight bytes at a step: another one than [`hash_of`], for a fifth of its time.
pub fn hash_of_long(text: &[u8]) -> u64 {
    let (words, rest) = text.as_chunks();
    let mixed = words.iter().fold(text.len() as u64, |hash, word| {
        (hash ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    Hasher(mixed).with(rest).finish()
}

/// Returns the 64-bit hash of these bytes.
pub fn hash_of(bytes: &[u8]) -> u64 {
    Hasher::default().with(bytes).finish()
}
