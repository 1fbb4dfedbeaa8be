//! What killed programs and other users leave: temporary files go later, a lock shuts no loop down.

use crate::hook::support::Bench;
use crate::support::has::Has;
use crate::support::limited::Ended;
use ralph_speckit::system;
use std::fs::{self, Permissions};
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// The process of a program that is gone.
fn gone() -> u32 {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let id = child.id();
    child.ended();
    assert!(!system::processes::is_alive(id));
    id
}

/// Writes a file that was left alone for an hour.
fn old(bench: &Bench, name: &str) -> PathBuf {
    bench.write(name, "half");
    let path = bench.path(name);
    crate::hook::support::date(&path, -3600);
    path
}

/// Old temporary files of a dead process, which go, and files that stay.
fn litter(bench: &Bench) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (dead, alive) = (gone(), std::process::id());
    let go = [
        format!(".claude/ralph/.let-go.json.{dead}.0.tmp"),
        format!(".claude/ralph/.armed-001-login.{dead}.3.tmp"),
        format!(".claude/ralph/s1/.task.md.{dead}.0.tmp"),
    ];
    let stay = [
        format!(".claude/ralph/s1/.task.md.{alive}.0.tmp"),
        format!(".claude/ralph/s1/task.md.{dead}.0.tmp"),
        ".claude/ralph/s1/.notes.tmp".to_owned(),
        ".claude/ralph/s1/.task.md.me.0.tmp".to_owned(),
        format!(".claude/.settings.json.{dead}.0.tmp"),
    ];
    let young = bench.path(&format!(".claude/ralph/s1/.task.md.{dead}.7.tmp"));
    let go = go.iter().map(|name| old(bench, name)).collect();
    let mut stay: Vec<_> = stay.iter().map(|name| old(bench, name)).collect();
    fs::write(&young, "half").unwrap();
    stay.push(young);
    (go, stay)
}

#[track_caller]
fn is_swept(go: &[PathBuf], stay: &[PathBuf]) {
    for path in go {
        assert!(!path.exists(), "{} is still there", path.display());
    }
    for path in stay {
        assert!(path.exists(), "{} is gone", path.display());
    }
}

#[test]
fn l8_temporary_files_go_at_start() {
    let bench = Bench::ready();
    let (go, stay) = litter(&bench);
    bench.implement("s1", "").context();
    is_swept(&go, &stay);
    let (go, stay) = litter(&bench);
    let again = "\"A task of its own\" --replace";
    bench.command("s1", "speckit:ralph-loop", again).run().context();
    is_swept(&go, &stay);
}

#[test]
fn l8_temporary_files_go_at_end() {
    let bench = Bench::armed();
    let (go, stay) = litter(&bench);
    bench.tick("T002");
    bench.tick("T003");
    assert!(!bench.stop("s1").run().is_block());
    is_swept(&go, &stay);
}

#[cfg(unix)]
#[test]
fn l8_readable_foreign_lock_is_taken() {
    let bench = Bench::armed();
    bench.stop("s1").start_without_rights(&[]).finish().reason();
    for name in [".claude/ralph/lock", ".claude/ralph/s1/lock"] {
        let lock = bench.path(name);
        fs::set_permissions(&lock, Permissions::from_mode(0o644)).unwrap();
    }
    bench.transcript("s1").tool("Edit");
    bench.stop("s1").start_as_nobody().finish().reason();
    let lock = bench.path(".claude/ralph/s1/lock");
    fs::set_permissions(&lock, Permissions::from_mode(0o600)).unwrap();
    let stop = bench.stop("s1").start_as_nobody().finish();
    stop.told().has_all(&[".claude/ralph/s1/lock`", "this lock belongs to another user", "chown"]);
}
