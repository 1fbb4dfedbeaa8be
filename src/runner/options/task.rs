//! The person's prompt: typed, or read from a file, unchanged.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::settings::{Origin, RunnerSettings};
use crate::store::read;
use crate::system::files::real_path;

/// The longest prompt, in bytes.
const MOST: u64 = 256 << 10;

/// Returns the person's prompt: the typed one, or that of the file which `prompt-file` names; `None`
/// where there is neither.
///
/// A relative path is meant from the folder in which it was typed, from the project for the project's
/// file, and from the folder of the person's file. A project may only name a file of its own: the text
/// goes to a model.
pub fn task(
    typed: Option<&str>,
    settings: &RunnerSettings,
    start: &Path,
    root: Option<&Path>,
) -> Result<Option<String>> {
    if let Some(typed) = typed {
        if typed.trim().is_empty() {
            bail!("the prompt is empty\nsay in it what is to be done");
        }
        if typed.len() as u64 > MOST {
            bail!(
                "the prompt is longer than {MOST} bytes\nput it into a file of the project, and name that"
            );
        }
        return Ok(Some(typed.to_owned()));
    }
    let Some(setting) = &settings.prompt_file else {
        return Ok(None);
    };
    let named = Path::new(&setting.value);
    let path: PathBuf = match &setting.origin {
        Origin::CommandLine => start.join(named),
        Origin::Person(path, _) => path.parent().unwrap_or(start).join(named),
        Origin::Project(..) => {
            let root = root.unwrap_or(start);
            let path = root.join(named);
            match real_path(&path) {
                Ok(real) if real.starts_with(root) => real,
                Ok(_) => bail!("{} leads out of the project", setting.origin.named("prompt-file")),
                Err(_) => path,
            }
        }
    };
    let wrong = |why: &str| {
        anyhow::anyhow!(
            "the prompt cannot be read from `{}`: {why}\nname a text file",
            path.display()
        )
    };
    let content = read::read(&path, MOST).map_err(|problem| wrong(&problem.to_string()))?;
    let text = String::from_utf8(content.bytes).map_err(|_| wrong("it is not UTF-8 text"))?;
    if text.trim().is_empty() {
        return Err(wrong("it is empty"));
    }
    if text.contains('\0') {
        return Err(wrong("it is not text: there is a NUL in it"));
    }
    Ok(Some(text))
}
