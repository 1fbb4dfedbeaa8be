//! The types that `spool` prints for programs (`--json`); `docs/reference/json.md` lists them.
//!
//! A test (`cli::schemas`) makes `schemas/` from these types: a field is described here, and only here. No form shows
//! inner state: no hash, no offset, no form of a file.

pub mod doctor;
pub mod events;
pub mod harnesses;
pub mod iteration;
pub mod log;
pub mod loops;
pub mod plain;
pub mod plan;
pub mod proofs;
pub mod receipt;
pub mod review;
pub mod runner;
pub mod setup;
pub mod spent;
pub mod status;
pub mod story;
pub mod summary;
pub mod task;

use serde::Serialize;

use crate::text;

/// The version of all forms. The same version may only gain fields.
pub const VERSION: u32 = 2;

/// All forms begin with the version.
#[derive(Serialize)]
pub struct Versioned<F> {
    version: u32,
    #[serde(flatten)]
    form: F,
}

impl<F> Versioned<F> {
    pub fn of(form: F) -> Self {
        Self { version: VERSION, form }
    }
}

/// A document in several lines.
pub fn document(form: &impl Serialize) -> serde_json::Result<String> {
    Ok(text::json(&serde_json::to_string_pretty(&Versioned::of(form))?).into_owned())
}

/// A document in one line.
pub fn line(form: &impl Serialize) -> serde_json::Result<String> {
    Ok(text::json(&serde_json::to_string(&Versioned::of(form))?).into_owned())
}
