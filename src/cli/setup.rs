//! `spool setup`: installs the plugin for this user, and takes away exactly what it installed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use super::environment::Environment;
use crate::exec::find::find;
use crate::plugin::assembly::{self, Site};
use crate::plugin::call::Advise;
use crate::plugin::client::{self, Client, InstalledPlugin, PluginData};
use crate::plugin::receipt::{self, Receipt, Registration};
use crate::plugin::{IDENTIFIER, MARKETPLACE, NAME, Programs, VERSION, programs, user_commands};
use crate::store::pins::state_home;
use crate::store::write::{LEFT_ALONE, remove_leftovers};
use crate::world;

/// Install the plugin into Claude Code, or remove it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
What it does:
  1. writes the plugin, with its programs, to ~/.local/share/ralph-speckit/plugin
  2. copies `spool` and `ralph-hook` to ~/.local/share/ralph-speckit/bin
  3. makes the plugin known to Claude Code, with `claude plugin marketplace add` and
     `claude plugin install speckit@ralph-speckit`
  4. with --user-commands: writes ralph-loop.md, ulw-loop.md and cancel-ralph.md to ~/.claude/commands,
     unless other files of that name are there. They stay until `spool setup --remove`
Run it again after an update. `XDG_DATA_HOME` and `CLAUDE_CONFIG_DIR` are respected.

Exit status: 0 when everything was done, 1 when something was not.")]
pub struct SetupArgs {
    /// Undo exactly what an earlier `spool setup` did
    #[arg(long)]
    remove: bool,

    /// Also offer /ralph-loop, /ulw-loop and /cancel-ralph, without the plugin's prefix
    #[arg(long, conflicts_with = "remove")]
    user_commands: bool,

    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,

    /// The Claude Code to use, instead of the first `claude` on PATH
    #[arg(long, value_name = "PATH")]
    claude: Option<PathBuf>,
}

/// How the name of a program begins while it is being copied.
const COPYING: &str = ".spool-copy-";

/// One thing that is done, or undone.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    WritePlugin { replaced: Option<String> },
    CopyPrograms,
    WriteCommands(PathBuf),
    AddMarketplace,
    Install,
    Reinstall,
    Enable,
    Uninstall(Registration),
    RemoveMarketplace(Registration),
    RemoveCopy(PathBuf),
    RemoveCommands(Registration),
    Forget(Registration),
    RemovePlugin,
    RemovePrograms(Vec<String>),
    RemoveReceipt,
}

/// Whether a step is told of before or after it happened.
#[derive(Debug, Clone, Copy)]
enum Tense {
    Would,
    Did,
}

/// Where everything lies.
#[derive(Debug)]
struct Places {
    data: PathBuf,
    plugin: PathBuf,
    bin: PathBuf,
}

/// Returns success when all was done, failure when Claude Code could not be told.
pub fn run(args: &SetupArgs) -> Result<ExitCode> {
    let environment = Environment::of_this_process()?;
    let setup = Setup::new(&environment, args.claude.as_deref())?;
    if args.remove { setup.take_away(args) } else { setup.install(args) }
}

struct Setup<'a> {
    environment: &'a Environment,
    places: Places,
    claude: Option<PathBuf>,
}

impl<'a> Setup<'a> {
    fn new(environment: &'a Environment, claude: Option<&Path>) -> Result<Self> {
        let data = environment.data_folder();
        let places = Places { plugin: data.join("plugin"), bin: data.join("bin"), data };
        let claude = match claude {
            Some(named) => Some(named.canonicalize().with_context(|| {
                format!("could not find the Claude Code `{}`", named.display())
            })?),
            None => find("claude"),
        };
        Ok(Self { environment, places, claude })
    }

