//! A throw-away project with a home beside it: what the scratch projects of all tests are built on.

#![allow(dead_code, reason = "not every test program needs all of it")]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, FileType};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use ralph_speckit::system::files::real_path;
use ralph_speckit::world;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::limited::Limited;

/// The program that agents and people call.
pub const SPOOL: &str = env!("CARGO_BIN_EXE_spool");
/// The program that Claude Code calls.
pub const HOOK: &str = env!("CARGO_BIN_EXE_ralph-hook");

/// What `hooks.json` starts for an event of this name, without the words that say host and event.
pub fn started_by(event: &str) -> &'static [&'static str] {
    if event == "UserPromptExpansion" { &[SPOOL, "hook"] } else { &[HOOK] }
}

/// The root of the checkout.
pub fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where programs are looked for.
const SEARCHED: &str = if cfg!(windows) { r"C:\windows\system32" } else { "/usr/bin:/bin" };

/// The settings of a project's repository.
const REPOSITORY: &str = "[core]
	repositoryformatversion = 0
	bare = false
[user]
	name = Somebody
	email = somebody@example.com
[gc]
	auto = 0
[maintenance]
	auto = false
";

/// A folder with a project and a home in it, and the whole environment of programs that are started there.
pub struct Scratch {
    top: PathBuf,
    /// The project.
    pub root: PathBuf,
    variables: BTreeMap<String, OsString>,
    _folder: TempDir,
}

impl Scratch {
    /// An empty project; the prefix says which tests have left a folder behind.
    pub fn new(prefix: &str) -> Self {
        Self::at(TempDir::with_prefix(prefix).unwrap(), "project")
    }

    /// The same in a folder of the test's own; a project without a name is that folder itself.
    pub fn at(folder: TempDir, project: &str) -> Self {
        let top = real_path(folder.path()).unwrap();
        let root = if project.is_empty() { top.clone() } else { top.join(project) };
        let home = top.join("home");
        for folder in [&root, &home] {
            fs::create_dir_all(folder).unwrap();
        }
        let variables = BTreeMap::from([
            (world::HOME.to_owned(), home.into()),
            ("PATH".to_owned(), SEARCHED.into()),
        ]);
        // Without it no program of the system is found.
        let of_the_system = world::raw_variable("SystemRoot").filter(|_| cfg!(windows));
        let variables = variables
            .into_iter()
            .chain(of_the_system.map(|root| ("SystemRoot".to_owned(), root)))
            .collect();
        Self { top, root, variables, _folder: folder }
    }

