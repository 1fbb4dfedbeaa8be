//! A complete plugin in a folder: assembled beside it, then put in its place in one step.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::call::Advise;
use super::files::FILES;
use super::programs::{self, Programs};
use super::{NAME, VERSION};
use crate::store::read;
use crate::system::files::{self, FileUse, real_path};
use crate::world::WallTime;

/// The longest file of a plugin that is read, in bytes: no program is longer.
const MOST: u64 = 256 << 20;

/// Marks an assembled plugin, and lists its files.
const RECORD: &str = ".ralph-speckit-assembly.json";

/// Claude Code writes this beside the types that it puts into a plugin's folder.
const TSCONFIG: &[u8] = b"{\n  \"extends\": \"./.claude-plugin/types/tsconfig.json\"\n}";

/// The prefix of a folder in which a plugin is being assembled.
const ASSEMBLING: &str = ".speckit-assembling-";

/// The prefix of a folder into which an old plugin is moved, and the plugin's name in it.
const REPLACED: &str = ".speckit-replaced-";
const OLD: &str = "plugin";

/// Such a folder is a leftover after this time without a change.
const LEFT_ALONE: Duration = Duration::from_mins(1);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assembly {
    /// Absolute, without symbolic links.
    pub folder: PathBuf,
    /// The version before.
    pub replaced: Option<String>,
}

/// What is at the plugin's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Site {
    Missing,
    Empty,
    /// An assembled plugin of this version, and nothing else.
    Assembled(String),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct AssemblyRecord {
    version: u32,
    plugin: String,
    plugin_version: String,
    files: Vec<String>,
}

/// Puts a complete plugin with `programs` into `folder`.
///
/// The folder has to be missing, empty or an assembled plugin. Anything else is refused and stays.
pub fn assemble(folder: &Path, programs: &Programs) -> Result<Assembly> {
    let folder = absolute(folder)?;
    remove_leftovers(&folder, LEFT_ALONE);
    let parent = || folder.parent().context("the root of the file system cannot be a plugin");
    let mut replaced = None;
    match site(&folder)? {
        Site::Missing => {
            let parent = parent()?;
            fs::create_dir_all(parent).at("could not make the folder `{}`", parent)?;
            put_in_place(write_beside(parent, programs)?, &folder)?;
        }
        Site::Empty => fill(&folder, programs)?,
        Site::Assembled(version) => {
            exchange(write_beside(parent()?, programs)?, &folder)?;
            replaced = Some(version);
        }
    }
    Ok(Assembly { folder, replaced })
}

/// An error for anything but a free place or an assembled plugin alone.
pub fn site(folder: &Path) -> Result<Site> {
    let described = match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Site::Missing),
        found => found.at("could not look at `{}`", folder)?,
    };
    if !described.is_dir() {
        bail!("`{}` is not a folder\nchoose a new or empty one", folder.display());
    }
    let found = paths_below(folder)?;
    if found.is_empty() {
        return Ok(Site::Empty);
    }
    let record = read_record(folder)?;
    let known: BTreeSet<&str> = record.files.iter().map(String::as_str).collect();
    if let Some(foreign) = found.iter().find(|path| {
        *path != RECORD && !known.contains(path.as_str()) && !is_of_client(folder, path)
    }) {
        bail!(
            "`{}` holds `{foreign}`, which is no part of the plugin\nmove it away, or choose a new or empty folder",
            folder.display()
        );
    }
    Ok(Site::Assembled(record.plugin_version))
}

/// Claude Code put this into the folder: it writes types there for people who edit a plugin with function hooks.
fn is_of_client(folder: &Path, path: &str) -> bool {
    match path {
        // A client that was killed meanwhile has written some of them, or none.
        ".claude-plugin/types" => fs::read_dir(folder.join(path)).is_ok_and(|mut entries| {
            entries.all(|entry| entry.is_ok_and(|entry| is_type(&entry.file_name())))
        }),
        "tsconfig.json" => {
            content(&folder.join(path)).is_ok_and(|file| file.trim_ascii() == TSCONFIG)
        }
        _ => false,
    }
}

/// Claude Code gives its types such names.
fn is_type(name: &OsStr) -> bool {
    name == ".gitignore"
        || name == "tsconfig.json"
        || name.to_str().is_some_and(|name| name.starts_with("claude-code"))
}

