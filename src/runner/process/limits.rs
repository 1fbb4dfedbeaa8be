//! The limits of one run, and what is made of its watcher's answers.

use super::watch::{Control, Cut, ProcessLimits, THINKING};
use crate::runner::harness::ExitInfo;
use crate::world::Deadline;

/// The limits of a run that has begun.
pub struct RunLimits<'a> {
    limits: &'a ProcessLimits,
    wall: Option<Deadline>,
    silence: Option<Deadline>,
    lingering: Option<Deadline>,
}

impl<'a> RunLimits<'a> {
    /// Returns those of a run that begins now, with a program that is thinking or not.
    pub fn new(limits: &'a ProcessLimits, is_thinking: bool) -> Self {
        let wall = limits.wall.map(Deadline::after);
        let mut new = Self { limits, wall, silence: None, lingering: None };
        new.heard(is_thinking);
        new
    }

    /// Notes that there was output, and whether it leaves the program thinking.
    pub fn heard(&mut self, is_thinking: bool) {
        let times = if is_thinking { THINKING } else { 1 };
        self.silence = self.limits.silence.map(|it| Deadline::after(it.saturating_mul(times)));
    }

    /// Notes what the watcher has said of the result.
    pub fn note(&mut self, watch: Control) {
        match watch {
            Control::AtWork => self.lingering = None,
            Control::Finished => {
                self.lingering.get_or_insert_with(|| Deadline::after(self.limits.lingering));
            }
            Control::GoOn | Control::End | Control::Kill => {}
        }
    }

    /// Returns what the run is to be ended for, `None` for nothing.
    pub fn exceeded(&self) -> Option<Cut> {
        let over = |limit: Option<Deadline>| limit.is_some_and(|limit| limit.is_over());
        // With the result there, no limit makes a failure of it.
        if self.lingering.is_some() {
            (over(self.lingering) || over(self.wall)).then_some(Cut::Lingering)
        } else if over(self.wall) {
            Some(Cut::Wall)
        } else {
            over(self.silence).then_some(Cut::Silence)
        }
    }

    /// Returns all that there are.
    #[cfg(unix)]
    pub fn all(&self) -> impl Iterator<Item = Deadline> {
        [self.wall, self.silence, self.lingering].into_iter().flatten()
    }
}

/// Returns how a program left that was ended for this.
pub fn exit(code: Option<i32>, signal: Option<i32>, cut: Option<Cut>) -> ExitInfo {
    ExitInfo {
        code,
        signal,
        lingered: cut == Some(Cut::Lingering),
        cut: matches!(cut, Some(Cut::Wall | Cut::Silence | Cut::Asked)),
    }
}
