//! What spec-kit asks for around an implementation, as its own implement command does: checklists first.

use super::Armer;
use crate::feature::checklists;
use crate::feature::project::Feature;
use crate::refusal::Refusal;
use crate::session::arguments::feature::FeatureRequest;

/// The most checklists that are named.
const NAMED: usize = 12;

/// What stands before a loop that may be armed, in words.
#[derive(Default)]
pub struct Gate {
    /// The lines for the agent, each with a line break before it.
    pub for_agent: String,
    /// The same for the person.
    pub for_person: String,
}

/// Returns what is said of the checklists that are open where the person continues with them; a refusal where nobody
/// who may decide that has said so.
pub fn gate(
    feature: &Feature,
    request: &FeatureRequest,
    armer: Armer<'_>,
) -> Result<Gate, Refusal> {
    let mut gate = Gate::default();
    let mut open = checklists::open(feature);
    if open.is_empty() {
        return Ok(gate);
    }
    let more = open.len().saturating_sub(NAMED);
    open.truncate(NAMED);
    if more > 0 {
        open.push(format!("and {more} more"));
    }
    let name = &feature.name;
    if request.ignore_checklists && armer.is_person() {
        let open = open.join(", ");
        gate.for_agent = format!(
            "\nOpen checklists: {open}. A person has decided to continue with them: do not ask about them, and do not tick them."
        );
        gate.for_person = format!("\nOpen checklists, as you wish: {open}");
        return Ok(gate);
    }
    let next = if armer.is_person() {
        "tick what you have reviewed, or add --ignore-checklists to continue with them open"
            .to_owned()
    } else {
        format!(
            "only a person can continue with them open: /speckit:implement {name} --ignore-checklists, or the same with `spool start` in a terminal of their own"
        )
    };
    let open = open.join("\n  ");
    Err(Refusal::new(
        format!("nothing is armed, because feature `{name}` has open checklists:\n  {open}"),
        next,
    ))
}
