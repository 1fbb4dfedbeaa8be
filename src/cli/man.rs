//! `spool man`: the manual pages, made from the texts of the help.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Command;
use clap_mangen::Man;

use crate::plugin::VERSION;
use crate::plugin::call::Advise;
use crate::print::{TerminalSize, fitted};
use crate::store::read::{Problem, read};
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

/// The manual's name on every page.
const MANUAL: &str = "ralph-speckit";

/// The width of the notes, which `man` indents by two columns.
const WIDTH: usize = 78;

/// The longest file that is compared with a page, in bytes: no page is longer.
const MOST: u64 = 1 << 20;

/// Prints one page, or writes all.
pub fn run(args: &ManArgs, all: Command) -> Result<ExitCode> {
    let mut all = all.disable_help_subcommand(true);
    all.build();
    if let Some(folder) = &args.to {
        let pages = pages(&all)?;
        write_all(&pages, folder)?;
        outln!("wrote {} pages to `{}`", pages.len(), folder.display());
        return Ok(ExitCode::SUCCESS);
    }
    let mut command = &all;
    for name in &args.names {
        let Some(found) = command.find_subcommand(name) else {
            let names = command.get_subcommands().map(Command::get_name);
            let meant = text::nearest(name, names).map(|near| format!("\ndid you mean `{near}`?"));
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

/// The pages of a command and its subcommands, by file name.
fn pages(command: &Command) -> Result<Vec<(String, String)>> {
    let mut all = vec![(Man::new(command.clone()).get_filename(), page(command)?)];
    for below in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        all.extend(pages(below)?);
    }
    Ok(all)
}

fn write_all(pages: &[(String, String)], folder: &Path) -> Result<()> {
    for (name, _) in pages {
        refuse_what_is_no_page(&folder.join(name))?;
    }
    fs::create_dir_all(folder).at("the folder `{}` cannot be made", folder)?;
    for (name, page) in pages {
        let file = folder.join(name);
        write_whole(&file, page.as_bytes(), Flush::ToSystem).at("`{}` cannot be written", &file)?;
    }
    Ok(())
}

/// Refuses to overwrite anything but a page of an earlier `spool man`.
fn refuse_what_is_no_page(file: &Path) -> Result<()> {
    let found = match read(file, MOST) {
        Ok(found) => String::from_utf8_lossy(&found.bytes).into_owned(),
        Err(Problem::Missing) => return Ok(()),
        Err(problem) => problem.to_string(),
    };
    let is_title = |line: &str| line.starts_with(".TH spool") && line.ends_with(MANUAL);
    if found.lines().any(is_title) {
        return Ok(());
    }
    bail!(
        "`{}` is in the way: it is no page that `spool man` wrote\nmove it away, or name another folder",
        file.display()
    );
}

/// In the format of `man`.
fn page(command: &Command) -> Result<String> {
    let mut page = Vec::new();
    let source = format!("spool {VERSION}");
    let mut command = command.clone();
    // `man` would join the lines of lists and examples at the end of the help, so they stay as written.
    if let Some(notes) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        let notes = fitted(&notes.to_string(), Some(TerminalSize { columns: WIDTH, rows: 1 }));
        command = command.after_long_help(notes);
    }
    Man::new(command).manual(MANUAL).source(source).render(&mut page)?;
    let page = String::from_utf8(page)?;
    let Some((before, notes)) = page.split_once("\n.SH EXTRA\n") else { return Ok(page) };
    let (notes, after) = notes.split_once("\n.SH ").unwrap_or((notes, ""));
    Ok(format!("{before}\n.SH NOTES\n.in 2\n.nf\n{notes}\n.fi\n.SH {after}"))
}
