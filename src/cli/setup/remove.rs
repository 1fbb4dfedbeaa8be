//! Removing: plans the steps from the install record and does them one by one, so that it can run again.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;

use super::answer::{COMMANDS, SetupAnswer, SetupArgs, SetupSteps};
use super::data_folder::DataFolder;
use super::files::{exists, is_same_place, remove_file, remove_if_empty};
use super::site::{Places, SetupSite, our_plugin, sweep_claude};
use crate::forms::setup::SetupStepName;
use crate::hosts::claude::commands::USER_COMMANDS;
use crate::plugin::assembly::{self, Site};
use crate::plugin::call::Advise;
use crate::plugin::install_record::{self, InstallRecord, Registration};
use crate::plugin::status_line::{EntryRemoval, settings_of};
use crate::plugin::user_commands::CommandsRemoval;
use crate::plugin::{IDENTIFIER, MARKETPLACE, NAME, programs, status_line, user_commands};
use crate::store::private::state_home;
use crate::store::write::LEFT_ALONE;

/// A launcher of a plain checkout leaves this in our folder to show its hint only once.
const HINT: &str = "install-hint-shown";

/// Fails if the plugin has to be unregistered, but there is no Claude Code.
pub fn run(site: &SetupSite<'_>, args: &SetupArgs) -> Result<ExitCode> {
    let data = &site.places.data;
    let locked = if args.dry_run { None } else { DataFolder::find(data)? };
    let litter = locked.as_ref().map(DataFolder::age_of_litter);
    if let Some(age) = litter {
        site.sweep(age);
    }
    let mut answer = SetupAnswer::to(args);
    let Some(record) = InstallRecord::load(data)? else {
        // A run that was killed after it removed the install record has left the folders.
        if !args.dry_run {
            remove_if_empty(&site.places.bin);
            remove_if_empty(data);
        }
        let record = data.join(install_record::FILE_NAME);
        answer.left(format!("nothing to remove: there is no `{}`", record.display()));
        return answer.end();
    };
    let (steps, unreachable) = plan(site, &record)?;
    if !args.dry_run {
        for registration in &record.registrations {
            sweep_claude(&registration.claude_folder, litter.unwrap_or(LEFT_ALONE));
        }
    }
    answer.perform(steps, &mut record.clone())?;
    if args.dry_run {
        return answer.end();
    }
    if unreachable.is_empty() && data.exists() {
        answer.left(format!("left `{}`: {}", data.display(), why_left(data)));
    }
    for folder in &unreachable {
        answer.problem(&format!(
            "no `claude` was found on PATH, so the plugin is still registered in `{}`\n\
             run `spool setup --remove --claude PATH` with the path of Claude Code",
            folder.display()
        ));
    }
    if let Some(kept) = state_home().ok().filter(|kept| kept.is_dir()) {
        answer.left(format!(
            "left `{}`: it says what you armed and what you trust; remove it by hand if you want",
            kept.display()
        ));
    }
    answer.end()
}

/// The steps, and the configurations that need a missing Claude Code.
fn plan<'a>(
    site: &'a SetupSite<'_>,
    record: &'a InstallRecord,
) -> Result<(SetupSteps<'a>, Vec<&'a Path>)> {
    let mut unreachable = Vec::new();
    let mut steps = SetupSteps::default();
    for registration in &record.registrations {
        let folder = &registration.claude_folder;
        // The client writes the same file when it uninstalls, so our entry goes first.
        if !registration.status_line.is_empty() {
            let what = format!("the status line from `{}`", settings_of(folder).display());
            steps.add(SetupStepName::RemoveStatusLine, what, |record, what| {
                remove_status_line(site, registration, record, what)
            });
        }
        if registration.user_commands {
            let what = format!("{COMMANDS} from `{}`", folder.join("commands").display());
            steps.add(SetupStepName::RemoveCommands, what, |record, what| {
                remove_commands(site, registration, record, what)
            });
        }
        if !plan_to_unregister(site, registration, &mut steps)? {
            unreachable.push(folder.as_path());
        }
    }
    let Places { data, plugin, bin } = &site.places;
    // Asked before any step runs: foreign files in the plugin's folder are an error.
    if assembly::site(plugin)? != Site::Missing {
        let what = format!("the plugin from `{}`", plugin.display());
        steps.add(SetupStepName::RemovePlugin, what, |_, _| assembly::remove(plugin));
    }
    if !record.programs.is_empty() {
        let what = format!("the programs from `{}`", bin.display());
        steps.add(SetupStepName::RemovePrograms, what, |record, what| {
            remove_programs(site, record, what)
        });
    }
    if unreachable.is_empty() {
        let what = format!("`{}`", data.display());
        steps.add(SetupStepName::RemoveInstallRecord, what, |record, what| {
            remove_install_record(data, record, what)
        });
    }
    Ok((steps, unreachable))
}

