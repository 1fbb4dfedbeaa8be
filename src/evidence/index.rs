//! The names of tracked files in a repository's index.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::store::read;

/// Bytes of one name.
const LONGEST: usize = 4096;
/// Bytes of an entry before its hash: times, numbers, mode and size.
const STATS: usize = 40;

/// Shows `visit` the name of every tracked file, in git's order, until `visit` returns `false`.
///
/// A missing or broken index tracks nothing.
pub fn tracked(repository: &Path, visit: &mut dyn FnMut(&[u8]) -> bool) {
    for file in files_of(repository).unwrap_or_default() {
        is_read(&file, visit);
    }
}

/// Git tracks this file, or a link or submodule in place of one of its folders. `name` is relative to the top of the
/// work tree; letter case is ignored. `None` if the index cannot be read or understood; a repository without an index
/// never had a file added.
pub fn tracks(repository: &Path, name: &[u8]) -> Option<bool> {
    let mut found = false;
    for file in files_of(repository)? {
        let is_understood = is_read(&file, &mut |tracked| {
            found = found || is_or_holds(tracked, name);
            !found
        });
        if !is_understood && !found {
            return None;
        }
    }
    Some(found)
}

/// The index file, and the shared files of a split index, which keep most names.
fn files_of(repository: &Path) -> Option<Vec<PathBuf>> {
    let names = std::fs::read_dir(repository).ok()?.flatten().map(|entry| entry.file_name());
    let is_index = |name: &OsString| {
        let name = name.as_encoded_bytes();
        name == b"index" || name.starts_with(b"sharedindex.")
    };
    Some(names.filter(is_index).map(|name| repository.join(name)).collect())
}

/// An index does not tell the length of its hashes, so both lengths are tried.
fn is_read(file: &Path, visit: &mut dyn FnMut(&[u8]) -> bool) -> bool {
    [20, 32].into_iter().any(|hash| read_whole(file, hash, visit).is_ok())
}

/// A tracked name is `name` or a folder above it. A folder that git keeps whole ends with a slash.
fn is_or_holds(tracked: &[u8], name: &[u8]) -> bool {
    let tracked = tracked.strip_suffix(b"/").unwrap_or(tracked);
    name.get(..tracked.len()).is_some_and(|start| start.eq_ignore_ascii_case(tracked))
        && matches!(name.get(tracked.len()), None | Some(b'/'))
}

fn broken() -> io::Error {
    io::Error::from(io::ErrorKind::InvalidData)
}

fn read_whole(path: &Path, hash: usize, visit: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<()> {
    let (file, _) = read::open(path).map_err(|_| broken())?;
    let mut file = BufReader::with_capacity(1 << 16, file);
    let mut head = [0; 12];
    file.read_exact(&mut head)?;
    let number =
        |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let (version, count) = (number(4), number(8));
    if &head[..4] != b"DIRC" || !(2..=4).contains(&version) {
        return Err(broken());
    }
    let mut name = Vec::new();
    for _ in 0..count {
        read_entry(&mut file, version, hash, &mut name)?;
        // An entry without a name replaces one of the shared file.
        if !name.is_empty() && !visit(&name) {
            break;
        }
    }
    Ok(())
}

/// Reads one entry into `name`, which holds the name of the entry before.
fn read_entry(
    file: &mut BufReader<File>,
    version: u32,
    hash: usize,
    name: &mut Vec<u8>,
) -> io::Result<()> {
    let mut fixed = [0; STATS + 32 + 2];
    let fixed = &mut fixed[..STATS + hash + 2];
    file.read_exact(fixed)?;
    let flags = u16::from_be_bytes([fixed[STATS + hash], fixed[STATS + hash + 1]]);
    let mut length = fixed.len();
    if version >= 3 && flags & 0x4000 != 0 {
        file.read_exact(&mut [0; 2])?;
        length += 2;
    }
    let told = usize::from(flags & 0xfff);
    if version == 4 {
        let cut = varint(file)?;
        let kept = name.len().checked_sub(cut).ok_or_else(broken)?;
        name.truncate(kept);
    } else {
        name.clear();
    }
    let before = name.len();
    if version < 4 && told < 0xfff {
        name.resize(told, 0);
        file.read_exact(name)?;
    } else {
        file.take(LONGEST as u64).read_until(0, name)?;
        if name.pop() != Some(0) || told != name.len().min(0xfff) {
            return Err(broken());
        }
        length += 1;
    }
    if version < 4 {
        // One to eight zeros fill each entry up to a multiple of eight bytes.
        let read = length + name.len() - before;
        let rest = if told < 0xfff { 8 - read % 8 } else { (8 - read % 8) % 8 };
        let mut zeros = [0; 8];
        file.read_exact(&mut zeros[..rest])?;
        if zeros != [0; 8] {
            return Err(broken());
        }
    }
    Ok(())
}

/// A number as git packs it: seven bits a byte, and each further byte counts from one.
fn varint(file: &mut BufReader<File>) -> io::Result<usize> {
    let mut value = 0_usize;
    loop {
        let mut byte = [0];
        file.read_exact(&mut byte)?;
        value = (value << 7) | usize::from(byte[0] & 0x7f);
        if byte[0] & 0x80 == 0 {
            return Ok(value);
        }
        value += 1;
        if value > LONGEST {
            return Err(broken());
        }
    }
}
