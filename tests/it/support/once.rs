//! What the tests of a run share is made once, also where each test is a process of its own (`cargo nextest`).

use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Returns a folder of this name that `make` has filled in this run, by this test or by another one.
pub fn once_a_run(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let run = ralph_speckit::world::variable("NEXTEST_RUN_ID");
    let run = run.unwrap_or_else(|| std::process::id().to_string());
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&all).unwrap();
    let lock = File::create(all.join("lock")).unwrap();
    lock.lock().unwrap();
    let (folder, made_in) = (all.join(&run), all.join("done"));
    if fs::read_to_string(&made_in).ok() != Some(run) {
        // What earlier runs have left.
        for entry in fs::read_dir(&all).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
            fs::remove_dir_all(entry.path()).unwrap();
        }
        fs::create_dir(&folder).unwrap();
        make(&folder);
        fs::write(made_in, folder.file_name().unwrap().as_encoded_bytes()).unwrap();
    }
    folder
}
