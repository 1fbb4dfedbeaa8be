//! The ralph loop: one task in one session, until the promise is kept and the evidence holds (spec 002).

pub(crate) mod adopt;
pub(crate) mod arm;
pub(crate) mod end;
pub(crate) mod messages;
pub(crate) mod pause;
pub(crate) mod report;
pub mod request;
pub(crate) mod select;

/// The longest task, in characters, that is repeated in every text; a longer one is named by its file.
pub const SHORT: usize = 1_500;
/// The promise that is asked for where a person names none and no check either.
pub const PROMISE: &str = "DONE";
