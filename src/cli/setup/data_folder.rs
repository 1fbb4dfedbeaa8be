//! The folder that `spool setup` writes to, locked meanwhile: two setups at once would undo parts of each other's work.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::files::{missing_folders, remove_if_empty};
use crate::store::lock::Lock;
use crate::store::write::LEFT_ALONE;
use crate::world::Deadline;

/// How long another setup may take: it calls Claude Code up to four times.
const PATIENCE: Duration = Duration::from_mins(2);
/// How often a folder that another setup has just removed is made again.
const TRIES: u32 = 10;

/// The folder, locked where its file system can. Dropping it removes new folders that are empty.
pub struct DataFolder {
    lock: Option<Lock>,
    made: Vec<PathBuf>,
}

impl DataFolder {
    /// Makes the folder if necessary; fails if another setup holds it for too long.
    pub fn make(data: &Path) -> Result<Self> {
        let mut folder = Self { lock: None, made: missing_folders(data) };
        for _ in 0..TRIES {
            fs::create_dir_all(data)
                .with_context(|| format!("could not make the folder `{}`", data.display()))?;
            if folder.lock(data)? {
                break;
            }
        }
        Ok(folder)
    }

    /// Fails as [`DataFolder::make`] does.
    pub fn find(data: &Path) -> Result<Option<Self>> {
        let mut folder = Self { lock: None, made: Vec::new() };
        Ok(folder.lock(data)?.then_some(folder))
    }

    /// The new folders, outermost first.
    pub fn made(&self) -> &[PathBuf] {
        &self.made
    }

    /// The age at which a part of a file is litter: zero under a lock, because nobody else can be writing.
    pub fn age_of_litter(&self) -> Duration {
        if self.lock.is_some() { Duration::ZERO } else { LEFT_ALONE }
    }

    /// Locks the folder where possible; returns whether it is there.
    fn lock(&mut self, data: &Path) -> Result<bool> {
        let mut taken = Lock::take_folder_itself(data, Deadline::after(Duration::ZERO));
        if taken.as_ref().is_err_and(|error| error.kind() == ErrorKind::TimedOut) {
            errln!("another `spool setup` is at work: waiting until it is done");
            taken = Lock::take_folder_itself(data, Deadline::after(PATIENCE));
        }
        let place = data.display();
        match taken {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) if error.kind() == ErrorKind::TimedOut => bail!(
                "another `spool setup` is still at work in `{place}`\nwait until it is done, then run this again"
            ),
            taken => self.lock = taken.with_context(|| format!("could not lock `{place}`"))?,
        }
        Ok(true)
    }
}

impl Drop for DataFolder {
    fn drop(&mut self) {
        self.made.iter().rev().for_each(|folder| remove_if_empty(folder));
    }
}
