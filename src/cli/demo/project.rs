//! The demo's throw-away project: a spec-kit feature with a task list, under git where git is there.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::script;
use crate::runner::script::{begin_history, write};
use crate::system::files::real_path;

/// Where the demo is played: a project, and a place for all that is kept outside of one.
///
/// What is temporary is gone when this is dropped.
pub struct Scene {
    /// The project's folder.
    pub project: PathBuf,
    /// A folder for what else is written.
    pub beside: PathBuf,
    /// Whether the project stays.
    pub stays: bool,
    _scratch: TempDir,
}

impl Scene {
    /// Returns a new project, made at `wanted` or in a temporary place, which stays where `keep` says so.
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
        let files = [
            (
                ".specify/feature.json",
                format!("{{\"feature_directory\":\"{}\"}}\n", script::FEATURE),
            ),
            // What arming would list elsewhere, so that the demo is the same with and without git.
            (".gitignore", ".speckit-state.json\n.progress.md\n".to_owned()),
            (&format!("{}/spec.md", script::FEATURE), script::SPEC.to_owned()),
            (&format!("{}/tasks.md", script::FEATURE), script::TASK_LIST.to_owned()),
        ];
        for (name, text) in files {
            write(&project, name, &text)?;
        }
        begin_history(&project, ".", "The feature and its tasks");
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
