//! `spool man`: the manual pages, made from the same texts as the help.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Command;
use clap_mangen::Man;

use crate::store::write::{Flush, write_whole};
use crate::text;

/// Print a manual page, or write all of them into a folder.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct ManArgs {
    /// The command, such as `ralph` or `task done`; without it, the page of `spool`
    #[arg(value_name = "COMMAND", conflicts_with = "to")]
    names: Vec<String>,
    /// Write every page into this folder, each as a file of its own
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  spool man ralph | man -l -                   read one page
  spool man --to ~/.local/share/man/man1       then `man spool-ralph` shows it";

/// Prints one page of a command line, or writes all.
pub fn run(args: &ManArgs, all: Command) -> Result<ExitCode> {
    let mut all = all.disable_help_subcommand(true);
    all.build();
    if let Some(folder) = &args.to {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("the folder `{}` cannot be made", folder.display()))?;
        let count = write_all(&all, folder)?;
        outln!("wrote {count} pages to `{}`", folder.display());
        return Ok(ExitCode::SUCCESS);
    }
    let mut command = &all;
    for name in &args.names {
        let Some(found) = command.find_subcommand(name) else {
            let names = command.get_subcommands().map(Command::get_name);
            let meant = text::nearest(name, names).map(|it| format!("\ndid you mean `{it}`?"));
            bail!(
                "`{}` has no command `{}`{}\n`spool --help` lists them",
                command.get_bin_name().unwrap_or("spool"),
                text::line(name),
                meant.unwrap_or_default()
            );
        };
        command = found;
    }
    dataln!("{}", page(command)?.trim_end());
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of a command and of all below it; returns how many.
fn write_all(command: &Command, folder: &Path) -> Result<usize> {
    let file = folder.join(Man::new(command.clone()).get_filename());
    write_whole(&file, page(command)?.as_bytes(), Flush::ToSystem)
        .with_context(|| format!("`{}` cannot be written", file.display()))?;
    let mut count = 1;
    for below in command.get_subcommands().filter(|it| !it.is_hide_set()) {
        count += write_all(below, folder)?;
    }
    Ok(count)
}

/// The page of one command, as `man` reads it.
fn page(command: &Command) -> Result<String> {
    let mut page = Vec::new();
    Man::new(command.clone()).manual("ralph-speckit").render(&mut page)?;
    Ok(String::from_utf8(page)?)
}
