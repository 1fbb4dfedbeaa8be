//! The demo's throw-away project: a spec-kit feature with a task list, under git where git is there.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::script;
use crate::runner::script::{begin_history, write};

/// Returns the folder of a new project, made at `wanted` or in a temporary place that is kept.
pub fn create(wanted: Option<&Path>) -> Result<PathBuf> {
    let folder = match wanted {
        None => tempfile::Builder::new()
            .prefix("spool-demo-")
            .tempdir()
            .context("no temporary folder can be made")?
            .keep(),
        Some(folder) => empty_folder(folder)?,
    };
    let folder = folder.canonicalize()?;
    let files = [
        (".specify/feature.json", format!("{{\"feature_directory\":\"{}\"}}\n", script::FEATURE)),
        (&format!("{}/spec.md", script::FEATURE), script::SPEC.to_owned()),
        (&format!("{}/tasks.md", script::FEATURE), script::TASK_LIST.to_owned()),
    ];
    for (name, text) in files {
        write(&folder, name, &text)?;
    }
    begin_history(&folder, ".", "The feature and its tasks");
    Ok(folder)
}

fn empty_folder(folder: &Path) -> Result<PathBuf> {
    if folder.exists() && fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_some())
    {
        bail!("`{}` is not an empty folder\nname one that is missing or empty", folder.display());
    }
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    Ok(folder.to_owned())
}
