//! The files of a work tree that git tracks or does not ignore, from names, sizes and times alone.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, openat, statat};

use super::ignored::{MOST, Repository, Rules};
use super::index;
use crate::engine::hash_of;
use crate::world::{Deadline, FileTime};

/// The loop's own files: they change at every iteration and prove nothing.
const OWN_FILES: [&[u8]; 2] = [b".speckit-state.json", b".progress.md"];
/// How far the times of a folder and of what was put into it may lie apart: the clock of
/// the files goes in steps.
const STEP: Duration = Duration::from_millis(20);

/// How much of a folder's names the system hands over at once, in bytes.
const ROOM: usize = 1 << 15;

/// Whether all of a tree was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    /// All of it.
    Seen,
    /// There are too many files, or it took too long.
    TooLarge,
    /// The visitor had seen enough.
    Stopped,
}

/// What is found on the way through a tree; paths are relative to its root.
#[derive(Clone, Copy, Debug)]
pub enum FoundFile<'a> {
    /// A file or a link that is work.
    File {
        /// The path of its folder, with the last slash.
        folder: &'a [u8],
        /// Its name.
        name: &'a [u8],
        /// When its content, name or mode last changed.
        changed: FileTime,
        /// What the system says of it.
        stat: &'a Stat,
    },
    /// A folder in which something was removed or renamed: nothing that is in it changed at the same time.
    Folder {
        /// Its path, with the last slash.
        path: &'a [u8],
        /// When it was changed.
        changed: FileTime,
        /// A number for the names of the work in it.
        names: u64,
    },
}

/// What a visitor says after each thing it was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// Show more.
    On,
    /// It has seen enough.
    Stop,
}

/// How far a look goes.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Only what changed at this time or later is shown, in nanoseconds since the Unix epoch; all files
    /// and no folders with 0.
    pub since: FileTime,
    /// The most files and folders that are looked at.
    pub entries: usize,
    /// The longest that it may take.
    pub time: Duration,
}

/// Shows `visit` the files below `root` that are work: what git tracks or does not ignore, the loop's
/// own notes left out. Links are not followed.
pub fn look(root: &Path, bounds: Bounds, visit: &mut dyn FnMut(FoundFile<'_>) -> Go) -> Whole {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(top) = rustix::fs::open(root, flags, Mode::empty()) else {
        return Whole::Seen;
    };
    let first = Part { found: Repository::around(root), top: Vec::new(), left_out: Vec::new() };
    let rules = Rc::clone(&first.found.rules);
    let mut walk = Walk {
        root,
        top,
        bounds,
        visit,
        deadline: Deadline::after(bounds.time),
        entries: 0,
        parts: vec![first],
        folders: vec![Folder { path: Vec::new(), rules, part: 0 }],
        path: Vec::new(),
        room: Vec::with_capacity(ROOM),
    };
    while let Some(folder) = walk.folders.pop() {
        if let Err(end) = walk.folder(folder) {
            return end;
        }
    }
    walk.tracked().err().unwrap_or(Whole::Seen)
}

/// A part of the tree that is a repository of its own.
struct Part {
    found: Repository,
    /// The path of its top from the root, with its last slash; empty where the root is not above it.
    top: Vec<u8>,
    /// What its rules ignore, from the top of the repository: files, and folders with a slash.
    left_out: Vec<Vec<u8>>,
}

struct Folder {
    path: Vec<u8>,
    rules: Rc<Rules>,
    part: usize,
}

struct Walk<'a> {
    root: &'a Path,
    top: OwnedFd,
    bounds: Bounds,
    visit: &'a mut dyn FnMut(FoundFile<'_>) -> Go,
    deadline: Deadline,
    entries: usize,
    parts: Vec<Part>,
    folders: Vec<Folder>,
    /// The path of what is looked at from the top of its repository.
    path: Vec<u8>,
    /// Where the system puts the names of a folder.
    room: Vec<u8>,
}

/// When something was put into a folder, renamed in it or removed from it.
#[derive(Clone, Copy)]
struct FolderChange {
    at: FileTime,
    /// Whether something is in it that changed at the same time, and speaks for itself.
    explained: bool,
}

impl FolderChange {
    fn compare(&mut self, stat: Option<&Stat>) {
        self.explained |= stat.is_some_and(|stat| changed(stat).distance(self.at) <= STEP);
    }
}

