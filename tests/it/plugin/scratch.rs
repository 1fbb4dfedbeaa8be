//! A scratch home in which programs are started with nothing of this machine's environment.

use crate::support::limited::{Ended, Limited};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The compiled programs under test.
pub const SPOOL: &str = env!("CARGO_BIN_EXE_spool");
pub const HOOK: &str = env!("CARGO_BIN_EXE_ralph-hook");

/// The root of the checkout.
pub fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What a program did: everything that a failing test should show.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "code {:?}\n--- stdout\n{}--- stderr\n{}", self.code, self.out, self.err)
    }
}

/// A folder that is a home, with the environment in which programs are started there.
pub struct Scratch {
    folder: TempDir,
    variables: BTreeMap<String, String>,
}

impl Scratch {
    pub fn new() -> Self {
        let folder = TempDir::with_prefix("ralph speckit ").unwrap();
        let home = folder.path().join("home");
        fs::create_dir(&home).unwrap();
        let variables = BTreeMap::from([
            ("HOME".to_owned(), home.to_str().unwrap().to_owned()),
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
        ]);
        Self { folder, variables }
    }

    /// The folder that holds the home and whatever else a test puts beside it.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// The folder that `spool setup` fills.
    pub fn data(&self) -> PathBuf {
        self.home().join(".local/share/ralph-speckit")
    }

    pub fn set(&mut self, name: &str, value: impl AsRef<Path>) {
        self.variables.insert(name.to_owned(), value.as_ref().to_str().unwrap().to_owned());
    }

    /// Puts a folder first on PATH.
    pub fn search_first(&mut self, folder: &Path) {
        let path = format!("{}:{}", folder.display(), self.variables["PATH"]);
        self.variables.insert("PATH".to_owned(), path);
    }

    pub fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Writes a shell script that can be started.
    pub fn script(&self, path: &str, text: &str) -> PathBuf {
        self.executable(path, format!("#!/bin/sh\n{text}\n"))
    }

    /// Copies a program.
    pub fn copy(&self, program: impl AsRef<Path>, path: &str) -> PathBuf {
        self.executable(path, fs::read(program).unwrap())
    }

    /// Another process writes what is to be started: a program that this one still holds open for
    /// writing, in a child that another test just forked, cannot be ("text file busy").
    fn executable(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut writer = Command::new("/bin/sh")
            .args(["-c", "rm -f \"$1\" && cat >\"$1\" && chmod 755 \"$1\"", "sh"])
            .arg(&path)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        writer.stdin.take().unwrap().write_all(content.as_ref()).unwrap();
        assert!(writer.ended().success());
        path
    }

    pub fn command(&self, program: impl AsRef<Path>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program.as_ref());
        command.args(arguments).env_clear().envs(&self.variables).current_dir(self.root());
        command
    }

    pub fn run(&self, program: impl AsRef<Path>, arguments: &[&str]) -> Outcome {
        self.run_with_input(program, arguments, "")
    }

    pub fn run_with_input(
        &self,
        program: impl AsRef<Path>,
        arguments: &[&str],
        input: &str,
    ) -> Outcome {
        let mut child = self
            .command(program, arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A program that does not read what it is sent closes the pipe; that is its own affair.
        let _written = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.finish();
        Outcome {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Everything below a folder: paths with their modes, and with their contents where they are files.
pub fn tree(folder: &Path) -> BTreeMap<PathBuf, (u32, Option<Vec<u8>>)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let entry = entry.unwrap();
            let described = entry.metadata().unwrap();
            let content = described.is_file().then(|| fs::read(entry.path()).unwrap());
            if described.is_dir() {
                waiting.push(entry.path());
            }
            let path = entry.path().strip_prefix(folder).unwrap().to_owned();
            found.insert(path, (described.permissions().mode() & 0o777, content));
        }
    }
    found
}

/// The paths of all files below a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let kept = tree(folder).into_iter().filter(|(_, (_, content))| content.is_some());
    kept.map(|(path, _)| path).collect()
}
