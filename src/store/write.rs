//! Writes files whole: a temporary file beside the target, flushed, then renamed over the target.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use super::read;
use crate::system::{files, processes};
use crate::world::{self, WallTime};

/// Looks at a line without an end, a millisecond apart, before the line counts as torn.
const LOOKS: usize = 5;

/// A temporary file of this age is no longer being written.
pub const LEFT_ALONE: Duration = Duration::from_mins(1);

/// Entries of a folder that are searched for temporary files at a time.
const ENTRIES: usize = 10_000;

/// Attempts at writing a file whose temporary file was removed.
const TRIES: usize = 20;

/// How far the bytes are on their way to the disk when a write returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// On the disk: for a person's own files, which must survive a crash.
    ToDisk,
    /// With the system: for the loop's own notes, written at every stop. They survive a killed program. After a power
    /// cut the loop merely lets the agent stop.
    ToSystem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readers {
    /// As for the replaced file, or the system's default.
    AsBefore,
    Owner,
}

/// Writes a file whole: readers see the old content or the new one, never a part.
///
/// The permissions of a replaced file stay. A folder, a pipe or a link of this name is an error.
pub fn write_whole(path: &Path, bytes: &[u8], flush: Flush) -> io::Result<()> {
    write_for(Readers::AsBefore, path, &[bytes], flush)
}

/// As [`write_whole`], but only the owner may read the file.
pub fn write_private(path: &Path, bytes: &[u8], flush: Flush) -> io::Result<()> {
    write_private_parts(path, &[bytes], flush)
}

/// No error if the file is missing.
pub fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// As [`write_private`], for a content in several parts.
pub fn write_private_parts(path: &Path, parts: &[&[u8]], flush: Flush) -> io::Result<()> {
    write_for(Readers::Owner, path, parts, flush)
}

fn write_for(readers: Readers, path: &Path, parts: &[&[u8]], flush: Flush) -> io::Result<()> {
    for _ in 0..TRIES {
        match write_once(readers, path, parts, flush) {
            // The temporary file was removed at this moment, as by `git clean`.
            Err(error)
                if error.kind() == io::ErrorKind::NotFound
                    && path.parent().is_some_and(Path::exists) => {}
            done => return done,
        }
    }
    write_once(readers, path, parts, flush)
}

fn write_once(readers: Readers, path: &Path, parts: &[&[u8]], flush: Flush) -> io::Result<()> {
    let (temporary, is_new) = write_beside(readers, path, parts, flush)?;
    let placed = match flush {
        Flush::ToSystem if !is_new => files::swap(&temporary, path),
        _ => files::rename(&temporary, path),
    };
    removed_if_failed(&temporary, placed)
}

/// Writes the new content of a person's file beside the file, flushed to the disk, and returns its path.
pub(super) fn write_next(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    Ok(write_beside(Readers::AsBefore, path, &[bytes], Flush::ToDisk)?.0)
}

/// Writes the new content beside the file. Returns the path, and whether the target is new.
fn write_beside(
    readers: Readers,
    path: &Path,
    parts: &[&[u8]],
    flush: Flush,
) -> io::Result<(PathBuf, bool)> {
    let before = match path.symlink_metadata() {
        Ok(meta) if meta.is_file() => Some(meta),
        Ok(_) => return Err(not_a_file()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    has_room(parts.iter().map(|part| part.len() as u64).sum())?;
    let (temporary, mut file) = create_beside(path)?;
    let allowed = match (readers, &before) {
        (Readers::Owner, _) => files::close_to_all_but_its_owner(&file),
        (Readers::AsBefore, Some(meta)) => file.set_permissions(meta.permissions()),
        (Readers::AsBefore, None) => Ok(()),
    };
    let written = allowed.and_then(|()| {
        for part in parts.iter().filter(|part| !part.is_empty()) {
            file.write_all(part)?;
        }
        if flush == Flush::ToDisk { file.sync_all() } else { Ok(()) }
    });
    removed_if_failed(&temporary, written)?;
    Ok((temporary, before.is_none()))
}

fn removed_if_failed(temporary: &Path, result: io::Result<()>) -> io::Result<()> {
    if result.is_err() {
        // The first error is reported; one about the leftover would hide it.
        let _ = fs::remove_file(temporary);
    }
    result
}

/// Appends one line in one write: lines of other writers stay whole.
///
/// Starts on a fresh line after a torn write of a full disk or another program.
pub fn append_line(path: &Path, line: &[u8]) -> io::Result<()> {
    append(open(path, File::options().read(true).append(true).create(true))?, line)
}

/// As [`append_line`], but only the owner may read the file.
pub fn append_private_line(path: &Path, line: &[u8]) -> io::Result<()> {
    append(open_or_create(path, File::options().read(true).append(true))?, line)
}

fn append(mut file: File, line: &[u8]) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(line.len() + 2);
    if !ends_with_a_line(&mut file)? {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(line);
    bytes.push(b'\n');
    has_room(file.metadata()?.len() + bytes.len() as u64)?;
    file.write_all(&bytes)
}

/// The file's last line has its end; an empty file has no open line.
///
/// Another program's write becomes visible in parts when it crosses a page: a line without an end is looked at again.
fn ends_with_a_line(file: &mut File) -> io::Result<bool> {
    for _ in 0..LOOKS {
        if ends_with_a_line_now(file)? {
            return Ok(true);
        }
        world::pause(Duration::from_millis(1));
    }
    Ok(false)
}

fn ends_with_a_line_now(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    // The file may have been emptied in the meantime.
    Ok(file.read(&mut last)? == 0 || last[0] == b'\n')
}

/// Opens our file with these options, made if missing, readable for the owner alone. Never waits: something else than a
/// file, or a link to it, is an error.
pub fn open_or_create(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options.create(true);
    files::for_its_owner(options);
    let file = open(path, options)?;
    files::close_to_others(&file.metadata()?, |mode| file.set_permissions(mode));
    Ok(file)
}

pub(super) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    files::without_links(options);
    let file = match files::open(options, path) {
        Ok(file) => file,
        // Systems refuse to open a link or a socket with different words.
        Err(_) if path.symlink_metadata().is_ok_and(|meta| !meta.is_file()) => {
            return Err(not_a_file());
        }
        Err(error) => return Err(error),
    };
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_a_file()) }
}

