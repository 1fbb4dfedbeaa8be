//! The decision engine: pure, it opens no file, reads no clock and no environment.
//!
//! A driver gathers an [`Observation`], [`decide()`] judges it against a [`Contract`] and a
//! [`Ledger`], and the driver speaks the [`Verdict`].

mod choice;
mod contract;
mod decide;
pub mod edit;
mod fingerprint;
mod hidden;
mod ledger;
mod line;
mod observation;
pub mod promise;
pub mod tasks;
mod verdict;

pub use contract::{Check, Contract, Guardrails, WithoutWork};
pub use decide::{UNSEEN, decide, is_last_idle_stop, time_is_up, wants_checks, wants_files};
pub use fingerprint::{Fingerprint, Hasher, Tree, hash_of};
pub use ledger::Ledger;
pub use observation::{
    Attempt, Change, CheckResult, Demand, Files, Observation, Tampered, Tokens, Waiting, Work,
};
pub use promise::{Promise, PromiseMatch};
pub use verdict::{Shortfall, Stall, TerminalReason, Verdict};
