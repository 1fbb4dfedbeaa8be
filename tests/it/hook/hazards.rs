//! Files and input that no honest project has: every path ends within 3 s, with code 0, and is understood.

use crate::hook::support::{Bench, leave_alone};
use crate::support::limited::Limited;
use crate::support::system::symlink;
use std::fs::{self, File};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

type Put = fn(&Path, &Bench);

/// What may stand where a file is looked for.
const OBSTACLES: [(&str, Put); 12] = [
    ("a pipe", |path, _| {
        assert!(Command::new("mkfifo").arg(path).finish().status.success());
    }),
    ("a socket", |path, bench| {
        // The name of a socket has few bytes: it is made elsewhere and moved.
        let short = bench.outside().join("s");
        UnixListener::bind(&short).unwrap();
        fs::rename(short, path).unwrap();
    }),
    ("a folder", |path, _| fs::create_dir_all(path.join("with/something")).unwrap()),
    ("a device", |path, _| symlink("/dev/zero", path).unwrap()),
    ("a link to itself", |path, _| symlink(path.file_name().unwrap(), path).unwrap()),
    ("a link to nothing", |path, bench| symlink(bench.outside().join("gone"), path).unwrap()),
    ("a link outside", |path, bench| {
        let secret = bench.outside().join("secret");
        fs::write(&secret, "root:x:0:0\n").unwrap();
        symlink(secret, path).unwrap();
    }),
    ("a link to a folder outside", |path, bench| symlink(bench.outside(), path).unwrap()),
    ("3 GB", |path, _| File::create(path).unwrap().set_len(3 << 30).unwrap()),
    ("empty", |path, _| fs::write(path, "").unwrap()),
    ("not UTF-8", |path, _| fs::write(path, b"\xff\xfe{\xff").unwrap()),
    ("NUL bytes", |path, _| fs::write(path, [0; 4096]).unwrap()),
];

/// Puts each obstacle in the place of a file and returns what the hook says: a line for each answer, with all that get it.
fn said_about(place: impl Fn(&Bench) -> std::path::PathBuf, start: impl Fn() -> Bench) -> String {
    let mut answers: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, put) in OBSTACLES {
        let bench = start();
        let path = place(&bench);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match path.symlink_metadata() {
            Ok(meta) if meta.is_dir() => fs::remove_dir_all(&path).unwrap(),
            Ok(_) => fs::remove_file(&path).unwrap(),
            Err(_) => {}
        }
        put(&path, &bench);
        if path.is_file() && path.starts_with(&bench.root) {
            leave_alone(&path);
        }
        let said = bench.stop("s1").run().headline(&bench);
        match answers.iter_mut().find(|(answer, _)| *answer == said) {
            Some((_, names)) => names.push(name),
            None => answers.push((said, vec![name])),
        }
        // Whatever was there, nobody is held for ever, and every other way in ends in time as well.
        let mut blocks = 0;
        while bench.stop("s1").held().run().is_block() {
            blocks += 1;
            assert!(blocks < 8, "{name}: held for ever");
        }
        bench.stop("s2").run();
        bench.event("StopFailure", "s1").run();
        bench.command("s1", "speckit:status", "").run();
        bench.implement("s1", "");
        // Nobody is writing it any more: there is no need to wait for that.
        if bench.state_path().metadata().is_ok_and(|meta| meta.is_file()) {
            leave_alone(&bench.state_path());
        }
        bench.cancel("s1", "");
        let written: Vec<_> = fs::read_dir(bench.outside()).unwrap().flatten().collect();
        let ours = written.iter().find(|entry| entry.file_name() != "secret");
        assert!(ours.is_none(), "{name}: written outside of the project: {ours:?}");
    }
    answers.iter().fold(String::new(), |lines, (said, names)| {
        lines + &format!("{}: {said}\n", names.join(", "))
    })
}