/// `false`: the plugin may be registered here, and there is no `claude` to ask.
fn plan_to_unregister<'a>(
    site: &'a SetupSite<'_>,
    registration: &'a Registration,
    steps: &mut SetupSteps<'a>,
) -> Result<bool> {
    // A missing configuration has no registration.
    if exists(&registration.claude_folder)? {
        let Some(client) = site.client(registration.claude_config.as_deref()) else {
            return Ok(false);
        };
        let mut copies = registration.copies.clone();
        if let Some(installed) = our_plugin(&client)? {
            let what = format!("the plugin `{IDENTIFIER}` from Claude Code");
            let client = client.clone();
            steps.add(SetupStepName::Uninstall, what, move |_, _| client.uninstall(&[]));
            copies.extend(installed.install_path);
        }
        if client.marketplaces()?.iter().any(|known| site.is_our_marketplace(known)) {
            let what = format!("the marketplace `{MARKETPLACE}` from Claude Code");
            let remove = move |_: &mut _, _: &mut _| client.remove_marketplace();
            steps.add(SetupStepName::RemoveMarketplace, what, remove);
        }
        copies.sort();
        copies.dedup();
        for copy in copies.into_iter().filter(|copy| is_copy_of_ours(copy)) {
            let what = format!("Claude Code's copy in `{}`", copy.display());
            steps.add(SetupStepName::RemoveCopy, what, move |_, _| remove_copy(&copy));
        }
    }
    steps.add(SetupStepName::RemoveInstallRecord, String::new(), |record, _| {
        record.registrations.retain(|known| known.claude_folder != registration.claude_folder);
        record.save(&site.places.data)
    });
    Ok(true)
}

fn remove_programs(
    site: &SetupSite<'_>,
    record: &mut InstallRecord,
    what: &mut String,
) -> Result<()> {
    let is_ours = |name: &&String| [programs::HOOK, programs::SPOOL].contains(&name.as_str());
    for name in record.programs.iter().filter(is_ours) {
        let program = site.places.bin.join(name);
        if cfg!(windows) && is_same_place(&program, &site.environment.program) {
            let left = move_away(&program)?;
            let _ = write!(
                what,
                ", and moved the one that runs to `{}`: remove it later",
                left.display()
            );
        } else {
            remove_file(&program)?;
        }
    }
    remove_if_empty(&site.places.bin);
    record.programs.clear();
    record.save(&site.places.data)
}

fn remove_install_record(data: &Path, record: &InstallRecord, what: &mut String) -> Result<()> {
    remove_file(&data.join(HINT))?;
    remove_file(&data.join(install_record::FILE_NAME))?;
    remove_if_empty(data);
    for folder in record.made_folders.iter().rev().filter(|made| data.starts_with(made)) {
        remove_if_empty(folder);
    }
    if data.exists() {
        what.clear();
    }
    Ok(())
}

fn why_left(data: &Path) -> String {
    let first = fs::read_dir(data).ok().and_then(|mut entries| entries.next()?.ok());
    let name = first.map(|entry| entry.file_name());
    let foreign = name.map(|name| format!("`{}` in it is not of `spool setup`", name.display()));
    foreign.unwrap_or_else(|| "it cannot be removed".to_owned()) + "; remove it by hand"
}

/// Moves the running program into the temporary folder: Windows can move a running program, but not remove it.
fn move_away(program: &Path) -> Result<PathBuf> {
    let place = tempfile::Builder::new().prefix("spool-removed-").suffix(".exe").tempfile();
    let moved = place.map(tempfile::NamedTempFile::into_temp_path).and_then(|place| {
        fs::rename(program, &place)?;
        Ok(place.keep()?)
    });
    moved
        .at("could not move `{}` away, which runs", program)
        .advise("run the same with another copy of it, such as the one of the release")
}

fn remove_commands(
    site: &SetupSite<'_>,
    registration: &Registration,
    record: &mut InstallRecord,
    what: &mut String,
) -> Result<()> {
    let CommandsRemoval { removed, kept } = user_commands::remove(&registration.claude_folder)?;
    for kept in &kept {
        errln!("left alone: `{}` is no longer what `spool setup` put there", kept.display());
    }
    let commands = registration.claude_folder.join("commands");
    if registration.made_commands.as_ref() == Some(&commands) {
        remove_if_empty(&commands);
    }
    if removed.is_empty() {
        what.clear();
    } else if removed.len() < USER_COMMANDS.len() {
        *what = format!("/{} from `{}`", removed.join(", /"), commands.display());
    }
    let claude_config = registration.claude_config.as_deref();
    record.registration(claude_config, &registration.claude_folder).user_commands = false;
    record.save(&site.places.data)
}

fn remove_status_line(
    site: &SetupSite<'_>,
    registration: &Registration,
    record: &mut InstallRecord,
    what: &mut String,
) -> Result<()> {
    let config = &registration.claude_folder;
    let removal = status_line::remove(config, &registration.status_line, &site.status_line())?;
    if removal != EntryRemoval::Removed {
        what.clear();
    }
    if removal == EntryRemoval::LeftAlone {
        errln!(
            "left alone: `statusLine` in `{}` is no longer what `spool setup` put there",
            settings_of(config).display()
        );
    }
    let claude_config = registration.claude_config.as_deref();
    record.registration(claude_config, config).status_line.clear();
    record.save(&site.places.data)
}

/// A path from a file or another program counts only in the form that the client uses.
fn is_copy_of_ours(copy: &Path) -> bool {
    let is_there = copy.is_absolute() && !copy.is_symlink() && copy.is_dir();
    is_there && copy.parent().is_some_and(|at| at.ends_with(Path::new(MARKETPLACE).join(NAME)))
}

fn remove_copy(copy: &Path) -> Result<()> {
    fs::remove_dir_all(copy).at("could not remove `{}`", copy)?;
    for emptied in copy.ancestors().skip(1).take(2) {
        remove_if_empty(emptied);
    }
    Ok(())
}
