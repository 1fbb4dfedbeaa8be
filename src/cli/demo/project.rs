//! The demo's folders: a throw-away project, and a place for files outside of a project.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::runner::script;
use crate::system::files::real_path;

/// The demo's folders. Dropping it removes the temporary ones.
pub struct Scene {
    pub project: PathBuf,
    /// Files outside of the project.
    pub beside: PathBuf,
    /// The project stays.
    pub stays: bool,
    _scratch: TempDir,
}

impl Scene {
    /// A new project at `wanted`, or in a temporary folder.
    pub fn set(wanted: Option<&Path>, keep: bool) -> Result<Self> {
        let temporary = || {
            let folder = tempfile::Builder::new().prefix("spool-demo-").tempdir();
            folder.context("no temporary folder can be made")
        };
        let scratch = temporary()?;
        let project = match wanted {
            Some(folder) => empty_folder(folder)?,
            None if keep => temporary()?.keep(),
            None => empty_folder(&scratch.path().join("todo-list"))?,
        };
        let project = real_path(&project)?;
        script::project(&project)?;
        let beside = real_path(scratch.path())?;
        Ok(Self { project, beside, stays: keep || wanted.is_some(), _scratch: scratch })
    }
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
