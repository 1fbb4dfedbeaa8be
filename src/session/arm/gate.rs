//! Spec-kit's own conditions of an implementation: closed checklists before it, mandatory extension hooks before and
//! after it.

use std::fmt::Write;
use std::path::Path;

use super::Armer;
use crate::feature::project::Feature;
use crate::feature::{checklists, converge, extensions};
use crate::refusal::Refusal;
use crate::session::arguments::feature::FeatureRequest;
use crate::session::messages::shortfall::hooks_in_words;
use crate::settings::{Chosen, Origin, table};
use crate::store::due::ExtensionHooks;

/// What spec-kit's files add to a loop.
#[derive(Default)]
pub struct Gate {
    /// Extension hooks that must run.
    pub hooks: ExtensionHooks,
    /// The converge command that must run before the end; empty for none.
    pub converge: String,
    /// Checklists are open, and a person continues with them.
    pub open_checklists: bool,
    /// Lines for the agent, each behind a line break.
    pub for_agent: String,
    /// The same lines for the person.
    pub for_person: String,
}

/// Reads the checklists and the hooks, with notes on both. Refuses the arming if checklists are open, unless a person
/// accepts that.
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
        if request.chosen.ignore_checklists() && armer.is_person() {
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

    /// Takes the converge command if the request asks for it, and refuses if the project has none. Converge reads the
    /// whole feature and stops at an open box, so a loop over some tasks goes without it.
    pub fn take_converge(
        &mut self,
        root: &Path,
        chosen: &Chosen,
        is_part: bool,
    ) -> Result<(), Refusal> {
        let Some(made) = chosen.made(&table::converge).filter(|_| chosen.converge()) else {
            return Ok(());
        };
        if is_part && made.origin == Origin::CommandLine {
            let what = "nothing is armed: `--converge` compares the code with the whole feature, and this loop is about some of its tasks";
            return Err(Refusal::new(what, "leave `--converge` out, or name no tasks"));
        }
        if is_part {
            self.for_person
                .push_str("\nConverge: left out, for this loop is about some of the tasks");
            return Ok(());
        }
        let command = converge::in_session(root).map_err(|why| {
            let what =
                ["nothing is armed: spec-kit's converge command is asked for, and ", &why].concat();
            Refusal::new(
                what,
                "update spec-kit in this project, or leave it out with --converge=false",
            )
        })?;
        let name = command.name;
        let _ =
            write!(self.for_person, "\nConverge: /{name} before it counts as done, at most twice");
        let _ = write!(
            self.for_agent,
            "\nBefore the end the loop asks you to run spec-kit's /{name}: not before it asks, for only such a run counts."
        );
        name.clone_into(&mut self.converge);
        Ok(())
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
