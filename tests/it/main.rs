//! All tests that need no agent program, in one program: one link, and no processor waits for a folder to end.
//!
//! What cannot share a process with them has a program of its own: `tests/process` makes itself the parent of
//! orphans, and `tests/fuzz` shares its targets with `fuzz`. What takes minutes needs the feature `slow-tests`.

#![allow(clippy::disallowed_methods, reason = "a test reads and starts what it likes")]
#![cfg(feature = "cli")]
#![cfg_attr(windows, allow(dead_code, unused_imports, reason = "some tests are of another system"))]

mod books;
mod command_line;
mod demo;
#[cfg(target_os = "linux")]
mod escapes;
#[cfg(unix)]
mod evidence;
#[cfg(unix)]
mod forms;
mod hook;
#[cfg(unix)]
mod house;
mod imports;
#[cfg(unix)]
mod lists;
#[cfg(unix)]
mod plugin;
mod ralph;
#[cfg(unix)]
mod readme;
#[cfg(unix)]
mod review;
#[cfg(unix)]
mod runner;
#[cfg(unix)]
mod runner_books;
mod support;
#[cfg(unix)]
mod targets;
#[cfg(windows)]
mod windows;
