//! What a loop is asked for: every default, every flag, every setting, in one place.

mod choices;
mod fallback;
pub(crate) mod file;
mod resolve;
mod review;
mod settings;
mod task;
mod trust;
mod value;

#[cfg(test)]
mod tests;

pub use super::harness::HarnessChoice;
pub use choices::{
    Approve, Commits, Counting, DoneWhen, Doubted, Form, Landing, LimitWait, Sessions, Shown,
    StayAwake,
};
pub use fallback::{AgentChoice, refuse_what_the_agents_cannot_do};
pub use resolve::{Defaults, Options, resolve};
pub use settings::{CHANGE, LIMITS, Layers, ProjectChecks, RunnerSettings, Set, Setting};
pub use task::task;
pub use trust::{ProjectTrust, needs_trust, only_what_is_trusted};
pub use value::{AgentArgument, CommandLine, Model, Number, Time, harness_names, time_in_words};
