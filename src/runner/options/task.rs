//! The person's prompt: typed, or read from a file, unchanged.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::session::arm::task::{MOST_TASK, task_in};
use crate::settings::{Chosen, Origin, table};
use crate::system::files::real_path;

/// The typed prompt, or the one in the file of `prompt-file`; `None` without either.
///
/// A relative path starts at the folder where it was typed, at the project for the project's file, and at the folder of
/// the person's file. A project may only name its own files, because the text goes to a model.
pub fn task(
    typed: Option<&str>,
    settings: &Chosen,
    start: &Path,
    root: Option<&Path>,
) -> Result<Option<String>> {
    if let Some(typed) = typed {
        if typed.trim().is_empty() {
            bail!("the prompt is empty\nsay in it what is to be done");
        }
        if typed.len() as u64 > MOST_TASK {
            bail!(
                "the prompt is longer than {MOST_TASK} bytes\nput it into a file of the project, and name that"
            );
        }
        return Ok(Some(typed.to_owned()));
    }
    let Some(made) = settings.made(&table::prompt_file) else { return Ok(None) };
    let named = made.values.concat();
    let path: PathBuf = match &made.origin {
        Origin::CommandLine | Origin::Settings(_) => start.join(&named),
        Origin::Person(path, _) => path.parent().unwrap_or(start).join(&named),
        Origin::Project(..) => {
            let root = root.unwrap_or(start);
            let path = root.join(&named);
            match real_path(&path) {
                Ok(real) if real.starts_with(root) => real,
                Ok(_) => bail!("{} leads out of the project", made.named()),
                Err(_) => path,
            }
        }
    };
    Ok(Some(task_in(&path)?))
}