/// Makes our folder if missing, for the owner alone. A folder that is there and belongs to this user is closed to
/// others, too.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    files::folders_for_their_owner(&mut builder);
    match builder.create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let meta = folder.symlink_metadata()?;
            if meta.is_dir() {
                files::close_to_others(&meta, |mode| fs::set_permissions(folder, mode));
            }
            Ok(())
        }
        made => made,
    }
}

/// A real folder, no link, and closed to others.
pub fn is_private_folder(folder: &Path) -> bool {
    folder.symlink_metadata().is_ok_and(|meta| meta.is_dir() && files::is_closed_to_others(&meta))
}

/// A write failed because the disk, or the person's share of it, is full.
pub fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// Refuses a length above `ulimit -f`: the system ends a program that writes more.
fn has_room(length: u64) -> io::Result<()> {
    if length > files::longest() { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
}

fn not_a_file() -> io::Error {
    io::Error::other("something that is not a file has this name")
}

/// Removes temporary files of this target that are older than `age`, because their process was killed. The caller holds
/// the target's lock.
pub fn remove_leftovers(path: &Path, age: Duration) {
    if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
        let name = name.to_string_lossy();
        remove_temporary(folder, |target, _| (target == name).then_some(age));
    }
}

/// Removes temporary files of these targets whose process is gone. Needs no lock.
pub fn remove_dead_leftovers(folder: &Path, targets: &[&str]) {
    remove_temporary(folder, |target, process| {
        (targets.contains(&target) && !processes::is_alive(process)).then_some(Duration::ZERO)
    });
}

/// Removes our temporary files that killed programs have left in a folder: not written for `age`, and their process is
/// gone. After a day the process is not asked for: another one may have its number.
pub fn remove_all_leftovers(folder: &Path, age: Duration) {
    const DAY: Duration = Duration::from_hours(24);
    remove_temporary(folder, |_, process| {
        Some(if processes::is_alive(process) { age.max(DAY) } else { age })
    });
}

/// Removes temporary files that are older than `needed` says; `None` keeps a file.
fn remove_temporary(folder: &Path, needed: impl Fn(&str, u32) -> Option<Duration>) {
    for entry in read::entries(folder, ENTRIES).entries {
        let found = entry.file_name();
        let found = found.to_string_lossy();
        let needed = parts(&found).and_then(|(target, process)| needed(target, process));
        let Some(needed) = needed.filter(|_| !is_held(&entry.path())) else { continue };
        let changed =
            entry.metadata().ok().filter(fs::Metadata::is_file).map(|meta| last_change(&meta));
        if changed.is_some_and(|changed| changed.age() >= needed) {
            // Another process may have removed the file: it was only litter.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Target and process of a temporary file: `.<target>.<process>.<number>.tmp`.
fn parts(name: &str) -> Option<(&str, u32)> {
    let rest = name.strip_prefix('.')?.strip_suffix(".tmp")?;
    let (rest, number) = rest.rsplit_once('.')?;
    let (target, process) = rest.rsplit_once('.')?;
    number.parse::<u32>().ok()?;
    Some((target, process.parse().ok()?))
}

/// The last change of a file's content. An unknown one counts as the future, which no file is old enough for.
fn last_change(meta: &fs::Metadata) -> WallTime {
    meta.modified().map_or(WallTime::from_millis(u64::MAX), WallTime::from)
}

/// The second names that this process has made: each is as old as its file, and no leftover.
static SECOND_NAMES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn is_held(path: &PathBuf) -> bool {
    SECOND_NAMES.lock().is_ok_and(|names| names.contains(path))
}

/// Gives a file's content a temporary second name before the file is replaced; a copy if the disk has no second names.
pub(super) fn second_name(path: &Path) -> io::Result<PathBuf> {
    let linked = beside(path, |temporary| fs::hard_link(path, temporary));
    if let Ok((temporary, ())) = linked {
        if let Ok(mut names) = SECOND_NAMES.lock() {
            names.push(temporary.clone());
        }
        return Ok(temporary);
    }
    let (temporary, mut file) = create_beside(path)?;
    let copied = super::read::open(path)
        .map_err(|problem| io::Error::other(problem.to_string()))
        .and_then(|(mut from, _)| io::copy(&mut from, &mut file));
    if let Err(error) = copied {
        // The first error is reported; one about the leftover would hide it.
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    Ok(temporary)
}

/// A new file in the same folder, under an unused name.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    beside(path, |temporary| File::options().write(true).create_new(true).open(temporary))
}

/// Runs `create` with an unused name in the same folder.
fn beside<T>(path: &Path, create: impl Fn(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    for attempt in 0..64_u32 {
        let temporary =
            path.with_file_name(format!(".{name}.{}.{attempt}.tmp", std::process::id()));
        match create(&temporary) {
            Ok(made) => return Ok((temporary, made)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("no free temporary name in the folder"))
}

#[cfg(test)]
mod tests;
