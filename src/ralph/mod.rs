//! The ralph loop: one task in one session, until the promise is kept and the evidence holds (spec 002).

pub mod adopt;
pub mod arm;
pub mod end;
pub mod observe;
pub mod pause;
pub mod report;
pub mod request;
pub mod words;

/// The longest task, in characters, that is repeated in every text; a longer one is named by its file.
pub const SHORT: usize = 1_500;
/// The promise that is asked for where a person names none and no check either.
pub const PROMISE: &str = "DONE";
