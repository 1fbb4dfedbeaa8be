//! `spool trust`: a person reads the commands in a repository's own files, and allows them.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};

use super::context::{Where, own_session};
use super::person::{can_be_asked, confirm, in_agents_session};
use crate::feature::project::Project;
use crate::feature::settings::{SETTINGS, Settings};
use crate::forms;
use crate::forms::status::{TrustForm, TrustedForm};
use crate::runner::options::file::{self, PROJECT_FILE};
use crate::runner::options::{self, Layers};
use crate::runner::target::root_around;
use crate::session::pinned::indented;
use crate::store::trust::{self, TrustedFile};
use crate::system::files::real_path;
use crate::text;

/// Allow the commands that a repository's own files name.
///
/// A settings file that git tracks, and `.spool/ralph.toml`, came with the repository: its commands are run
/// only when you trust them, once for each content. The same holds for what `.spool/ralph.toml` says looser
/// than your own settings: higher limits, commits, and what counts as done.
#[derive(clap::Args)]
pub struct TrustArgs {
    /// Show what is trusted, in all projects
    #[arg(long, conflicts_with_all = ["remove", "yes"])]
    list: bool,
    /// Stop trusting this project
    #[arg(long, conflicts_with = "yes")]
    remove: bool,
    /// Print JSON for programs
    #[arg(long, requires = "list")]
    json: bool,
    /// Trust what is shown, without asking
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    place: Where,
}

/// A file of the project with commands.
struct File {
    root: PathBuf,
    name: &'static str,
    commands: Vec<String>,
}

impl File {
    /// The commands for a person, line by line.
    fn shown(&self) -> String {
        let commands = self.commands.iter().map(|command| format!("  {}\n", indented(command)));
        let place = self.root.join(self.name);
        let verb = if self.name == PROJECT_FILE { "sets" } else { "runs" };
        format!("{} {verb}:\n{}", place.display(), commands.collect::<String>())
    }
}

/// Shows the commands and asks. Refused in an agent's session.
pub fn run(args: &TrustArgs) -> Result<ExitCode> {
    if args.list {
        return if args.json { list_as_json() } else { list() };
    }
    if in_agents_session() {
        bail!(
            "trust is a person's word, and this is an agent's session\nrun `spool trust` in a terminal of your own"
        );
    }
    let roots = roots(&args.place)?;
    if args.remove {
        let removed = trust::remove(&roots)?;
        outln!("{}", if removed == 0 { "Nothing was trusted here." } else { "No longer trusted." });
        return Ok(ExitCode::SUCCESS);
    }
    let files = files(&roots)?;
    if files.is_empty() {
        outln!("Neither {SETTINGS} nor {PROJECT_FILE} has anything here that needs your trust.");
        return Ok(ExitCode::SUCCESS);
    }
    let commands: String = files.iter().map(File::shown).collect();
    let is_trusted = |file: &File| trust::trusts(&file.root, file.name, &file.commands);
    if files.iter().map(is_trusted).collect::<io::Result<Vec<bool>>>()?.iter().all(|is| *is) {
        out!("{commands}");
        outln!("All of this is trusted already; `spool trust --remove` takes that back.");
        return Ok(ExitCode::SUCCESS);
    }
    if args.yes {
        out!("{commands}");
    } else {
        // Beside the question, wherever standard output goes.
        err!("{commands}");
        if !can_be_asked() {
            bail!(
                "no person can be asked here: no terminal\nrun it in a terminal, or with --yes when you have read the lines above"
            );
        }
        if !confirm("Trust all of this, as it is now?")? {
            outln!("Nothing is trusted.");
            return Ok(ExitCode::FAILURE);
        }
    }
    let files = files.iter().map(|file| (&*file.root, file.name, file.commands.clone()));
    trust::add(files.collect())?;
    outln!("Trusted. When a line of these changes, you are asked again.");
    Ok(ExitCode::SUCCESS)
}

fn list() -> Result<ExitCode> {
    let all = trust::list()?;
    if all.is_empty() {
        outln!("Nothing is trusted.");
    }
    for trusted in all {
        outln!("{}: {}", text::line(&trusted.project), text::line(&trusted.file));
        for command in &trusted.commands {
            outln!("  {}", indented(command));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list_as_json() -> Result<ExitCode> {
    let form =
        |TrustedFile { project, file, commands, .. }| TrustedForm { project, file, commands };
    let form = TrustForm { trusted: trust::list()?.into_iter().map(form).collect() };
    dataln!("{}", forms::document(&form)?);
    Ok(ExitCode::SUCCESS)
}

/// The projects of the loops in sessions and of `spool ralph`; without either, the current folder.
fn roots(place: &Where) -> Result<Vec<PathBuf>> {
    let start = place.start()?;
    let with_loops = Project::with_loops(&start, own_session().as_deref()).map(|found| found.root);
    let mut roots: Vec<PathBuf> =
        [with_loops, root_around(&start).ok()].into_iter().flatten().collect();
    if roots.is_empty() {
        roots.push(real_path(&start)?);
    }
    roots.dedup();
    Ok(roots)
}

fn files(roots: &[PathBuf]) -> Result<Vec<File>> {
    let mut files = Vec::new();
    for root in roots {
        let settings = Settings::read(root).map_err(|error| anyhow::anyhow!("{error}"))?;
        files.push(File { root: root.clone(), name: SETTINGS, commands: settings.commands() });
        files.push(File { root: root.clone(), name: PROJECT_FILE, commands: of_runner(root)? });
    }
    files.retain(|file| !file.commands.is_empty());
    Ok(files)
}

fn of_runner(root: &Path) -> Result<Vec<String>> {
    let (project, person) = (file::of_project(root)?, file::of_person()?);
    Ok(options::needs_trust(&Layers { project, person, ..Layers::default() }))
}
