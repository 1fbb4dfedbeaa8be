//! The demo's throw-away project: a spec-kit feature with a task list, under git where git is there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::script;
use crate::exec::Program;

/// How long one call of git may take.
const PATIENCE: Duration = Duration::from_mins(1);

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
    // Without git the demo is the same; it only has no history.
    for arguments in [
        &["init", "-q"][..],
        &["add", "."],
        &[
            "-c",
            "user.name=demo",
            "-c",
            "user.email=demo@localhost",
            "commit",
            "-q",
            "-m",
            "The feature and its tasks",
        ],
    ] {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(&folder);
        let _ = Program::new(git, PATIENCE).kept().run(0, &mut || false);
    }
    Ok(folder)
}

/// Writes a file of the demo's project, with the folders above it.
pub fn write(folder: &Path, name: &str, text: &str) -> Result<()> {
    let path = folder.join(name);
    let parent = path.parent().unwrap_or(folder);
    fs::create_dir_all(parent)
        .and_then(|()| fs::write(&path, text))
        .with_context(|| format!("cannot write `{}`", path.display()))
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