    fn install(&self, args: &SetupArgs) -> Result<ExitCode> {
        let programs = Programs::beside(&self.environment.program)?;
        let mut receipt = Receipt::load(&self.places.data)?.unwrap_or_default();
        let client = self.client(self.environment.claude_config.as_deref());
        let mut steps = self.steps_for_files(&receipt)?;
        let config = self.environment.claude_folder();
        let mut known = receipt.registrations.iter();
        let has_commands = known.any(|it| it.claude_folder == config && it.user_commands);
        if args.user_commands || has_commands {
            user_commands::check(&config)?;
            steps.push(Step::WriteCommands(config.clone()));
        }
        if let Some(client) = &client {
            steps.extend(self.steps_for_client(client, &programs)?);
        }
        if args.dry_run {
            self.tell(&steps);
            if client.is_none() {
                self.say_that_there_is_no_client(Tense::Would);
            }
            return Ok(ExitCode::SUCCESS);
        }

        receipt.version = 1;
        VERSION.clone_into(&mut receipt.plugin_version);
        receipt.made_folders.extend(missing_folders(&self.places.data));
        receipt.programs = programs.named().map(|(name, _)| name.to_owned()).to_vec();
        fs::create_dir_all(&self.places.data).with_context(|| {
            format!("could not make the folder `{}`", self.places.data.display())
        })?;
        if client.is_some() {
            // Noted before it is done: to take away what was not done after all does no harm.
            receipt.registration(
                self.environment.claude_config.as_deref(),
                &self.environment.claude_folder(),
            );
        }
        if args.user_commands {
            let noted = receipt.registration(self.environment.claude_config.as_deref(), &config);
            noted.user_commands = true;
            let commands = config.join("commands");
            if noted.made_commands.is_none() && !exists(&commands)? {
                noted.made_commands = Some(commands);
            }
        }
        receipt.save(&self.places.data)?;
        self.sweep();

        for step in &steps {
            self.perform(step, &programs, client.as_ref())?;
            outln!("{}", self.describe(step, Tense::Did));
        }
        let Some(client) = client else {
            self.say_that_there_is_no_client(Tense::Did);
            return Ok(ExitCode::FAILURE);
        };
        let installed = check_installed(&client)?;
        self.note_copy(&mut receipt, &installed)?;
        outln!(
            "\nnext: restart Claude Code in a project that has a tasks.md, and type /speckit:implement\n\
             `spool doctor` tells whether anything is in the way"
        );
        Ok(ExitCode::SUCCESS)
    }

    fn steps_for_files(&self, receipt: &Receipt) -> Result<Vec<Step>> {
        let replaced = match assembly::site(&self.places.plugin)? {
            Site::Assembled(version) => Some(version),
            Site::Missing | Site::Empty => None,
        };
        for name in [programs::HOOK, programs::SPOOL] {
            let path = self.places.bin.join(name);
            if exists(&path)? && !receipt.programs.iter().any(|known| known == name) {
                bail!(
                    "`{}` is there already, and `spool setup` did not put it there\nmove it away first",
                    path.display()
                );
            }
        }
        Ok(vec![Step::WritePlugin { replaced }, Step::CopyPrograms])
    }

    fn steps_for_client(&self, client: &Client, programs: &Programs) -> Result<Vec<Step>> {
        let version = client.version()?;
        if version < client::OLDEST {
            bail!(
                "Claude Code {version} is too old: the plugin needs {} or later\nupdate it with `claude update`",
                client::OLDEST
            );
        }
        let mut steps = Vec::new();
        match client.marketplaces()?.into_iter().find(|known| known.name == MARKETPLACE) {
            None => steps.push(Step::AddMarketplace),
            Some(known)
                if known
                    .path
                    .as_deref()
                    .is_some_and(|path| is_same_place(path, &self.places.plugin)) => {}
            Some(known) => bail!(
                "Claude Code already has a marketplace `{MARKETPLACE}`, from {}\nremove it first: `claude plugin marketplace remove {MARKETPLACE}`",
                known
                    .path
                    .map_or_else(|| "elsewhere".to_owned(), |path| format!("`{}`", path.display()))
            ),
        }
        match our_plugin(client)? {
            None => steps.push(Step::Install),
            Some(installed)
                if !installed
                    .install_path
                    .as_deref()
                    .is_some_and(|copy| assembly::is_same(copy, programs)) =>
            {
                steps.push(Step::Reinstall);
            }
            Some(installed) if !installed.enabled => steps.push(Step::Enable),
            Some(_) => {}
        }
        Ok(steps)
    }

