//! `spool plugin build DIR`: a complete plugin in a folder of your choice.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use super::environment::Environment;
use crate::plugin::{self, Programs};

/// Build the plugin's folder.
#[derive(Debug, clap::Args)]
pub struct PluginArgs {
    #[command(subcommand)]
    command: PluginCommand,
}

#[derive(Debug, clap::Subcommand)]
enum PluginCommand {
    /// Write a complete plugin, with its programs, into a folder
    ///
    /// The folder must be missing, empty, or one that this command wrote before; nothing else is touched. Load it for
    /// one session with `claude --plugin-dir DIR`, or check it with `claude plugin validate DIR`. To install the plugin
    /// for all your sessions use `spool setup` instead.
    Build {
        /// The folder to write
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

pub fn run(args: &PluginArgs) -> Result<ExitCode> {
    match &args.command {
        PluginCommand::Build { folder } => {
            let environment = Environment::of_this_process()?;
            let programs = Programs::beside(&environment.program)?;
            let assembly = plugin::assemble(folder, &programs)?;
            let folder = assembly.folder.display();
            let instead = assembly.replaced.map(|version| format!(", in place of {version}"));
            let instead = instead.unwrap_or_default();
            outln!("wrote the plugin {} to `{folder}`{instead}", plugin::VERSION);
            outln!("to try it for one session: claude --plugin-dir '{folder}'");
            Ok(ExitCode::SUCCESS)
        }
    }
}
