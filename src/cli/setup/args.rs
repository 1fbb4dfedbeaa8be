//! The arguments of `spool setup`, and its help.

use std::path::PathBuf;

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
