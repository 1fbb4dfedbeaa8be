//! The real Claude Code, driven end to end.

mod arming;
mod cancelling;
mod checkout;
mod demo;
mod neighbours;
mod rehearsal;
mod support;
mod the_loop;
mod trouble;
mod workshop;
