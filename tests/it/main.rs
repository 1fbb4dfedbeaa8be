//! All tests that need no agent program, in one program: one link, and no processor waits for a folder to end.
//!
//! What cannot share a process with them has a program of its own: `tests/process` makes itself the parent of
//! orphans, `tests/faults` takes every processor, and `tests/fuzz` shares its targets with `fuzz`.

#![allow(clippy::disallowed_methods, reason = "a test reads and starts what it likes")]
#![cfg(all(unix, feature = "cli"))]

mod books;
mod command_line;
mod demo;
#[cfg(target_os = "linux")]
mod escapes;
mod evidence;
mod forms;
mod hook;
mod house;
mod imports;
mod plugin;
mod ralph;
mod readme;
#[cfg(target_os = "linux")]
mod release;
mod runner;
mod runner_books;
#[cfg(target_os = "linux")]
mod runner_stress;
mod support;
mod targets;