#[test]
fn in_place_of_state_file() {
    insta::assert_snapshot!(said_about(Bench::state_path, Bench::in_execution), @r"
    a pipe: block: ERROR: Corrupt state file at PROJECT/.specify/specs/001-login/.speckit-state.json | Problem: it is a pipe, not a file
    a socket: block: ERROR: Corrupt state file at PROJECT/.specify/specs/001-login/.speckit-state.json | Problem: it is a socket, not a file
    a folder: block: ERROR: Corrupt state file at PROJECT/.specify/specs/001-login/.speckit-state.json | Problem: it is a folder, not a file
    a device, a link outside, a link to a folder outside: block: ERROR: Corrupt state file at PROJECT/.specify/specs/001-login/.speckit-state.json | Problem: a symbolic link leads out of its folder
    a link to itself: block: ERROR: Corrupt state file at PROJECT/.specify/specs/001-login/.speckit-state.json | Problem: Too many levels of symbolic links
    a link to nothing: silent
    3 GB: block: ERROR: Corrupt state file at PROJECT/.specify/specs/001-login/.speckit-state.json | Problem: it has 3221225472 bytes, and at most 1048576 are read
    empty: block: ERROR: Corrupt state file at PROJECT/.specify/specs/001-login/.speckit-state.json | Problem: the file is empty (line 1)
    not UTF-8, NUL bytes: block: ERROR: Corrupt state file at PROJECT/.specify/specs/001-login/.speckit-state.json | Problem: expected value at line 1 column 1
    ");
}

#[test]
fn in_place_of_task_list() {
    let place = |bench: &Bench| bench.feature_path("tasks.md");
    insta::assert_snapshot!(said_about(place, Bench::in_execution), @r"
    a pipe: block: ERROR: Corrupt task list at PROJECT/.specify/specs/001-login/tasks.md | Problem: it is a pipe, not a file
    a socket: block: ERROR: Corrupt task list at PROJECT/.specify/specs/001-login/tasks.md | Problem: it is a socket, not a file
    a folder: block: ERROR: Corrupt task list at PROJECT/.specify/specs/001-login/tasks.md | Problem: it is a folder, not a file
    a device, a link outside, a link to a folder outside: block: ERROR: Corrupt task list at PROJECT/.specify/specs/001-login/tasks.md | Problem: a symbolic link leads out of its folder
    a link to itself: block: ERROR: Corrupt task list at PROJECT/.specify/specs/001-login/tasks.md | Problem: Too many levels of symbolic links
    a link to nothing, empty, not UTF-8, NUL bytes: block: Continue feature: 001-login (Task 2/3, Iter 1)
    3 GB: block: ERROR: Corrupt task list at PROJECT/.specify/specs/001-login/tasks.md | Problem: it has 3221225472 bytes, and at most 8388608 are read
    ");
}

#[test]
fn in_the_place_of_the_settings() {
    let place = |bench: &Bench| bench.path(".claude/ralph-speckit.local.md");
    insta::assert_snapshot!(said_about(place, Bench::in_execution), @r"
    a pipe: block: Continue feature: 001-login (Task 2/3, Iter 1) | `.claude/ralph-speckit.local.md`: it is a pipe, not a file; put a readable text file in its place, or remove it
    a socket: block: Continue feature: 001-login (Task 2/3, Iter 1) | `.claude/ralph-speckit.local.md`: it is a socket, not a file; put a readable text file in its place, or remove it
    a folder: block: Continue feature: 001-login (Task 2/3, Iter 1) | `.claude/ralph-speckit.local.md`: it is a folder, not a file; put a readable text file in its place, or remove it
    a device, a link outside, a link to a folder outside: block: Continue feature: 001-login (Task 2/3, Iter 1) | `.claude/ralph-speckit.local.md`: a symbolic link leads out of its folder; put a readable text file in its place, or remove it
    a link to itself: block: Continue feature: 001-login (Task 2/3, Iter 1) | `.claude/ralph-speckit.local.md`: Too many levels of symbolic links; put a readable text file in its place, or remove it
    a link to nothing: block: Continue feature: 001-login (Task 2/3, Iter 1) | `.claude/ralph-speckit.local.md`: it is a link to nothing; put a readable text file in its place, or remove it
    3 GB: block: Continue feature: 001-login (Task 2/3, Iter 1) | `.claude/ralph-speckit.local.md`: it has 3221225472 bytes, and at most 65536 are read; put a readable text file in its place, or remove it
    empty: block: Continue feature: 001-login (Task 2/3, Iter 1) | `.claude/ralph-speckit.local.md`: it is empty; put the settings between two lines of `---` at the top of the file, or remove it
    not UTF-8: block: Continue feature: 001-login (Task 2/3, Iter 1) | `.claude/ralph-speckit.local.md`, line 1: it is UTF-16 text; save it as UTF-8 text
    NUL bytes: block: Continue feature: 001-login (Task 2/3, Iter 1) | `.claude/ralph-speckit.local.md`, line 1: it holds a NUL byte, so it is UTF-16 or no text; save it as UTF-8 text
    ");
}

#[test]
fn in_place_of_feature_name() {
    let place = |bench: &Bench| bench.path(".specify/.current-feature");
    insta::assert_snapshot!(said_about(place, Bench::in_execution), @r"
    a pipe: silent | `PROJECT/.specify/.current-feature` does not name a feature: it is a pipe, not a file
    a socket: silent | `PROJECT/.specify/.current-feature` does not name a feature: it is a socket, not a file
    a folder: silent | `PROJECT/.specify/.current-feature` does not name a feature: it is a folder, not a file
    a device, a link outside, a link to a folder outside: silent | `PROJECT/.specify/.current-feature` does not name a feature: a symbolic link leads out of its folder
    a link to itself: silent | `PROJECT/.specify/.current-feature` does not name a feature: Too many levels of symbolic links
    a link to nothing, empty: silent
    3 GB: silent | `PROJECT/.specify/.current-feature` does not name a feature: it has 3221225472 bytes, and at most 65536 are read
    not UTF-8: silent | `PROJECT/.specify/.current-feature` does not name a feature: it is not UTF-8 text
    NUL bytes: silent | `�` cannot be a feature: a name has no `/`, no `..`, no control characters and no leading `-`
    ");
    let place = |bench: &Bench| bench.path(".specify/feature.json");
    insta::assert_snapshot!(said_about(place, Bench::in_execution), @r"
    a pipe: silent | `PROJECT/.specify/feature.json` does not name a feature: it is a pipe, not a file
    a socket: silent | `PROJECT/.specify/feature.json` does not name a feature: it is a socket, not a file
    a folder: silent | `PROJECT/.specify/feature.json` does not name a feature: it is a folder, not a file
    a device, a link outside, a link to a folder outside: silent | `PROJECT/.specify/feature.json` does not name a feature: a symbolic link leads out of its folder
    a link to itself: silent | `PROJECT/.specify/feature.json` does not name a feature: Too many levels of symbolic links
    a link to nothing: block: Continue feature: 001-login (Task 2/3, Iter 1)
    3 GB: silent | `PROJECT/.specify/feature.json` does not name a feature: it has 3221225472 bytes, and at most 65536 are read
    empty: silent | `PROJECT/.specify/feature.json` does not name a feature: it is no JSON: EOF while parsing a value at line 1 column 0
    not UTF-8: silent | `PROJECT/.specify/feature.json` does not name a feature: it is not UTF-8 text
    NUL bytes: silent | `PROJECT/.specify/feature.json` does not name a feature: it is no JSON: expected value at line 1 column 1
    ");
}

#[test]
fn in_place_of_features_folder() {
    let place = |bench: &Bench| bench.feature_path("").components().collect();
    insta::assert_snapshot!(said_about(place, Bench::in_execution), @r"
    a pipe, a socket, a link to itself, a link to nothing, 3 GB, empty, not UTF-8, NUL bytes: silent | there is no folder for feature `001-login` in `.specify/specs` or `specs`
    a folder: silent
    a device, a link outside, a link to a folder outside: silent | `001-login` cannot be a feature: a link leads out of the project
    ");
}

#[test]
fn in_the_place_of_the_transcript() {
    let place = |bench: &Bench| bench.transcript("s1").path;
    insta::assert_snapshot!(said_about(place, Bench::in_execution), @r"
    a pipe, a socket, a folder, a device, a link to itself, a link to nothing, a link outside, a link to a folder outside, 3 GB, empty, not UTF-8, NUL bytes: block: Continue feature: 001-login (Task 2/3, Iter 1)
    ");
}

/// A loop that has gone on once.
fn going() -> Bench {
    let bench = Bench::armed();
    bench.stop("s1").run().reason();
    bench
}

#[test]
fn in_place_of_loop_record() {
    let place = |bench: &Bench| bench.path(".claude/ralph/s1/loop.json");
    insta::assert_snapshot!(said_about(place, going), @r"
    a pipe, a socket, a folder, a device, a link to itself, a link to nothing, a link outside, a link to a folder outside, 3 GB, empty, not UTF-8, NUL bytes: block: Continue feature: 001-login (Task 2/3, Iter 2)
    ");
}

#[test]
fn in_the_place_of_an_older_claim() {
    let place = |bench: &Bench| bench.path(".claude/ralph/claims/001-login.json");
    insta::assert_snapshot!(said_about(place, going), @r"
    a pipe, a socket, a folder, a device, a link to itself, a link to nothing, a link outside, a link to a folder outside, 3 GB, empty, not UTF-8, NUL bytes: block: Continue feature: 001-login (Task 2/3, Iter 2)
    ");
}

#[test]
fn in_the_place_of_the_journal() {
    let place = |bench: &Bench| bench.path(".claude/ralph/s1/journal.jsonl");
    insta::assert_snapshot!(said_about(place, going), @r"
    a pipe, a socket, a folder, a device, a link to itself, a link to nothing, a link outside, a link to a folder outside: told: Ralph-speckit allows the stop: its notes cannot be read or written: `PROJECT/.claude/ralph/s1/journal.jsonl`: something that is not a file has this name. Fix that; the loop continues with your next prompt.
    3 GB, empty, not UTF-8, NUL bytes: block: Continue feature: 001-login (Task 2/3, Iter 2)
    ");
}

#[test]
fn in_the_place_of_a_lock() {
    let place = |bench: &Bench| bench.path(".claude/ralph/s1/lock");
    insta::assert_snapshot!(said_about(place, going), @r"
    a pipe, a socket, a folder, a device, a link to itself, a link to nothing, a link outside, a link to a folder outside: told: Ralph-speckit allows the stop: its notes cannot be read or written: `PROJECT/.claude/ralph/s1/lock`: something that is not a file has this name. Fix that; the loop continues with your next prompt.
    3 GB, empty, not UTF-8, NUL bytes: block: Continue feature: 001-login (Task 2/3, Iter 2)
    ");
    let place = |bench: &Bench| bench.path(".claude/ralph/lock");
    insta::assert_snapshot!(said_about(place, Bench::in_execution), @r"
    a pipe, a socket, a folder, a device, a link to itself, a link to nothing, a link outside, a link to a folder outside: told: Ralph-speckit allows the stop: its notes cannot be read or written: `PROJECT/.claude/ralph/lock`: something that is not a file has this name. Fix that; the loop continues with your next prompt.
    3 GB, empty, not UTF-8, NUL bytes: block: Continue feature: 001-login (Task 2/3, Iter 1)
    ");
}

#[test]
fn in_place_of_notes_folders() {
    let place = |bench: &Bench| bench.path(".claude");
    insta::assert_snapshot!(said_about(place, Bench::in_execution), @r"
    a pipe, a socket, 3 GB, empty, not UTF-8, NUL bytes: told: Ralph-speckit allows the stop: its notes cannot be read or written: `PROJECT/.claude`: it is not a folder. Fix that; the loop continues with your next prompt.
    a folder: block: Continue feature: 001-login (Task 2/3, Iter 1)
    a device, a link outside, a link to a folder outside: told: Ralph-speckit allows the stop: its notes cannot be read or written: `PROJECT/.claude`: a symbolic link leads out of its folder. Fix that; the loop continues with your next prompt.
    a link to itself: told: Ralph-speckit allows the stop: its notes cannot be read or written: `PROJECT/.claude`: Too many levels of symbolic links. Fix that; the loop continues with your next prompt. | `.claude/ralph-speckit.local.md`: Too many levels of symbolic links; put a readable text file in its place, or remove it
    a link to nothing: told: Ralph-speckit allows the stop: its notes cannot be read or written: `PROJECT/.claude`: it does not exist. Fix that; the loop continues with your next prompt.
    ");
    let place = |bench: &Bench| bench.path(".claude/ralph");
    insta::assert_snapshot!(said_about(place, Bench::in_execution), @r"
    a pipe, a socket, 3 GB, empty, not UTF-8, NUL bytes: told: Ralph-speckit allows the stop: its notes cannot be read or written: `PROJECT/.claude/ralph`: it is not a folder. Fix that; the loop continues with your next prompt.
    a folder: block: Continue feature: 001-login (Task 2/3, Iter 1)
    a device, a link outside, a link to a folder outside: told: Ralph-speckit allows the stop: its notes cannot be read or written: `PROJECT/.claude/ralph`: a symbolic link leads out of its folder. Fix that; the loop continues with your next prompt.
    a link to itself: told: Ralph-speckit allows the stop: its notes cannot be read or written: `PROJECT/.claude/ralph`: Too many levels of symbolic links. Fix that; the loop continues with your next prompt.
    a link to nothing: told: Ralph-speckit allows the stop: its notes cannot be read or written: `PROJECT/.claude/ralph`: it does not exist. Fix that; the loop continues with your next prompt.
    ");
    let place = |bench: &Bench| bench.path(".claude/ralph/s1");
    insta::assert_snapshot!(said_about(place, Bench::in_execution), @r"
    a pipe, a socket, 3 GB, empty, not UTF-8, NUL bytes: told: Ralph-speckit allows the stop: its notes cannot be read or written: `PROJECT/.claude/ralph/s1`: it is not a folder. Fix that; the loop continues with your next prompt.
    a folder: block: Continue feature: 001-login (Task 2/3, Iter 1)
    a device, a link outside, a link to a folder outside: told: Ralph-speckit allows the stop: its notes cannot be read or written: `PROJECT/.claude/ralph/s1`: a symbolic link leads out of its folder. Fix that; the loop continues with your next prompt.
    a link to itself: told: Ralph-speckit allows the stop: its notes cannot be read or written: `PROJECT/.claude/ralph/s1`: Too many levels of symbolic links. Fix that; the loop continues with your next prompt.
    a link to nothing: told: Ralph-speckit allows the stop: its notes cannot be read or written: `PROJECT/.claude/ralph/s1`: it does not exist. Fix that; the loop continues with your next prompt.
    ");
}
