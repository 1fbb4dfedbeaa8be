//! Git as evidence: the commits of an iteration, and what it may commit itself.
//!
//! Without git, or without a repository, there is simply no such evidence; a repository that git cannot read is named.

mod hidden;
mod kept;
mod moment;
mod programs;
mod scratch;
mod status;
mod unread;

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::capture::Captured;
use super::harness::Launch;
use crate::evidence::commits::repository_of;
use crate::evidence::tree::is_own;
use crate::exec::{Program, ProgramEnd};
use crate::forms::story::FileLines;
use crate::system::names;
use crate::world::{self, Deadline, FileTime, WallTime};

pub use kept::UnfinishedTry;
pub use moment::GitMoment;
pub use status::GitStatus;
pub use unread::UnreadRepository;

/// The most commits of one iteration that are recorded.
const MOST: &str = "1000";
/// Stands for a commit where a repository has none yet, as in git's own records.
pub const NO_COMMIT: &str = "0000000000000000000000000000000000000000";
/// Stands for "no commit yet" where files are compared; its name is the same in every repository.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
/// Keeps git out of submodules, whose own configuration it would go by.
const NOT_INSIDE: &str = "--ignore-submodules=dirty";
/// What a surrounding git would have ours believe about another repository.
const FOREIGN: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
];

/// The longest that a question to git may take: a large repository on a slow disk needs seconds.
const LIMIT: Duration = Duration::from_secs(30);
/// What git is given even where the time of the loop is up: enough to find out what a last iteration did.
pub const LEAST: Duration = Duration::from_secs(5);
/// What git is given once someone wants the loop to end.
const HURRY: Duration = Duration::from_secs(2);
/// The most that git may print, in bytes.
const PRINTED: usize = 64 << 20;

/// Something that git would start: its key or the name of the hook, a line break, what is to be started, and the file that says so.
type GitProgram = (String, PathBuf);

/// The files of git's configuration, with the time of their last change, and what they have git start.
type Configured = (Vec<(PathBuf, Option<FileTime>)>, Vec<GitProgram>);

/// The repository around a work tree.
#[derive(Clone, Debug)]
pub struct Git {
    worktree: PathBuf,
    /// Where the programs are that a commit starts, `None` where git did not say.
    hooks: Option<PathBuf>,
    /// What git may start.
    armed: Vec<GitProgram>,
    configured: Rc<RefCell<Option<Configured>>>,
    patience: Rc<Patience>,
}

/// How long to wait for git, and how it ended.
struct Patience {
    /// Whether someone wants the loop to end.
    interrupt: Box<dyn Fn() -> bool>,
    /// The end of the loop's time.
    until: Option<Deadline>,
    /// The question that git did not answer in time; it is asked nothing more until that has been reported.
    silent: RefCell<Option<String>>,
}

impl fmt::Debug for Patience {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Patience").field("silent", &self.silent).finish_non_exhaustive()
    }
}

/// An entry of `git diff --numstat -z`: two numbers and the path, with tabs between them.
fn lines_in(entry: &[u8]) -> Option<FileLines> {
    let mut parts = entry.splitn(3, |byte| *byte == b'\t');
    let mut number = || Some(std::str::from_utf8(parts.next()?).ok()?.parse::<u64>().ok());
    let (added, removed) = (number()?.map(Into::into), number()?.map(Into::into));
    Some(FileLines { added, removed, file: path(parts.next()?).display().to_string() })
}

impl Git {
    /// Returns the repository, `None` when there is none or git is missing; each question to it has at most 30 s, 5 s when `until` has passed, and 2 s once
    /// `interrupt` says so.
    pub fn within(
        worktree: &Path,
        until: Option<Deadline>,
        interrupt: Box<dyn Fn() -> bool>,
    ) -> Option<Self> {
        repository_of(worktree)?;
        let patience = Patience { interrupt, until, silent: RefCell::default() };
        let mut git = Self::new(worktree, patience);
        match git.run(&["rev-parse", "--git-path", "hooks"], &[]) {
            Ok(printed) => git.hooks = Some(worktree.join(path(printed.trim_ascii_end()))),
            Err(_) if git.is_silent() => {}
            Err(_) => return None,
        }
        git.armed = git.startable(true).unwrap_or_default();
        Some(git)
    }

