//! Arming keeps the loop's own files out of what git shows, and leaves alone whatever it cannot or need not change.

use crate::support::system::symlink;
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::hook::support::{Bench, FEATURE};
use crate::support::scratch::Said;

const LINES: &str = "# ralph-speckit: the loop's own files (docs/reference/files.md)\n**/specs/**/.speckit-state.json\n**/specs/**/.progress.md\n**/.claude/loop-state.json\n";
const TOLD: &str = "git ignores the loop's own files from now on";

/// Puts something in the way: gets the path of the list, and a folder outside of the project.
type Obstacle = dyn Fn(&Path, &Path);

/// A project in a repository with nothing to commit.
fn committed() -> Bench {
    let bench = Bench::ready();
    bench.init();
    bench.commit("everything");
    bench
}

fn exclude(bench: &Bench) -> PathBuf {
    bench.root.join(".git/info/exclude")
}

/// Arms the loop, lets it make its notes, and returns what the person saw.
fn armed(bench: &Bench, session: &str) -> String {
    let outcome = bench.implement(session, "--force");
    let told = outcome.message().to_owned();
    assert!(told.contains("armed"), "{told}");
    Said::of(bench.spool().args([
        "task",
        "done",
        "T002",
        "--no-change",
        "it is full already",
        "--feature",
        FEATURE,
    ]));
    told
}

#[test]
fn git_shows_only_the_work() {
    let bench = committed();
    fs::write(exclude(&bench), "# mine, without an end").unwrap();
    assert!(armed(&bench, "s1").contains(TOLD));
    assert_eq!(bench.git(&["status", "--short", "-uall"]).lines().count(), 1);
    let text = fs::read_to_string(exclude(&bench)).unwrap();
    assert_eq!(text, format!("# mine, without an end\n{LINES}"));
    assert!(!armed(&bench, "s2").contains(TOLD), "once");
    assert_eq!(fs::read_to_string(exclude(&bench)).unwrap(), text);
}

#[test]
fn linked_tree_uses_repository_list() {
    let bench = committed();
    let main = bench.outside();
    fs::rename(bench.root.join(".git"), main.join("data")).unwrap();
    let own = main.join("data/worktrees/own");
    fs::create_dir_all(&own).unwrap();
    for name in ["HEAD", "index"] {
        fs::copy(main.join("data").join(name), own.join(name)).unwrap();
    }
    fs::write(own.join("commondir"), "../..\n").unwrap();
    let git = format!("gitdir: {}\n", own.display());
    fs::write(bench.root.join(".git"), git).unwrap();
    assert!(armed(&bench, "s1").contains(TOLD));
    assert!(fs::read_to_string(main.join("data/info/exclude")).unwrap().ends_with(LINES));
    assert!(!own.join("info").exists());
}

#[test]
fn named_repository_is_left_alone() {
    let bench = committed();
    let other = bench.outside().join("other");
    fs::rename(bench.root.join(".git"), &other).unwrap();
    let before = fs::read(other.join("info/exclude")).unwrap();
    bench.write("data/commondir", format!("{}\n", other.display()));
    for name in ["HEAD", "index"] {
        fs::copy(other.join(name), bench.root.join("data").join(name)).unwrap();
    }
    bench.write(".git", "gitdir: data\n");
    assert!(!armed(&bench, "s1").contains(TOLD));
    assert_eq!(fs::read(other.join("info/exclude")).unwrap(), before);
}

#[test]
fn tracked_or_ignored_files_stay() {
    let bench = committed();
    fs::write(bench.feature_path(".progress.md"), "ours\n").unwrap();
    bench.commit("the notes too");
    let before = fs::read(exclude(&bench)).unwrap();
    let told = armed(&bench, "s1");
    assert!(told.contains("`.progress.md` is tracked by git"), "{told}");
    assert_eq!(fs::read(exclude(&bench)).unwrap(), before);

    let bench = committed();
    fs::write(bench.root.join(".gitignore"), ".progress.md\n.speckit-*\n").unwrap();
    let before = fs::read(exclude(&bench)).unwrap();
    assert!(!armed(&bench, "s1").contains("git"));
    assert_eq!(fs::read(exclude(&bench)).unwrap(), before);
}

#[test]
fn without_a_repository_nothing_is_said() {
    assert!(!armed(&Bench::ready(), "s1").contains("git"));
}

#[test]
fn obstacles_never_refuse_the_arming() {
    let in_the_way: [&Obstacle; 5] = [
        &|exclude, _| fs::remove_file(exclude).and_then(|()| fs::create_dir(exclude)).unwrap(),
        &|exclude, outside| {
            fs::remove_file(exclude).unwrap();
            symlink(outside.join("theirs"), exclude).unwrap();
        },
        &|exclude, outside| {
            let info = exclude.parent().unwrap();
            fs::remove_dir_all(info).unwrap();
            symlink(outside, info).unwrap();
        },
        &|exclude, _| fs::write(exclude, vec![b'#'; 2 << 20]).unwrap(),
        &|exclude, outside| {
            let git = exclude.parent().unwrap().parent().unwrap();
            fs::remove_dir_all(git).unwrap();
            fs::write(git, format!("gitdir: {}\n", outside.display())).unwrap();
        },
    ];
    for (number, put) in in_the_way.iter().enumerate() {
        let bench = committed();
        let outside = bench.outside();
        fs::write(outside.join("theirs"), "theirs").unwrap();
        put(&exclude(&bench), &outside);
        assert!(!armed(&bench, "s1").contains(TOLD), "{number}");
        let left: Vec<_> = fs::read_dir(&outside).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{number}: {left:?}");
        assert_eq!(fs::read_to_string(outside.join("theirs")).unwrap(), "theirs", "{number}");
    }
}

#[cfg(unix)]
#[test]
fn unwritable_list_stays() {
    let bench = committed();
    let info = exclude(&bench).parent().unwrap().to_owned();
    fs::set_permissions(&info, fs::Permissions::from_mode(0o500)).unwrap();
    armed(&bench, "s1");
    fs::set_permissions(&info, fs::Permissions::from_mode(0o700)).unwrap();
}
