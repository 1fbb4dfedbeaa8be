//! `.claude/ralph-speckit.local.md`: a person's switch and checks, in the file's front matter (spec 003, FR-3).
//!
//! Only a missing file sets nothing. A file that cannot be read or understood is an error with a line: a person's check
//! is never skipped silently.

mod error;
mod front;
mod keys;
mod misnamed;
pub(super) mod yaml;

use std::io;
use std::path::Path;

use crate::engine::{Check, hash_of};
use crate::evidence::{commits, index};
use crate::refusal::Refusal;
use crate::store::read::{self, Problem};
use crate::system::files::real_path;
use crate::text;

pub use error::{SETTINGS, SettingsError};
pub use keys::{Settings, review_by};
pub use misnamed::misnamed;

/// Bytes of the settings.
const MOST: u64 = 1 << 16;

impl Settings {
    /// The settings of the project at `root`, a real path; the defaults without a file.
    pub fn read(root: &Path) -> Result<Self, SettingsError> {
        let content = match read_inside(root) {
            Ok(bytes) => bytes,
            Err(Problem::Missing) => return Ok(Self::default()),
            Err(problem) => {
                let error = SettingsError::of_file(&problem.to_string(), REPLACE);
                return Err(SettingsError { digest: hash_of(error.what.as_bytes()), ..error });
            }
        };
        Self::parse(&content)
    }

    /// As [`Self::read`], but refuses a file that was meant as the settings.
    pub fn meant(root: &Path) -> Result<Self, Refusal> {
        let settings = Self::read(root).map_err(|error| Refusal::Worded(error.to_string()))?;
        misnamed(root).map_or(Ok(settings), |name| Err(Refusal::Worded(not_read(&name))))
    }

    /// As [`Self::meant`], for a loop that is to be armed: refuses settings that switch the loop off.
    pub fn to_arm(root: &Path) -> Result<Self, Refusal> {
        let settings = Self::meant(root)?;
        if settings.chosen.enabled() {
            return Ok(settings);
        }
        Err(Refusal::new(
            format!("the loop is switched off for this project by `{SETTINGS}`"),
            "set `enabled: true` there, or remove the file",
        ))
    }

    /// The project's settings switch the loop off.
    pub fn switch_off(root: &Path) -> bool {
        Self::read(root).map_or_else(|error| error.is_off, |settings| !settings.chosen.enabled())
    }

    /// The keys are YAML between two lines of `---` at the top, or alone in the file. `checks` is a list of commands,
    /// or of `run` with a `limit` in seconds.
    pub fn parse(bytes: &[u8]) -> Result<Self, SettingsError> {
        let parsed = front::text_of(bytes).and_then(front::matter_of).and_then(|front| {
            let value = yaml::read(front.yaml, front.lines_before)?;
            // Nothing between two lines of `---` sets nothing. A file of headings is no settings file.
            let prose = front.lines_before == 0 && value.value == yaml::YamlValue::Nothing;
            if prose { Err(keys::no_settings(1)) } else { keys::settings_of(value) }
        });
        let digest = hash_of(bytes);
        let parsed = parsed.map(|settings| Self { digest, ..settings });
        parsed.map_err(|error| SettingsError { digest, ..error })
    }
}

/// Adds the checks whose command is new.
pub fn with_more(mut checks: Vec<Check>, more: impl IntoIterator<Item = Check>) -> Vec<Check> {
    for check in more {
        // A block of text ends with a line break, and means the same command.
        if !checks.iter().any(|other| other.run.trim() == check.run.trim()) {
            checks.push(check);
        }
    }
    checks
}

/// The settings come with a repository: git tracks them, the target of their link, or a link or submodule on the way;
/// or the index cannot be understood. Perhaps no person on this machine has read them.
pub fn come_with_the_repository(root: &Path) -> bool {
    let path = root.join(SETTINGS);
    // The file's name and the file may lie in two repositories.
    if is_tracked(root, &path) {
        return true;
    }
    match real_path(&path) {
        Ok(real) => real.parent().is_none_or(|folder| is_tracked(folder, &real)),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// The repository around a folder tracks a file below it, or may track it.
fn is_tracked(folder: &Path, file: &Path) -> bool {
    let Some(top) = commits::top_of(folder) else { return false };
    let (Some(repository), Ok(name)) = (commits::repository_of(top), file.strip_prefix(top)) else {
        return true;
    };
    index::tracks(&repository, name.as_os_str().as_encoded_bytes()).unwrap_or(true)
}

/// The words about a file that was meant as the settings, and a line about what to do.
pub fn not_read(name: &str) -> String {
    format!(
        "`{}` is not the settings file, and nothing in it counts\ndid you mean `{SETTINGS}`? rename it, or remove it",
        text::line(name)
    )
}

const REPLACE: &str = "put a readable text file in its place, or remove it";

/// A link out of the project is an error.
fn read_inside(root: &Path) -> Result<Vec<u8>, Problem> {
    let path = root.join(SETTINGS);
    let is_link = |path: &Path| path.symlink_metadata().map(|meta| meta.is_symlink());
    // Without settings this is the only look.
    let linked = is_link(&path)?;
    if linked || path.parent().is_some_and(|folder| is_link(folder).unwrap_or(true)) {
        let real = real_path(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Problem::Refused("it is a link to nothing".to_owned()),
            _ => error.into(),
        })?;
        if !real.starts_with(real_path(root)?) {
            return Err(Problem::Outside);
        }
    }
    read::read(&path, MOST).map(|content| content.bytes)
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
