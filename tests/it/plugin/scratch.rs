//! A scratch home in which programs are started with nothing of this machine's environment.

pub use crate::support::scratch::{HOOK, SPOOL, Said, checkout, files};

use crate::support::scratch::{self, below};
use std::collections::BTreeMap;
use std::fs;
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A folder that is a home's and is worked in, with blanks in its name.
pub struct Home(scratch::Scratch);

impl Deref for Home {
    type Target = scratch::Scratch;

    fn deref(&self) -> &scratch::Scratch {
        &self.0
    }
}

impl DerefMut for Home {
    fn deref_mut(&mut self) -> &mut scratch::Scratch {
        &mut self.0
    }
}

impl Home {
    pub fn new() -> Self {
        Self(scratch::Scratch::at(TempDir::with_prefix("ralph speckit ").unwrap(), ""))
    }

    /// The folder that `spool setup` fills.
    pub fn data(&self) -> PathBuf {
        self.home().join(".local/share/ralph-speckit")
    }

    /// Writes a shell script that can be started.
    pub fn script(&self, path: &str, text: &str) -> PathBuf {
        self.executable(path, format!("#!/bin/sh\n{text}\n"))
    }

    /// Copies a program.
    pub fn copy(&self, program: impl AsRef<Path>, path: &str) -> PathBuf {
        self.executable(path, fs::read(program).unwrap())
    }

    pub fn command(&self, program: impl AsRef<Path>, arguments: &[&str]) -> Command {
        let mut command = self.0.command(program.as_ref());
        command.args(arguments);
        command
    }

    pub fn run(&self, program: impl AsRef<Path>, arguments: &[&str]) -> Said {
        self.run_with_input(program, arguments, "")
    }

    pub fn run_with_input(
        &self,
        program: impl AsRef<Path>,
        arguments: &[&str],
        input: &str,
    ) -> Said {
        Said::with_input(&mut self.command(program, arguments), input)
    }
}

/// Everything below a folder: paths with their modes, and with their contents where they are files.
pub fn tree(folder: &Path) -> BTreeMap<PathBuf, (u32, Option<Vec<u8>>)> {
    let things = below(folder).into_iter();
    let things = things.map(|(path, kind)| {
        let mode = fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777;
        let content = kind.is_file().then(|| fs::read(&path).unwrap());
        (path.strip_prefix(folder).unwrap().to_owned(), (mode, content))
    });
    things.collect()
}