    fn take_away(&self, args: &SetupArgs) -> Result<ExitCode> {
        if !args.dry_run {
            self.sweep();
        }
        let Some(mut receipt) = Receipt::load(&self.places.data)? else {
            // Whoever was killed after the receipt was gone has left the folders.
            for folder in [&self.places.bin, &self.places.data] {
                remove_if_empty(folder);
            }
            outln!(
                "nothing to remove: there is no `{}`",
                self.places.data.join(receipt::FILE_NAME).display()
            );
            return Ok(ExitCode::SUCCESS);
        };
        let mut unreachable = Vec::new();
        let mut steps = Vec::new();
        for registration in &receipt.registrations {
            if registration.user_commands {
                steps.push(Step::RemoveCommands(registration.clone()));
            }
            match self.steps_to_unregister(registration)? {
                Some(these) => steps.extend(these),
                None => unreachable.push(registration.claude_folder.clone()),
            }
        }
        // Before anything is undone: a plugin folder that holds somebody's files is theirs to sort out.
        match assembly::site(&self.places.plugin)? {
            Site::Missing => {}
            Site::Empty | Site::Assembled(_) => steps.push(Step::RemovePlugin),
        }
        if !receipt.programs.is_empty() {
            steps.push(Step::RemovePrograms(receipt.programs.clone()));
        }
        if unreachable.is_empty() {
            steps.push(Step::RemoveReceipt);
        }
        if args.dry_run {
            self.tell(&steps);
            return Ok(ExitCode::SUCCESS);
        }
        for step in &steps {
            self.undo(step, &mut receipt)?;
            if !matches!(step, Step::Forget(_)) {
                outln!("{}", self.describe(step, Tense::Did));
            }
        }
        for folder in &unreachable {
            errln!(
                "error: no `claude` was found on PATH, so the plugin is still registered in `{}`\n\
                 run `spool setup --remove --claude PATH` with the path of Claude Code",
                folder.display()
            );
        }
        if let Some(kept) = state_home().ok().filter(|kept| kept.is_dir()) {
            outln!(
                "left `{}`: it says what you armed and what you trust; remove it by hand if you want",
                kept.display()
            );
        }
        Ok(if unreachable.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// What must be undone in one configuration; nothing can be said when there is no `claude` to ask.
    fn steps_to_unregister(&self, registration: &Registration) -> Result<Option<Vec<Step>>> {
        let mut steps = Vec::new();
        // A configuration that is gone took the registration with it.
        if exists(&registration.claude_folder)? {
            let Some(client) = self.client(registration.claude_config.as_deref()) else {
                return Ok(None);
            };
            let mut copies = registration.copies.clone();
            if let Some(installed) = our_plugin(&client)? {
                steps.push(Step::Uninstall(registration.clone()));
                copies.extend(installed.install_path);
            }
            let ours = |known: &client::Marketplace| {
                known.name == MARKETPLACE
                    && known
                        .path
                        .as_deref()
                        .is_some_and(|path| is_same_place(path, &self.places.plugin))
            };
            if client.marketplaces()?.iter().any(ours) {
                steps.push(Step::RemoveMarketplace(registration.clone()));
            }
            copies.sort();
            copies.dedup();
            steps.extend(
                copies.into_iter().filter(|copy| is_copy_of_ours(copy)).map(Step::RemoveCopy),
            );
        }
        steps.push(Step::Forget(registration.clone()));
        Ok(Some(steps))
    }

    fn perform(&self, step: &Step, programs: &Programs, client: Option<&Client>) -> Result<()> {
        match step {
            Step::WritePlugin { .. } => {
                assembly::assemble(&self.places.plugin, programs)?;
                return Ok(());
            }
            Step::CopyPrograms => return self.copy_programs(programs),
            Step::WriteCommands(config) => return user_commands::write(config),
            _ => {}
        }
        let client = client.context("no `claude` was found")?;
        let told = match step {
            Step::AddMarketplace => client.add_marketplace(&self.places.plugin),
            Step::Install => client.install(IDENTIFIER),
            Step::Reinstall => client
                .uninstall(IDENTIFIER, PluginData::Keep)
                .and_then(|()| client.install(IDENTIFIER)),
            Step::Enable => client.enable(IDENTIFIER),
            _ => Ok(()),
        };
        told.context("could not tell Claude Code of the plugin").advise(format_args!(
            "put that right and run `spool setup` again; until then: claude --plugin-dir '{}'",
            self.places.plugin.display()
        ))
    }

    fn undo(&self, step: &Step, receipt: &mut Receipt) -> Result<()> {
        match step {
            Step::Uninstall(registration) => {
                self.client_of(registration)?.uninstall(IDENTIFIER, PluginData::Discard)
            }
            Step::RemoveMarketplace(registration) => {
                self.client_of(registration)?.remove_marketplace(MARKETPLACE)
            }
            Step::RemoveCopy(copy) => remove_copy(copy),
            Step::RemoveCommands(registration) => {
                for kept in user_commands::remove(&registration.claude_folder)? {
                    errln!(
                        "left alone: `{}` is no longer what `spool setup` put there",
                        kept.display()
                    );
                }
                let commands = registration.claude_folder.join("commands");
                if registration.made_commands.as_ref() == Some(&commands) {
                    remove_if_empty(&commands);
                }
                receipt
                    .registration(
                        registration.claude_config.as_deref(),
                        &registration.claude_folder,
                    )
                    .user_commands = false;
                receipt.save(&self.places.data)
            }
            Step::Forget(registration) => {
                receipt
                    .registrations
                    .retain(|known| known.claude_folder != registration.claude_folder);
                receipt.save(&self.places.data)
            }
            Step::RemovePlugin => assembly::remove(&self.places.plugin).map(drop),
            Step::RemovePrograms(names) => {
                for name in names.iter().filter(|name| is_program_name(name)) {
                    remove_file(&self.places.bin.join(name))?;
                }
                remove_if_empty(&self.places.bin);
                receipt.programs.clear();
                receipt.save(&self.places.data)
            }
            Step::RemoveReceipt => {
                remove_file(&self.places.data.join(HINT))?;
                remove_file(&self.places.data.join(receipt::FILE_NAME))?;
                remove_if_empty(&self.places.data);
                for folder in receipt
                    .made_folders
                    .iter()
                    .rev()
                    .filter(|made| self.places.data.starts_with(made))
                {
                    remove_if_empty(folder);
                }
                Ok(())
            }
            Step::WritePlugin { .. }
            | Step::CopyPrograms
            | Step::WriteCommands(_)
            | Step::AddMarketplace
            | Step::Install
            | Step::Reinstall
            | Step::Enable => Ok(()),
        }
    }

    /// Removes what an earlier `spool setup` left that was killed while it wrote.
    fn sweep(&self) {
        assembly::remove_leftovers(&self.places.plugin);
        remove_leftovers(&self.places.data.join(receipt::FILE_NAME), LEFT_ALONE);
        for entry in fs::read_dir(&self.places.bin).into_iter().flatten().flatten() {
            let age = entry.metadata().and_then(|meta| meta.modified()).map(world::millis);
            let is_ours = entry.file_name().to_string_lossy().starts_with(COPYING);
            let old = world::now().saturating_sub(LEFT_ALONE.as_millis() as u64);
            if is_ours && age.is_ok_and(|changed| changed < old) {
                // It is only litter: what cannot be removed now is removed the next time.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn copy_programs(&self, programs: &Programs) -> Result<()> {
        fs::create_dir_all(&self.places.bin).with_context(|| {
            format!("could not make the folder `{}`", self.places.bin.display())
        })?;
        for (name, source) in programs.named() {
            let target = self.places.bin.join(name);
            if target.canonicalize().is_ok_and(|there| there == source) {
                continue;
            }
            let copy = || -> Result<()> {
                let file =
                    tempfile::Builder::new().prefix(COPYING).tempfile_in(&self.places.bin)?;
                fs::copy(source, file.path())?;
                fs::set_permissions(file.path(), fs::Permissions::from_mode(0o755))?;
                file.as_file().sync_all()?;
                // A path, not an open file, is what can be started.
                file.into_temp_path().persist(&target)?;
                Ok(())
            };
            copy().with_context(|| format!("could not write `{}`", target.display()))?;
        }
        Ok(())
    }

    fn note_copy(&self, receipt: &mut Receipt, installed: &InstalledPlugin) -> Result<()> {
        let Some(copy) = &installed.install_path else {
            return Ok(());
        };
        let folder = self.environment.claude_folder();
        let registration = receipt.registration(self.environment.claude_config.as_deref(), &folder);
        if !registration.copies.contains(copy) {
            registration.copies.push(copy.clone());
        }
        receipt.save(&self.places.data)
    }

    fn client(&self, config: Option<&Path>) -> Option<Client> {
        // In a folder of ours, so that the settings of the project at hand are neither read nor changed.
        let folder =
            if self.places.data.is_dir() { &self.places.data } else { &self.environment.home };
        self.claude.as_deref().map(|program| Client::new(program, config, folder))
    }

    fn client_of(&self, registration: &Registration) -> Result<Client> {
        self.client(registration.claude_config.as_deref()).context("no `claude` was found")
    }

    fn tell(&self, steps: &[Step]) {
        for step in steps.iter().filter(|step| !matches!(step, Step::Forget(_))) {
            outln!("{}", self.describe(step, Tense::Would));
        }
    }

    fn say_that_there_is_no_client(&self, tense: Tense) {
        let is = match tense {
            Tense::Would => "would be",
            Tense::Did => "is",
        };
        errln!(
            "error: no `claude` was found on PATH, so the plugin {is} complete but not registered\n\
             run `spool setup --claude PATH` with the path of Claude Code, or load the plugin for one session:\n\
             claude --plugin-dir '{}'",
            self.places.plugin.display()
        );
    }

    fn describe(&self, step: &Step, tense: Tense) -> String {
        let plugin = self.places.plugin.display();
        let (would, did, what) = match step {
            Step::WritePlugin { replaced: None } => {
                ("write", "wrote", format!("the plugin {VERSION} to `{plugin}`"))
            }
            Step::WritePlugin { replaced: Some(version) } => (
                "write",
                "wrote",
                format!("the plugin {VERSION} to `{plugin}`, in place of {version}"),
            ),
            Step::CopyPrograms => (
                "copy",
                "copied",
                format!("`spool` and `ralph-hook` to `{}`", self.places.bin.display()),
            ),
            Step::WriteCommands(config) => (
                "write",
                "wrote",
                format!(
                    "the commands /ralph-loop, /ulw-loop and /cancel-ralph to `{}`",
                    config.join("commands").display()
                ),
            ),
            Step::RemoveCommands(registration) => (
                "remove",
                "removed",
                format!(
                    "the commands /ralph-loop, /ulw-loop and /cancel-ralph from `{}`",
                    registration.claude_folder.join("commands").display()
                ),
            ),
            Step::AddMarketplace => {
                ("add", "added", format!("the marketplace `{MARKETPLACE}` to Claude Code"))
            }
            Step::Install => {
                ("install", "installed", format!("the plugin `{IDENTIFIER}` in Claude Code"))
            }
            Step::Reinstall => {
                ("renew", "renewed", format!("the plugin `{IDENTIFIER}` in Claude Code"))
            }
            Step::Enable => {
                ("switch on", "switched on", format!("the plugin `{IDENTIFIER}` in Claude Code"))
            }
            Step::Uninstall(_) => {
                ("uninstall", "uninstalled", format!("the plugin `{IDENTIFIER}` from Claude Code"))
            }
            Step::RemoveMarketplace(_) => {
                ("remove", "removed", format!("the marketplace `{MARKETPLACE}` from Claude Code"))
            }
            Step::RemoveCopy(copy) => {
                ("remove", "removed", format!("Claude Code's copy in `{}`", copy.display()))
            }
            Step::Forget(registration) => (
                "forget",
                "forgot",
                format!("the registration in `{}`", registration.claude_folder.display()),
            ),
            Step::RemovePlugin => ("remove", "removed", format!("the plugin from `{plugin}`")),
            Step::RemovePrograms(_) => {
                ("remove", "removed", format!("the programs from `{}`", self.places.bin.display()))
            }
            Step::RemoveReceipt => {
                let data = self.places.data.display();
                if matches!(tense, Tense::Did) && self.places.data.exists() {
                    return format!("left `{data}`: it is not empty or cannot be removed");
                }
                ("remove", "removed", format!("`{data}`"))
            }
        };
        match tense {
            Tense::Would => format!("would {would} {what}"),
            Tense::Did => format!("{did} {what}"),
        }
    }
}

/// What a launcher of a plain checkout leaves in our folder, to say its piece only once.
const HINT: &str = "install-hint-shown";

/// What the client lists after the installation; an error when it cannot use it.
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

fn our_plugin(client: &Client) -> Result<Option<InstalledPlugin>> {
    Ok(client.plugins()?.into_iter().find(|plugin| plugin.id == IDENTIFIER))
}

fn is_same_place(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// A path out of a file or of another program's answer is believed only where it looks as the client makes it.
fn is_copy_of_ours(copy: &Path) -> bool {
    let plugin = copy.parent().and_then(Path::file_name);
    let marketplace = copy.parent().and_then(Path::parent).and_then(Path::file_name);
    copy.is_absolute()
        && plugin.is_some_and(|name| name == NAME)
        && marketplace.is_some_and(|name| name == MARKETPLACE)
        && !copy.is_symlink()
        && copy.is_dir()
}

/// Whether something is at `path`; an error where that cannot be seen: nothing is added or removed on a guess.
fn exists(path: &Path) -> Result<bool> {
    path.try_exists().with_context(|| format!("could not look at `{}`", path.display()))
}

fn is_program_name(name: &str) -> bool {
    [programs::HOOK, programs::SPOOL].contains(&name)
}

fn remove_copy(copy: &Path) -> Result<()> {
    fs::remove_dir_all(copy).with_context(|| format!("could not remove `{}`", copy.display()))?;
    for emptied in copy.ancestors().skip(1).take(2) {
        remove_if_empty(emptied);
    }
    Ok(())
}

fn remove_file(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("could not remove `{}`", path.display()))
        }
        _ => Ok(()),
    }
}

/// A folder with anything in it is somebody else's by now, and stays.
fn remove_if_empty(folder: &Path) {
    let _left = fs::remove_dir(folder);
}

/// The folders of `path` that do not exist yet, the outermost first.
fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> =
        path.ancestors().take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    missing.reverse();
    missing
}
