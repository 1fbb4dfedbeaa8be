//! `context.md`: what `--add-context` says to the iterations to come.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::folder::{at, must_be_free_or_a_file};
use crate::store::lock::Lock;
use crate::store::read::{self, Problem};
use crate::store::write::{Flush, remove_if_there, remove_leftovers, write_private};

/// The most that may be added to the prompts, in bytes.
pub const MOST: usize = 256 << 10;
/// How long to wait for someone else who adds at the same time.
const PATIENCE: Duration = Duration::from_secs(5);

/// The added words of one change; works while a runner runs and while none does.
#[derive(Clone, Debug)]
pub struct Context {
    folder: PathBuf,
}

impl Context {
    /// The context that is in this state folder (see `make_state_folder`).
    pub fn of(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// What was added, unchanged, with a blank line between additions; empty for nothing.
    pub fn read(&self) -> Result<String> {
        let path = self.path();
        must_be_free_or_a_file(&path)?;
        match read::read(&path, MOST as u64) {
            Ok(content) => String::from_utf8(content.bytes).with_context(|| {
                format!("`{}` is not UTF-8\nfix it, or use `--clear-context`", path.display())
            }),
            Err(Problem::Missing) => Ok(String::new()),
            Err(problem) => {
                bail!("`{}`: {problem}\nshorten it, or use `--clear-context`", path.display())
            }
        }
    }

    /// Adds words; the next iteration gets them.
    pub fn add(&self, words: &str) -> Result<()> {
        if words.trim().is_empty() {
            bail!("there are no words to add\ngive them as in `--add-context \"use port 8081\"`");
        }
        let _lock = self.lock()?;
        let path = self.path();
        let mut text = self.read()?;
        if !text.is_empty() {
            text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
        }
        text.push_str(words);
        if !words.ends_with('\n') {
            text.push('\n');
        }
        if text.len() > MOST {
            bail!(
                "the added context would have {} bytes, and at most {MOST} are kept\nuse `--clear-context` first, or put it into a file and name that",
                text.len()
            );
        }
        write_private(&path, text.as_bytes(), Flush::ToDisk).map_err(|error| at(&path, &error))
    }

    /// Takes all of it away; an error when that cannot be done.
    pub fn clear(&self) -> Result<()> {
        let _lock = self.lock()?;
        let path = self.path();
        remove_if_there(&path).map_err(|error| at(&path, &error))
    }

    fn lock(&self) -> Result<Lock> {
        let path = self.folder.join("context.lock");
        let lock = Lock::take(&path, PATIENCE).map_err(|error| at(&path, &error))?;
        remove_leftovers(&self.path(), Duration::ZERO);
        Ok(lock)
    }

    fn path(&self) -> PathBuf {
        self.folder.join("context.md")
    }
}
