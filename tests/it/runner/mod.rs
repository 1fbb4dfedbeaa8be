//! `spool ralph` as a person runs it, over agent programs that are small scripts.

mod agents;
mod beside;
mod claude;
mod distrust;
mod ends;
mod hangs;
mod interruptions;
mod people;
mod private;
mod promises;
mod ran;
mod safety;
mod spec_000;
mod spec_001;
mod spec_004;
mod spec_kit;
pub mod support;
mod traps;
mod usage_limits;
