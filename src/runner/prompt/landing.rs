//! The request for a handoff near a limit, and the rule on an earlier loop's handoff.

use std::fmt::Write;

use super::documents::shown;
use super::material::Material;
use crate::engine::NearLimit;
use crate::feature::HANDOFF;

/// Asks for a handoff; writes nothing if no limit is near.
pub fn write(text: &mut String, material: &Material<'_>) {
    let Some(near) = material.near_limit else { return };
    let which = match near {
        NearLimit::Iterations => "This is the last iteration of this loop.",
        NearLimit::Time => {
            "Nine tenths of this loop's time are used up: it may end in the middle of this iteration."
        }
        NearLimit::Tokens => {
            "Nine tenths of this loop's tokens are used up: this may be its last iteration."
        }
        NearLimit::Money => {
            "Nine tenths of this loop's money are used up: this may be its last iteration."
        }
        NearLimit::Usage => {
            "The usage limit of the agent program is near: it may end this iteration in its middle, and the loop with it."
        }
    };
    let path = shown(material.change, &material.change.folder.join(HANDOFF));
    let _ = write!(
        text,
        "\n# A limit is near\n\n{which} Unless all of the work is done by its end:\n\n\
         - Begin nothing that you cannot finish in it, and leave a work tree that builds.\n\
         - Write into `{path}`, in at most 60 lines, what is done, what is open and what comes next: the next loop reads it first.\n"
    );
}

/// Writes the rule on an earlier loop's handoff; nothing without one.
pub fn write_rule(text: &mut String, material: &Material<'_>) {
    let path = material.change.folder.join(HANDOFF);
    if path.is_file() {
        let path = shown(material.change, &path);
        let _ = writeln!(
            text,
            "- `{path}` is what an earlier loop wrote at its limit. Where it and the files differ, the files count; remove it when nothing in it is open."
        );
    }
}
