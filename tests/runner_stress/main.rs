//! `spool ralph` under stress, as a black box: signals at any moment, agents that will not end, and agents
//! that print what no agent should.

#![allow(clippy::disallowed_methods, reason = "a test reads and starts what it likes")]
#![cfg(all(feature = "cli", target_os = "linux"))]

#[path = "../support/hearing.rs"]
mod hearing;
mod keepers;
#[path = "../support/limited.rs"]
mod limited;
mod limits;
mod moments;
mod output;
mod restarts;
mod support;
mod trees;
