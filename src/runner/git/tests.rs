//! Commits as evidence, against real repositories.

use super::*;
use std::fs;
use std::process::Stdio;
use tempfile::TempDir;

use crate::runner::harness::Input;

struct ScratchRepository {
    folder: TempDir,
    git: Git,
}

impl ScratchRepository {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        plain(folder.path(), &["init", "--quiet", "--initial-branch=main"]);
        let git = repository_at(folder.path()).unwrap();
        Self { folder, git }
    }

    fn run(&self, arguments: &[&str]) -> String {
        plain(self.folder.path(), arguments)
    }

    /// Makes a commit and returns its name.
    fn commit(&self, file: &str) -> String {
        self.write(file, file);
        self.run(&["add", "--", file]);
        self.run(&["commit", "--quiet", "--message", file]);
        self.run(&["rev-parse", "HEAD"])
    }

    fn committed(&self, files: &[PathBuf]) -> Result<bool> {
        self.git.commit(files, "the iteration", &mut at_once)
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.folder.path().join(file), text).unwrap();
    }
}

/// Runs a launch as the runner would, without its supervisor.
fn at_once(launch: Launch) -> Result<Captured> {
    let mut command = Command::new(launch.program);
    assert_eq!(launch.input, Input::Nothing, "what comes through a pipe may break off");
    let output = command.args(launch.arguments).stdin(Stdio::null()).output()?;
    let mut captured = Captured { printed: output.stderr, ..Captured::default() };
    captured.ended.left.code = output.status.code();
    Ok(captured)
}

#[test]
fn a_long_list_of_names_arrives_whole_whatever_becomes_of_the_pipe() {
    let it = ScratchRepository::new();
    it.commit("first");
    fs::create_dir(it.folder.path().join("folder")).unwrap();
    it.write("folder/of-the-person", "");
    // More than a pipe holds: 64 KiB.
    let files: Vec<PathBuf> =
        (0..700).map(|n| PathBuf::from(format!("folder/{}{n:03}", "long".repeat(25)))).collect();
    for file in &files {
        it.write(file.to_str().unwrap(), "");
    }
    assert!(it.committed(&files).unwrap());
    assert_eq!(it.run(&["status", "--porcelain"]), "?? folder/of-the-person");
    assert_eq!(it.run(&["ls-files", "folder"]).lines().count(), files.len());
}

/// The commits since a moment.
fn since(git: &Git, then: &GitMoment) -> Vec<String> {
    git.commits_between(then, &git.moment(Some(then.clone()))).unwrap()
}

fn plain(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "user.name=t", "-c", "user.email=t@example.org"]);
    let output = command.args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn the_commits_of_an_iteration_are_told_in_their_order() {
    let repository = ScratchRepository::new();
    let before = repository.commit("before");
    let moment = repository.git.moment(None);
    assert_eq!(moment.head, Some(before));
    assert_eq!(since(&repository.git, &moment), Vec::<String>::new());
    let made = [repository.commit("one"), repository.commit("two")];
    assert_eq!(since(&repository.git, &moment), made);
    let files = repository.git.files_since(moment.head.as_deref());
    assert_eq!(files, ["one", "two"].map(PathBuf::from));
}

#[test]
fn a_commit_made_before_the_loop_in_the_same_second_is_not_claimed() {
    let repository = ScratchRepository::new();
    repository.commit("in the same second");
    let moment = repository.git.moment(None);
    assert_eq!(since(&repository.git, &moment), Vec::<String>::new());
    let made = repository.commit("also in the same second");
    assert_eq!(since(&repository.git, &moment), [made]);
}

#[test]
fn the_first_commit_of_a_repository_counts() {
    let repository = ScratchRepository::new();
    let moment = repository.git.moment(None);
    assert_eq!(moment.head, None);
    assert_eq!(repository.git.commits_on_top_of(NO_COMMIT), Vec::<String>::new());
    let made = repository.commit("first");
    assert_eq!(repository.git.commits_on_top_of(NO_COMMIT), std::slice::from_ref(&made));
    assert_eq!(since(&repository.git, &moment), [made]);
    assert_eq!(repository.git.files_since(None), [PathBuf::from("first")]);
}

#[test]
fn switching_to_another_branch_is_no_commit() {
    let repository = ScratchRepository::new();
    repository.commit("base");
    repository.run(&["switch", "--quiet", "--create", "other"]);
    repository.commit("on the other branch");
    repository.run(&["switch", "--quiet", "main"]);
    let moment = repository.git.moment(None);
    repository.run(&["switch", "--quiet", "other"]);
    assert_eq!(since(&repository.git, &moment), Vec::<String>::new());
    let made = repository.commit("there");
    assert_eq!(since(&repository.git, &moment), [made]);
}

