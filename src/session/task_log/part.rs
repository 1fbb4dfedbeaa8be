//! The part of a list that a live loop is about, when a task is added.

use std::io;
use std::path::Path;

use super::Books;
use crate::feature::project::printable;
use crate::refusal::Refusal;
use crate::store::pins::{Pin, PinKey, Pins};

impl Books<'_> {
    /// Adds a new task to those that the live loop is about. `after` is the task before the new one, and one of those
    /// tasks.
    pub(super) fn add_to_part(&self, id: &str, after: &str) -> Result<(), Refusal> {
        let Some(mut asked) = self.view.request().cloned() else { return Ok(()) };
        if asked.tasks.is_empty() || asked.tasks.iter().any(|known| known == id) {
            return Ok(());
        }
        asked.tasks.push(id.to_owned());
        let asked = Some(Box::new(asked));
        if let Some(pin) = self.view.standing.pin() {
            let pins = Pins::of(&self.view.project.root)?;
            let (whose, armed_at) = (PinKey::Feature(&self.view.feature.name), pin.armed_at);
            let written = pins.change(whose, |pin| {
                Some(Pin { asked, ..pin.filter(|pin| pin.armed_at == armed_at)? })
            });
            return written.map_err(|error| cannot_join(after, &pins.path(whose), &error));
        }
        self.change_record(|record| {
            record.asked = asked;
            Some(())
        })?;
        Ok(())
    }
}

/// Refuses to add a task if the pin cannot be written, as in a sandbox. The pin names the loop's tasks, outside the
/// project.
fn cannot_join(after: &str, path: &Path, error: &io::Error) -> Refusal {
    let after = printable(after);
    let what = format!(
        "nothing was added: after {after} it would be one of the named tasks that this loop is about, and `{}`, which says which these are, cannot be written: {error}",
        path.display()
    );
    let next = format!(
        "do it as a part of {after}, or put it after a task that was not named; in a sandbox, a person runs the same `spool task add` in a terminal, or lets the sandbox write that folder"
    );
    Refusal::new(what, next)
}