    fn new(worktree: &Path, patience: Patience) -> Self {
        let patience = Rc::new(patience);
        Self {
            worktree: worktree.to_owned(),
            hooks: None,
            armed: Vec::new(),
            configured: Rc::default(),
            patience,
        }
    }

    /// Returns whether a commit may start programs of the repository's own, which may change files.
    pub fn has_hooks(&self) -> bool {
        let Some(folder) = &self.hooks else { return true };
        let is_hook = |file: &Path| file.extension().is_none_or(|end| end != "sample");
        self.armed.iter().any(|(_, file)| file.starts_with(folder) && is_hook(file))
    }

    /// Returns whether git has not answered in time since this was last reported.
    pub fn is_silent(&self) -> bool {
        self.patience.silent.borrow().is_some()
    }

    /// Returns what git did not answer in time, `None` when it always has; from now on, it is asked again.
    pub fn silence(&self) -> Option<String> {
        self.patience.silent.take()
    }

    /// Returns the commits that came on top of `head`, oldest first; for an iteration whose runner died.
    /// On top of [`NO_COMMIT`], these are all that are reachable.
    pub fn commits_on_top_of(&self, head: &str) -> Vec<String> {
        if !is_commit_name(head) {
            return Vec::new();
        }
        let range = if head == NO_COMMIT { "HEAD".to_owned() } else { format!("{head}..HEAD") };
        let asked = ["rev-list", "--reverse", "--max-count", MOST, &range, "--"];
        let printed = self.run(&asked, &[]).unwrap_or_default();
        String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect()
    }

    /// Returns the files that differ between a commit and what is checked out, the loop's own left out.
    pub fn files_since(&self, head: Option<&str>) -> Vec<PathBuf> {
        let head = head.unwrap_or(EMPTY_TREE);
        let asked = [
            "diff",
            "--name-only",
            "--no-renames",
            "--no-ext-diff",
            NOT_INSIDE,
            "-z",
            head,
            "HEAD",
            "--",
        ];
        let mut files = paths(&self.run(&asked, &[]).unwrap_or_default());
        files.retain(|file| !file.ancestors().any(is_own));
        files
    }

    /// Returns how many lines differ in each file between a commit, or [`NO_COMMIT`], and another one, or the work tree where
    /// that is `None`, with paths from the work tree; files that git does not know yet and the loop's own left out.
    pub fn changed_lines(&self, from: &str, to: Option<&str>) -> Result<Vec<FileLines>> {
        let from = if from == NO_COMMIT { EMPTY_TREE } else { from };
        let plain = [
            "diff",
            "--numstat",
            "--no-renames",
            "--no-ext-diff",
            NOT_INSIDE,
            "--relative",
            "-z",
            from,
        ];
        let printed = self.run(&[&plain[..], to.as_slice(), &["--", "."]].concat(), &[])?;
        let mut all: Vec<FileLines> =
            printed.split(|byte| *byte == 0).filter_map(lines_in).collect();
        all.retain(|lines| !Path::new(&lines.file).ancestors().any(is_own));
        Ok(all)
    }

    /// Returns the first line of the message of each of these commits, with the commit, oldest first as they are given.
    pub fn subjects(&self, commits: &[String]) -> Result<Vec<(String, String)>> {
        if commits.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(wrong) = commits.iter().find(|name| !is_commit_name(name)) {
            bail!("`{wrong}` is no commit");
        }
        let asked = ["log", "--no-walk=unsorted", "--no-color", "--format=%H %s", "--stdin"];
        let printed = self.run(&asked, commits.join("\n").as_bytes())?;
        let text = String::from_utf8_lossy(&printed).into_owned();
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        Ok(lines.map(|(name, subject)| (name.to_owned(), subject.to_owned())).collect())
    }

