//! What the files of a project contained when a task began: a hash of each, which tells a changed file from a touched one.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use super::tree::{Bounds, FoundFile, Go, Whole, look};
use crate::engine::Hasher;
use crate::store::read;
use crate::system::names;
use crate::world::FileTime;

/// The most files that are looked at.
const MOST_FILES: usize = 20_000;
/// The longest that a look takes.
const LIMIT: Duration = Duration::from_secs(2);
/// The most that is read of all files together, and of one, in bytes: of a longer one, size and beginning count.
const MOST: u64 = 128 << 20;
const MOST_OF_ONE: u64 = 2 << 20;
/// What a kept look has before its files.
const SEEN: &[u8] = b"seen";

/// A hash of the content of each file that is work, by its path relative to the project, as bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents(BTreeMap<Vec<u8>, u64>);

impl Contents {
    /// Returns the contents as they are now, without the file at this path; `None` where there is more than can be looked
    /// through.
    pub fn look(root: &Path, without: &str) -> Option<Self> {
        let mut found = BTreeMap::new();
        let mut left = MOST;
        let bounds = Bounds { since: FileTime::default(), entries: MOST_FILES, time: LIMIT };
        let whole = look(root, bounds, &mut |file| {
            let FoundFile::File { folder, name, stat, .. } = file else { return Go::On };
            let path = [folder, name].concat();
            if path == without.as_bytes() {
                return Go::On;
            }
            let read = stat.size().min(MOST_OF_ONE);
            if read > left {
                return Go::Stop;
            }
            left -= read;
            let hash = hash_of_file(&root.join(names::from_bytes(&path)), stat.size());
            found.insert(path, hash);
            Go::On
        });
        (whole == Whole::Seen).then_some(Self(found))
    }

    /// Returns the paths that are new, gone or of another content since an earlier look, in order.
    pub fn changed_since(&self, earlier: &Self) -> Vec<String> {
        let (now, before) = (&self.0, &earlier.0);
        let differs = now.iter().filter(|(path, hash)| before.get(*path) != Some(*hash));
        let gone = before.keys().filter(|path| !now.contains_key(*path));
        let mut paths: Vec<_> = differs.map(|(path, _)| path).chain(gone).collect();
        paths.sort_unstable();
        paths.into_iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect()
    }
}

/// A look at the contents that was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptContents {
    /// What tells the look of one loop from that of another.
    pub number: u64,
    /// What was seen; `None` where there was more than could be looked through.
    pub contents: Option<Contents>,
}

impl KeptContents {
    /// Returns the look in the bytes of a file, `None` where they are no look.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut parts = bytes.split(|byte| *byte == 0);
        let number = hex(parts.next()?)?;
        if parts.next()? != SEEN {
            return Some(Self { number, contents: None });
        }
        let mut found = BTreeMap::new();
        while let (Some(hash), Some(path)) = (parts.next(), parts.next()) {
            found.insert(path.to_owned(), hex(hash)?);
        }
        Some(Self { number, contents: Some(Contents(found)) })
    }

    /// Returns the number of the look in the bytes of a file, `None` where they are no look; its files are not read.
    pub fn number_in(bytes: &[u8]) -> Option<u64> {
        hex(bytes.split(|byte| *byte == 0).next()?)
    }

    /// Returns the look as the bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{:x}\0", self.number).into_bytes();
        if let Some(Contents(files)) = &self.contents {
            bytes.extend_from_slice(SEEN);
            for (path, hash) in files {
                // No path has a zero byte.
                bytes.extend_from_slice(format!("\0{hash:x}\0").as_bytes());
                bytes.extend_from_slice(path);
            }
        }
        bytes
    }
}

fn hex(text: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok()
}

/// A hash of what a file contains, or of where a link leads; what cannot be read is known by its size.
fn hash_of_file(path: &Path, size: u64) -> u64 {
    let hash = Hasher::default().with_number(size);
    if let Ok(target) = fs::read_link(path) {
        return hash.with(target.as_os_str().as_encoded_bytes()).finish();
    }
    let mut bytes = Vec::new();
    let Ok((file, _)) = read::open(path) else { return hash.finish() };
    // What was read counts, whatever came after it.
    let _ = file.take(MOST_OF_ONE).read_to_end(&mut bytes);
    hash.with(&bytes).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_touched_has_not_changed_and_what_is_gone_has() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        for name in ["gone", "list", "same", "touched"] {
            write(name, name);
        }
        let before = Contents::look(folder.path(), "list").unwrap();
        for contents in [Some(before.clone()), Some(Contents::default()), None] {
            let kept = KeptContents { number: 7, contents };
            assert_eq!(KeptContents::parse(&kept.to_bytes()), Some(kept));
        }
        assert_eq!(KeptContents::parse(b"x"), None);
        write("touched", "touched");
        write("list", "ticked");
        write("new", "");
        fs::remove_file(folder.path().join("gone")).unwrap();
        std::os::unix::fs::symlink("gone", folder.path().join("link")).unwrap();
        let now = Contents::look(folder.path(), "list").unwrap();
        assert_eq!(now.changed_since(&before), ["gone", "link", "new"]);
        write("same", "sane");
        let later = Contents::look(folder.path(), "list").unwrap();
        assert_eq!(later.changed_since(&now), ["same"]);
    }
}
