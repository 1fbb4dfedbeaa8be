//! The TOML files with settings: the person's, and the project's.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use toml::de::{DeTable, DeValue};

use crate::feature::project::printable;
use crate::settings::{Chosen, Origin, RUNNER, Rule, Setting, SettingKind};
use crate::store::read::{self, FileContent, Problem};
use crate::world;

/// The longest file that is read, in bytes.
const MOST: u64 = 64 << 10;
pub const PROJECT_FILE: &str = ".spool/ralph.toml";
/// Flags that are asked for once, on the command line, and are no settings.
const ACTIONS: &str =
    "status add-context clear-context dry-run list-harnesses project prompt restart";

/// `$XDG_CONFIG_HOME/ralph-speckit/ralph.toml`, or below `~/.config`.
pub fn user_file() -> Option<PathBuf> {
    let config = world::folder("XDG_CONFIG_HOME");
    let config = config.or_else(|| Some(world::home()?.join(".config")));
    config.map(|folder| folder.join("ralph-speckit").join("ralph.toml"))
}

pub fn of_person() -> Result<Chosen> {
    user_file().map_or_else(|| Ok(Chosen::default()), |path| of_user(&path))
}

/// Empty without a file.
pub(super) fn of_user(path: &Path) -> Result<Chosen> {
    of_file(read::read(path, MOST), path, &|line| Origin::Person(path.to_owned(), line))
}

/// Empty without a file. Refuses a link out of the project, and settings about this machine.
pub fn of_project(root: &Path) -> Result<Chosen> {
    let path = root.join(PROJECT_FILE);
    let (folder, name) = PROJECT_FILE.split_once('/').unwrap_or((".", PROJECT_FILE));
    let folder = read::folder_inside(root, &root.join(folder));
    let content = folder.and_then(|folder| read::read_in(&folder, name, MOST));
    let settings = of_file(content, &path, &|line| Origin::Project(path.clone(), line))?;
    if let Some(made) = settings.0.iter().find(|made| made.setting.rule == Rule::Never) {
        let user =
            user_file().map_or_else(String::new, |user| format!(" or in `{}`", user.display()));
        bail!(
            "{} cannot be set by a project: its file comes with the repository, and this is about your machine\nset it on the command line{user}",
            made.named()
        );
    }
    Ok(settings)
}

fn of_file(
    content: Result<FileContent, Problem>,
    path: &Path,
    origin: &dyn Fn(usize) -> Origin,
) -> Result<Chosen> {
    match content {
        Ok(content) => parse(&content.bytes, path, origin),
        Err(Problem::Missing) => Ok(Chosen::default()),
        Err(problem) => bail!("`{}` cannot be read: {problem}", path.display()),
    }
}

/// An error names the file and the line.
pub(super) fn parse(bytes: &[u8], path: &Path, origin: &dyn Fn(usize) -> Origin) -> Result<Chosen> {
    let line = |at: usize| 1 + memchr::memchr_iter(b'\n', &bytes[..at.min(bytes.len())]).count();
    let wrong = |at: usize, what: &str| anyhow!("`{}`, line {}: {what}", path.display(), line(at));
    let text = std::str::from_utf8(bytes)
        .map_err(|error| wrong(error.valid_up_to(), "it is not UTF-8 text"))?;
    let table = DeTable::parse(text)
        .map_err(|error| wrong(error.span().map_or(0, |span| span.start), error.message()))?;
    // In the file's order, so that the error names the first mistake.
    let mut entries: Vec<_> = table.get_ref().iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let mut settings = Chosen::default();
    for (key, value) in entries {
        let at = key.span().start;
        let setting = Setting::named(key.get_ref(), RUNNER);
        let setting = setting.ok_or_else(|| wrong(at, &unknown(key.get_ref())))?;
        let name = setting.name;
        if settings.made(setting).is_some() {
            return Err(wrong(at, &format!("`{name}` is set twice")));
        }
        texts(setting, value.get_ref())
            .and_then(|texts| settings.set(setting, texts, origin(line(at))))
            .map_err(|what| wrong(value.span().start, &format!("`{name}` {what}")))?;
    }
    Ok(settings)
}

/// An error for a value of another kind goes on behind the setting's name.
fn texts(setting: &Setting, value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let text = |value: &DeValue<'_>| text_of(setting.kind, value);
    let found = match value.as_array().filter(|_| setting.is_list) {
        Some(list) => list.iter().map(|value| text(value.get_ref())).collect(),
        None => text(value).map(|text| vec![text]),
    };
    let or_more = if setting.is_list { ", or a list of them" } else { "" };
    found.ok_or_else(|| match setting.kind {
        SettingKind::Switch
        | SettingKind::Number(..)
        | SettingKind::Time(..)
        | SettingKind::Dollars => setting.kind.needs(),
        _ => format!("needs a text in quotes{or_more}"),
    })
}

fn text_of(kind: SettingKind, value: &DeValue<'_>) -> Option<String> {
    let words = value.as_str().map(str::to_owned);
    let digits = value.as_integer().filter(|number| number.radix() == 10);
    let digits = digits.map(|number| number.as_str().to_owned());
    match kind {
        SettingKind::Switch => value.as_bool().map(|is_on| is_on.to_string()),
        SettingKind::Number(..) => digits,
        SettingKind::Time(..) => digits.or(words),
        SettingKind::Dollars => {
            digits.or_else(|| value.as_float().map(|float| float.as_str().to_owned())).or(words)
        }
        _ => words,
    }
}

fn unknown(name: &str) -> String {
    let shown = printable(name);
    if ACTIONS.split(' ').any(|action| action == name.replace('_', "-")) {
        return format!("`{shown}` is given on the command line only");
    }
    let next = Setting::meant(name, RUNNER).map_or_else(
        || "the settings are the long flags of `spool ralph --help`".to_owned(),
        |near| format!("did you mean `{}`?", near.name),
    );
    format!("there is no setting `{shown}`\n{next}")
}
