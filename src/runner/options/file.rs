//! The TOML files that settings come from: the person's, and the project's.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use toml::de::DeTable;

use super::settings::{FromProject, Origin, RunnerSettings};
use crate::feature::project::printable;
use crate::store::read::{self, Problem};
use crate::text::distance;
use crate::world;

/// The most that is read of a file, in bytes.
const MOST: u64 = 64 << 10;
/// The project's file, in each kind of project.
pub const PROJECT_FILE: &str = ".spool/ralph.toml";
/// The most letters in which a mistyped key differs from the one that is suggested.
const TYPOS: usize = 3;
/// What is asked for once, on the command line, and is no setting.
const ACTIONS: &str =
    "status add-context clear-context dry-run list-harnesses project prompt restart";

/// Returns where the person's file is: `$XDG_CONFIG_HOME/ralph-speckit/ralph.toml`, or below `~/.config`.
pub fn user_file() -> Option<PathBuf> {
    let config = world::folder("XDG_CONFIG_HOME");
    let config = config.or_else(|| Some(world::home()?.join(".config")));
    config.map(|folder| folder.join("ralph-speckit").join("ralph.toml"))
}

/// Returns the settings of the person's file, none where there is none or no place for it.
pub fn of_person() -> Result<RunnerSettings> {
    user_file().map_or_else(|| Ok(RunnerSettings::default()), |path| of_user(&path))
}

/// Returns the settings of a file of the person's, none where there is no file.
pub(super) fn of_user(path: &Path) -> Result<RunnerSettings> {
    match read::read(path, MOST) {
        Ok(content) => parse(&content.bytes, path, &|line| Origin::Person(path.to_owned(), line)),
        Err(Problem::Missing) => Ok(RunnerSettings::default()),
        Err(problem) => bail!("`{}` cannot be read: {problem}", path.display()),
    }
}

/// Returns the settings of a project's file, none where there is no file; a link must not lead out of
/// the project, and what is about this machine must not be in it.
pub fn of_project(root: &Path) -> Result<RunnerSettings> {
    let path = root.join(PROJECT_FILE);
    let (folder, name) = PROJECT_FILE.split_once('/').unwrap_or((".", PROJECT_FILE));
    let content = match read::folder_inside(root, &root.join(folder)) {
        Ok(folder) => read::read_in(&folder, name, MOST),
        Err(problem) => Err(problem),
    };
    let content = match content {
        Ok(content) => content,
        Err(Problem::Missing) => return Ok(RunnerSettings::default()),
        Err(problem) => bail!("`{}` cannot be read: {problem}", path.display()),
    };
    let origin = |line| Origin::Project(path.clone(), line);
    let settings = parse(&content.bytes, &path, &origin)?;
    let made = settings.made();
    if let Some(setting) = made.iter().find(|it| it.rule == FromProject::Never) {
        let user =
            user_file().map_or_else(String::new, |user| format!(" or in `{}`", user.display()));
        bail!(
            "{} cannot be set by a project: its file comes with the repository, and this is about your machine\nset it on the command line{user}",
            setting.named()
        );
    }
    Ok(settings)
}

/// Returns the settings in the bytes of a file; an error names the file and the line.
pub(super) fn parse(
    bytes: &[u8],
    path: &Path,
    origin: &dyn Fn(usize) -> Origin,
) -> Result<RunnerSettings> {
    let line = |at: usize| 1 + memchr::memchr_iter(b'\n', &bytes[..at.min(bytes.len())]).count();
    let wrong = |at: usize, what: &str| anyhow!("`{}`, line {}: {what}", path.display(), line(at));
    let text = std::str::from_utf8(bytes)
        .map_err(|error| wrong(error.valid_up_to(), "it is not UTF-8 text"))?;
    let table = DeTable::parse(text)
        .map_err(|error| wrong(error.span().map_or(0, |span| span.start), error.message()))?;
    // In the order of the file: the first mistake is the one that is named.
    let mut entries: Vec<_> = table.get_ref().iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let mut settings = RunnerSettings::default();
    let mut names: Vec<String> = Vec::new();
    for (key, value) in entries {
        let at = key.span().start;
        let name = key.get_ref().replace('_', "-");
        if names.contains(&name) {
            return Err(wrong(at, &format!("`{name}` is set twice")));
        }
        let Some(read) = settings.set(&name, value.get_ref(), origin(line(at))) else {
            return Err(wrong(at, &unknown(key.get_ref())));
        };
        read.map_err(|what| wrong(value.span().start, &format!("`{name}` {what}")))?;
        names.push(name);
    }
    Ok(settings)
}

fn unknown(name: &str) -> String {
    let plain = name.replace('_', "-");
    let name = printable(name);
    if ACTIONS.split(' ').any(|action| action == plain) {
        return format!("`{name}` is given on the command line only");
    }
    let nearest = RunnerSettings::NAMES.iter().map(|name| (distance(&plain, name), *name)).min();
    match nearest {
        Some((typos, nearest)) if typos <= TYPOS => {
            format!("there is no setting `{name}`\ndid you mean `{nearest}`?")
        }
        _ => format!(
            "there is no setting `{name}`\nthe settings are the long flags of `spool ralph --help`"
        ),
    }
}
