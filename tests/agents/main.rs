//! The real agent programs that `spool ralph` drives, against a scripted model on this machine.

#![allow(clippy::disallowed_methods, reason = "a test is its own door to the environment")]

mod acp;
mod agent;
mod bare;
mod converge;
mod fallback;
mod hostile;
#[path = "../it/support/hostile_words.rs"]
mod hostile_words;
#[path = "../it/support/left_out.rs"]
mod left_out;
#[path = "../it/support/limited.rs"]
mod limited;
mod limits;
mod night;
mod permitted;
mod ralph;
mod review;
mod reviewed;
#[path = "../it/support/scratch.rs"]
mod scratch;
mod stage;
#[path = "../client/tier.rs"]
mod tier;
mod trouble;
