//! `spool ralph` as a person runs it, over agent programs that are small scripts.

#![allow(clippy::disallowed_methods, reason = "a test reads and starts what it likes")]

mod agents;
mod beside;
mod claude;
mod distrust;
mod ends;
mod hangs;
#[path = "../support/hearing.rs"]
mod hearing;
mod interruptions;
#[path = "../support/limited.rs"]
mod limited;
mod people;
mod private;
#[path = "../process/support.rs"]
#[allow(dead_code, reason = "the tests of the process tree use the rest")]
mod process;
mod promises;
mod ran;
mod safety;
mod spec_000;
mod spec_001;
mod spec_004;
mod support;
mod traps;
mod usage_limits;
