//! The ralph loop in the real `ralph-hook` program, asked as Claude Code asks it.

mod adopt;
mod alive;
mod arguments;
mod checks;
mod cli;
mod counting;
mod ends;
mod pause;
mod prefix;
mod promised;
mod safety;
mod shown;
mod spec_000;
mod spec_002;
mod told;
mod traps;

use crate::hook::outcome::Outcome;
use crate::hook::support::Bench;
use std::path::Path;

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

/// The agent calls a tool, changes a file before a promise, then says this and wants to end its turn.
pub fn works_and_says(bench: &Bench, words: &str) -> Outcome {
    bench.transcript("s1").tool("Edit");
    if words.contains(PROMISE) {
        change(bench);
    }
    bench.stop("s1").saying(words).run()
}

/// Writes a file until its time is later than that of the loop's last record.
pub fn change(bench: &Bench) {
    let written =
        |path: &str| std::fs::metadata(bench.path(path)).and_then(|meta| meta.modified()).ok();
    let before = written(".claude/ralph/s1/lock");
    crate::support::limited::until("a later file", || {
        bench.write("src/made.rs", "made");
        (written("src/made.rs") > before).then_some(())
    });
}

/// Waits until another process has written a file.
pub fn await_file(path: &Path) {
    crate::support::limited::until("a file of another process", || path.exists().then_some(()));
}
