//! What `spool setup` is asked for, and its help.

use std::path::PathBuf;

/// Install the plugin into Claude Code, or remove it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
What it does:
  1. writes the plugin and its programs to ~/.local/share/ralph-speckit/plugin
  2. copies `spool` and `ralph-hook` to ~/.local/share/ralph-speckit/bin
  3. makes the plugin known to Claude Code: `claude plugin marketplace add`,
     then `claude plugin install speckit@ralph-speckit`
  4. --user-commands: writes ralph-loop.md, ulw-loop.md and cancel-ralph.md to
     ~/.claude/commands, where no other file of that name is; they stay until
     `spool setup --remove`
  5. --statusline: writes `statusLine` to ~/.claude/settings.json, where none is
Run it again after an update. `XDG_DATA_HOME` and `CLAUDE_CONFIG_DIR` are respected.

Exit status: 0 when everything was done, 1 when something was not.")]
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
