//! Installing: looks around, plans the steps, notes them in the install record, and does them.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use super::answer::{COMMANDS, SetupAnswer, SetupArgs, SetupSteps};
use super::data_folder::DataFolder;
use super::files::exists;
use super::site::{COPYING, Places, SetupSite, our_plugin, sweep_claude};
use crate::exec::find::find;
use crate::forms::setup::SetupStepName;
use crate::plugin::assembly::{self, Site};
use crate::plugin::call::Advise;
use crate::plugin::client::{self, Client, InstalledPlugin};
use crate::plugin::install_record::InstallRecord;
use crate::plugin::{
    IDENTIFIER, MARKETPLACE, Programs, VERSION, programs, status_line, user_commands,
};
use crate::system::files::{self, real_path};

/// Fails without Claude Code.
pub fn run(site: &SetupSite<'_>, args: &SetupArgs) -> Result<ExitCode> {
    let programs = Programs::beside(&site.environment.program)?;
    let data = if args.dry_run { None } else { Some(DataFolder::make(&site.places.data)?) };
    let mut record = InstallRecord::load(&site.places.data)?.unwrap_or_default();
    let client = site.client(site.environment.claude_config.as_deref());
    let steps = plan(site, &record, client.as_ref(), &programs, args)?;
    let mut answer = SetupAnswer::to(args);
    if let Some(data) = &data {
        record.made_folders.extend_from_slice(data.made());
        note(site, &mut record, &programs, client.as_ref(), args)?;
        site.sweep(data.age_of_litter());
        sweep_claude(&site.config, data.age_of_litter());
    }
    answer.perform(steps, &mut record)?;
    let Some(client) = &client else {
        let is = if args.dry_run { "would be" } else { "is" };
        answer.problem(&format!(
            "no `claude` was found on PATH, so the plugin {is} complete but not registered\n\
             run `spool setup --claude PATH` with the path of Claude Code, or load the plugin for one session:\n\
             claude --plugin-dir '{}'",
            site.places.plugin.display()
        ));
        return answer.end();
    };
    if data.is_some() {
        note_copy(site, &mut record, &check_installed(client)?)?;
        answer.next(&format!(
            "restart Claude Code in a spec-kit project, and type /speckit:implement\n\
             anywhere else, type /speckit:ralph-loop \"TASK\"\n\
             spec-kit's own /speckit-implement loops as well from now on\n\
             to switch that off in a project: `spec_kit_command: false` in `.claude/ralph-speckit.local.md`\n\
             {} checks that everything works",
            doctor(site)
        ));
    }
    answer.end()
}

/// A person's command for `spool doctor`. npx's `PATH` is gone afterwards.
fn doctor(site: &SetupSite<'_>) -> String {
    let found = find(programs::SPOOL);
    if found.is_some_and(|found| found.iter().all(|part| part != "_npx")) {
        return "`spool doctor`".to_owned();
    }
    let spool = site.places.bin.join(programs::SPOOL);
    format!("`spool` is not on your PATH: `{} doctor`", spool.display())
}

/// The steps that are left. Fails if a foreign file is in the way.
fn plan<'a>(
    site: &'a SetupSite<'_>,
    record: &InstallRecord,
    client: Option<&'a Client>,
    programs: &'a Programs,
    args: &SetupArgs,
) -> Result<SetupSteps<'a>> {
    let mut steps = SetupSteps::default();
    plan_files(site, record, programs, &mut steps)?;
    let config = &site.config;
    let mut known = record.registrations.iter();
    let has_commands = known.any(|known| known.claude_folder == *config && known.user_commands);
    if args.extras.user_commands || has_commands {
        user_commands::check(config)?;
        let what = format!("{COMMANDS} to `{}`", config.join("commands").display());
        steps.add(SetupStepName::WriteCommands, what, |_, _| user_commands::write(config));
    }
    if let Some(client) = client {
        plan_client(site, client, programs, &mut steps)?;
    }
    // The client writes the same file when it installs, so our entry comes after that.
    if args.extras.statusline && status_line::with_entry(config, &site.status_line())?.is_some() {
        let what = format!("the status line to `{}`", status_line::settings_of(config).display());
        let put = |record: &mut _, _: &mut _| put_status_line(site, record);
        steps.add(SetupStepName::WriteStatusLine, what, put);
    }
    Ok(steps)
}

fn plan_files<'a>(
    site: &'a SetupSite<'_>,
    record: &InstallRecord,
    programs: &'a Programs,
    steps: &mut SetupSteps<'a>,
) -> Result<()> {
    let Places { plugin, bin, .. } = &site.places;
    let instead = match assembly::site(plugin)? {
        Site::Assembled(version) => format!(", in place of {version}"),
        Site::Missing | Site::Empty => String::new(),
    };
    for name in [programs::HOOK, programs::SPOOL] {
        let path = bin.join(name);
        if exists(&path)? && !record.programs.iter().any(|known| known == name) {
            bail!(
                "`{}` is there already, and `spool setup` did not put it there\nmove it away first",
                path.display()
            );
        }
    }
    let what = format!("the plugin {VERSION} to `{}`{instead}", plugin.display());
    let write = |_: &mut _, _: &mut _| assembly::assemble(plugin, programs).map(drop);
    steps.add(SetupStepName::WritePlugin, what, write);
    let what = format!("`spool` and `ralph-hook` to `{}`", bin.display());
    steps.add(SetupStepName::CopyPrograms, what, |_, _| copy_programs(bin, programs));
    Ok(())
}

