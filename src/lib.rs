//! One engine that decides whether a loop continues, and the drivers that ask it.
//!
//! `ARCHITECTURE.md` has the floor plan.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "a test reads and starts what it likes")
)]
#![cfg_attr(
    not(feature = "cli"),
    allow(
        dead_code,
        reason = "what only `spool` uses is in the same rooms; a build of both finds what nobody uses"
    )
)]

#[cfg(feature = "cli")]
#[macro_use]
mod print;

mod checks;
pub mod engine;
pub mod evidence;
pub mod exec;
pub mod feature;
pub mod hook;
pub mod hosts;
mod judge;
mod mask;
mod notice;
mod refusal;
pub mod session;
pub mod settings;
pub mod store;
pub mod system;
mod text;
pub mod world;

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod forms;
#[cfg(feature = "cli")]
pub mod plugin;
#[cfg(feature = "cli")]
mod review;
#[cfg(feature = "cli")]
pub mod runner;
#[cfg(feature = "cli")]
mod standstill;
#[cfg(feature = "cli")]
mod style;
