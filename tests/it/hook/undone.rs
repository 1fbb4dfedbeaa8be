//! Refused is refused: an arming that fails at any of its files leaves all of them as they were.

use crate::hook::support::{Bench, FEATURE, THREE_TASKS};
use crate::support::scratch::contents;
use crate::support::system::symlink;
use serde_json::json;
use std::fs;
use std::path::PathBuf;

/// What arming writes, in the order in which it does.
const WRITTEN: [&str; 4] = [
    "feature-001-login.json",
    "open-s1.txt",
    "session-s1.json",
    ".specify/specs/001-login/.speckit-state.json",
];

/// The path of one of these files, once a loop was armed.
fn path_of(bench: &Bench, name: &str) -> PathBuf {
    if name.contains('/') {
        return bench.path(name);
    }
    bench.command("s9", "speckit:ralph-loop", "Write the manual").run().context();
    bench.command("s9", "speckit:cancel-ralph", "").run();
    bench.record_path("s1").with_file_name(name)
}

/// Puts a link to a good file in the place of a file: it can be read, and is never written.
fn obstruct(bench: &Bench, name: &str) {
    let path = path_of(bench, name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let good = path.with_file_name("good");
    let text = json!({"version": 1, "about": FEATURE, "closed": "cancelled", "phase": "tasks",
        "ledger": {"ended": {"reason": "cancelled"}}});
    fs::write(&good, text.to_string()).unwrap();
    let _ = fs::remove_file(&path);
    symlink(good, path).unwrap();
}

/// All files but locks and empty ones: locks may be made, and mean nothing.
fn all_but_locks(bench: &Bench) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = bench.everything();
    files.extend(contents(&bench.kept()));
    files
        .retain(|(path, bytes)| !(bytes.is_empty() || path.ends_with("lock")) || path.is_symlink());
    files.retain(|(path, _)| !path.ends_with(".gitignore"));
    files
}

#[track_caller]
fn refused_and_unchanged(bench: &Bench, name: &str) {
    let before = all_but_locks(bench);
    let answer = bench.implement("s1", "");
    assert!(answer.is_block(), "armed although `{name}` cannot be written: {answer}");
    assert_eq!(all_but_locks(bench), before, "`{name}`: {answer}");
    assert!(!bench.stop("s1").run().is_block(), "`{name}`");
}

#[test]
fn l3_refused_arming_leaves_files() {
    for name in WRITTEN {
        let bench = Bench::ready();
        obstruct(&bench, name);
        refused_and_unchanged(&bench, name);
    }
}

#[test]
fn l3_refused_arming_keeps_earlier_state() {
    for name in WRITTEN {
        let bench = Bench::ready().raw_state("{\"phase\": \"exec");
        if name != WRITTEN[3] {
            obstruct(&bench, name);
            let before = all_but_locks(&bench);
            let answer = bench.implement("s1", "");
            assert!(answer.is_block(), "`{name}`: {answer}");
            assert_eq!(all_but_locks(&bench), before, "`{name}`: {answer}");
        }
        let bench = Bench::ready();
        bench.implement("s1", "--max-iterations 7").context();
        bench.cancel("s1", "");
        obstruct(&bench, name);
        refused_and_unchanged(&bench, name);
    }
}

#[test]
fn l3_refused_arming_takes_no_loop() {
    for name in WRITTEN {
        // Another session drives the feature, and this one has a task of its own.
        let bench = Bench::ready();
        bench.implement("s2", "").context();
        bench.command("s1", "speckit:ralph-loop", "Write the manual").run().context();
        let pin = fs::read(bench.pin_path("feature-001-login").unwrap()).unwrap();
        let record = fs::read(bench.record_path("s1")).unwrap();
        let path = path_of(&bench, name);
        let content = fs::read(&path).ok();
        let link = path.with_file_name("good");
        fs::write(&link, content.as_deref().unwrap_or(b"{}")).unwrap();
        let _ = fs::remove_file(&path);
        symlink(&link, &path).unwrap();
        let before = all_but_locks(&bench);
        let answer = bench.implement("s1", "--force");
        assert!(answer.is_block(), "`{name}`: {answer}");
        assert_eq!(all_but_locks(&bench), before, "`{name}`: {answer}");
        assert_eq!(fs::read(bench.pin_path("feature-001-login").unwrap()).unwrap(), pin);
        assert_eq!(fs::read(bench.record_path("s1")).unwrap(), record);
    }
}

#[test]
fn l3_refused_arming_ends_no_loop() {
    let bench = Bench::armed();
    let bench = bench.feature("002-other").tasks(THREE_TASKS);
    obstruct(&bench, ".specify/specs/002-other/.speckit-state.json");
    let before = all_but_locks(&bench);
    assert!(bench.implement("s1", "002-other").is_block());
    assert_eq!(all_but_locks(&bench), before);
    let stop = bench.stop("s1").run();
    assert!(stop.reason().starts_with("Continue feature: 001-login"), "{stop}");
}

#[test]
fn l3_unjournaled_arming_says_so() {
    for command in ["speckit:implement", "speckit:ralph-loop"] {
        let bench = Bench::ready();
        fs::create_dir_all(bench.path(".claude/ralph/s1/journal.jsonl")).unwrap();
        let task = if command == "speckit:ralph-loop" { "Make it" } else { "" };
        let answer = bench.command("s1", command, task).run();
        let said = format!("{}{}", answer.context(), answer.message());
        assert!(said.contains("It is not in the journal"), "{answer}");
        assert!(bench.record("s1").ledger.is_live());
    }
}
