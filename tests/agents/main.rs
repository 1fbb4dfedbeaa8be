//! The real agent programs that `spool ralph` drives, against a scripted model on this machine.

#![allow(clippy::disallowed_methods, reason = "a test is its own door to the environment")]

mod agent;
mod bare;
mod limits;
mod ralph;
mod stage;
mod trouble;
