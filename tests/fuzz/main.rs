//! A short run of every fuzz target: all examples, and examples changed at random, the same ones in each run.
//!
//! `scripts/fuzz` has the long run. `RALPH_FUZZ_SECONDS` makes this one longer, with other inputs each time.

#![allow(clippy::disallowed_methods, reason = "a test reads and starts what it likes")]
#![cfg(feature = "cli")]

#[path = "../it/support/amounts.rs"]
mod amounts;
mod dice;
#[path = "../../fuzz/targets.rs"]
mod targets;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use amounts::few_or_all;
use dice::Dice;
use ralph_speckit::world::{self, Deadline};
use targets::{TARGETS, Target};

/// How many changed examples a short run tries of each target, and a thorough one.
const SHORT: (u64, u64) = (1_000, 4_000);
/// The longest input of a short run, in bytes.
const LONGEST: usize = 16 << 10;

fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> =
        entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// The examples of a target: those of its folder, and those of other tests that are of its kind.
fn examples(name: &str) -> Vec<Vec<u8>> {
    let mut paths = files(&checkout().join("fuzz/corpus").join(name));
    let others = match name {
        "event" => "tests/fixtures/claude",
        "tasks" => "tests/fixtures/lists",
        "claude" | "codex" | "opencode" | "gemini" | "copilot" => "tests/fixtures/streams",
        _ => "",
    };
    let is_stream = others.ends_with("streams");
    let of_its_kind = |path: &PathBuf| {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        !is_stream || file.starts_with(name)
    };
    if !others.is_empty() {
        paths.extend(files(&checkout().join(others)).into_iter().filter(of_its_kind));
    }
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Runs one input; when it fails, keeps it and says where.
fn try_one(target: &Target, bytes: &[u8]) {
    if catch_unwind(AssertUnwindSafe(|| (target.run)(bytes))).is_err() {
        let path = std::env::temp_dir().join(format!("ralph-fuzz-found-{}", target.name));
        fs::write(&path, bytes).unwrap();
        panic!("{} fails on the {} bytes of {}", target.name, bytes.len(), path.display());
    }
}

fn run(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let examples = examples(name);
    assert!(examples.len() >= 3, "{name} has {} examples in fuzz/corpus", examples.len());
    for example in &examples {
        try_one(target, example);
    }
    let seconds: Option<u64> =
        world::variable("RALPH_FUZZ_SECONDS").and_then(|seconds| seconds.parse().ok());
    let mut dice = Dice::new(if seconds.is_some() { world::now().millis() } else { 9 });
    let deadline = Deadline::after(Duration::from_secs(seconds.unwrap_or_default()));
    let (mut tried, most) = (0, few_or_all(SHORT.0, SHORT.1));
    while if seconds.is_some() { !deadline.is_over() } else { tried < most } {
        let mut bytes = dice.change(&examples);
        bytes.truncate(LONGEST);
        try_one(target, &bytes);
        tried += 1;
    }
    eprintln!("{name}: {} examples, {tried} inputs made of them", examples.len());
}

macro_rules! targets {
    ($($test:ident $name:literal),+ $(,)?) => {
        $(#[test] fn $test() { run($name); })+

        #[test]
        fn every_target_is_run() {
            let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(names, [$($name),+]);
        }
    };
}

targets! {
    any_event "event",
    any_command "command",
    any_settings "settings",
    any_extensions "extensions",
    any_state "state",
    any_task_list "tasks",
    any_record "record",
    any_transcript "transcript",
    any_journal "journal",
    any_output_of_claude "claude",
    any_output_of_codex "codex",
    any_output_of_opencode "opencode",
    any_output_of_gemini "gemini",
    any_output_of_copilot "copilot",
}
