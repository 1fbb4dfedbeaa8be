//! `spool ralph` under stress, as a black box: signals at any moment, agents that will not end, and agents
//! that print what no agent should.

#![allow(clippy::disallowed_methods, reason = "a test reads and starts what it likes")]
#![cfg(target_os = "linux")]

mod kept;
mod limits;
mod moments;
mod output;
mod place;
mod restarts;
mod supervisors;
#[path = "../it/support"]
mod support {
    pub mod amounts;
    pub mod hearing;
    pub mod limited;
    pub mod memory;
    pub mod moments;
    pub mod scratch;
}
mod ticks;
mod trees;
