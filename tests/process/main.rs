//! One run of an agent program, with real processes: its limits, its output, its end, and that nothing
//! of its tree is left.

#![allow(clippy::disallowed_methods, reason = "a test reads and starts what it likes")]

mod cost;
mod driver;
mod end;
#[path = "../it/support/hearing.rs"]
mod hearing;
#[path = "../it/support/limited.rs"]
mod limited;
mod limits;
mod output;
mod start;
mod supervisor;
mod support;
#[path = "../it/support/witness.rs"]
mod witness;
