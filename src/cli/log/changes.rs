//! The change whose journal or iteration a person means.

use anyhow::{Result, anyhow, bail};

use crate::feature::project::printable;
use crate::runner::target::{matching, one_of};

/// The change for a short form; none where no loop has run on it. Several candidates are an error.
pub fn meant_changes(name: &str, changes: &[String]) -> Result<Vec<String>> {
    let found = matching(name, changes);
    if found.len() > 1 {
        let (name, several) = (printable(name), found.len());
        bail!("`{name}` may be {several} changes\n{}", one_of(&found));
    }
    Ok(found)
}

pub fn never_ran(change: &str) -> anyhow::Error {
    anyhow!(
        "`spool ralph` has not run on `{}` here\n`spool status` shows what has run",
        printable(change)
    )
}
