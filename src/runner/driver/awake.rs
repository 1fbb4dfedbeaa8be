//! Keeps the machine awake, and reports stops of this process.

use std::time::Duration;

use super::parts::Driver;
use crate::forms::events::RunnerEvent;
use crate::runner::console::Console;
use crate::runner::harness::HarnessChoice;
use crate::runner::inhibitor::Inhibitor;
use crate::runner::messages;
use crate::runner::state::StateFiles;
use crate::store::journal::Entry;
use crate::store::names::JournalEvent;

impl Driver<'_> {
    /// Not for the demo, and not where a person declined.
    pub(super) fn keep_awake(&mut self) {
        let options = self.plan.options;
        if !options.settings.no_stay_awake() && options.harness != HarnessChoice::Demo {
            self.inhibitor = Some(Inhibitor::start());
        }
    }

    /// Says once why the machine may fall asleep.
    pub(super) fn say_if_it_may_sleep(&mut self) {
        let Some(why) = self.inhibitor.as_mut().and_then(Inhibitor::trouble) else { return };
        self.console.screen.warn(&format!(
            "this machine may fall asleep while the loop runs: {why}; --no-stay-awake does not try to hold it"
        ));
    }

    /// Reports a standstill since the last look.
    pub(super) fn look_for_standstill(&mut self) {
        if let Some(new) = self.console.stood_still() {
            tell_standstill(&mut self.files, &self.console, new);
        }
    }
}

/// Writes a standstill down and reports it. If that cannot be written, the next entry ends the loop.
pub(super) fn tell_standstill(files: &mut StateFiles, console: &Console<'_>, new: Duration) {
    let _ = files.stood_still(new);
    let iteration = files.running.as_ref().map_or(0, |running| running.n);
    let (change, words) = (&files.state.change_id, messages::stood_still(new));
    let entry = Entry::now(JournalEvent::Standstill, change, iteration, &words);
    let _ = files.note(&entry);
    let event = RunnerEvent::Standstill { stopped_seconds: new.as_secs().into() };
    console.screen.report(event, &format!("ralph: {words}"));
}
