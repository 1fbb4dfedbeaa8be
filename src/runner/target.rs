//! Finding the change that a loop works on: spool's own, OpenSpec's, or a spec-kit feature.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// What kind of project a change stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `.spool/changes/<id>/`.
    Spool,
    /// `openspec/changes/<id>/`.
    OpenSpec,
    /// A spec-kit feature.
    SpecKit,
}

/// A change that a loop can work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its id, the name of its folder; checked: no `/`, no `..`, no control characters, no leading `-`.
    pub id: String,
    /// Where it stands.
    pub kind: Kind,
    /// Its folder, a real path inside the project.
    pub folder: PathBuf,
    /// The project's folder, a real path.
    pub root: PathBuf,
    /// The work tree, a real path: the root of the git work tree around the project, or the project.
    pub worktree: PathBuf,
    /// Its module, `002` of `002-01_add-ralph-loop`.
    pub module: Option<String>,
}

/// What the person asked for.
#[derive(Clone, Debug, Default)]
pub struct Wanted<'a> {
    /// `--change`, or a short form of it.
    pub change: Option<&'a str>,
    /// `--module`.
    pub module: Option<&'a str>,
}

/// What was found.
#[derive(Clone, Debug)]
pub enum Found {
    /// One change.
    One(Change),
    /// Several: a person has to choose; archived ones are not among them.
    Several(Vec<Change>),
}

/// Returns the change or changes that are meant; an error says what was looked for, where, and which
/// candidates there are.
pub fn find(_start: &Path, _wanted: &Wanted<'_>) -> Result<Found> {
    bail!("not built yet")
}
