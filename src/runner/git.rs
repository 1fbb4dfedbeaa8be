//! Git as evidence: the commits of an iteration, and the commits that it may make.
//!
//! Without git or a repository, this evidence is missing. A repository that git cannot read is reported.

mod kept;
mod moment;
mod programs;
mod scratch;
mod status;
mod unread;

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use self::scratch::ScratchFolder;
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

/// The most recorded commits of one iteration.
const MOST: &str = "1000";
/// Stands for a commit in a repository without one, as in git's own records.
pub const NO_COMMIT: &str = "0000000000000000000000000000000000000000";
/// Stands for "no commit yet" in comparisons of files; the same in every repository.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
/// Keeps git out of submodules, which have their own configuration.
const NOT_INSIDE: &str = "--ignore-submodules=dirty";
/// A comparison by git alone: files as they are, outside of submodules.
const DIFF: [&str; 4] = ["diff", "--no-renames", "--no-ext-diff", NOT_INSIDE];
/// Variables of a surrounding git, which would point to another repository.
const FOREIGN: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
];

/// The limit of a question to git: a large repository on a slow disk takes seconds.
const LIMIT: Duration = Duration::from_secs(30);
/// The limit once the loop's time is over: enough to find out what the last iteration did.
pub const LEAST: Duration = Duration::from_secs(5);
/// The limit once somebody wants the loop to end.
const HURRY: Duration = Duration::from_secs(2);
/// The longest output of git, in bytes.
const PRINTED: usize = 64 << 20;

/// A program that git would start: its key or the hook's name, a line break, the program; and the file that names it.
type GitProgram = (String, PathBuf);

/// The files of git's configuration with their times, and the programs in them.
type Configured = (Vec<(PathBuf, Option<FileTime>)>, Vec<GitProgram>);

/// The repository around a work tree.
#[derive(Clone)]
pub struct Git {
    worktree: PathBuf,
    /// The folder of hooks; `None` where git did not say.
    hooks: Option<PathBuf>,
    /// Programs that git may start.
    armed: Vec<GitProgram>,
    configured: Rc<RefCell<Option<Configured>>>,
    patience: Rc<Patience>,
}

/// How long to wait for git, and whether git answered.
struct Patience {
    /// Somebody wants the loop to end.
    interrupt: Box<dyn Fn() -> bool>,
    /// The end of the loop's time.
    until: Option<Deadline>,
    /// The unanswered question. git is asked nothing more until it has been reported.
    silent: RefCell<Option<String>>,
}

/// Reads an entry of `git diff --numstat -z`: two numbers and the path, with tabs between.
fn lines_in(entry: &[u8]) -> Option<FileLines> {
    let mut parts = entry.splitn(3, |byte| *byte == b'\t');
    let mut number = || Some(std::str::from_utf8(parts.next()?).ok()?.parse::<u64>().ok());
    let (added, removed) = (number()?.map(Into::into), number()?.map(Into::into));
    Some(FileLines { added, removed, file: path(parts.next()?).display().to_string() })
}

impl Git {
    /// `None` without a repository. Each question has 30 s, 5 s after `until`, and 2 s once `interrupt` says so.
    pub fn within(
        worktree: &Path,
        until: Option<Deadline>,
        interrupt: Box<dyn Fn() -> bool>,
    ) -> Result<Option<Self>, UnreadRepository> {
        let Some(place) = unread::place_around(worktree) else { return Ok(None) };
        let mut git = Self {
            worktree: worktree.to_owned(),
            hooks: None,
            armed: Vec::new(),
            configured: Rc::default(),
            patience: Rc::new(Patience { interrupt, until, silent: RefCell::default() }),
        };
        match git.run(&["rev-parse", "--git-path", "hooks"], &[]) {
            Ok(printed) => git.hooks = Some(worktree.join(path(printed.trim_ascii_end()))),
            Err(_) if git.is_silent() => {}
            Err(error) => return Err(UnreadRepository::of(place, &format!("{error:#}"))),
        }
        git.armed = git.startable(true).unwrap_or_default();
        Ok(Some(git))
    }

    /// A commit may start the repository's own programs, which may change files.
    pub fn has_hooks(&self) -> bool {
        let Some(folder) = &self.hooks else { return true };
        let is_hook = |file: &Path| file.extension().is_none_or(|end| end != "sample");
        self.armed.iter().any(|(_, file)| file.starts_with(folder) && is_hook(file))
    }

    /// A question has gone unanswered since the last report.
    pub fn is_silent(&self) -> bool {
        self.patience.silent.borrow().is_some()
    }

    /// Reports the unanswered question; git is asked again from now on.
    pub fn silence(&self) -> Option<String> {
        self.patience.silent.take()
    }

    /// The commits on top of `head`, oldest first, for an iteration whose runner died. On top of [`NO_COMMIT`], all
    /// commits.
    pub fn commits_on_top_of(&self, head: &str) -> Vec<String> {
        if !is_commit_name(head) {
            return Vec::new();
        }
        let range = if head == NO_COMMIT { "HEAD".to_owned() } else { format!("{head}..HEAD") };
        let asked = ["rev-list", "--reverse", "--max-count", MOST, &range, "--"];
        let printed = self.run(&asked, &[]).unwrap_or_default();
        String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect()
    }

    /// Those of these commits that `HEAD` has and this one has not. An error means that git did not say.
    pub fn lasting(&self, since: &str, mut commits: Vec<String>) -> Result<Vec<String>> {
        let since = format!("^{since}");
        let now = self.run(&["rev-list", "--ignore-missing", "HEAD", &since, "--"], b"")?;
        let now = String::from_utf8_lossy(&now);
        commits.retain(|commit| now.contains(commit));
        Ok(commits)
    }

