//! `spool ralph` as a person runs it, over agent programs that are small scripts.

mod acp;
mod agents;
mod awake;
mod beside;
mod budgets;
#[cfg(target_os = "linux")]
mod ci;
pub mod claude;
mod converge;
mod counting;
mod distrust;
mod ends;
mod fallback;
#[cfg(target_os = "linux")]
mod full_disk;
mod hangs;
mod interruptions;
mod landing;
mod left;
mod night;
mod people;
mod places;
mod private;
mod progress;
mod promises;
mod proof;
pub mod ran;
mod receipts;
mod safety;
mod silence;
mod spec_000;
mod spec_001;
mod spec_004;
mod spec_kit;
#[cfg(target_os = "linux")]
mod standstill;
mod stopped;
pub mod support;
mod traps;
mod unfinished;
mod usage_limits;
mod worktree;
