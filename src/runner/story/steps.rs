//! What an agent did, step by step, in bounded memory.

use std::collections::VecDeque;

use crate::mask::masked_text;
use crate::runner::harness::{AgentEvent, CallOutcome};

/// How many steps are kept of the beginning, and of the end.
const STEPS: usize = 1_000;
/// The most letters that are kept of what an agent said at once.
const WORDS: usize = 4_000;

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What kind of step it is.
    pub kind: StepKind,
    /// What the agent said, what a tool was used with, or what went wrong.
    pub words: String,
}

/// What kind of step it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// The agent said something.
    Said,
    /// It used a tool.
    Called {
        /// The tool.
        tool: String,
        /// What came of it, `None` where the agent program did not say.
        outcome: Option<CallOutcome>,
    },
    /// Something went wrong that did not end the run.
    Trouble,
}

/// The steps so far.
#[derive(Debug, Default)]
pub struct Steps {
    first: Vec<(u64, Step)>,
    last: VecDeque<(u64, Step)>,
    left_out: u64,
    calls: u64,
    in_pieces: bool,
}

impl Steps {
    /// Returns none yet; `in_pieces` says whether what the agent says comes in pieces that belong together.
    pub fn in_pieces(in_pieces: bool) -> Self {
        Self { in_pieces, ..Self::default() }
    }

    /// Takes in what a line of the log says.
    pub fn take(&mut self, event: AgentEvent) {
        let (kind, words) = match event {
            AgentEvent::Said(words) => (StepKind::Said, words),
            AgentEvent::Called { tool, what } => (StepKind::Called { tool, outcome: None }, what),
            AgentEvent::Trouble(words) => (StepKind::Trouble, words),
            AgentEvent::Returned { call, outcome } => return self.returned(call, outcome),
            AgentEvent::Finished => return,
        };
        if self.in_pieces
            && kind == StepKind::Said
            && let Some((_, step)) = self.newest()
            && step.kind == StepKind::Said
        {
            let room = WORDS.saturating_sub(step.words.chars().count());
            step.words.extend(words.chars().take(room));
            return;
        }
        if words.trim().is_empty() && !matches!(kind, StepKind::Called { .. }) {
            return;
        }
        let number = self.calls;
        self.calls += u64::from(matches!(kind, StepKind::Called { .. }));
        self.push((number, Step { kind, words: words.chars().take(WORDS).collect() }));
    }

    /// Returns the steps, and how many are left out in their middle.
    pub fn finish(self) -> (Vec<Step>, u64) {
        let all = self.first.into_iter().chain(self.last).map(|(_, step)| Step {
            // The log has no key, but an older version may have written it.
            words: masked_text(&step.words).trim().to_owned(),
            ..step
        });
        (all.collect(), self.left_out)
    }

    fn newest(&mut self) -> Option<&mut (u64, Step)> {
        self.last.back_mut().or(self.first.last_mut())
    }

    fn push(&mut self, step: (u64, Step)) {
        if self.first.len() < STEPS {
            self.first.push(step);
            return;
        }
        if self.last.len() == STEPS {
            self.last.pop_front();
            self.left_out += 1;
        }
        self.last.push_back(step);
    }

    /// Notes what came of a call; one that was denied and failed was denied.
    fn returned(&mut self, call: u64, came: CallOutcome) {
        let all = self.first.iter_mut().chain(&mut self.last).rev();
        for (number, step) in all {
            if let StepKind::Called { outcome, .. } = &mut step.kind
                && *number == call
            {
                *outcome = (*outcome).max(Some(came));
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_steps_the_first_and_the_last_are_kept_with_what_came_of_them() {
        let mut steps = Steps::in_pieces(false);
        for number in 0..2_500_u64 {
            steps.take(AgentEvent::Called { tool: "T".to_owned(), what: number.to_string() });
            steps.take(AgentEvent::Returned { call: number, outcome: CallOutcome::Done });
        }
        steps.take(AgentEvent::Returned { call: 2_499, outcome: CallOutcome::Denied });
        steps.take(AgentEvent::Returned { call: 2_499, outcome: CallOutcome::Failed });
        // That one is left out.
        steps.take(AgentEvent::Returned { call: 1_200, outcome: CallOutcome::Denied });
        let (all, left_out) = steps.finish();
        assert_eq!((all.len(), left_out), (2_000, 500));
        let words: Vec<&str> =
            [0, 999, 1_000, 1_999].map(|at: usize| all[at].words.as_str()).into();
        assert_eq!(words, ["0", "999", "1500", "2499"]);
        let outcome = |at: usize| match &all[at].kind {
            StepKind::Called { outcome, .. } => *outcome,
            _ => None,
        };
        assert_eq!(outcome(0), Some(CallOutcome::Done));
        assert_eq!(outcome(1_999), Some(CallOutcome::Denied));
        let denied = (0..all.len()).filter(|at| outcome(*at) == Some(CallOutcome::Denied));
        assert_eq!(denied.count(), 1);
    }

    #[test]
    fn words_that_come_in_pieces_are_one_step_and_a_key_is_masked() {
        let mut steps = Steps::in_pieces(true);
        for words in ["I use ", "api_key=abcdefgh12345678", ""] {
            steps.take(AgentEvent::Said(words.to_owned()));
        }
        steps.take(AgentEvent::Said("x".repeat(10_000)));
        let (all, _) = steps.finish();
        assert_eq!(all.len(), 1);
        assert!(all[0].words.starts_with("I use api_key=[masked]"), "{}", all[0].words);
        assert!(all[0].words.chars().count() <= WORDS);
    }
}
