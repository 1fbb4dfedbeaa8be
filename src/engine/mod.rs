//! The decision engine is pure: it opens no file and reads no clock and no environment.
//!
//! A driver gathers an [`Observation`]. [`evaluate()`] judges the observation by a [`Contract`] and a [`Ledger`], or
//! asks for the checks first. The driver reports the [`Verdict`].

pub mod aside;
mod boxes;
mod choice;
mod contract;
mod converge;
mod decide;
pub mod edit;
mod evaluate;
mod fallback;
pub mod fields;
mod fingerprint;
mod landing;
mod ledger;
pub mod line;
pub mod markdown;
pub mod matched;
mod observation;
pub mod order;
mod output;
mod part;
pub mod promise;
pub mod proof;
mod reading;
pub mod resumed;
mod review;
pub mod scope;
pub mod scoreboard;
pub mod tasks;
mod unproved;
mod verdict;

pub use aside::AsideKind;
pub use contract::{Check, Contract, Guardrails, REVIEW, ReviewWhen, WithoutWork};
pub use converge::Converging;
pub use decide::{
    MOST_DENIED, UNSEEN, budget_is_up, change_is_a_link, change_is_gone, ended_by,
    is_last_idle_stop, limit_is_up, project_is_gone, some_denied, time_is_up, waits,
    waits_too_long,
};
pub use evaluate::{Evaluation, Judgement, Pending, evaluate};
pub use fallback::{AgentRest, Lineup, NextAgent, OVERLOAD_REST, OVERLOADS, RestCause, RunSign};
pub use fingerprint::{Fingerprint, Hasher, Tree, hash_of, hash_of_long};
pub use landing::{NearLimit, near_limit};
pub use ledger::Ledger;
pub use observation::{
    Attempt, CheckResult, Demand, Difference, FinishedPart, NO_CHECK, Observation, ReviewResult,
    Tampered, TokenTotals, UnchangedFiles, Waiting, Work,
};
pub use output::{TestsRun, is_deaf, tests_run};
pub use promise::{Promise, PromiseMatch};
pub use verdict::{BudgetUnit, Dollars, Obstacle, Shortfall, Stall, TerminalReason, Verdict};