    /// The folder that holds the project, the home, and what a test puts beside them.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// A path beside the project.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.top.join(name)
    }

    /// The folder in which the program keeps what is outside of every project.
    pub fn kept(&self) -> PathBuf {
        self.home().join(".local/state/ralph-speckit")
    }

    /// The path of a session's record; it need not exist.
    #[allow(dead_code, reason = "not all tests that share this look at it")]
    pub fn record_path(&self, session: &str) -> PathBuf {
        let folders = fs::read_dir(self.kept().join("projects")).into_iter().flatten().flatten();
        let folder = folders.map(|folder| folder.path()).next();
        folder.unwrap_or_default().join(format!("session-{session}.json"))
    }

    /// The person's home.
    pub fn home(&self) -> PathBuf {
        self.beside("home")
    }

    /// A path in the project.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Writes a file of the project, its folders too, and returns its path.
    pub fn write(&self, name: impl AsRef<Path>, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// The text of a file of the project; the test fails when there is none.
    pub fn read(&self, name: &str) -> String {
        let path = self.path(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Writes a program into the scratch folder and returns its path.
    ///
    /// Another process writes it: a program that this one still holds open for writing, in a child that
    /// another test just forked, cannot be started ("text file busy").
    pub fn executable(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.beside(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        let said = Said::with_input(Command::new("/bin/cp").arg("/dev/stdin").arg(&path), content);
        assert_eq!(said.code, Some(0), "{said}");
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        path
    }

    /// Writes a feature as spec-kit does today, with this task list, and returns its folder.
    pub fn add_feature(&self, name: &str, tasks: &str) -> PathBuf {
        let pointer = json!({"feature_directory": format!("specs/{name}")});
        self.write(".specify/feature.json", pointer.to_string());
        self.write(format!("specs/{name}/tasks.md"), tasks);
        self.root.join("specs").join(name)
    }

    /// Sets a variable for all programs from now on.
    pub fn set(&mut self, name: &str, value: impl AsRef<OsStr>) {
        self.variables.insert(name.to_owned(), value.as_ref().to_owned());
    }

    /// Removes a variable for all programs from now on.
    pub fn unset(&mut self, name: &str) {
        self.variables.remove(name);
    }

    /// Puts a folder first on PATH, named by its path in the scratch folder.
    pub fn search_first(&mut self, folder: impl AsRef<Path>) {
        let before = std::env::split_paths(&self.variables["PATH"]);
        let path = std::env::join_paths(std::iter::once(self.top.join(folder)).chain(before));
        self.set("PATH", path.unwrap());
    }

    /// A program in the project with nothing of this machine's environment, and nobody at the keyboard.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(&self.variables).current_dir(&self.root).stdin(Stdio::null());
        command
    }

    /// What `hooks.json` starts for this event.
    pub fn hook(&self, event: &str) -> Command {
        let [program, words @ ..] = started_by(event) else { unreachable!() };
        let mut command = self.command(program);
        command.args(words);
        command
    }

    /// What git prints in the project, without the last newline; the test fails when it does.
    #[track_caller]
    pub fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.root, arguments)
    }

    /// The same in another folder.
    #[track_caller]
    pub fn git_in(&self, folder: &Path, arguments: &[&str]) -> String {
        let said = Said::of(self.command("git").current_dir(folder).args(arguments));
        assert_eq!(said.code, Some(0), "git {arguments:?}: {said}");
        said.out.trim().to_owned()
    }

    /// Makes the project a repository; what git would do in the background is left out. No git is started: most tests begin so.
    pub fn init(&self) {
        for folder in ["objects", "refs", "hooks"] {
            fs::create_dir_all(self.path(".git").join(folder)).unwrap();
        }
        self.write(".git/HEAD", "ref: refs/heads/main\n");
        self.write(".git/config", REPOSITORY);
        self.write(".git/info/exclude", "# What nobody shares\n");
    }

    /// Commits all that there is.
    pub fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
    }

    /// The name of the last commit.
    pub fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }
}

/// What a program said and its exit code, `None` when a signal ended it.
#[derive(Clone, PartialEq, Eq)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Said {
    /// Runs a program to its end; nobody is at the keyboard.
    #[track_caller]
    pub fn of(command: &mut Command) -> Self {
        Self::from(&command.finish())
    }

    /// Runs a program to its end that is handed this. One that does not read it has its reasons.
    #[track_caller]
    pub fn with_input(command: &mut Command, input: impl AsRef<[u8]>) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input.as_ref());
        Self::from(&child.finish())
    }

    /// What was said; the test fails unless the call ended with this code.
    #[track_caller]
    pub fn with_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// Standard output; the test fails unless the call succeeded and said nothing else.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{self}");
        self.out
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(self) -> Value {
        serde_json::from_str(&self.ok()).unwrap()
    }

    /// Everything that was said; the test fails unless the call was refused with code 1.
    #[track_caller]
    pub fn refused(self) -> String {
        assert_eq!(self.code, Some(1), "{self}");
        self.out + &self.err
    }
}

impl From<&Output> for Said {
    fn from(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

impl fmt::Display for Said {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "code {:?}\n--- stdout\n{}--- stderr\n{}", self.code, self.out, self.err)
    }
}

impl fmt::Debug for Said {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// Everything below a folder, folders before what is in them; what vanishes meanwhile is left out.
pub fn below(folder: &Path) -> Vec<(PathBuf, FileType)> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            entries => entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display())),
        };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                folders.push(entry.path());
            }
            found.push((entry.path(), kind));
        }
    }
    found
}

/// The paths of all files below a folder, from there, in their order.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let files = below(folder).into_iter().filter(|(_, kind)| kind.is_file());
    let mut files: Vec<_> =
        files.map(|(path, _)| path.strip_prefix(folder).unwrap().to_owned()).collect();
    files.sort();
    files
}

/// The files below a folder in the order of their paths, with their content; what is no file has none.
pub fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let things = below(folder).into_iter().filter(|(_, kind)| !kind.is_dir());
    let read = |path: &Path, is_file| if is_file { fs::read(path).unwrap() } else { Vec::new() };
    let mut all: Vec<_> =
        things.map(|(path, kind)| (path.clone(), read(&path, kind.is_file()))).collect();
    all.sort();
    all
}