    /// Files that differ between a commit and the work tree, without the loop's own.
    pub fn files_since(&self, head: Option<&str>) -> Vec<PathBuf> {
        let range = [head.unwrap_or(EMPTY_TREE), "HEAD", "--"];
        self.files(&[&DIFF[..], &["--name-only", "-z"], &range].concat())
    }

    /// The changed lines of each file between `from`, or [`NO_COMMIT`], and `to`, or the work tree. Paths start at the
    /// work tree; untracked files and the loop's own are left out.
    pub fn changed_lines(&self, from: &str, to: Option<&str>) -> Result<Vec<FileLines>> {
        let from = if from == NO_COMMIT { EMPTY_TREE } else { from };
        let plain = [&DIFF[..], &["--numstat", "--relative", "-z", from]].concat();
        let printed = self.run(&[&plain[..], to.as_slice(), &["--", "."]].concat(), &[])?;
        let mut all: Vec<FileLines> =
            printed.split(|byte| *byte == 0).filter_map(lines_in).collect();
        all.retain(|lines| !Path::new(&lines.file).ancestors().any(is_own));
        Ok(all)
    }

    /// Each commit with the first line of its message, in the given order.
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

    /// The commit of a name such as `main` or `HEAD~3`.
    pub fn commit_named(&self, name: &str) -> Option<String> {
        let wanted = format!("{name}^{{commit}}");
        let asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted];
        self.name_printed(&asked)
    }

    /// The commit is in the history of `HEAD`.
    pub fn is_in_head(&self, commit: &str) -> bool {
        is_commit_name(commit)
            && self.name_printed(&["merge-base", commit, "HEAD"]).as_deref() == Some(commit)
    }

    /// The newest commit in `HEAD`'s history from before the second of `time`.
    pub fn commit_before(&self, time: WallTime) -> Option<String> {
        let until = format!("--min-age={}", (time.millis() / 1000).saturating_sub(1));
        self.name_printed(&["rev-list", "--max-count", "1", &until, "HEAD", "--"])
    }

    /// The patch between a commit, or [`NO_COMMIT`], and the work tree. Paths start at the work tree; untracked files
    /// and the loop's own are left out.
    pub fn patch_since(&self, commit: &str) -> Result<Vec<u8>> {
        let commit = if commit == NO_COMMIT { EMPTY_TREE } else { commit };
        let form = ["--no-color", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"];
        let own = ".spool/.state .claude/ralph **/.claude/loop-state.* \
            **/.speckit-state.json **/.progress.md";
        let own = own.split(' ').map(|name| format!(":(exclude,glob){name}")).collect::<Vec<_>>();
        let all: Vec<&str> = own.iter().map(String::as_str).collect();
        let all = [&DIFF[..], &form, &["--relative", commit, "--", "."], &all].concat();
        self.run(&all, &[])
    }

    /// The file's content in a commit. `path` starts at the folder.
    pub fn file_at(&self, commit: &str, path: &str) -> Option<Vec<u8>> {
        self.run(&["show", "--no-textconv", &format!("{commit}:./{path}")], &[]).ok()
    }

    /// git ignores the untracked file at this path from the folder; `false` where git does not say.
    pub fn is_ignored(&self, path: &str) -> bool {
        self.run(&["check-ignore", "-q", "--", path], &[]).is_ok()
    }

    /// Untracked files that are not ignored, without the loop's own.
    pub fn unknown_files(&self) -> Vec<PathBuf> {
        self.files(&["ls-files", "--others", "--exclude-standard", "-z", "--", "."])
    }

    /// The files in git's answer, without the loop's own.
    fn files(&self, asked: &[&str]) -> Vec<PathBuf> {
        let mut files = paths(&self.run(asked, &[]).unwrap_or_default());
        files.retain(|file| !file.ancestors().any(is_own));
        files
    }

    fn name_printed(&self, asked: &[&str]) -> Option<String> {
        let printed = self.run(asked, &[]).ok()?;
        let name = String::from_utf8_lossy(&printed).trim().to_owned();
        is_commit_name(&name).then_some(name)
    }

    /// Runs git on these files only. git reads their names from a file: standard input could break off when the
    /// supervisor is killed, and half a name may be a folder's.
    fn with_names(
        &self,
        arguments: &[&str],
        files: &[PathBuf],
        run: &mut dyn FnMut(Launch) -> Result<Captured>,
    ) -> Result<Captured> {
        self.refuse_new_programs(true)?;
        let scratch = ScratchFolder::of(&self.worktree)?;
        let list = scratch.0.join("files");
        std::fs::write(&list, joined(files))?;
        let mut option = OsString::from("--pathspec-from-file=");
        option.push(list);
        let mut launch = self.launch(&[&["--literal-pathspecs"], arguments].concat());
        launch.arguments.extend([option, "--pathspec-file-nul".into()]);
        run(launch)
    }

    pub fn remove_leftovers(&self) {
        scratch::remove_leftovers(&self.worktree);
    }

    /// An operation in progress, such as a rebase; a commit would become a part of it.
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

    /// A git for another process to run.
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

    fn run(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>> {
        self.run_with(&[], arguments, input)
    }

    /// As [`Self::run`], with these variables.
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
        // A file system monitor of the repository may hang, and a daemon would stay.
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
        // An interrupted iteration is still recorded if git answers soon.
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

/// Checks a git that another process has run.
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