impl Walk<'_> {
    fn folder(&mut self, mut folder: Folder) -> Result<(), Whole> {
        let path = match folder.path.as_slice() {
            [] => Path::new("."),
            path => Path::new(OsStr::from_bytes(&path[..path.len() - 1])),
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(open) = openat(&self.top, path, flags, Mode::empty()) else {
            return Ok(());
        };
        if !folder.path.is_empty() && statat(&open, c".git", AtFlags::SYMLINK_NOFOLLOW).is_ok() {
            let found = Repository::at(&self.root.join(path));
            folder.rules = Rc::clone(&found.rules);
            folder.part = self.parts.len();
            self.parts.push(Part { found, top: folder.path.clone(), left_out: Vec::new() });
        }
        self.path_from_top(&folder, b"");
        folder.rules = folder.rules.with(&own_list(&open), self.path.len());
        let mut change = fstat(&open)
            .ok()
            .filter(|_| self.bounds.since.is_known())
            .map(|stat| FolderChange { at: modified(&stat), explained: false })
            .filter(|change| change.at >= self.bounds.since);
        let mut room = std::mem::take(&mut self.room);
        let listed = list(&open, &mut room, &mut |name, kind| {
            self.entry(&folder, &open, name, kind, change.as_mut())
        });
        self.room = room;
        listed?;
        match change {
            Some(FolderChange { at, explained: false }) => {
                let names = self.names(&folder, &open);
                self.show(FoundFile::Folder { path: &folder.path, changed: at, names })
            }
            _ => Ok(()),
        }
    }

    fn entry(
        &mut self,
        folder: &Folder,
        open: &OwnedFd,
        name: &CStr,
        kind: FileType,
        mut change: Option<&mut FolderChange>,
    ) -> Result<(), Whole> {
        let bytes = name.to_bytes();
        if matches!(bytes, b"." | b".." | b".git") {
            return Ok(());
        }
        self.entries += 1;
        if self.entries > self.bounds.entries
            || (self.entries.is_multiple_of(256) && self.deadline.is_over())
        {
            return Err(Whole::TooLarge);
        }
        let stat = || statat(open, name, AtFlags::SYMLINK_NOFOLLOW).ok();
        if is_left_out(&folder.path, bytes) {
            if let Some(change) = &mut change {
                change.compare(stat().as_ref());
            }
            return Ok(());
        }
        let mut stat_of_file = None;
        let is_folder = match kind {
            FileType::Directory => true,
            FileType::RegularFile | FileType::Symlink => false,
            FileType::Unknown => match stat() {
                Some(stat) if FileType::from_raw_mode(stat.st_mode).is_dir() => true,
                Some(stat) => {
                    stat_of_file = Some(stat);
                    false
                }
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        if is_folder {
            if let Some(change) = &mut change {
                change.compare(stat().as_ref());
            }
            self.path_from_top(folder, bytes);
            if folder.rules.ignore(&self.path, bytes, true) {
                self.leave_out(folder.part, b"/");
                return Ok(());
            }
            let path = [&folder.path, bytes, b"/"].concat();
            self.folders.push(Folder { path, rules: Rc::clone(&folder.rules), part: folder.part });
            return Ok(());
        }
        let Some(stat) = stat_of_file.or_else(stat) else {
            return Ok(());
        };
        let changed = changed(&stat);
        if changed < self.bounds.since {
            return Ok(());
        }
        if let Some(change) = &mut change {
            change.compare(Some(&stat));
        }
        self.path_from_top(folder, bytes);
        if folder.rules.ignore(&self.path, bytes, false) {
            self.leave_out(folder.part, b"");
            return Ok(());
        }
        self.show(FoundFile::File { folder: &folder.path, name: bytes, changed, stat: &stat })
    }

    /// What is tracked is work, whatever the rules say of it.
    fn tracked(&mut self) -> Result<(), Whole> {
        for Part { found, top, mut left_out } in std::mem::take(&mut self.parts) {
            let Some(data) = found.data.filter(|_| !left_out.is_empty()) else { continue };
            left_out.sort_unstable();
            let mut work = Vec::new();
            index::tracked(&data, &mut |name| {
                // No folder that is left out has another one in it: only the last one before can have it.
                let after = left_out.partition_point(|out| out.as_slice() <= name);
                if after > 0 && is_in(&left_out[after - 1], name) {
                    work.push(name.to_vec());
                }
                self.entries += 1;
                !self.entries.is_multiple_of(256) || !self.deadline.is_over()
            });
            for name in work {
                let Some(below) = name.strip_prefix(&found.prefix[..]) else { continue };
                self.tracked_file(&[&top, below].concat())?;
            }
        }
        if self.deadline.is_over() { Err(Whole::TooLarge) } else { Ok(()) }
    }

    fn tracked_file(&mut self, path: &[u8]) -> Result<(), Whole> {
        let place = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        let (folder, name) = path.split_at(place);
        let file = Path::new(OsStr::from_bytes(path));
        let stat = statat(&self.top, file, AtFlags::SYMLINK_NOFOLLOW);
        let Some(stat) = stat.ok().filter(|_| !is_left_out(folder, name)) else {
            return Ok(());
        };
        let changed = changed(&stat);
        if changed < self.bounds.since || FileType::from_raw_mode(stat.st_mode).is_dir() {
            return Ok(());
        }
        self.show(FoundFile::File { folder, name, changed, stat: &stat })
    }

    fn show(&mut self, found: FoundFile<'_>) -> Result<(), Whole> {
        match (self.visit)(found) {
            Go::On => Ok(()),
            Go::Stop => Err(Whole::Stopped),
        }
    }

    /// A number for the names of the work in a folder.
    fn names(&mut self, folder: &Folder, open: &OwnedFd) -> u64 {
        let mut sum = 0_u64;
        let mut room = std::mem::take(&mut self.room);
        let _all = list(open, &mut room, &mut |name, kind| {
            let name = name.to_bytes();
            if matches!(name, b"." | b".." | b".git") || is_left_out(&folder.path, name) {
                return Ok(());
            }
            self.path_from_top(folder, name);
            if !folder.rules.ignore(&self.path, name, kind == FileType::Directory) {
                // A sum does not depend on the order in which the system lists them.
                sum = sum.wrapping_add(hash_of(name));
            }
            Ok(())
        });
        self.room = room;
        sum
    }

    /// Puts the path of a name in a folder into `path`.
    fn path_from_top(&mut self, folder: &Folder, name: &[u8]) {
        let part = &self.parts[folder.part];
        self.path.clear();
        self.path.extend_from_slice(&part.found.prefix);
        self.path.extend_from_slice(&folder.path[part.top.len()..]);
        self.path.extend_from_slice(name);
    }

    /// Notes that what `path` names is ignored.
    fn leave_out(&mut self, part: usize, end: &[u8]) {
        let part = &mut self.parts[part];
        if part.found.data.is_some() {
            part.left_out.push([&self.path, end].concat());
        }
    }
}

/// Whether a path is the one that is left out, or in the folder that is.
fn is_in(left_out: &[u8], path: &[u8]) -> bool {
    left_out == path || (left_out.ends_with(b"/") && path.starts_with(left_out))
}

/// Shows `visit` the names in a folder until it returns an error.
///
/// The names stay where the system has put them: this is most of what a look costs.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn list(
    folder: &OwnedFd,
    room: &mut Vec<u8>,
    visit: &mut dyn FnMut(&CStr, FileType) -> Result<(), Whole>,
) -> Result<(), Whole> {
    room.clear();
    let mut names = rustix::fs::RawDir::new(folder, room.spare_capacity_mut());
    // A second look begins again at the start.
    let _start = rustix::fs::seek(folder, rustix::fs::SeekFrom::Start(0));
    while let Some(Ok(entry)) = names.next() {
        visit(entry.file_name(), entry.file_type())?;
    }
    Ok(())
}

/// Shows `visit` the names in a folder until it returns an error.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn list(
    folder: &OwnedFd,
    _: &mut Vec<u8>,
    visit: &mut dyn FnMut(&CStr, FileType) -> Result<(), Whole>,
) -> Result<(), Whole> {
    let Ok(names) = rustix::fs::Dir::read_from(folder) else {
        return Ok(());
    };
    for entry in names.flatten() {
        visit(entry.file_name(), entry.file_type())?;
    }
    Ok(())
}

