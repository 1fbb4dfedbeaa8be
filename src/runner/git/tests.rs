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
        self.git.commit(files, &self.git.status()?, "the iteration", &mut at_once)
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
fn long_name_list_arrives() {
    let repository = ScratchRepository::new();
    repository.commit("first");
    fs::create_dir(repository.folder.path().join("folder")).unwrap();
    repository.write("folder/of-the-person", "");
    // More than a pipe holds: 64 KiB.
    let files: Vec<PathBuf> =
        (0..700).map(|n| PathBuf::from(format!("folder/{}{n:03}", "long".repeat(25)))).collect();
    for file in &files {
        repository.write(file.to_str().unwrap(), "");
    }
    assert!(repository.committed(&files).unwrap());
    assert_eq!(repository.run(&["status", "--porcelain"]), "?? folder/of-the-person");
    assert_eq!(repository.run(&["ls-files", "folder"]).lines().count(), files.len());
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
fn commits_come_in_order() {
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
fn earlier_commit_is_not_claimed() {
    let repository = ScratchRepository::new();
    repository.commit("in the same second");
    let moment = repository.git.moment(None);
    assert_eq!(since(&repository.git, &moment), Vec::<String>::new());
    let made = repository.commit("also in the same second");
    assert_eq!(since(&repository.git, &moment), [made]);
}

#[test]
fn first_commit_counts() {
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
fn switching_branches_is_no_commit() {
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
fn other_tree_commit_is_foreign() {
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
fn moment_follows_the_head() {
    let repository = ScratchRepository::new();
    repository.commit("one");
    let moment = repository.git.moment(None);
    let same = repository.git.moment(Some(moment.clone()));
    assert_eq!(same.head, moment.head);
    let two = repository.commit("two");
    assert_eq!(repository.git.moment(Some(moment)).head, Some(two));
}

#[test]
fn commits_match_git() {
    for format in ["files", "packed"] {
        let repository = ScratchRepository::new();
        let first = repository.commit("first");
        let moment = repository.git.moment(None);
        repository.commit("second");
        repository.run(&["branch", "other", &first]);
        repository.run(&["tag", "--annotate", "--message", "x", "v1"]);
        if format == "packed" {
            repository.run(&["pack-refs", "--all"]);
        }
        repository.commit("third");
        let now = repository.git.moment(Some(moment.clone()));
        let asked = repository.git.moment(None);
        assert_eq!(now.head, asked.head);
        let commits = |now: &GitMoment| repository.git.commits_between(&moment, now).unwrap();
        let listed = repository.run(&["rev-list", "--reverse", &format!("{first}..HEAD")]);
        assert_eq!(commits(&now), listed.lines().collect::<Vec<_>>(), "{format}");
        // A branch that was there at that moment has no commits of a later one.
        repository.run(&["switch", "--quiet", "other"]);
        repository.commit("on the other");
        let there = repository.git.moment(Some(now));
        repository.run(&["switch", "--quiet", "main"]);
        repository.run(&["merge", "--quiet", "--no-edit", "other"]);
        let merged = repository.git.moment(Some(there.clone()));
        assert_eq!(
            repository.git.commits_between(&there, &merged).unwrap(),
            [repository.run(&["rev-parse", "HEAD"])]
        );
    }
}

#[test]
fn replaced_commit_is_asked() {
    let repository = ScratchRepository::new();
    repository.commit("first");
    let moment = repository.git.moment(None);
    repository.commit("second");
    repository.write("second", "another");
    repository.run(&["commit", "--quiet", "--all", "--amend", "--message", "second"]);
    assert_eq!(since(&repository.git, &moment), [repository.run(&["rev-parse", "HEAD"])]);
}

#[test]
fn tracked_files_are_not_ignored_anywhere() {
    let repository = ScratchRepository::new();
    fs::create_dir_all(repository.folder.path().join("out/deep")).unwrap();
    repository.write("out/tracked", "x");
    repository.commit("out/tracked");
    repository.write(".git/info/exclude", "out/\nnever/\n");
    fs::create_dir(repository.folder.path().join("never")).unwrap();
    for name in ["out/tracked", "out/new", "out/deep/new", "never/new"] {
        repository.write(name, "changed");
    }
    let files = ["out/tracked", "out/new", "out/deep/new", "never/new"].map(PathBuf::from);
    assert_eq!(repository.git.status().unwrap().not_ignored(files.to_vec()), files[..1]);
    assert_eq!(repository.git.not_ignored(files.to_vec()), files[..1]);
}

#[test]
fn conflicts_are_committed_as_is() {
    let repository = ScratchRepository::new();
    repository.run(&["config", "user.name", "t"]);
    repository.run(&["config", "user.email", "t@example.org"]);
    repository.commit("one");
    repository.write("one", "stashed");
    repository.run(&["stash"]);
    repository.write("one", "ours");
    repository.run(&["commit", "--quiet", "--all", "--message", "ours"]);
    let pop =
        Command::new("git").arg("-C").arg(repository.folder.path()).args(["stash", "pop"]).output();
    assert!(!pop.unwrap().status.success());
    repository.write("one", "both");
    assert!(repository.committed(&["one".into()]).unwrap());
    assert_eq!(repository.run(&["show", "HEAD:one"]), "both");
}

#[test]
fn hooks_are_seen_where_git_looks() {
    let repository = ScratchRepository::new();
    assert!(!repository.git.has_hooks(), "samples are none");
    repository.write("hook", "");
    repository.run(&["config", "core.hooksPath", "."]);
    assert!(repository_at(repository.folder.path()).unwrap().has_hooks());
    let silent = Git { hooks: None, ..repository.git.clone() };
    assert!(silent.has_hooks(), "git did not say where");
}

#[test]
fn staged_files_stay_staged() {
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
    let kept = ["new", "gone", "*", "-x"].map(PathBuf::from);
    assert_eq!(repository.git.not_ignored(files.to_vec()), kept);
    assert_eq!(repository.git.status().unwrap().not_ignored(files.to_vec()), kept);
    assert!(repository.committed(&files).unwrap());
    let names = repository.run(&["show", "--name-only", "--format=", "HEAD"]);
    let mut names: Vec<&str> = names.lines().collect();
    names.sort_unstable();
    assert_eq!(names, ["*", "-x", "gone", "new"]);
    assert_eq!(repository.run(&["diff", "--cached", "--name-only"]), "staged");
    assert!(!repository.committed(&files).unwrap());
}

#[test]
fn without_repository_no_evidence() {
    let folder = tempfile::tempdir().unwrap();
    assert!(repository_at(folder.path()).is_none());
}

#[test]
fn every_git_understands_exclusion() {
    let (head, tips) = (Some("aa".to_owned()), vec!["bb".to_owned(), "cc".to_owned()]);
    let then = GitMoment { head, tips, ..GitMoment::default() };
    assert_eq!(String::from_utf8(moment::wanted("dd", &then)).unwrap(), "dd\n^bb\n^cc\n^aa\n");
}

#[test]
fn own_loop_files_stay_uncommitted() {
    let repository = ScratchRepository::new();
    let moment = repository.git.moment(None);
    fs::create_dir(repository.folder.path().join(".claude")).unwrap();
    repository.commit(".claude/loop-state.json");
    assert_eq!(repository.git.files_since(moment.head.as_deref()), Vec::<PathBuf>::new());
}

#[test]
fn refused_commit_says_why() {
    use std::os::unix::fs::PermissionsExt;
    let mut repository = ScratchRepository::new();
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
        // It is there when the loop is armed.
        repository.git = repository_at(repository.folder.path()).unwrap();
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
    Git::within(worktree, None, Box::new(|| false)).unwrap()
}

fn unfinished(iteration: u32) -> UnfinishedTry<'static> {
    UnfinishedTry { change: "log in", iteration, began: "20261123-145000", why: "a test" }
}

fn kept(git: &Git, iteration: u32) -> Option<String> {
    git.keep(&unfinished(iteration)).unwrap().map(|kept| kept.name)
}

/// All that the person has in the repository and beside it.
fn what_is_the_persons(repository: &ScratchRepository) -> Vec<String> {
    let read = |name: &str| {
        let bytes = fs::read(repository.folder.path().join(name)).unwrap_or_default();
        bytes.escape_ascii().to_string()
    };
    let status = ["--no-optional-locks", "status", "--porcelain"];
    let asked = [&["stash", "list"][..], &["show-ref", "--heads"], &status];
    let files = [".git/index", ".git/HEAD", ".git/logs/HEAD", "kept", "changed"].map(read);
    files.into_iter().chain(asked.map(|arguments| repository.run(arguments))).collect()
}

#[test]
fn kept_work_moves_nothing_personal() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let repository = ScratchRepository::new();
    for name in ["kept", "changed", "gone", "folder", "staged", "stashed"] {
        repository.commit(name);
    }
    repository.write("stashed", "of the person");
    repository.run(&["stash"]);
    repository.write(".gitignore", "ignored\n");
    repository.write("staged", "as it was staged");
    repository.run(&["add", "staged"]);
    repository.write("staged", "as it is on the disk");
    repository.write("changed", "half of an ed");
    repository.write("new: é \n name", "x");
    repository.write("ignored", "x");
    repository.write("program", "#!/bin/sh");
    let top = repository.folder.path();
    fs::set_permissions(top.join("program"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("changed", top.join("link")).unwrap();
    fs::remove_file(top.join("gone")).unwrap();
    fs::remove_file(top.join("folder")).unwrap();
    fs::create_dir_all(top.join("folder/below")).unwrap();
    repository.write("folder/below/file", "x");
    fs::create_dir_all(top.join(".claude")).unwrap();
    repository.write(".claude/loop-state.json", "{}");
    // A hook of the repository would be one more program.
    for hook in ["reference-transaction", "post-index-change"] {
        let hook = top.join(".git/hooks").join(hook);
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::write(&hook, "#!/bin/sh\ntouch ran\nexit 1\n").unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let before = what_is_the_persons(&repository);
    let name = kept(&repository.git, 3).unwrap();
    assert_eq!(what_is_the_persons(&repository), before);
    assert!(!top.join("ran").exists() && !top.join(".git/ran").exists(), "a hook ran");
    assert_eq!(name, "refs/ralph/log%20in/20261123-145000-3");
    let shown = repository.run(&["ls-tree", "-r", "-z", "--format=%(objectmode) %(path)", &name]);
    let mut entries: Vec<&str> = shown.split_terminator('\0').collect();
    entries.sort_unstable();
    let wanted = [
        "100644 \"new: \\303\\251 \\n name\"",
        "100644 .gitignore",
        "100644 changed",
        "100644 folder/below/file",
        "100644 kept",
        "100644 staged",
        "100644 stashed",
        "100755 program",
        "120000 link",
    ];
    assert_eq!(entries, wanted);
    assert_eq!(repository.run(&["show", &format!("{name}:changed")]), "half of an ed");
    assert_eq!(repository.run(&["show", &format!("{name}:staged")]), "as it is on the disk");
    assert_eq!(
        repository.run(&["rev-parse", &format!("{name}^")]),
        repository.run(&["rev-parse", "HEAD"])
    );
    let words = repository.run(&["log", "-1", "--format=%an %s", &name]);
    assert_eq!(words, "ralph-speckit ralph: log in iteration 3, unfinished: a test");
    assert!(
        repository.git.has_kept(&name)
            && !repository.git.has_kept("refs/ralph/x/1")
            && !repository.git.has_kept("HEAD")
    );
    assert!(!repository.git.has_kept(""));
}

#[test]
fn branch_ref_goes_alone() {
    let repository = ScratchRepository::new();
    repository.commit("base");
    let old = |number: u32| format!("refs/ralph/log%20in/20200101-0000{number:02}-1");
    repository.run(&["symbolic-ref", &old(0), "refs/heads/main"]);
    for number in 1..25 {
        repository.run(&["update-ref", &old(number), "HEAD"]);
    }
    repository.write("half", "of an edit");
    let name = kept(&repository.git, 1).unwrap();
    assert_eq!(
        repository.run(&["for-each-ref", "--format=%(refname)", "refs/heads"]),
        "refs/heads/main"
    );
    let left = repository.run(&["for-each-ref", "--format=%(refname)", "refs/ralph"]);
    assert!(!left.contains(&old(0)) && left.contains(&name), "{left}");
    assert_eq!(repository.run(&["log", "--oneline"]).lines().count(), 1);
}

#[test]
fn broken_ref_keeps_work_kept() {
    for broken in ["garbage\n", "1111111111111111111111111111111111111111\n"] {
        let repository = ScratchRepository::new();
        repository.commit("base");
        let folder = repository.folder.path().join(".git/refs/ralph/log%20in");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("20200101-000000-1"), broken).unwrap();
        repository.write("half", "of an edit");
        let name = kept(&repository.git, 1).unwrap();
        assert_eq!(repository.run(&["show", &format!("{name}:half")]), "of an edit", "{broken}");
    }
}

#[test]
fn kept_work_is_kept_once() {
    let repository = ScratchRepository::new();
    assert_eq!(kept(&repository.git, 1), None);
    repository.write("before the first commit", "x");
    let first = kept(&repository.git, 1).unwrap();
    assert_eq!(repository.run(&["rev-list", "--count", &first]), "1");
    repository.commit("one");
    repository.run(&["add", "."]);
    repository.run(&["commit", "--quiet", "--message", "all"]);
    assert_eq!(kept(&repository.git, 1), None);
    repository.write("one", "changed");
    let name = kept(&repository.git, 1).unwrap();
    assert_eq!(name, format!("{first}-2"), "the same second");
    assert_eq!(kept(&repository.git, 2), Some(name));
    // What only touches a file is no work.
    repository.write("one", "one");
    assert_eq!(kept(&repository.git, 2), None);
}

#[test]
fn oldest_kept_tries_go() {
    let repository = ScratchRepository::new();
    repository.commit("one");
    let names: Vec<String> = (1..=23)
        .map(|number| {
            repository.write("one", &format!("try {number}"));
            let began = format!("20261123-1450{number:02}");
            let unfinished = UnfinishedTry { began: &began, ..unfinished(number) };
            repository.git.keep(&unfinished).unwrap().unwrap().name
        })
        .collect();
    let refs = repository.run(&["for-each-ref", "--format=%(refname)", "refs/ralph"]);
    assert_eq!(refs.lines().collect::<Vec<_>>(), names[3..]);
    repository.run(&["gc", "--quiet", "--prune=now"]);
    assert_eq!(repository.run(&["show", &format!("{}:one", names[3])]), "try 4");
}

#[test]
fn large_files_stay_and_are_named() {
    let repository = ScratchRepository::new();
    repository.commit("one");
    let large = fs::File::create(repository.folder.path().join("large")).unwrap();
    large.set_len((64 << 20) + 1).unwrap();
    repository.write("small", "x");
    let inner = repository.folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    plain(&inner, &["init", "--quiet"]);
    fs::write(inner.join("file"), "x").unwrap();
    let kept = repository.git.keep(&unfinished(1)).unwrap().unwrap();
    assert_eq!(kept.left_out, ["inner/", "large"].map(PathBuf::from));
    assert_eq!(repository.run(&["ls-tree", "-r", "--name-only", &kept.name]), "one\nsmall");
}

#[test]
fn conflicting_merge_stays_one() {
    let repository = ScratchRepository::new();
    repository.commit("one");
    repository.run(&["switch", "--quiet", "--create", "other"]);
    repository.write("one", "theirs");
    repository.run(&["commit", "--quiet", "--all", "--message", "theirs"]);
    repository.run(&["switch", "--quiet", "main"]);
    repository.write("one", "ours");
    repository.run(&["commit", "--quiet", "--all", "--message", "ours"]);
    let merge = Command::new("git")
        .arg("-C")
        .arg(repository.folder.path())
        .args(["merge", "other"])
        .output();
    assert!(!merge.unwrap().status.success());
    let before = what_is_the_persons(&repository);
    let name = kept(&repository.git, 1).unwrap();
    assert_eq!(what_is_the_persons(&repository), before);
    assert!(repository.run(&["show", &format!("{name}:one")]).contains("<<<<<<<"));
    assert!(repository.git.in_the_middle_of().is_some());
}
