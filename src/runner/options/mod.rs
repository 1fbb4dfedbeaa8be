//! A loop's options: the settings of all places, and the options that follow from the strongest.

pub(crate) mod file;
mod resolve;
mod task;
mod trust;

#[cfg(test)]
mod tests;

pub use super::harness::{Approval, HarnessChoice};
pub use crate::settings::time_in_words;
pub use resolve::{
    AgentChoice, Counting, DoneWhen, Form, Layers, Options, Shown,
    refuse_what_the_agents_cannot_do, resolve,
};
pub use task::task;
pub use trust::{ProjectTrust, needs_trust, only_what_is_trusted};