/// A foreign folder is refused.
pub fn remove(folder: &Path) -> Result<()> {
    if site(folder)? == Site::Missing {
        return Ok(());
    }
    remove_record_last(folder).at("could not remove the folder `{}`", folder)
}

/// Removes the leftovers of killed assemblies beside the plugin after this age, if they hold nothing but a plugin of
/// any version, or a part of this one.
pub fn remove_leftovers(folder: &Path, age: Duration) {
    let Some(parent) = folder.parent() else { return };
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        let changed = entry.metadata().and_then(|meta| meta.modified()).map(WallTime::from);
        let is_folder = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        if !is_folder || !changed.is_ok_and(|changed| changed.age() >= age) {
            continue;
        }
        // The next run removes what stays now.
        if name.starts_with(ASSEMBLING) && is_plugin_or_part(&path) {
            let _ = remove_record_last(&path);
        } else if name.starts_with(REPLACED) {
            let old = path.join(OLD);
            if is_plugin_or_part(&old) {
                let _ = remove_record_last(&old);
            }
            let _ = fs::remove_dir(&path);
        }
    }
}

/// The folder holds nothing but an assembled plugin, or a part of one of this version.
fn is_plugin_or_part(folder: &Path) -> bool {
    let known = |path: &String| {
        path == RECORD
            || FILES.iter().any(|file| file.path == path)
            || [programs::HOOK, programs::SPOOL].iter().any(|name| *path == format!("bin/{name}"))
    };
    matches!(site(folder), Ok(Site::Empty | Site::Assembled(_)))
        || paths_below(folder).is_ok_and(|paths| paths.iter().all(known))
}

