//! `spool review`: another agent program reads the work with a fresh context and answers in a fixed form.

mod armed;
mod base;
mod changes;
mod evidence;
mod form;
mod packet;
mod record;
mod report;
mod run;

pub use record::{Review, last};
pub use run::{ReviewLimits, ReviewOrder, review};
