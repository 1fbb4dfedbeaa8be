//! The TOML files that settings come from: the person's, and the project's.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{self, Form, FromProject, KEYS, Key};
use super::setting::{Origin, Setting};
use crate::runner::target::distance;
use crate::speckit::project::printable;
use crate::store::read::{self, Problem};
use crate::world;

/// The most that is read of a file, in bytes.
const MOST: u64 = 64 << 10;
/// The project's file, in each kind of project.
pub const PROJECT_FILE: &str = ".spool/ralph.toml";
/// The most letters in which a mistyped key differs from the one that is suggested.
const TYPOS: usize = 3;
/// What is asked for once, on the command line, and is no setting.
const ACTIONS: [&str; 6] =
    ["status", "add-context", "clear-context", "dry-run", "project", "prompt"];

/// Returns where the person's file is: `$XDG_CONFIG_HOME/ralph-speckit/ralph.toml`, or below `~/.config`.
pub fn user_file() -> Option<PathBuf> {
    let config = world::folder("XDG_CONFIG_HOME");
    let config = config.or_else(|| Some(world::folder("HOME")?.join(".config")));
    config.map(|folder| folder.join("ralph-speckit").join("ralph.toml"))
}

/// Returns the settings of the person's file, none where there is no file.
pub fn of_user(path: &Path) -> Result<Vec<Setting>> {
    match read::read(path, MOST) {
        Ok(content) => {
            parse(&content.bytes, path, &|line| Origin::User { path: path.to_owned(), line })
        }
        Err(Problem::Missing) => Ok(Vec::new()),
        Err(problem) => bail!("`{}` cannot be read: {problem}", path.display()),
    }
}

/// Returns the settings of a project's file, none where there is no file; a link must not lead out of
/// the project, and what is about this machine must not stand in it.
pub fn of_project(root: &Path) -> Result<Vec<Setting>> {
    let path = root.join(PROJECT_FILE);
    let (folder, name) = PROJECT_FILE.split_once('/').unwrap_or((".", PROJECT_FILE));
    let content = match read::folder_inside(root, &root.join(folder)) {
        Ok(folder) => read::read_in(&folder, name, MOST),
        Err(problem) => Err(problem),
    };
    let content = match content {
        Ok(content) => content,
        Err(Problem::Missing) => return Ok(Vec::new()),
        Err(problem) => bail!("`{}` cannot be read: {problem}", path.display()),
    };
    let origin = |line| Origin::Project { path: path.clone(), line };
    let settings = parse(&content.bytes, &path, &origin)?;
    let forbidden = settings.iter().find(|it| it.key.project == FromProject::Never);
    if let Some(setting) = forbidden {
        let user =
            user_file().map_or_else(String::new, |user| format!(" or in `{}`", user.display()));
        bail!(
            "{} cannot be set by a project: its file comes with the repository, and this is about your machine\nset it on the command line{user}",
            setting.named()
        );
    }
    Ok(settings)
}

fn parse(bytes: &[u8], path: &Path, origin: &dyn Fn(usize) -> Origin) -> Result<Vec<Setting>> {
    let wrong = |line: usize, what: &str| anyhow!("`{}`, line {line}: {what}", path.display());
    let text = std::str::from_utf8(bytes)
        .map_err(|error| wrong(line_at(bytes, error.valid_up_to()), "it is not UTF-8 text"))?;
    let table = DeTable::parse(text).map_err(|error| {
        wrong(line_at(bytes, error.span().map_or(0, |span| span.start)), error.message())
    })?;
    let mut settings: Vec<Setting> = Vec::new();
    for (name, value) in table.get_ref() {
        let line = line_at(bytes, name.span().start);
        let name = name.get_ref();
        let key = keys::find(name).ok_or_else(|| wrong(line, &unknown(name)))?;
        if settings.iter().any(|other| other.key == key) {
            return Err(wrong(line, &format!("`{}` is set twice", key.name)));
        }
        let values = values(key, value).map_err(|what| {
            wrong(line_at(bytes, value.span().start), &format!("`{}` {what}", key.name))
        })?;
        settings.push(Setting { key, values, origin: origin(line) });
    }
    settings.sort_by_key(|setting| match &setting.origin {
        Origin::CommandLine => 0,
        Origin::Project { line, .. } | Origin::User { line, .. } => *line,
    });
    Ok(settings)
}

/// The values of a key, as the command line would have them.
fn values(key: &Key, value: &Spanned<DeValue<'_>>) -> Result<Vec<String>, String> {
    let text = |value: &DeValue<'_>| value.as_str().map(str::to_owned);
    let digits = |value: &DeValue<'_>| {
        value.as_integer().filter(|number| number.radix() == 10).map(|it| it.as_str().to_owned())
    };
    let value = value.get_ref();
    let found = match key.form {
        Form::Text => text(value).map(|it| vec![it]),
        Form::Number => digits(value).map(|it| vec![it]),
        Form::Time => digits(value).or_else(|| text(value)).map(|it| vec![it]),
        Form::Switch => value.as_bool().map(|it| vec![it.to_string()]),
        Form::List => match value.as_array() {
            Some(list) => list.iter().map(|one| text(one.get_ref())).collect(),
            None => text(value).map(|it| vec![it]),
        },
    };
    found.ok_or_else(|| {
        match key.form {
            Form::Text => "needs a text in quotes",
            Form::Number => "needs a whole number",
            Form::Time => "needs a number, or a text such as \"1h30m\"",
            Form::Switch => "is `true` or `false`",
            Form::List => "needs a text in quotes, or a list of them",
        }
        .to_owned()
    })
}

fn unknown(name: &str) -> String {
    let plain = name.replace('_', "-");
    let name = printable(name);
    if ACTIONS.contains(&plain.as_str()) {
        return format!("`{name}` is given on the command line only");
    }
    let nearest = KEYS.iter().map(|key| (distance(&plain, key.name), key.name)).min();
    match nearest {
        Some((typos, nearest)) if typos <= TYPOS => {
            format!("there is no setting `{name}`\ndid you mean `{nearest}`?")
        }
        _ => format!(
            "there is no setting `{name}`\nthe settings are the long flags of `spool ralph --help`"
        ),
    }
}

/// The line on which a byte stands, from 1.
fn line_at(bytes: &[u8], at: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', &bytes[..at.min(bytes.len())]).count()
}
