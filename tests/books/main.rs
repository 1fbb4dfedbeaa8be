//! `spool task` and the books it keeps, driven as an agent and a person drive them: the real programs.

mod cycle;
mod support;
