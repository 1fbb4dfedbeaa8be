//! The loop's own files are their owner's, and nothing is written where a link leads elsewhere.

use crate::hook::support::Bench;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Everything below a folder with its mode.
fn modes(folder: &Path) -> Vec<(PathBuf, u32)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        found.push((folder.clone(), folder.metadata().unwrap().permissions().mode() & 0o777));
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
                found.push((entry.path(), mode));
            }
        }
    }
    found
}

#[track_caller]
fn are_private(bench: &Bench) {
    let found = modes(&bench.path(".claude/ralph"));
    assert!(found.len() > 6, "{found:#?}");
    for (path, mode) in found {
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
    }
}

#[test]
fn s8_loop_files_belong_to_owner() {
    let bench = Bench::armed();
    bench.stop("s1").run().reason();
    bench.stop("s2").run().silent();
    let long = format!("\"{}\"", "long ".repeat(2_000));
    bench.command("s3", "speckit:ralph-loop", &long).run().context();
    are_private(&bench);
    // Claude Code's folder and the person's files are not ours to close.
    assert_ne!(bench.path(".claude").metadata().unwrap().permissions().mode() & 0o077, 0);
    assert_ne!(bench.state_path().metadata().unwrap().permissions().mode() & 0o077, 0);
}

#[test]
fn s8_older_files_are_closed() {
    let bench = Bench::armed();
    for (path, _) in modes(&bench.path(".claude/ralph")) {
        let mode = if path.is_dir() { 0o755 } else { 0o644 };
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    }
    bench.cancel("s1", "");
    bench.implement("s1", "").context();
    let folder = |name: &str| bench.path(".claude/ralph").join(name);
    for name in ["", "s1", "s1/journal.jsonl", "armed-001-login"] {
        let mode = folder(name).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode & 0o077, 0, "{name}: {mode:o}");
    }
}

#[test]
fn s8_check_keys_stay_unwritten() {
    let key = format!("sk-ant-{}", "abcDEF0123456789abcDEF");
    let settings = "---\nchecks:\n  - cat printed && false\n---\n";
    let bench = Bench::ready().settings(settings);
    bench.write("printed", &key);
    bench.implement("s1", "").context();
    bench.write_tasks(crate::hook::support::ALL_DONE);
    let stop = bench.stop("s1").run();
    assert!(stop.reason().contains("[masked]"), "{stop}");
    for (path, bytes) in bench.everything() {
        let holds = String::from_utf8_lossy(&bytes).contains(&key);
        assert!(!holds || path.ends_with("printed"), "{}", path.display());
    }
}

#[test]
fn s6_nothing_is_written_where_a_link_leads_out_of_the_project() {
    for name in ["", "ralph", "ralph/s1"] {
        let bench = Bench::armed();
        bench.stop("s1").run().reason();
        // The agent takes a folder out of the project and leaves a link to it.
        let place = bench.path(".claude").join(name);
        let place = place.components().collect::<PathBuf>();
        let outside = bench.outside().join("taken");
        fs::rename(&place, &outside).unwrap();
        symlink(&outside, &place).unwrap();
        let files = || {
            let mut files: Vec<_> = modes(&outside)
                .into_iter()
                .filter(|(path, _)| path.is_file())
                .map(|(path, _)| (path.clone(), fs::read(path).unwrap()))
                .collect();
            files.sort();
            files
        };
        let before = files();
        bench.tick("T002");
        bench.transcript("s1").tool("Edit");
        for _ in 0..2 {
            let stop = bench.stop("s1").run();
            assert!(!stop.is_block(), "`{name}`: {stop}");
        }
        bench.stop("s2").run();
        bench.cancel("s1", "");
        bench.implement("s1", "");
        bench.command("s1", "speckit:ralph-loop", "\"Another\" --replace").run();
        let after = files();
        assert_eq!(after, before, "`{name}`");
    }
}