/// The record goes last, so that an interrupted removal leaves a folder that is still known as ours.
fn remove_record_last(folder: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() == RECORD {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    fs::remove_dir_all(folder)
}

/// The files equal this version and these programs byte for byte.
pub fn is_same(folder: &Path, programs: &Programs) -> bool {
    let has =
        |path: &str, here: &[u8]| content(&folder.join(path)).is_ok_and(|there| there == here);
    let has_program = |(name, source): &(&str, &Path)| {
        content(source).is_ok_and(|program| has(&format!("bin/{name}"), &program))
    };
    FILES.iter().all(|file| has(file.path, file.content))
        && programs.named().iter().all(has_program)
}

fn absolute(folder: &Path) -> Result<PathBuf> {
    // Links are followed first: a rename over a link would leave the target behind, of another version.
    if let Ok(real) = real_path(folder) {
        return Ok(real);
    }
    if folder.is_symlink() {
        bail!(
            "`{}` is a symbolic link that leads nowhere\nchoose a new or empty folder",
            folder.display()
        );
    }
    std::path::absolute(folder).at("`{}` is not a usable path", folder)
}

fn read_record(folder: &Path) -> Result<AssemblyRecord> {
    let text = content(&folder.join(RECORD)).unwrap_or_default();
    let record = serde_json::from_slice::<AssemblyRecord>(&text).ok();
    record.filter(|record| record.plugin == NAME).with_context(|| {
        format!(
            "`{}` is not empty and not a plugin that `spool` assembled\nchoose a new or empty folder",
            folder.display()
        )
    })
}

/// All files below `root` as the record has them: relative, with `/`. An empty folder counts only if it is foreign.
fn paths_below(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut waiting = vec![String::new()];
    while let Some(relative) = waiting.pop() {
        let folder = root.join(&relative);
        let entries = fs::read_dir(&folder).at("could not read the folder `{}`", &folder)?;
        for entry in entries {
            let entry = entry.at("could not read the folder `{}`", &folder)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if relative.is_empty() { name } else { format!("{relative}/{name}") };
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && PLUGIN_FOLDERS.contains(&path.as_str()) {
                waiting.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A plugin's folders. Other folders are foreign and are not entered.
const PLUGIN_FOLDERS: &[&str] = &[".claude-plugin", "agents", "bin", "commands", "hooks"];

fn temporary(parent: &Path, prefix: &str) -> Result<TempDir> {
    let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(parent);
    folder.at("could not make a folder in `{}`", parent)
}

fn write_beside(parent: &Path, programs: &Programs) -> Result<TempDir> {
    let fresh = temporary(parent, ASSEMBLING)?;
    fill(fresh.path(), programs)?;
    // A temporary folder is closed to others; a plugin need not be.
    files::open_to_all(fresh.path()).at("could not open `{}` for reading", fresh.path())?;
    Ok(fresh)
}

/// Writes the record first, so that a half-written plugin is known as ours and can be replaced.
fn fill(folder: &Path, programs: &Programs) -> Result<()> {
    let mut paths: Vec<String> = FILES.iter().map(|file| file.path.to_owned()).collect();
    paths.extend(programs.named().map(|(name, _)| format!("bin/{name}")));
    paths.sort();
    let record = AssemblyRecord {
        version: 1,
        plugin: NAME.to_owned(),
        plugin_version: VERSION.to_owned(),
        files: paths,
    };
    let mut record = serde_json::to_vec_pretty(&record)?;
    record.push(b'\n');
    write_file(&folder.join(RECORD), &record, FileUse::Data)?;
    for file in FILES {
        write_file(&folder.join(file.path), file.content, FileUse::Data)?;
    }
    for (name, source) in programs.named() {
        let program = content(source).at("could not read the program `{}`", source)?;
        write_file(&folder.join("bin").join(name), &program, FileUse::Program)?;
    }
    Ok(())
}

fn content(path: &Path) -> Result<Vec<u8>> {
    read::read(path, MOST).map(|content| content.bytes).map_err(|problem| anyhow!("{problem}"))
}

fn write_file(path: &Path, content: &[u8], for_what: FileUse) -> Result<()> {
    let write = || {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut options = fs::OpenOptions::new();
        files::for_all(options.write(true).create_new(true), for_what);
        let mut file = options.open(path)?;
        file.write_all(content)?;
        file.sync_all()
    };
    write().at("could not write `{}`", path)
}

fn put_in_place(fresh: TempDir, folder: &Path) -> Result<()> {
    fs::rename(fresh.path(), folder).at("could not put the plugin in place at `{}`", folder)?;
    // The folder is no longer temporary, so its old name must not be cleaned up.
    let _renamed = fresh.keep();
    Ok(())
}

/// Swaps both folders in one step, so that a hook that starts now finds one whole plugin or the other.
fn exchange(fresh: TempDir, folder: &Path) -> Result<()> {
    let swapped = files::exchange(fresh.path(), folder)
        .at("could not put the plugin in place at `{}`", folder)?;
    if swapped {
        // The temporary name now means the old plugin.
        return remove_record_last(&fresh.keep())
            .context("could not remove the plugin's earlier files");
    }
    // The file system cannot swap.
    replace_in_two_steps(fresh, folder)
}

/// Moves the old folder aside and the new one in. If that fails, the old one comes back.
fn replace_in_two_steps(fresh: TempDir, folder: &Path) -> Result<()> {
    let parent = fresh.path().parent().context("the root of the file system cannot be a plugin")?;
    let aside = temporary(parent, REPLACED)?;
    let old = aside.path().join(OLD);
    fs::rename(folder, &old).at("could not move `{}` aside", folder)?;
    if let Err(error) = put_in_place(fresh, folder) {
        fs::rename(&old, folder).at("could not put `{}` back", folder)?;
        return Err(error);
    }
    remove_record_last(&old)
        .and_then(|()| aside.close())
        .context("could not remove the plugin's earlier files")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(parent: &Path, text: &str) -> TempDir {
        let folder = tempfile::tempdir_in(parent).unwrap();
        fs::write(folder.path().join("file"), text).unwrap();
        folder
    }

    #[test]
    fn unswappable_folder_takes_two_steps() {
        let parent = tempfile::tempdir().unwrap();
        let old = folder_with(parent.path(), "old").keep();
        replace_in_two_steps(folder_with(parent.path(), "new"), &old).unwrap();
        assert_eq!(fs::read_to_string(old.join("file")).unwrap(), "new");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }

    #[test]
    fn failed_step_restores_old_folder() {
        let parent = tempfile::tempdir().unwrap();
        let old = folder_with(parent.path(), "old").keep();
        let fresh = folder_with(parent.path(), "new");
        fs::remove_dir_all(fresh.path()).unwrap();
        replace_in_two_steps(fresh, &old).unwrap_err();
        assert_eq!(fs::read_to_string(old.join("file")).unwrap(), "old");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }
}
