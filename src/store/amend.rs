//! Changes a file that a person may write at the same moment, and loses no line of theirs.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use memchr::arch::all::{is_equal, is_prefix};

use super::read::{self, Problem};
use super::write::{Flush, open, write_next, write_whole};
use crate::system::files::{self, FileId};
use crate::world;

/// Attempts at a change while another program writes the file.
const TRIES: usize = 50;
/// The time for the rest of a write by a program that opened the file before its replacement.
const LATE: Duration = Duration::from_millis(300);

/// Writes what `change` makes of a file's bytes, flushed to the disk, and returns the new bytes. `None` from `change`
/// leaves the file alone.
///
/// If another program writes the file meanwhile, `change` is asked again. Bytes that keep their places are written in
/// place; any other change replaces the file.
pub fn amend(
    path: &Path,
    most: u64,
    mut change: impl FnMut(&[u8]) -> Option<Vec<u8>>,
) -> io::Result<Option<Vec<u8>>> {
    for _ in 0..TRIES {
        let before = read::read(path, most).map_err(|problem| match problem {
            Problem::Missing => io::ErrorKind::NotFound.into(),
            problem => io::Error::other(problem.to_string()),
        })?;
        let before = before.bytes;
        let Some(after) = change(&before) else { return Ok(None) };
        let is_written = match after.len() == before.len() {
            _ if is_equal(&after, &before) => true,
            true => match put_in_place(path, &before, &after, most) {
                // The folder may allow what the file does not.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    put_whole(path, &before, &after, most)?
                }
                result => result?,
            },
            false => put_whole(path, &before, &after, most)?,
        };
        if is_written {
            return Ok(Some(after));
        }
    }
    Err(io::Error::other("another program writes it all the time"))
}

/// Writes the bytes that differ. `false`: the file begins with other bytes now, or another file has its name.
fn put_in_place(path: &Path, before: &[u8], after: &[u8], most: u64) -> io::Result<bool> {
    let mut file = open(path, File::options().read(true).write(true))?;
    if !is_prefix(&content(&mut file, most)?, before) {
        return Ok(false);
    }
    let bytes = before.iter().zip(after).zip(0..);
    for ((_, byte), at) in bytes.filter(|((old, new), _)| old != new) {
        file.seek(SeekFrom::Start(at))?;
        file.write_all(&[*byte])?;
    }
    file.sync_all()?;
    Ok(FileId::of(&file) == FileId::at(path))
}

/// Replaces the file. `false`: the file begins with other bytes now.
fn put_whole(path: &Path, before: &[u8], after: &[u8], most: u64) -> io::Result<bool> {
    let beside = write_next(path, after)?;
    let written = put_from(&beside, path, before, most);
    // The rename may have taken the file already. One that cannot be removed goes with the next program's cleaning.
    let _ = fs::remove_file(&beside);
    written
}

fn put_from(beside: &Path, path: &Path, before: &[u8], most: u64) -> io::Result<bool> {
    let mut known = before.to_vec();
    let mut old = open(path, File::options().read(true))?;
    // Lines that other programs append in the meantime join the new content, until no more come.
    loop {
        let now = content(&mut old, most)?;
        match now.strip_prefix(&*known) {
            Some([]) => break,
            Some(appended) => append(beside, appended)?,
            None => return Ok(false),
        }
        known = now;
    }
    if FileId::of(&old) != FileId::at(path) {
        return Ok(false);
    }
    let is_exchanged = files::exchange(beside, path)?;
    if is_exchanged {
        // Another program may have saved its own file just now.
        old = open(beside, File::options().read(true))?;
    } else if let Err(error) = files::rename(beside, path) {
        if error.kind() != io::ErrorKind::PermissionDenied {
            return Err(error);
        }
        // Some disks do not replace a file that a program has open.
        drop(old);
        files::rename(beside, path)?;
        return Ok(true);
    }
    let mut carry = || {
        for wait in [Duration::ZERO, LATE] {
            world::pause(wait);
            let now = content(&mut old, most)?;
            match now.strip_prefix(&*known) {
                Some(appended) => append(path, appended)?,
                None if is_exchanged => return Ok(false),
                None => return write_whole(path, &now, Flush::ToDisk).map(|()| false),
            }
            known = now;
        }
        Ok(true)
    };
    let written = carry();
    if is_exchanged && !matches!(written, Ok(true)) {
        // The old file has all lines.
        files::exchange(beside, path)?;
    }
    written
}

fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        Ok(())
    } else {
        open(path, File::options().append(true))?.write_all(bytes)
    }
}

fn content(file: &mut File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    let size = file.take(most + 1).read_to_end(&mut bytes)? as u64;
    if size > most {
        return Err(io::Error::other(Problem::TooLarge { size, most }.to_string()));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
