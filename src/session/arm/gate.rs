//! What spec-kit asks for around an implementation, as its own implement command does: no open checklist before it, and
//! the mandatory hooks of its extensions before and after.

use std::fmt::Write;
use std::path::Path;

use super::Armer;
use crate::feature::project::Feature;
use crate::feature::{checklists, extensions};
use crate::refusal::Refusal;
use crate::session::arguments::feature::FeatureRequest;
use crate::session::messages::shortfall::hooks_in_words;
use crate::store::due::ExtensionHooks;

/// What stands before a loop that may be armed.
#[derive(Default)]
pub struct Gate {
    /// The extension hooks that have to run.
    pub hooks: ExtensionHooks,
    /// Whether checklists are open, and a person continues with them.
    pub open_checklists: bool,
    /// The lines for the agent, each with a line break before it.
    pub for_agent: String,
    /// The same for the person.
    pub for_person: String,
}

/// Returns what has to run around the work, and what is said of it and of checklists with which the person continues; a
/// refusal where checklists are open and nobody who may decide that has said so.
pub fn gate(
    root: &Path,
    feature: &Feature,
    request: &FeatureRequest,
    armer: Armer<'_>,
) -> Result<Gate, Refusal> {
    let mut gate = Gate::default();
    gate.take_checklists(feature, request, armer)?;
    if armer.is_person() {
        gate.take_hooks(root);
    }
    Ok(gate)
}

impl Gate {
    fn take_checklists(
        &mut self,
        feature: &Feature,
        request: &FeatureRequest,
        armer: Armer<'_>,
    ) -> Result<(), Refusal> {
        let open = checklists::named(feature);
        if open.is_empty() {
            return Ok(());
        }
        let name = &feature.name;
        if request.ignore_checklists && armer.is_person() {
            let open = open.join(", ");
            self.open_checklists = true;
            self.for_agent = format!(
                "\nOpen checklists: {open}. A person has decided to continue with them: do not ask about them, and do not tick them."
            );
            self.for_person = format!("\nOpen checklists, as you wish: {open}");
            return Ok(());
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

    fn take_hooks(&mut self, root: &Path) {
        let (hooks, wrong) = extensions::mandatory(root);
        for why in wrong {
            let line = format!("\n{why}; the loop asks for no hook that it does not name");
            self.for_agent.push_str(&line);
            self.for_person.push_str(&line);
        }
        if !hooks.is_empty() {
            let words = hooks_in_words(&hooks);
            let _ = write!(self.for_person, "\nExtension hooks: {words}");
            let _ = write!(
                self.for_agent,
                "\nExtension hooks of spec-kit that must run: {words}. Run each yourself with the Skill tool and wait for its end: the loop looks for these calls. One that you carried out in another way: `spool task hook NAME`."
            );
        }
        self.hooks = hooks;
    }
}