fn plan_client<'a>(
    site: &'a SetupSite<'_>,
    client: &'a Client,
    programs: &Programs,
    steps: &mut SetupSteps<'a>,
) -> Result<()> {
    let version = client.version()?;
    if version < client::OLDEST {
        bail!(
            "Claude Code {version} is too old: the plugin needs {} or later\nupdate it with `claude update`",
            client::OLDEST
        );
    }
    let plugin = &site.places.plugin;
    let mut add = |name, what, register: fn(&Client, &Path) -> Result<()>| {
        steps.add(name, what, move |_, _| {
            let registered = register(client, plugin);
            registered.context("could not register the plugin in Claude Code").advise(format_args!(
                "fix that and run `spool setup` again; until then: claude --plugin-dir '{}'",
                plugin.display()
            ))
        });
    };
    match client.marketplaces()?.into_iter().find(|known| known.name == MARKETPLACE) {
        None => {
            let what = format!("the marketplace `{MARKETPLACE}` to Claude Code");
            add(SetupStepName::AddMarketplace, what, Client::add_marketplace);
        }
        Some(known) if site.is_our_marketplace(&known) => {}
        Some(known) => bail!(
            "Claude Code already has a marketplace `{MARKETPLACE}`, from {}\nremove it first: `claude plugin marketplace remove {MARKETPLACE}`",
            known
                .path
                .map_or_else(|| "elsewhere".to_owned(), |path| format!("`{}`", path.display()))
        ),
    }
    let is_same = |copy: &Path| assembly::is_same(copy, programs);
    let what = format!("the plugin `{IDENTIFIER}` in Claude Code");
    match our_plugin(client)? {
        None => add(SetupStepName::Install, what, |client, _| client.install()),
        Some(installed) if !installed.install_path.as_deref().is_some_and(is_same) => {
            add(SetupStepName::Reinstall, what, |client, _| {
                client.uninstall(&["--keep-data"]).and_then(|()| client.install())
            });
        }
        Some(installed) if !installed.enabled => {
            add(SetupStepName::Enable, what, |client, _| client.enable());
        }
        Some(_) => {}
    }
    Ok(())
}

/// Notes steps before they are done: removing an undone step does no harm.
fn note(
    site: &SetupSite<'_>,
    record: &mut InstallRecord,
    programs: &Programs,
    client: Option<&Client>,
    args: &SetupArgs,
) -> Result<()> {
    record.version = 1;
    VERSION.clone_into(&mut record.plugin_version);
    record.programs = programs.named().map(|(name, _)| name.to_owned()).to_vec();
    if client.is_some() || args.extras.user_commands {
        let noted = site.registration(record);
        if args.extras.user_commands {
            noted.user_commands = true;
            let commands = site.config.join("commands");
            if noted.made_commands.is_none() && !exists(&commands)? {
                noted.made_commands = Some(commands);
            }
        }
    }
    record.save(&site.places.data)
}

fn copy_programs(bin: &Path, programs: &Programs) -> Result<()> {
    fs::create_dir_all(bin).at("could not make the folder `{}`", bin)?;
    for (name, source) in programs.named() {
        let target = bin.join(name);
        if real_path(&target).is_ok_and(|there| there == source) {
            continue;
        }
        let copy = || -> Result<()> {
            let file = tempfile::Builder::new().prefix(COPYING).tempfile_in(bin)?;
            // A path, not an open file: Windows cannot replace an open file, and no system starts one.
            let copied = file.into_temp_path();
            fs::copy(source, &copied)?;
            files::open_to_all(&copied)?;
            fs::File::options().write(true).open(&copied)?.sync_all()?;
            copied.persist(&target)?;
            Ok(())
        };
        copy().at("could not write `{}`", &target)?;
    }
    Ok(())
}

fn note_copy(
    site: &SetupSite<'_>,
    record: &mut InstallRecord,
    installed: &InstalledPlugin,
) -> Result<()> {
    let Some(copy) = &installed.install_path else { return Ok(()) };
    let registration = site.registration(record);
    if !registration.copies.contains(copy) {
        registration.copies.push(copy.clone());
    }
    record.save(&site.places.data)
}

/// Notes the entry first, then writes it.
fn put_status_line(site: &SetupSite<'_>, record: &mut InstallRecord) -> Result<()> {
    let Some(settings) = status_line::with_entry(&site.config, &site.status_line())? else {
        return Ok(());
    };
    site.registration(record).status_line.clone_from(&settings.entry);
    record.save(&site.places.data)?;
    status_line::write(&site.config, &settings)
}

/// Fails if the client cannot use the installed plugin.
fn check_installed(client: &Client) -> Result<InstalledPlugin> {
    let installed = our_plugin(client)?.with_context(|| {
        format!("Claude Code does not list `{IDENTIFIER}`, although it was installed")
    })?;
    if !installed.errors.is_empty() {
        bail!("Claude Code cannot load the plugin: {}", installed.errors.join("; "));
    }
    if !installed.enabled {
        bail!(
            "Claude Code has the plugin switched off\nswitch it on: `claude plugin enable {IDENTIFIER}`"
        );
    }
    Ok(installed)
}
