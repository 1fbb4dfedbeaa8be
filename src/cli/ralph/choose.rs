//! Which change is meant: the named one, or the one that a person chooses on a terminal.

use std::fmt;
use std::io::{IsTerminal, stderr, stdin, stdout};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use dialoguer::Select;
use signal_hook::consts::SIGINT;
use signal_hook::flag::register_conditional_default;

use crate::runner::options::{Setting, Settings};
use crate::runner::target::{self, Change, Found, Wanted};

/// The most changes that an error lists.
const LISTED: usize = 20;
/// The most lines of the list to choose from that are shown at once.
const LINES: usize = 15;

/// The person left the choice.
#[derive(Debug)]
pub struct GaveUp;

impl fmt::Display for GaveUp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "no change was chosen")
    }
}

impl std::error::Error for GaveUp {}

/// Returns the change that is meant; an error names the candidates, and `--change` where nobody can be asked.
pub fn change(start: &Path, settings: &Settings) -> Result<Change> {
    let named = |name| settings.get(name).map(Setting::value);
    let wanted = Wanted { change: named("change"), module: named("module") };
    let mut candidates = match target::find(start, &wanted)? {
        Found::One(change) => return Ok(change),
        Found::Several(candidates) => candidates,
    };
    if settings.is_on("no-interactive")? || !is_attended() {
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
        anstream::eprintln!("The only active change is taken: {}", change.label());
        return Ok(change);
    }
    let labels: Vec<String> = candidates.iter().map(Change::label).collect();
    let chosen = select(&labels)?.ok_or(GaveUp)?;
    Ok(candidates.swap_remove(chosen))
}

/// Whether somebody sits there: the list is drawn on standard error, so that has to be a terminal too.
fn is_attended() -> bool {
    stdin().is_terminal() && stdout().is_terminal() && stderr().is_terminal()
}

/// Lets the person choose; `None` when they leave it with Escape, `q` or Ctrl-C.
fn select(labels: &[String]) -> Result<Option<usize>> {
    // Ctrl-C must not end the program while the list hides the cursor; afterwards it does again.
    let over = Arc::new(AtomicBool::new(false));
    register_conditional_default(SIGINT, Arc::clone(&over)).context("signals cannot be watched")?;
    let chosen = Select::new()
        .with_prompt("Which change?")
        .items(labels)
        .default(0)
        .max_length(LINES)
        .interact_opt();
    over.store(true, Ordering::SeqCst);
    match chosen {
        Ok(chosen) => Ok(chosen),
        Err(dialoguer::Error::IO(error)) if error.kind() == std::io::ErrorKind::Interrupted => {
            anstream::eprint!("\x1b[?25h");
            Ok(None)
        }
        Err(error) => Err(error).context("the list cannot be shown\nname the change with --change"),
    }
}
