//! A lock on a file, held by one process at a time and freed by the system when it dies.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::world::{self, Deadline};

/// A held lock; dropping it frees it.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Returns the lock, waiting at most `limit` for whoever holds it; `TimedOut` after that.
    pub fn take(path: &Path, limit: Duration) -> io::Result<Self> {
        let mut options = File::options();
        options.create(true).truncate(false).read(true).write(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
            options.custom_flags(flags.bits().cast_signed());
        }
        let file = options.open(path)?;
        let deadline = Deadline::after(limit);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if deadline.is_over() => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Err(TryLockError::WouldBlock) => world::pause(Duration::from_millis(2)),
            }
        }
    }
}
