//! The machine while a loop runs: it is kept awake.

use super::parts::Driver;
use crate::runner::harness::HarnessChoice;
use crate::runner::inhibitor::Inhibitor;
use crate::runner::options::StayAwake;

impl Driver<'_> {
    /// Keeps the machine awake from now on, unless a person wants none of it, or only plays with the demo.
    pub(super) fn keep_awake(&mut self) {
        let options = self.plan.options;
        if options.stay_awake == StayAwake::Held && options.harness != HarnessChoice::Demo {
            self.inhibitor = Some(Inhibitor::start(&self.plan.change.root));
        }
    }

    /// Says once that the machine may fall asleep, where nothing keeps it awake, or not any more.
    pub(super) fn say_if_it_may_sleep(&mut self) {
        let Some(why) = self.inhibitor.as_mut().and_then(Inhibitor::trouble) else { return };
        self.console.screen.warn(&format!(
            "this machine may fall asleep while the loop runs: {why}; --no-stay-awake does not try to hold it"
        ));
    }
}
