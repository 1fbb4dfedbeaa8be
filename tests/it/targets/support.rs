//! A scratch project with changes, and `spool ralph --dry-run` in it.

pub use crate::support::scratch::SPOOL;

use crate::support::limited::Limited;
use crate::support::scratch::{Scratch, below};
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The change that most tests are about (spec 004).
pub const CHANGE: &str = "002-01_add-ralph-loop";

/// A scratch folder with a project, and a home beside it.
pub struct Bench {
    scratch: Scratch,
}

impl Deref for Bench {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        &self.scratch
    }
}

impl Bench {
    /// A project of spool's own with these changes.
    pub fn with(changes: &[&str]) -> Self {
        let bench = Self::empty();
        for change in changes {
            bench.write(
                format!(".spool/changes/{change}/proposal.md"),
                format!("# The proposal of {change}\n"),
            );
        }
        bench
    }

    /// A folder without any project.
    pub fn empty() -> Self {
        Self { scratch: Scratch::new("targets-") }
    }

    pub fn link(&self, target: &Path, path: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    /// The person's own settings.
    pub fn user_file(&self, text: &str) {
        self.write("../home/.config/ralph-speckit/ralph.toml", text);
    }

    /// `spool` in the project, with an environment of its own and nobody at the keyboard.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.scratch.command(SPOOL);
        command.args(arguments);
        command
    }

    pub fn spool(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(self.command(arguments).finish())
    }

    /// `spool ralph "go" --dry-run` with more arguments.
    pub fn plan(&self, arguments: &[&str]) -> Outcome {
        let mut all = vec!["ralph", "go", "--dry-run"];
        all.extend(arguments);
        self.spool(&all)
    }

    /// Every file and folder of the project.
    pub fn listing(&self) -> Vec<PathBuf> {
        let mut found: Vec<_> = below(&self.root).into_iter().map(|(path, _)| path).collect();
        found.sort();
        found
    }
}

/// What a run printed, and how it ended.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Outcome {
    fn of(output: std::process::Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The plan; the run must have succeeded.
    #[track_caller]
    pub fn told(self) -> String {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self.out
    }

    /// The id of the change that was found.
    #[track_caller]
    pub fn change(self) -> String {
        let told = self.told();
        let line = told.lines().find_map(|line| line.strip_prefix("Change: ")).unwrap();
        line.split(' ').next().unwrap().to_owned()
    }

    /// The error; it must be one of usage, with nothing on standard output.
    #[track_caller]
    pub fn refused(self) -> String {
        assert_eq!((self.code, self.out.as_str()), (Some(2), ""), "{self:#?}");
        self.err
    }
}
