//! `context.md`: words of `--add-context` for the next iterations.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::folder::{at, must_be_free_or_a_file};
use crate::store::lock::Lock;
use crate::store::read::{self, Problem};
use crate::store::write::{Flush, remove_if_there, remove_leftovers, write_private};

/// Bytes that may be added to the prompts.
pub const MOST: usize = 256 << 10;
/// The time to wait for another program that adds words.
const PATIENCE: Duration = Duration::from_secs(5);

/// The added words of one change, with or without a running loop.
#[derive(Clone, Debug)]
pub struct Context {
    folder: PathBuf,
}

impl Context {
    /// `folder` is a state folder (see `make_state_folder`).
    pub fn of(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// The words unchanged, with a blank line between additions; empty for none.
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

    /// Adds words for the next iteration.
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

    /// Removes all words.
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