/// The bytes of a folder's `.gitignore`; git follows no link there.
fn own_list(folder: &OwnedFd) -> Vec<u8> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = openat(folder, c".gitignore", flags, Mode::empty()) else {
        return Vec::new();
    };
    let file = File::from(file);
    let mut text = Vec::new();
    match file.metadata() {
        Ok(meta) if meta.is_file() && meta.len() <= MOST => {
            // What cannot be read ignores nothing.
            let _ = file.take(MOST).read_to_end(&mut text);
        }
        _ => {}
    }
    text
}

/// When a file's content, name or mode last changed.
///
/// The time of its content alone can be set back by anybody.
pub fn changed(stat: &Stat) -> FileTime {
    FileTime::of(stat.st_ctime, stat.st_ctime_nsec).max(modified(stat))
}

fn modified(stat: &Stat) -> FileTime {
    FileTime::of(stat.st_mtime, stat.st_mtime_nsec)
}

/// Returns whether a path holds the notes of a loop, in whichever project of the tree.
pub fn is_own(path: &Path) -> bool {
    let name = path.file_name().map(OsStr::as_encoded_bytes).unwrap_or_default();
    let above = path.parent().and_then(Path::file_name).map(OsStr::as_encoded_bytes);
    is_note(above.unwrap_or_default(), name)
}

fn is_note(above: &[u8], name: &[u8]) -> bool {
    match name {
        b".state" => above == b".spool",
        b"ralph" => above == b".claude",
        _ => above == b".claude" && name.starts_with(b"loop-state."),
    }
}

/// Whether a name in a folder is the loop's own, or a leftover of a write in progress.
fn is_left_out(folder: &[u8], name: &[u8]) -> bool {
    // Most names are none of these.
    if !matches!(name.first(), Some(b'.' | b'r' | b'l')) {
        return false;
    }
    let above = folder.strip_suffix(b"/").unwrap_or(folder);
    let above = above.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    OWN_FILES.contains(&name)
        || (name.starts_with(b".") && name.ends_with(b".tmp"))
        || is_note(above, name)
}
