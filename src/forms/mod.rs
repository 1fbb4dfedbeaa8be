//! What `spool` prints for programs (`--json`): plain types; `docs/reference/json.md` has them all.
//!
//! The schemas in `schemas/` are made from these types by a test (`cli::schemas`), so a field is described here, and once.
//! What a loop is inside of the program never stands in a form: no hash, no offset, no form of a file.

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
pub mod session;
pub mod setup;
pub mod spent;
pub mod status;
pub mod statusline;
pub mod steered;
pub mod story;
pub mod summary;
pub mod task;
pub mod trust;

use serde::Serialize;

use crate::text;

/// The version of all forms. Fields are only ever added under the same number.
pub const VERSION: u32 = 2;

/// A form with the version that all of them begin with.
#[derive(Serialize)]
pub struct Versioned<F> {
    version: u32,
    #[serde(flatten)]
    form: F,
}

impl<F> Versioned<F> {
    /// Returns a form with its version.
    pub fn of(form: F) -> Self {
        Self { version: VERSION, form }
    }
}

/// Returns a document in several lines.
pub fn document(form: &impl Serialize) -> serde_json::Result<String> {
    Ok(text::json(&serde_json::to_string_pretty(&Versioned::of(form))?).into_owned())
}

/// Returns a document in one line.
pub fn line(form: &impl Serialize) -> serde_json::Result<String> {
    Ok(text::json(&serde_json::to_string(&Versioned::of(form))?).into_owned())
}
