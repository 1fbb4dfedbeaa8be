//! A file that cannot be opened for a moment is as good as ever: nothing is renamed, no loop is lost.

use crate::hook::support::{Bench, HOOK};
use crate::support::has::Has;
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// The names of all files of the project but locks, which may come and go.
fn names(bench: &Bench) -> Vec<PathBuf> {
    let files = bench.everything().into_iter().map(|(path, _)| path);
    files.filter(|path| !path.to_string_lossy().ends_with("lock")).collect()
}

#[cfg(unix)]
#[test]
fn l4_unopened_file_stays_in_place() {
    for (name, why) in [("session-s1.json", "chmod 600"), ("open-s1.txt", "Permission denied")] {
        let bench = Bench::armed();
        bench.stop("s1").run().reason();
        // The list has changed, so that every file is looked at.
        bench.tick("T002");
        let before = names(&bench);
        let path = bench.record_path("s1").with_file_name(name);
        let stop = bench.stop("s1").start_without_rights(&[&path]).finish();
        let told = stop.told();
        assert!(
            told.starts_with("Ralph-speckit allows the stop: its notes cannot be read"),
            "{told}"
        );
        assert!(told.contains(name) && told.contains(why), "{told}");
        assert_eq!(names(&bench), before, "`{name}`");
        let stop = bench.stop("s1").start_without_rights(&[]).finish();
        assert!(stop.reason().contains("T003"), "`{name}`: {stop}");
        assert_eq!(bench.verdicts("s1"), ["continue", "continue"], "`{name}`");
    }
}

#[cfg(unix)]
#[test]
fn l4_a_pin_that_cannot_be_opened_gives_nothing_away() {
    let bench = Bench::armed();
    let before = names(&bench);
    let pin = bench.pin_path("feature-001-login").unwrap();
    let stop = bench.stop("s2").start_without_rights(&[&pin]).finish();
    assert!(stop.told().contains("cannot be read"), "{stop}");
    assert_eq!(names(&bench), before);
    bench.stop("s2").start_without_rights(&[]).finish().silent();
    // The record of its own session says that the loop lives.
    bench.stop("s1").start_without_rights(&[&pin]).finish().reason();
    assert!(pin.is_file());
}

#[cfg(unix)]
#[test]
fn l4_unopened_pin_refuses_a_cancel() {
    let bench = Bench::armed();
    let pin = bench.pin_path("feature-001-login").unwrap();
    let (before, bytes) = (names(&bench), fs::read(&pin).unwrap());
    let cancel = bench.command("s1", "speckit:cancel", "");
    let cancel = cancel.start_without_rights(&[&pin]).finish();
    assert!(cancel.reason().contains("feature-001-login.json"), "{cancel}");
    assert_eq!((names(&bench), fs::read(&pin).unwrap()), (before, bytes));
    let cancel = bench.command("s1", "speckit:cancel", "").start_without_rights(&[]).finish();
    assert!(cancel.reason().contains("Loop cancelled"), "{cancel}");
}

#[cfg(unix)]
#[test]
fn cancel_moves_a_useless_pin_aside() {
    for is_link in [true, false] {
        let bench = Bench::armed();
        let pin = bench.pin_path("feature-001-login").unwrap();
        if is_link {
            let elsewhere = pin.with_file_name("elsewhere.json");
            fs::rename(&pin, &elsewhere).unwrap();
            std::os::unix::fs::symlink(&elsewhere, &pin).unwrap();
        } else {
            fs::set_permissions(&pin, fs::Permissions::from_mode(0o666)).unwrap();
        }
        let cancel = bench.cancel("s1", "");
        assert!(cancel.reason().contains("Loop cancelled"), "link: {is_link}\n{cancel}");
        assert!(!pin.is_symlink(), "link: {is_link}");
        bench.stop("s1").run().silent();
    }
}

#[cfg(unix)]
#[test]
fn l4_unopened_state_refuses_arming() {
    let bench = Bench::in_execution();
    let before = names(&bench);
    let state = bench.state_path();
    let arming = bench.command("s1", "speckit:implement", "");
    let answer = arming.start_without_rights(&[&state]).finish();
    answer.reason().has(".speckit-state.json` cannot be read: Permission");
    let mut after = names(&bench);
    after.retain(|path| !path.starts_with(bench.path(".claude")));
    assert_eq!(after, before);
}

#[test]
fn l4_few_open_files_harm_nothing() {
    assert!(fs::metadata(HOOK).is_ok());
    let bench = Bench::armed();
    bench.stop("s1").run().reason();
    let before = names(&bench);
    for most in 3..12 {
        let stop = bench.stop("s1").start_under(&format!("-n {most}")).finish();
        assert!(
            stop.is_block() || stop.answer.is_none() || stop.told().contains("notes"),
            "{stop}"
        );
        assert_eq!(names(&bench), before, "{most} files: {stop}");
        assert!(bench.record("s1").ledger.is_live(), "{most} files: {stop}");
        bench.transcript("s1").tool("Edit");
    }
    assert!(bench.stop("s1").run().is_block());
}

#[test]
fn s2_unread_arming_ends_no_loop() {
    let bench = Bench::ready().settings("---\nchecks:\n  - test -e src/built\n---\n");
    bench.implement("s1", "").context();
    for id in ["T002", "T003"] {
        bench.tick(id);
    }
    let pin = bench.pin_path("feature-001-login").unwrap();
    let aside = pin.with_extension("aside");
    fs::rename(&pin, &aside).unwrap();
    fs::create_dir(&pin).unwrap();
    let stop = bench.stop("s1").run();
    assert!(stop.told().contains("cannot be read or written"), "{stop}");
    assert_eq!(bench.record("s1").ledger.ended, None, "complete without its check");
    fs::remove_dir(&pin).unwrap();
    fs::rename(&aside, &pin).unwrap();
    let stop = bench.stop("s1").run();
    assert!(stop.reason().contains("Check failed: `test -e src/built`"), "{stop}");
}

#[cfg(unix)]
#[test]
fn l4_unopened_state_is_not_corrupt() {
    for name in [".speckit-state.json", "tasks.md"] {
        let bench = Bench::armed();
        let before = names(&bench);
        let path = bench.feature_path(name);
        for _ in 0..3 {
            let stop = bench.stop("s1").start_without_rights(&[&path]).finish();
            let told = stop.told();
            assert!(told.contains(&format!("{name}` cannot be read: Permission denied")), "{told}");
            assert!(!told.contains("orrupt"), "{told}");
        }
        assert_eq!(names(&bench), before, "`{name}`");
        assert_eq!(bench.record("s1").ledger.iterations, 0, "`{name}`");
        let stop = bench.stop("s1").start_without_rights(&[]).finish();
        assert!(stop.reason().starts_with("Continue feature"), "{stop}");
    }
}

#[cfg(unix)]
#[test]
fn l4_unopened_state_concerns_no_others() {
    let bench = Bench::in_execution();
    let path = bench.state_path();
    bench.stop("s1").start_without_rights(&[&path]).finish().silent().logged("cannot be read");
}

#[test]
fn h9_no_file_may_grow() {
    let bench = Bench::taken();
    let before = bench.everything();
    let stop = bench.stop("s1").start_under("-f 0").finish();
    stop.message();
    assert_eq!(bench.everything(), before, "{stop}");
    bench.stop("s1").run().reason();
}