#[test]
fn a_commit_in_another_work_tree_is_not_this_loops() {
    let repository = ScratchRepository::new();
    repository.commit("base");
    let other = tempfile::tempdir().unwrap();
    let place = other.path().join("tree");
    repository.run(&["worktree", "add", "--quiet", place.to_str().unwrap(), "-b", "side"]);
    let moment = repository.git.moment(None);
    fs::write(place.join("side"), "x").unwrap();
    plain(&place, &["add", "side"]);
    plain(&place, &["commit", "--quiet", "--message", "side"]);
    assert_eq!(since(&repository.git, &moment), Vec::<String>::new());
    let there = repository_at(&place).unwrap();
    assert_eq!(since(&there, &moment).len(), 1);
}

#[test]
fn a_moment_is_taken_anew_only_when_the_head_moved() {
    let repository = ScratchRepository::new();
    repository.commit("one");
    let moment = repository.git.moment(None);
    let same = repository.git.moment(Some(moment.clone()));
    assert_eq!(same.head, moment.head);
    let two = repository.commit("two");
    assert_eq!(repository.git.moment(Some(moment)).head, Some(two));
}

#[test]
fn only_the_named_files_are_committed_and_what_was_staged_stays_staged() {
    let repository = ScratchRepository::new();
    repository.run(&["config", "user.name", "t"]);
    repository.run(&["config", "user.email", "t@example.org"]);
    repository.commit("gone");
    repository.write(".git/info/exclude", "secret*\n");
    repository.write("staged", "by the person");
    repository.run(&["add", "staged"]);
    for name in ["new", "secret.env", "*", "-x"] {
        repository.write(name, "x");
    }
    fs::remove_file(repository.folder.path().join("gone")).unwrap();
    repository.write("mine", "not of the iteration");
    let files = ["new", "gone", "secret.env", "*", "-x"].map(PathBuf::from);
    assert_eq!(repository.git.not_ignored(files.to_vec()).len(), 4);
    assert!(repository.committed(&files).unwrap());
    let names = repository.run(&["show", "--name-only", "--format=", "HEAD"]);
    let mut names: Vec<&str> = names.lines().collect();
    names.sort_unstable();
    assert_eq!(names, ["*", "-x", "gone", "new"]);
    assert_eq!(repository.run(&["diff", "--cached", "--name-only"]), "staged");
    assert!(!repository.committed(&files).unwrap());
}

#[test]
fn without_a_repository_there_is_no_such_evidence() {
    let folder = tempfile::tempdir().unwrap();
    assert!(repository_at(folder.path()).is_none());
}

#[test]
fn what_is_excluded_is_written_so_that_every_git_understands_it() {
    let (head, tips) = (Some("aa".to_owned()), b"bb\ncc\n".to_vec());
    let then = GitMoment { fingerprint: 1, head, tips, known: true };
    assert_eq!(String::from_utf8(wanted("dd", &then)).unwrap(), "dd\n^bb\n^cc\n^aa\n");
}

#[test]
fn the_loops_own_files_are_no_files_of_a_commit() {
    let repository = ScratchRepository::new();
    let moment = repository.git.moment(None);
    fs::create_dir(repository.folder.path().join(".claude")).unwrap();
    repository.commit(".claude/loop-state.json");
    assert_eq!(repository.git.files_since(moment.head.as_deref()), Vec::<PathBuf>::new());
}

#[test]
fn a_commit_that_a_hook_refuses_says_why_or_that_it_said_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let repository = ScratchRepository::new();
    repository.run(&["config", "user.name", "t"]);
    repository.run(&["config", "user.email", "t@example.org"]);
    let hook = repository.folder.path().join(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    repository.write("new", "x");
    for (script, words) in [
        ("echo not like this >&2; exit 1", "`git commit` failed: not like this"),
        ("exit 1", "`git commit` ended with code 1 and without a word: a hook?"),
    ] {
        fs::write(&hook, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        let error = repository.committed(&["new".into()]).unwrap_err();
        assert_eq!(format!("{error:#}"), words);
    }
}

#[test]
fn nothing_is_committed_into_a_rebase() {
    let repository = ScratchRepository::new();
    repository.commit("base");
    repository.write("new", "x");
    fs::create_dir(repository.folder.path().join(".git/rebase-merge")).unwrap();
    let error = repository.committed(&["new".into()]).unwrap_err();
    assert!(error.to_string().starts_with("a rebase is under way"), "{error}");
    assert_eq!(repository.run(&["log", "--oneline"]).lines().count(), 1);
}

fn repository_at(worktree: &Path) -> Option<Git> {
    Git::within(worktree, None, Box::new(|| false))
}