    /// Returns the commit that a person names, such as `main` or `HEAD~3`; `None` where there is none of this name.
    pub fn commit_named(&self, name: &str) -> Option<String> {
        let wanted = format!("{name}^{{commit}}");
        let asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted];
        self.name_printed(&asked)
    }

    /// Returns whether what is checked out has this commit in its history.
    pub fn is_in_head(&self, commit: &str) -> bool {
        is_commit_name(commit)
            && self.name_printed(&["merge-base", commit, "HEAD"]).as_deref() == Some(commit)
    }

    /// Returns the newest commit of what is checked out that was made before the second of a time, `None` where all are
    /// younger.
    pub fn commit_before(&self, time: WallTime) -> Option<String> {
        let until = format!("--min-age={}", (time.millis() / 1000).saturating_sub(1));
        self.name_printed(&["rev-list", "--max-count", "1", &until, "HEAD", "--"])
    }

    /// Returns what differs between a commit, or [`NO_COMMIT`], and the files of the work tree, as a patch with paths
    /// from the work tree; files that git does not know yet and the loop's own left out.
    pub fn patch_since(&self, commit: &str) -> Result<Vec<u8>> {
        let commit = if commit == NO_COMMIT { EMPTY_TREE } else { commit };
        let plain = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames"];
        let plain = [&plain[..], &["--src-prefix=a/", "--dst-prefix=b/", NOT_INSIDE, "--relative"]]
            .concat();
        let own = [".spool/.state", ".claude/ralph", "**/.speckit-state.json", "**/.progress.md"];
        let own = own.map(|name| format!(":(exclude,glob){name}"));
        let all: Vec<&str> = own.iter().map(String::as_str).collect();
        self.run(&[&plain[..], &[commit, "--", "."], &all].concat(), &[])
    }

    /// Returns what the file at this path from the folder contained in a commit, `None` where it was not there.
    pub fn file_at(&self, commit: &str, path: &str) -> Option<Vec<u8>> {
        self.run(&["show", "--no-textconv", &format!("{commit}:./{path}")], &[]).ok()
    }

    /// Returns whether git ignores the file at this path from the folder, and does not track it; `false` where git does not say.
    pub fn is_ignored(&self, path: &str) -> bool {
        self.run(&["check-ignore", "-q", "--", path], &[]).is_ok()
    }

    /// Returns the files that git does not know yet and does not ignore, the loop's own left out.
    pub fn unknown_files(&self) -> Vec<PathBuf> {
        let asked = ["ls-files", "--others", "--exclude-standard", "-z", "--", "."];
        let mut files = paths(&self.run(&asked, &[]).unwrap_or_default());
        files.retain(|file| !file.ancestors().any(is_own));
        files
    }

    fn name_printed(&self, asked: &[&str]) -> Option<String> {
        let printed = self.run(asked, &[]).ok()?;
        let name = String::from_utf8_lossy(&printed).trim().to_owned();
        is_commit_name(&name).then_some(name)
    }

    /// Has a git run that takes these files and no others. It reads their names from a file, whole: on its standard
    /// input, they would break off where the supervisor is killed, and the beginning of a name may be a folder's.
    fn with_names(
        &self,
        arguments: &[&str],
        files: &[PathBuf],
        run: &mut dyn FnMut(Launch) -> Result<Captured>,
    ) -> Result<Captured> {
        self.refuse_new_programs(true)?;
        let mut list = self.scratch()?;
        list.write_all(&joined(files))?;
        let mut option = OsString::from("--pathspec-from-file=");
        option.push(list.path());
        let mut launch = self.launch(&[&["--literal-pathspecs"], arguments].concat());
        launch.arguments.extend([option, "--pathspec-file-nul".into()]);
        run(launch)
    }

    /// Returns a new temporary file in git's own folder, which a commit has to be able to write; the one for all programs may
    /// be read-only, as in a container.
    fn scratch(&self) -> io::Result<tempfile::NamedTempFile> {
        match repository_of(&self.worktree) {
            Some(repository) => {
                let file =
                    tempfile::NamedTempFile::with_prefix_in(scratch::beginning(), repository)?;
                scratch::hold(file.as_file());
                Ok(file)
            }
            None => tempfile::NamedTempFile::new(),
        }
    }

    /// Removes the temporary files that a killed runner has left in git's own folder.
    pub fn remove_leftovers(&self) {
        scratch::remove_leftovers(&self.worktree);
    }

    /// Returns what is in the middle of being done in the repository, such as a rebase; a commit would
    /// become a part of it.
    pub fn in_the_middle_of(&self) -> Option<&'static str> {
        let repository = repository_of(&self.worktree)?;
        let marks = [
            ("rebase-merge", "a rebase"),
            ("rebase-apply", "a rebase"),
            ("MERGE_HEAD", "a merge"),
            ("CHERRY_PICK_HEAD", "a cherry-pick"),
            ("REVERT_HEAD", "a revert"),
        ];
        marks.into_iter().find(|(name, _)| repository.join(name).exists()).map(|(_, what)| what)
    }

    fn head(&self) -> Option<String> {
        self.name_printed(&["rev-parse", "--verify", "--quiet", "HEAD"])
    }

    /// A git that someone else runs.
    fn launch(&self, arguments: &[&str]) -> Launch {
        let mut all: Vec<OsString> = vec!["-C".into(), self.worktree.clone().into()];
        let mut hooks = OsString::from("core.hooksPath=");
        hooks.push(self.hooks.as_deref().unwrap_or(Path::new("/dev/null")));
        all.extend(["-c".into(), hooks, "-c".into(), "core.fsmonitor=false".into()]);
        all.extend(arguments.iter().map(Into::into));
        Launch {
            program: "git".into(),
            arguments: all,
            set: vec![("GIT_TERMINAL_PROMPT".to_owned(), "0".into())],
            unset: FOREIGN.map(str::to_owned).to_vec(),
            ..Launch::default()
        }
    }

    /// Runs git with `input` on its standard input and returns what it printed.
    fn run(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>> {
        self.run_with(&[], arguments, input)
    }

    /// The same with these variables set.
    fn run_with(
        &self,
        set: &[(&str, &OsStr)],
        arguments: &[&str],
        input: &[u8],
    ) -> Result<Vec<u8>> {
        let asked = arguments.first().copied().unwrap_or_default();
        if let Some(silent) = self.patience.silent.borrow().as_ref() {
            bail!("{silent}");
        }
        if !matches!(asked, "config" | "rev-parse") {
            self.refuse_new_programs(false)?;
        }
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.worktree).args(["-c", "core.quotePath=false"]);
        // A monitor of the repository's own may hang, and a daemon would stay there.
        command.args(["-c", "core.fsmonitor=false"]);
        if asked != "rev-parse" {
            command.args(["-c", "core.hooksPath=/dev/null"]);
        }
        command.args(arguments);
        command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
        // What an agent has git show in the place of a commit is not that commit.
        command.env("GIT_NO_REPLACE_OBJECTS", "1");
        for name in FOREIGN {
            command.env_remove(name);
        }
        command.envs(set.iter().copied());
        let most = world::limit("RALPH_TEST_GIT", LIMIT);
        let limit = self.patience.until.map_or(most, |until| until.left().max(LEAST).min(most));
        let mut hurry: Option<Deadline> = None;
        // What an interrupted iteration did is still recorded, where git answers soon.
        let mut interrupt = || {
            (self.patience.interrupt)()
                && hurry.get_or_insert_with(|| Deadline::after(HURRY)).is_over()
        };
        let ran = Program::new(command, limit)
            .input(input)
            .run(PRINTED, &mut interrupt)
            .context("`git` cannot be started")?;
        let limit = match ran.end {
            ProgramEnd::Left(code) if code.success() && !ran.cut => return Ok(ran.output),
            ProgramEnd::Left(code) if code.success() => {
                bail!("`git {asked}` printed more than {} MiB", PRINTED >> 20)
            }
            ProgramEnd::Left(_) => bail!("{}", String::from_utf8_lossy(&ran.errors).trim()),
            ProgramEnd::Interrupted => HURRY,
            ProgramEnd::OverTime => limit,
        };
        let words =
            format!("`git {asked}` did not answer within {} s and was ended", limit.as_secs());
        *self.patience.silent.borrow_mut() = Some(words.clone());
        bail!("{words}")
    }
}

/// Returns an error unless a git that someone else has run did what it was asked for.
fn succeeded(what: &str, done: &Captured) -> Result<()> {
    if done.is_success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.printed).trim().to_owned();
    match (done.ended.left.code, said.as_str()) {
        _ if done.timed_out() => {
            bail!("`{what}` took too long, and was ended: a hook or a filter?")
        }
        (Some(code), "") => bail!("`{what}` ended with code {code} and without a word: a hook?"),
        (None, "") => bail!("`{what}` was ended"),
        (_, said) => bail!("`{what}` failed: {said}"),
    }
}

fn is_commit_name(name: &str) -> bool {
    name.len() >= 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn joined(files: &[PathBuf]) -> Vec<u8> {
    let mut names = Vec::new();
    for file in files {
        names.extend_from_slice(file.as_os_str().as_encoded_bytes());
        names.push(0);
    }
    names
}

fn paths(printed: &[u8]) -> Vec<PathBuf> {
    printed.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(path).collect()
}

fn path(name: &[u8]) -> PathBuf {
    PathBuf::from(names::from_bytes(name).into_owned())
}

#[cfg(test)]
mod tests;
