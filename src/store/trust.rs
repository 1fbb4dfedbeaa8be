//! Trust: commands of a repository's files that a person has read and allowed, project by project.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::lock::Lock;
use super::private::{load_private, make_private, refuse_inside, save, state_home};
use crate::world::{self, WallTime};

const FILE: &str = "trust.json";
const TRUST_VERSION: u32 = 1;
/// Bytes read or written.
const MOST: u64 = 4 << 20;
/// The time to wait for another program that changes the file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Trusted commands of one file of one project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrustedFile {
    /// The project's real root.
    pub project: String,
    /// Relative to the project.
    pub file: String,
    /// In the order of the file; another order needs trust again.
    pub commands: Vec<String>,
    pub at: WallTime,
}

/// `trust.json`, as the file has it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct All {
    version: u32,
    trusted: Vec<TrustedFile>,
}

/// The person trusts all of these commands of a project's file. An error if the trust cannot be read.
pub fn trusts(root: &Path, file: &str, commands: &[String]) -> io::Result<bool> {
    refuse_inside(root, &state_home()?)?;
    let project = root.to_string_lossy();
    let all = list()?;
    let ours = all.iter().find(|trusted| trusted.project == project && trusted.file == file);
    Ok(ours.is_some_and(|ours| commands.iter().all(|command| ours.commands.contains(command))))
}

pub fn list() -> io::Result<Vec<TrustedFile>> {
    let all: Option<All> = load_private(&state_home()?.join(FILE), MOST)?;
    Ok(all.unwrap_or_default().trusted)
}

/// Trusts these commands of files, in place of earlier ones: all files, or none with an error.
pub fn add(files: Vec<(&Path, &str, Vec<String>)>) -> io::Result<()> {
    let home = state_home()?;
    for (root, _, _) in &files {
        refuse_inside(root, &home)?;
    }
    change(|all| {
        for (root, file, commands) in files {
            let (project, file) = (root.to_string_lossy().into_owned(), file.to_owned());
            all.retain(|trusted| (&trusted.project, &trusted.file) != (&project, &file));
            all.push(TrustedFile { project, file, commands, at: world::now() });
        }
    })
}

/// Ends the trust in these projects, and returns the number of their trusted files.
pub fn remove(roots: &[PathBuf]) -> io::Result<usize> {
    let mut removed = 0;
    change(|all| {
        let before = all.len();
        all.retain(|trusted| !roots.iter().any(|root| trusted.project == root.to_string_lossy()));
        removed = before - all.len();
    })?;
    Ok(removed)
}

fn change(what: impl FnOnce(&mut Vec<TrustedFile>)) -> io::Result<()> {
    let folder = state_home()?;
    make_private(&folder)?;
    let _lock = Lock::take(&folder.join("trust.lock"), PATIENCE)?;
    let mut trusted = list()?;
    what(&mut trusted);
    save(&folder.join(FILE), &All { version: TRUST_VERSION, trusted }, MOST)
}
