//! The change whose journal or iteration is meant.

use anyhow::{Result, anyhow, bail};

use crate::feature::project::printable;
use crate::runner::target::{matching, one_of};

/// Returns the change that a short form stands for, none where no loop has run on it; an error when it may be several.
pub fn meant_changes(name: &str, changes: &[String]) -> Result<Vec<String>> {
    let found = matching(name, changes);
    if found.len() > 1 {
        let (name, several) = (printable(name), found.len());
        bail!("`{name}` may be {several} changes\n{}", one_of(&found));
    }
    Ok(found)
}

/// Returns the error for a change on which no loop has run.
pub fn never_ran(change: &str) -> anyhow::Error {
    anyhow!(
        "`spool ralph` has not run on `{}` here\n`spool status` shows what has run",
        printable(change)
    )
}
