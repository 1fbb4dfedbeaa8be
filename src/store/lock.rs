//! A lock on a file, held by one process at a time and freed by the system when it dies.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use super::read;
use super::write::open_or_create;
use crate::world::{self, Deadline};

/// A held lock; dropping it frees it.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Returns whether a living process holds the lock on this file; `false` where there is none.
    pub fn is_held(path: &Path) -> bool {
        let file = read::open(path).map(|(file, _)| file);
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Returns the lock, waiting at most `limit` for whoever holds it; `TimedOut` after that.
    pub fn take(path: &Path, limit: Duration) -> io::Result<Self> {
        let file = open_or_create(path, File::options().truncate(false).read(true).write(true))?;
        let deadline = Deadline::after(limit);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if deadline.is_over() => {
                    let why = "another program has held it for too long";
                    return Err(io::Error::new(io::ErrorKind::TimedOut, why));
                }
                Err(TryLockError::WouldBlock) => world::pause(Duration::from_millis(2)),
            }
        }
    }
}
