//! A loop's options: the settings of all places, and the options that follow from the strongest.

mod choices;
mod fallback;
pub(crate) mod file;
mod layers;
mod resolve;
mod review;
mod task;
mod trust;

#[cfg(test)]
mod tests;

pub use super::harness::{Approval, HarnessChoice};
pub use crate::settings::time_in_words;
pub use choices::{Counting, DoneWhen, Form, Shown};
pub use fallback::{AgentChoice, refuse_what_the_agents_cannot_do};
pub use layers::Layers;
pub use resolve::{Options, resolve};
pub use task::task;
pub use trust::{ProjectTrust, needs_trust, only_what_is_trusted};
