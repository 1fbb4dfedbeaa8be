//! Removing: plans the steps from the install record and does them one by one, so that it can run again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use super::answer::{COMMANDS, SetupAnswer};
use super::args::SetupArgs;
use super::data_folder::DataFolder;
use super::files::{exists, is_same_place, remove_file, remove_if_empty};
use super::site::{SetupSite, our_plugin, sweep_claude};
use crate::forms::setup::SetupStepName;
use crate::hosts::claude::commands::USER_COMMANDS;
use crate::plugin::assembly::{self, Site};
use crate::plugin::call::Advise;
use crate::plugin::client::Client;
use crate::plugin::install_record::{self, InstallRecord, Registration};
use crate::plugin::status_line::{EntryRemoval, settings_of};
use crate::plugin::user_commands::CommandsRemoval;
use crate::plugin::{IDENTIFIER, MARKETPLACE, NAME, programs, status_line, user_commands};
use crate::store::private::state_home;
use crate::store::write::LEFT_ALONE;

/// A launcher of a plain checkout leaves this in our folder to show its hint only once.
const HINT: &str = "install-hint-shown";

struct RemovalStep {
    /// `None` for the end of a registration, which only the install record knows.
    name: Option<SetupStepName>,
    /// What is removed, in words.
    what: String,
    /// Empty for a step that is done once.
    of: Registration,
    /// Only for a copy that is removed.
    copy: PathBuf,
}

impl RemovalStep {
    fn new(name: SetupStepName, what: String, of: &Registration) -> Self {
        Self { name: Some(name), what, of: of.clone(), copy: PathBuf::new() }
    }
}

