//! The change of a run: the named one, or a person's choice in the terminal.

use std::fmt;
use std::io::{IsTerminal, stderr, stdin};
use std::path::Path;

use anyhow::{Context, Result, bail};
use dialoguer::Select;

use crate::feature::project::printable;
use crate::runner::target::{self, Change, ChangeQuery, FoundChange};
use crate::settings::Chosen;
use crate::style::SHOW_CURSOR;
use crate::system::terminal::InterruptWatch;

/// The most changes in an error.
const LISTED: usize = 20;
/// The most visible lines of the list.
const LINES: usize = 15;

/// The person left the list.
#[derive(Debug)]
pub struct GaveUp;

impl GaveUp {
    /// The exit code of a program that Ctrl-C ended.
    pub const CODE: u8 = 130;
}

impl fmt::Display for GaveUp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "no change was chosen")
    }
}

impl std::error::Error for GaveUp {}

/// An error lists the candidates, and names `--change` where nobody can choose.
pub fn change(start: &Path, settings: &Chosen) -> Result<Change> {
    let (change, module) = (settings.change(), settings.module());
    let wanted = ChangeQuery { change: change.as_deref(), module: module.as_deref() };
    let mut candidates = match target::find(start, &wanted)? {
        FoundChange::One(change) => return Ok(change),
        FoundChange::Several(candidates) => candidates,
    };
    if settings.no_interactive() || !is_attended() {
        let mut list: Vec<String> = candidates.iter().take(LISTED).map(Change::label).collect();
        if candidates.len() > LISTED {
            list.push(format!("… and {} more", candidates.len() - LISTED));
        }
        bail!(
            "--change is required where nobody can be asked: name the change to work on\n{} active:\n  {}",
            if candidates.len() == 1 { "this one is" } else { "these are" },
            list.join("\n  ")
        );
    }
    if candidates.len() == 1 {
        let change = candidates.remove(0);
        errln!("The only active change is taken: {}", change.label());
        return Ok(change);
    }
    let labels: Vec<String> = candidates.iter().map(Change::label).collect();
    let chosen = select(&labels)?.ok_or(GaveUp)?;
    Ok(candidates.swap_remove(chosen))
}

pub fn named(start: &Path, id: &str) -> Result<Change> {
    let wanted = ChangeQuery { change: Some(id), module: None };
    match target::find(start, &wanted)? {
        FoundChange::One(change) => Ok(change),
        FoundChange::Several(_) => {
            bail!("the change `{}` is not clear\nname it with --change", printable(id))
        }
    }
}

/// The list needs a terminal on standard input and standard error. Standard output takes no part.
pub fn is_attended() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

/// `None` when the person leaves with Escape, `q` or Ctrl-C.
fn select(labels: &[String]) -> Result<Option<usize>> {
    // Ctrl-C arrives as a key or as a signal; both restore the terminal. The watch ends with the choice, because the
    // signal then belongs to the runner.
    let watch = InterruptWatch::begin(|| {
        err!("{SHOW_CURSOR}");
        std::process::exit(GaveUp::CODE.into());
    })
    .context("signals cannot be watched")?;
    let chosen = Select::new()
        .with_prompt("Which change?")
        .items(labels)
        .default(0)
        .max_length(LINES)
        .interact_opt();
    watch.end();
    match chosen {
        Ok(chosen) => Ok(chosen),
        Err(dialoguer::Error::IO(error)) if error.kind() == std::io::ErrorKind::Interrupted => {
            err!("{SHOW_CURSOR}");
            Ok(None)
        }
        Err(error) => Err(error).context("the list cannot be shown\nname the change with --change"),
    }
}
