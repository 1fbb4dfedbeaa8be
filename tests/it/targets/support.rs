//! A scratch project with changes, and `spool ralph --dry-run` in it.

use crate::support::limited::Limited;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The program.
pub const SPOOL: &str = env!("CARGO_BIN_EXE_spool");
/// The change that most tests are about (spec 004).
pub const CHANGE: &str = "002-01_add-ralph-loop";

/// A scratch folder with a project, and a home beside it.
pub struct Bench {
    scratch: TempDir,
}

impl Bench {
    /// A project of spool's own with these changes.
    pub fn with(changes: &[&str]) -> Self {
        let bench = Self::empty();
        for change in changes {
            bench.write(
                &format!(".spool/changes/{change}/proposal.md"),
                &format!("# The proposal of {change}\n"),
            );
        }
        bench
    }

    /// A folder without any project.
    pub fn empty() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        fs::create_dir_all(scratch.path().join("project")).unwrap();
        fs::create_dir_all(scratch.path().join("home")).unwrap();
        Self { scratch }
    }

    pub fn root(&self) -> PathBuf {
        self.scratch.path().join("project").canonicalize().unwrap()
    }

    /// A path outside of the project.
    pub fn outside(&self, path: &str) -> PathBuf {
        self.scratch.path().join(path)
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn link(&self, target: &Path, path: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    /// The person's own settings.
    pub fn user_file(&self, text: &str) {
        let folder = self.scratch.path().join("home/.config/ralph-speckit");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("ralph.toml"), text).unwrap();
    }

    /// `spool` in the project, with an environment of its own and nobody at the keyboard.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(SPOOL);
        command.args(arguments).env_clear().env("HOME", self.scratch.path().join("home"));
        command.env("PATH", "/usr/bin:/bin").current_dir(self.root()).stdin(Stdio::null());
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
        fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    walk(&path, found);
                }
                found.push(path);
            }
        }
        let mut found = Vec::new();
        walk(&self.root(), &mut found);
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
