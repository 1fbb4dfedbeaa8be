//! What `scripts/release` packs, with the programs of this build: archives, installers, npm packages, and what cargo uploads.

#![allow(clippy::disallowed_methods, reason = "a test reads and starts what it likes")]
#![cfg(target_os = "linux")]

mod archives;
mod cargo;
mod npm;
#[allow(dead_code, reason = "the tests of the runner need more of it")]
#[path = "../it/runner/ran.rs"]
mod ran;
mod server;
#[path = "../it/support"]
mod support {
    pub mod hearing;
    pub mod left_out;
    pub mod limited;
    pub mod once;
    #[allow(dead_code, reason = "the tests of the schemas need more of it")]
    pub mod schema;
    pub mod scratch;
    pub mod witness;
}

use crate::support::left_out::left_out;
use crate::support::limited::Limited;
use crate::support::once::once_a_run;
use crate::support::scratch::{HOOK, SPOOL, checkout};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The platform that the tests run on, as a release names it.
fn platform() -> String {
    format!("linux-{}", std::env::consts::ARCH)
}

/// Whether a tool, or one of several, is there; where none is, the test that needs it says so.
fn has(tools: &str) -> bool {
    let found = tools.split(" or ").any(|tool| {
        let mut asked = Command::new("sh");
        asked.args(["-c", "command -v \"$1\"", "sh", tool]).finish().status.success()
    });
    if !found {
        left_out(&format!("{tools} is not installed"));
    }
    found
}

/// Runs `scripts/release` with a folder of its own.
fn release(dist: &Path, arguments: &[&str]) -> Output {
    Command::new(checkout().join("scripts/release"))
        .args(arguments)
        .env("DIST", dist)
        .env("RELEASE_URL", "https://releases.example/v1")
        .env_remove("GITHUB_REPOSITORY")
        .finish()
}

/// Packs the programs of this build once for all tests; `None` where a tool is missing.
fn packed() -> Option<PathBuf> {
    if !has("zip") || !has("strip") {
        return None;
    }
    let dist = once_a_run("packed", |dist| {
        let programs = dist.join("programs").join(platform());
        fs::create_dir_all(&programs).unwrap();
        for (name, program) in [("ralph-hook", HOOK), ("spool", SPOOL)] {
            // What is there only for a debugger is most of a program that was built for tests.
            let mut strip = Command::new("strip");
            let stripped = strip.arg("-o").arg(programs.join(name)).arg(program).finish();
            assert!(stripped.status.success(), "{stripped:?}");
        }
        let output = release(dist, &["pack"]);
        assert!(output.status.success(), "{output:?}");
    });
    Some(dist.join("release"))
}

/// The hash that `SHA256SUMS` has for each file.
fn sums(release: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(release.join("SHA256SUMS")).unwrap();
    let line =
        |line: &str| line.split_once("  ").map(|(sum, name)| (name.to_owned(), sum.to_owned()));
    text.lines().map(|text| line(text).unwrap()).collect()
}

/// Unpacks an archive into a folder, with the tool that its name asks for.
fn unpack(archive: &Path, folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let mut command = match archive.extension().and_then(|ending| ending.to_str()) {
        Some("zip") => Command::new("unzip"),
        _ => Command::new("tar"),
    };
    match archive.extension().and_then(|ending| ending.to_str()) {
        Some("zip") => command.arg("-q").arg(archive).arg("-d").arg(folder),
        _ => command.arg("-xzf").arg(archive).arg("-C").arg(folder),
    };
    let output = command.finish();
    assert!(output.status.success(), "{output:?}");
}
