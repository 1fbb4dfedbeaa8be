//! What the tests of a run share is made once, also where each test is a process of its own (`cargo nextest`).

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use ralph_speckit::world;

/// What names this run. Without `cargo nextest` the process is the run; a later process may get its number again.
static RUN: LazyLock<String> = LazyLock::new(|| {
    let own = || format!("{}-{}", std::process::id(), world::now().millis());
    world::variable("NEXTEST_RUN_ID").unwrap_or_else(own)
});

/// A folder of this name. `make` fills the folder once in a run of the tests.
pub fn once_a_run(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&all).unwrap();
    let lock = File::create(all.join("lock")).unwrap();
    lock.lock().unwrap();
    let (folder, made_in) = (all.join(&*RUN), all.join("done"));
    if fs::read_to_string(&made_in).ok().as_ref() != Some(&RUN) {
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
