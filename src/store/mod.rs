//! Files: read within bounds, written whole, locked if two writers can meet.
//!
//! An unreadable file is never overwritten. A JSON file keeps unknown fields, and loads without missing ones.

pub(crate) mod amend;
pub(crate) mod client;
pub(crate) mod closing;
pub mod due;
pub mod journal;
pub mod kept_run;
pub(crate) mod lock;
pub mod loops;
pub mod names;
pub(crate) mod notes;
pub(crate) mod older;
pub(crate) mod pin;
pub mod pins;
pub(crate) mod private;
pub mod read;
pub mod receipts;
pub mod record;
pub(crate) mod session;
pub(crate) mod settled;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod write;
