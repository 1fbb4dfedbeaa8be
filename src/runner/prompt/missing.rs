//! What kept the last iteration from being the last one.

use std::fmt::Write;

use super::material::Material;
use crate::engine::Shortfall;
use crate::engine::promise::marker;
use crate::session::messages::shortfall::{Reader, explain};

/// Writes what was missing, and the driver's remarks.
pub fn write(text: &mut String, material: &Material<'_>) {
    let promise = material.contract.token.as_deref().map(marker);
    let reader = Reader {
        who: "It",
        promise: promise.as_deref().unwrap_or_default(),
        without: if promise.is_some() { "It ended without" } else { "" },
        open: "Tasks are open.",
        finished: "tick the box of what is really done",
        bullet: "- ",
        output: 4_000,
    };
    let mut lines = String::new();
    for remark in material.remarks {
        let _ = writeln!(lines, "- {remark}");
    }
    explain(&mut lines, material.missing, reader);
    if lines.is_empty() {
        return;
    }
    let _ = write!(text, "\n# What the last iteration left open\n\n{lines}");
    if material.missing.iter().any(|one| matches!(one, Shortfall::CheckFailed(_))) {
        text.push_str("- Repair the work, never the check.\n");
    }
}