/// Fails if the plugin has to be unregistered, but there is no Claude Code.
pub fn run(site: &SetupSite<'_>, args: &SetupArgs) -> Result<ExitCode> {
    let data = &site.places.data;
    let locked = if args.dry_run { None } else { DataFolder::find(data)? };
    let litter = locked.as_ref().map(DataFolder::age_of_litter);
    if let Some(age) = litter {
        site.sweep(age);
    }
    let mut answer = SetupAnswer::to(args);
    let Some(mut record) = InstallRecord::load(data)? else {
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
    if args.dry_run {
        for (name, what) in steps.iter().filter_map(|step| Some((step.name?, &step.what))) {
            answer.step(name, what);
        }
        return answer.end();
    }
    for registration in &record.registrations {
        sweep_claude(&registration.claude_folder, litter.unwrap_or(LEFT_ALONE));
    }
    for step in &steps {
        let done = undo(site, step, &mut record)?;
        if step.name == Some(SetupStepName::RemoveInstallRecord) && data.exists() {
            answer.left(format!("left `{}`: {}", data.display(), why_left(data)));
            continue;
        }
        let Some(name) = step.name else { continue };
        match done {
            StepDone::Wholly => answer.step(name, &step.what),
            StepDone::Partly(part) => answer.step(name, &part),
            StepDone::NotAtAll => {}
        }
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

fn why_left(data: &Path) -> String {
    let first = fs::read_dir(data).ok().and_then(|mut entries| entries.next()?.ok());
    first.map_or_else(
        || "it cannot be removed; remove it by hand".to_owned(),
        |entry| {
            let name = entry.file_name();
            format!("`{}` in it is not of `spool setup`; remove it by hand", name.display())
        },
    )
}

/// The steps, and the configurations that need a missing Claude Code.
fn plan(site: &SetupSite<'_>, record: &InstallRecord) -> Result<(Vec<RemovalStep>, Vec<PathBuf>)> {
    let mut unreachable = Vec::new();
    let mut steps = Vec::new();
    for registration in &record.registrations {
        // The client writes the same file when it uninstalls, so our entry goes first.
        if !registration.status_line.is_empty() {
            let file = settings_of(&registration.claude_folder);
            let what = format!("the status line from `{}`", file.display());
            steps.push(RemovalStep::new(SetupStepName::RemoveStatusLine, what, registration));
        }
        if registration.user_commands {
            let folder = registration.claude_folder.join("commands");
            let what = format!("{COMMANDS} from `{}`", folder.display());
            steps.push(RemovalStep::new(SetupStepName::RemoveCommands, what, registration));
        }
        match plan_to_unregister(site, registration)? {
            Some(these) => steps.extend(these),
            None => unreachable.push(registration.claude_folder.clone()),
        }
    }
    let (places, none) = (&site.places, Registration::default());
    // This comes first: foreign files in the plugin's folder are an error.
    if assembly::site(&places.plugin)? != Site::Missing {
        let what = format!("the plugin from `{}`", places.plugin.display());
        steps.push(RemovalStep::new(SetupStepName::RemovePlugin, what, &none));
    }
    if !record.programs.is_empty() {
        let what = format!("the programs from `{}`", places.bin.display());
        steps.push(RemovalStep::new(SetupStepName::RemovePrograms, what, &none));
    }
    if unreachable.is_empty() {
        let what = format!("`{}`", places.data.display());
        steps.push(RemovalStep::new(SetupStepName::RemoveInstallRecord, what, &none));
    }
    Ok((steps, unreachable))
}

/// `None` where nothing is known without `claude`.
fn plan_to_unregister(
    site: &SetupSite<'_>,
    registration: &Registration,
) -> Result<Option<Vec<RemovalStep>>> {
    let mut steps = Vec::new();
    // A missing configuration has no registration.
    if exists(&registration.claude_folder)? {
        let Some(client) = site.client(registration.claude_config.as_deref()) else {
            return Ok(None);
        };
        let mut copies = registration.copies.clone();
        if let Some(installed) = our_plugin(&client)? {
            let what = format!("the plugin `{IDENTIFIER}` from Claude Code");
            steps.push(RemovalStep::new(SetupStepName::Uninstall, what, registration));
            copies.extend(installed.install_path);
        }
        if client.marketplaces()?.iter().any(|known| site.is_our_marketplace(known)) {
            let what = format!("the marketplace `{MARKETPLACE}` from Claude Code");
            steps.push(RemovalStep::new(SetupStepName::RemoveMarketplace, what, registration));
        }
        copies.sort();
        copies.dedup();
        for copy in copies.into_iter().filter(|copy| is_copy_of_ours(copy)) {
            let what = format!("Claude Code's copy in `{}`", copy.display());
            let step = RemovalStep::new(SetupStepName::RemoveCopy, what, registration);
            steps.push(RemovalStep { copy, ..step });
        }
    }
    let (what, copy) = (String::new(), PathBuf::new());
    steps.push(RemovalStep { name: None, what, of: registration.clone(), copy });
    Ok(Some(steps))
}

/// How much of a step was done.
enum StepDone {
    /// All that its description says.
    Wholly,
    /// Only this, in words.
    Partly(String),
    /// Nothing: an earlier run did it, or the file is a person's own.
    NotAtAll,
}

fn undo(site: &SetupSite<'_>, step: &RemovalStep, record: &mut InstallRecord) -> Result<StepDone> {
    let registration = &step.of;
    let Some(name) = step.name else {
        record.registrations.retain(|known| known.claude_folder != registration.claude_folder);
        record.save(&site.places.data)?;
        return Ok(StepDone::NotAtAll);
    };
    match name {
        SetupStepName::RemoveCommands => return remove_commands(site, registration, record),
        SetupStepName::RemoveStatusLine => return remove_status_line(site, registration, record),
        SetupStepName::Uninstall => client_of(site, registration)?.uninstall(&[])?,
        SetupStepName::RemoveMarketplace => client_of(site, registration)?.remove_marketplace()?,
        SetupStepName::RemoveCopy => remove_copy(&step.copy)?,
        SetupStepName::RemovePlugin => assembly::remove(&site.places.plugin)?,
        SetupStepName::RemovePrograms => {
            let mut left = None;
            let is_ours =
                |name: &&String| [programs::HOOK, programs::SPOOL].contains(&name.as_str());
            for name in record.programs.iter().filter(is_ours) {
                let program = site.places.bin.join(name);
                if cfg!(windows) && is_same_place(&program, &site.environment.program) {
                    left = Some(move_away(&program)?);
                } else {
                    remove_file(&program)?;
                }
            }
            remove_if_empty(&site.places.bin);
            record.programs.clear();
            record.save(&site.places.data)?;
            if let Some(left) = left {
                let (bin, left) = (site.places.bin.display(), left.display());
                return Ok(StepDone::Partly(format!(
                    "the programs from `{bin}`, and moved the one that runs to `{left}`: remove it later"
                )));
            }
        }
        SetupStepName::RemoveInstallRecord => {
            remove_file(&site.places.data.join(HINT))?;
            remove_file(&site.places.data.join(install_record::FILE_NAME))?;
            remove_if_empty(&site.places.data);
            for folder in
                record.made_folders.iter().rev().filter(|made| site.places.data.starts_with(made))
            {
                remove_if_empty(folder);
            }
        }
        // A step of the setup itself.
        _ => {}
    }
    Ok(StepDone::Wholly)
}

/// Moves the running program into the temporary folder: Windows can move a running program, but not remove it.
fn move_away(program: &Path) -> Result<PathBuf> {
    let place = tempfile::Builder::new().prefix("spool-removed-").suffix(".exe").tempfile();
    let moved = place.map(tempfile::NamedTempFile::into_temp_path).and_then(|place| {
        fs::rename(program, &place)?;
        Ok(place.keep()?)
    });
    moved
        .with_context(|| format!("could not move `{}` away, which runs", program.display()))
        .advise("run the same with another copy of it, such as the one of the release")
}

fn remove_commands(
    site: &SetupSite<'_>,
    registration: &Registration,
    record: &mut InstallRecord,
) -> Result<StepDone> {
    let CommandsRemoval { removed, kept } = user_commands::remove(&registration.claude_folder)?;
    for kept in &kept {
        errln!("left alone: `{}` is no longer what `spool setup` put there", kept.display());
    }
    let commands = registration.claude_folder.join("commands");
    if registration.made_commands.as_ref() == Some(&commands) {
        remove_if_empty(&commands);
    }
    record
        .registration(registration.claude_config.as_deref(), &registration.claude_folder)
        .user_commands = false;
    record.save(&site.places.data)?;
    Ok(match removed.len() {
        0 => StepDone::NotAtAll,
        all if all == USER_COMMANDS.len() => StepDone::Wholly,
        _ => {
            let (names, folder) = (removed.join(", /"), commands.display());
            StepDone::Partly(format!("/{names} from `{folder}`"))
        }
    })
}

fn remove_status_line(
    site: &SetupSite<'_>,
    registration: &Registration,
    record: &mut InstallRecord,
) -> Result<StepDone> {
    let config = &registration.claude_folder;
    let removal = status_line::remove(config, &registration.status_line, &site.status_line())?;
    if removal == EntryRemoval::LeftAlone {
        errln!(
            "left alone: `statusLine` in `{}` is no longer what `spool setup` put there",
            settings_of(config).display()
        );
    }
    let claude_config = registration.claude_config.as_deref();
    record.registration(claude_config, config).status_line.clear();
    record.save(&site.places.data)?;
    let is_removed = removal == EntryRemoval::Removed;
    Ok(if is_removed { StepDone::Wholly } else { StepDone::NotAtAll })
}

fn client_of(site: &SetupSite<'_>, registration: &Registration) -> Result<Client> {
    site.client(registration.claude_config.as_deref()).context("no `claude` was found")
}

/// A path from a file or another program counts only in the form that the client uses.
fn is_copy_of_ours(copy: &Path) -> bool {
    let plugin = copy.parent().and_then(Path::file_name);
    let marketplace = copy.parent().and_then(Path::parent).and_then(Path::file_name);
    copy.is_absolute()
        && plugin.is_some_and(|name| name == NAME)
        && marketplace.is_some_and(|name| name == MARKETPLACE)
        && !copy.is_symlink()
        && copy.is_dir()
}

fn remove_copy(copy: &Path) -> Result<()> {
    fs::remove_dir_all(copy).with_context(|| format!("could not remove `{}`", copy.display()))?;
    for emptied in copy.ancestors().skip(1).take(2) {
        remove_if_empty(emptied);
    }
    Ok(())
}
