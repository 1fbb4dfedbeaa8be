//! The arguments of `spool setup`, its steps, and its output: a line for each step, or one document at the end.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use crate::forms;
use crate::forms::setup::{SetupForm, SetupStepForm, SetupStepName};
use crate::plugin::install_record::InstallRecord;

const HELP: &str = include_str!("help.txt").trim_ascii_end();

/// Install the plugin into Claude Code, or remove it.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct SetupArgs {
    /// Undo exactly what an earlier `spool setup` did
    #[arg(long)]
    pub remove: bool,

    #[command(flatten)]
    pub extras: SetupExtras,

    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Print JSON for programs: the steps that were done, or would be
    #[arg(long)]
    pub json: bool,

    /// The Claude Code to use, instead of the first `claude` on PATH
    #[arg(long, value_name = "PATH")]
    pub claude: Option<PathBuf>,
}

/// What is put in place only for who asks for it.
#[derive(Debug, clap::Args)]
pub struct SetupExtras {
    /// Also offer /ralph-loop, /ulw-loop and /cancel-ralph, without the plugin's prefix
    #[arg(long, conflicts_with = "remove")]
    pub user_commands: bool,

    /// Also show the loop in Claude Code's status line
    #[arg(long, conflicts_with = "remove")]
    pub statusline: bool,
}

/// What the steps call the commands without a prefix.
pub const COMMANDS: &str = "the commands /ralph-loop, /ulw-loop and /cancel-ralph";

/// Does a step. It may change the words that report the step, or clear them: then nothing is reported.
type Perform<'a> = dyn FnOnce(&mut InstallRecord, &mut String) -> Result<()> + 'a;

/// Steps in their order: name, object (`the plugin from …`), action. One without an object is not reported.
#[derive(Default)]
pub struct SetupSteps<'a>(Vec<(SetupStepName, String, Box<Perform<'a>>)>);

impl<'a> SetupSteps<'a> {
    pub fn add(
        &mut self,
        name: SetupStepName,
        what: String,
        perform: impl FnOnce(&mut InstallRecord, &mut String) -> Result<()> + 'a,
    ) {
        self.0.push((name, what, Box::new(perform)));
    }
}

pub struct SetupAnswer {
    form: SetupForm,
    is_json: bool,
}

impl SetupAnswer {
    pub fn to(args: &SetupArgs) -> Self {
        let (dry_run, remove) = (args.dry_run, args.remove);
        let form = SetupForm { dry_run, remove, ..SetupForm::default() };
        Self { form, is_json: args.json }
    }

    /// Performs the steps in their order, and reports them. A dry run only reports them.
    pub fn perform(&mut self, steps: SetupSteps<'_>, record: &mut InstallRecord) -> Result<()> {
        for (name, mut what, perform) in steps.0 {
            if !self.form.dry_run {
                perform(record, &mut what)?;
            }
            if !what.is_empty() {
                self.step(name, &what);
            }
        }
        Ok(())
    }

    /// Reports a step that was done to `what`, or would be.
    fn step(&mut self, name: SetupStepName, what: &str) {
        let (would, did) = match name {
            SetupStepName::WritePlugin
            | SetupStepName::WriteCommands
            | SetupStepName::WriteStatusLine => ("write", "wrote"),
            SetupStepName::CopyPrograms => ("copy", "copied"),
            SetupStepName::AddMarketplace => ("add", "added"),
            SetupStepName::Install => ("install", "installed"),
            SetupStepName::Reinstall => ("reinstall", "reinstalled"),
            SetupStepName::Enable => ("switch on", "switched on"),
            SetupStepName::Uninstall => ("uninstall", "uninstalled"),
            _ => ("remove", "removed"),
        };
        let verb = if self.form.dry_run { ["would ", would] } else { [did, ""] }.concat();
        let words = format!("{verb} {what}");
        if !self.is_json {
            outln!("{words}");
        }
        self.form.steps.push(SetupStepForm { name, words });
    }

    /// Reports something that stays.
    pub fn left(&mut self, words: String) {
        if !self.is_json {
            outln!("{words}");
        }
        self.form.left.push(words);
    }

    /// Explains why Claude Code could not be told, and what to do next.
    pub fn problem(&mut self, words: &str) {
        if !self.is_json {
            errln!("error: {words}");
        }
        let all = self.form.problem.get_or_insert_default();
        if !all.is_empty() {
            all.push('\n');
        }
        all.push_str(words);
    }

    pub fn next(&mut self, words: &str) {
        if !self.is_json {
            outln!("\nnext: {words}");
        }
        self.form.next = Some(words.to_owned());
    }

    /// Succeeds unless there was a problem in a real run.
    pub fn end(self) -> Result<ExitCode> {
        if self.is_json {
            dataln!("{}", forms::document(&self.form)?);
        }
        let failed = self.form.problem.is_some() && !self.form.dry_run;
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}
