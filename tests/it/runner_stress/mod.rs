//! `spool ralph` under stress, as a black box: signals at any moment, agents that will not end, and agents
//! that print what no agent should.

mod kept;
mod limits;
pub mod moments;
mod output;
mod restarts;
mod supervisors;
pub mod support;
mod ticks;
mod trees;
