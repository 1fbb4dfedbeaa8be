//! A lock on a file or a folder, held by one process at a time and freed by the system when it dies.
//!
//! Locks are taken in the order feature, project, session. One exception: a stop that has just seen the end of a
//! feature's loop takes the lock of the feature while it holds that of the session. The stop waits at most 200 ms, and
//! without the lock leaves the counters alone.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use super::read;
use super::write::open_or_create;
use crate::system::files::{self, FileId};
use crate::world::{self, Deadline, FileTime};

/// The time to wait for another process that writes the same file.
pub const PATIENCE: Duration = Duration::from_millis(700);
/// The longest step of the files' clock that is waited for: most clocks have steps of 1 to 10 ms.
pub const LONGEST_STEP: Duration = Duration::from_millis(100);

/// A held lock; dropping it frees it.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// A living process holds the lock on this file; `false` without a file.
    pub fn is_held(path: &Path) -> bool {
        let file = read::open(path).map(|(file, _)| file);
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// The lock on a file, made if missing. Waits at most `limit`, then fails with `TimedOut`.
    ///
    /// A lock file that was removed meanwhile, as by `git clean`, locks nothing: the lock is taken on the new file.
    pub fn take(path: &Path, limit: Duration) -> io::Result<Self> {
        let deadline = Deadline::after(limit);
        loop {
            let file = open_lock(path)?;
            wait_for(&file, deadline)?;
            if is_at(&file, path) {
                return Ok(Self { file });
            }
        }
    }

    /// The locked file still is the one at this path.
    pub fn is_on(&self, path: &Path) -> bool {
        is_at(&self.file, path)
    }

    /// Waits until the files' clock has moved on: changes from now on have a later time than all before. `false`: the
    /// steps of this clock are too long.
    pub fn outlasts_step(&self) -> bool {
        let deadline = Deadline::after(LONGEST_STEP);
        let Some(first) = self.touch() else { return false };
        while !deadline.is_over() {
            if self.touch().is_some_and(|now| now > first) {
                return true;
            }
            world::pause(Duration::from_millis(1));
        }
        false
    }

    /// Writes a byte and returns the time of the write. The content does not matter.
    pub(super) fn touch(&self) -> Option<FileTime> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0)).ok()?;
        file.write_all(b"\n").ok()?;
        Some(files::changed_at(&file.metadata().ok()?))
    }

    /// Locks a folder. Unlike a lock file, a folder stays as long as it holds something. Without locks on folders (NFS,
    /// Windows), locks the file `instead`.
    pub fn take_folder(folder: &Path, instead: &Path, limit: Duration) -> io::Result<Self> {
        let deadline = Deadline::after(limit);
        let lock = Self::take_folder_itself(folder, deadline)?;
        lock.map_or_else(|| Self::take(instead, deadline.left()), Ok)
    }

    /// `None` on file systems without locks on folders.
    pub fn take_folder_itself(folder: &Path, deadline: Deadline) -> io::Result<Option<Self>> {
        loop {
            let file = match files::open_folder(folder) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::Unsupported => return Ok(None),
                Err(error) => return Err(error),
            };
            match wait_for(&file, deadline) {
                Ok(()) if is_at(&file, folder) => return Ok(Some(Self { file })),
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::TimedOut => return Err(error),
                Err(_) => return Ok(None),
            }
        }
    }
}

impl Drop for Lock {
    /// Closing is not enough: a child that was just forked has the file open until its program starts.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

fn wait_for(file: &File, deadline: Deadline) -> io::Result<()> {
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if deadline.is_over() => {
                let why = "another program has held it for too long";
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
            Err(TryLockError::WouldBlock) => world::pause(Duration::from_millis(2)),
        }
    }
}

/// A lock file of another user, which only that user may write, is locked all the same if it can be read.
fn open_lock(path: &Path) -> io::Result<File> {
    let options = &mut OpenOptions::new();
    match open_or_create(path, options.truncate(false).read(true).write(true)) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && path.exists() => {
            read::open(path).map(|(file, _)| file).map_err(|_| {
                let words = "this lock belongs to another user: remove it, or give it to yourself with chown";
                io::Error::new(error.kind(), format!("{error}; {words}"))
            })
        }
        found => found,
    }
}

/// The open file is the one at this path.
fn is_at(file: &File, path: &Path) -> bool {
    FileId::of(file) == FileId::at(path)
}
