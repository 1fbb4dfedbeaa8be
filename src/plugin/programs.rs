//! The two compiled programs in a complete plugin.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

use super::call::Advise;
use crate::store::read;
use crate::system::files::{self, real_path};

/// Claude Code starts this one.
pub const HOOK: &str = if cfg!(windows) { "ralph-hook.exe" } else { "ralph-hook" };

/// People and agents start this one.
pub const SPOOL: &str = if cfg!(windows) { "spool.exe" } else { "spool" };

/// The two programs of one build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    pub spool: PathBuf,
    pub ralph_hook: PathBuf,
}

impl Programs {
    /// `running` is a `spool`; `ralph-hook` has to be beside it. Each has to be a compiled program.
    pub fn beside(running: &Path) -> Result<Self> {
        let spool = real_path(running).at("could not find the running program `{}`", running)?;
        let ralph_hook = spool.with_file_name(HOOK);
        for program in [&spool, &ralph_hook] {
            check_program(program).advise(
                "build both programs, with `cargo build --release`, and start that `spool`",
            )?;
        }
        Ok(Self { spool, ralph_hook })
    }

    /// The programs with their names in a plugin's `bin` folder.
    pub fn named(&self) -> [(&'static str, &Path); 2] {
        [(HOOK, &self.ralph_hook), (SPOOL, &self.spool)]
    }
}

/// Refuses anything but an executable, and the launchers of a plain checkout.
pub fn check_program(path: &Path) -> Result<()> {
    path.metadata().at("could not find the program `{}`", path)?;
    if !files::is_program(path) {
        bail!("`{}` is not an executable program", path.display());
    }
    if is_script(path)? {
        bail!("`{}` is a launcher, not a compiled program", path.display());
    }
    Ok(())
}

fn is_script(path: &Path) -> Result<bool> {
    let unread = || format!("could not read the program `{}`", path.display());
    let (file, _) = read::open(path).map_err(|problem| anyhow!("{}: {problem}", unread()))?;
    let mut start = Vec::new();
    file.take(2).read_to_end(&mut start).with_context(unread)?;
    Ok(start == b"#!")
}
