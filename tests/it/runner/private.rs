//! The runner's own files are their owner's, hold no key, and are not written where a link leads.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::runner::support::{Bench, in_state};
use crate::support::scratch::contents;

const TASKS: &str = "- [ ] 1.1 One\n- [ ] 1.2 Two\n";

#[test]
fn s8_runner_files_hide_keys() {
    let key = format!("ghp_{}", "abcDEF0123456789abcDEF0123");
    let bench = Bench::with_tasks(TASKS);
    // The key comes in two pieces, and once more as the last words.
    let (one, two) = key.split_at(12);
    bench.agent(&format!(
        "printf 'a {one}'; sleep 0.2; printf '{two} b\\n'\necho made > made-$n.txt\necho 'the key is {key}'"
    ));
    bench.ralph("--max-iterations 2").run();
    for (path, bytes) in contents(&bench.root.join(".spool/.state")) {
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!text.contains(&key), "{}: {text}", path.display());
    }
    let mut folder = bench.root.join(in_state("logs"));
    let is_log = |path: &PathBuf| path.extension().is_some_and(|end| end == "log");
    let mut files = fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.path());
    let log = fs::read_to_string(files.find(is_log).unwrap()).unwrap();
    assert!(log.contains("a [masked] b\n"), "{log}");
    while !folder.ends_with(".spool") {
        let mode = folder.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", folder.display());
        folder.pop();
    }
    assert!(!bench.read(".claude/loop-state.json").contains(&key));
}

#[test]
fn s6_linked_folders_get_nothing_written() {
    let state = in_state("");
    let state = state.trim_end_matches('/');
    let logs = format!("{state}/logs");
    for folder in [".spool/.state", ".spool/.state/ralph", state, &logs, ".claude"] {
        // It leaves what was there behind the link, or nothing.
        for leave in ["mv", "rm -r"] {
            let bench = Bench::with_tasks(TASKS);
            let outside = bench.beside("outside");
            let take = match leave {
                "mv" => format!("mv {folder} {}", outside.display()),
                _ => format!("rm -r {folder}; mkdir {}", outside.display()),
            };
            bench.agent(&format!(
                "if [ $n = 1 ]; then {take}; ln -s {0} {folder}; fi\ncp -r {0} \"$DESK/before-$n\"\necho $n > made-$n.txt",
                outside.display()
            ));
            let ran = bench.ralph("--max-iterations 3").run();
            assert_ne!(ran.code, Some(0), "{folder}, {leave}: {ran:?}");
            let before = contents(&bench.beside("desk/before-1"));
            let names = |files: Vec<(PathBuf, Vec<u8>)>, base: &Path| -> Vec<(PathBuf, Vec<u8>)> {
                files
                    .into_iter()
                    .map(|(path, bytes)| (path.strip_prefix(base).unwrap().to_owned(), bytes))
                    .collect()
            };
            let mut before = names(before, &bench.beside("desk/before-1"));
            let mut after = names(contents(&outside), &outside);
            // The log of the iteration that did it was open before.
            let is_log = |path: &Path| path.extension().is_some_and(|end| end == "log");
            before.retain(|(path, _)| !is_log(path));
            after.retain(|(path, _)| !is_log(path));
            assert_eq!(
                after.iter().map(|(path, _)| path).collect::<Vec<_>>(),
                before.iter().map(|(path, _)| path).collect::<Vec<_>>(),
                "{folder}, {leave}: {ran:?}"
            );
            assert!(after == before, "{folder}, {leave}: {ran:?}");
            assert!(ran.errors.contains("symbolic link"), "{folder}, {leave}: {ran:?}");
        }
    }
}
