//! The ralph loop in the real `ralph-hook` program, asked as Claude Code asks it.

#![allow(clippy::disallowed_methods, reason = "a test reads and starts what it likes")]

mod adopt;
mod arguments;
mod checks;
mod cli;
mod counting;
mod ends;
#[path = "../support/limited.rs"]
mod limited;
#[path = "../hook/outcome.rs"]
#[allow(dead_code, reason = "the tests of the feature's loop use the rest")]
mod outcome;
mod pause;
mod prefix;
mod safety;
mod spec_000;
mod spec_002;
#[path = "../hook/support.rs"]
#[allow(dead_code, reason = "the tests of the feature's loop use the rest")]
mod support;
mod told;
#[path = "../hook/transcript.rs"]
#[allow(dead_code, reason = "the tests of the feature's loop use the rest")]
mod transcript;
mod traps;

use outcome::Outcome;
use std::path::Path;
use support::Bench;

/// The marker that keeps the usual promise.
pub const PROMISE: &str = "<promise>DONE</promise>";

/// Types `/speckit:ralph-loop` with these arguments.
pub fn ralph(bench: &Bench, session: &str, arguments: &str) -> Outcome {
    bench.command(session, "speckit:ralph-loop", arguments).run()
}

/// A folder that is no spec-kit project, with a loop armed in session `s1`.
pub fn armed(arguments: &str) -> Bench {
    let bench = Bench::folder();
    ralph(&bench, "s1", arguments).context();
    bench
}

/// The agent calls a tool, then says this and wants to end its turn.
pub fn works_and_says(bench: &Bench, words: &str) -> Outcome {
    bench.transcript("s1").tool("Edit");
    bench.stop("s1").saying(words).run()
}

/// Waits until another process has written a file.
pub fn await_file(path: &Path) {
    while !path.exists() {
        std::thread::yield_now();
    }
}
