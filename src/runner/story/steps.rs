//! An agent's steps, in bounded memory.

use std::collections::VecDeque;

use crate::forms::story::{IterationStep, StepWord};
use crate::mask::masked_text;
use crate::runner::harness::{AgentEvent, CallOutcome};

/// Steps that are kept of the beginning, and of the end.
const STEPS: usize = 1_000;
/// Letters of an agent's words in one step.
const WORDS: usize = 4_000;

#[derive(Debug, Default)]
pub struct Steps {
    first: Vec<(u64, IterationStep)>,
    last: VecDeque<(u64, IterationStep)>,
    left_out: u64,
    calls: u64,
    in_pieces: bool,
}

impl Steps {
    /// `in_pieces`: the agent's words come in pieces that belong together.
    pub fn in_pieces(in_pieces: bool) -> Self {
        Self { in_pieces, ..Self::default() }
    }

    /// Takes a line of the log.
    pub fn take(&mut self, event: AgentEvent) {
        let (kind, tool, words) = match event {
            AgentEvent::Said(words) => (StepWord::Said, None, words),
            AgentEvent::Called { tool, what } => (StepWord::Called, Some(tool), what),
            AgentEvent::Trouble(words) => (StepWord::Trouble, None, words),
            AgentEvent::Returned { call, outcome } => return self.returned(call, outcome),
            AgentEvent::Finished => return,
        };
        if self.in_pieces
            && kind == StepWord::Said
            && let Some((_, step)) = self.newest()
            && step.kind == StepWord::Said
        {
            let room = WORDS.saturating_sub(step.words.chars().count());
            step.words.extend(words.chars().take(room));
            return;
        }
        let is_call = kind == StepWord::Called;
        if words.trim().is_empty() && !is_call {
            return;
        }
        let number = self.calls;
        self.calls += u64::from(is_call);
        let words = words.chars().take(WORDS).collect();
        self.push((number, IterationStep { kind, tool, outcome: None, words }));
    }

    /// The steps, and the number that is left out in the middle.
    pub fn finish(self) -> (Vec<IterationStep>, u64) {
        let all = self.first.into_iter().chain(self.last).map(|(_, step)| IterationStep {
            // The log has no keys, but an older version may have written some.
            words: masked_text(&step.words).trim().to_owned(),
            ..step
        });
        (all.collect(), self.left_out)
    }

    fn newest(&mut self) -> Option<&mut (u64, IterationStep)> {
        self.last.back_mut().or(self.first.last_mut())
    }

    fn push(&mut self, step: (u64, IterationStep)) {
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

    /// Notes a call's outcome; a denied call that failed counts as denied.
    fn returned(&mut self, call: u64, came: CallOutcome) {
        let all = self.first.iter_mut().chain(&mut self.last).rev();
        for (number, step) in all {
            if step.kind == StepWord::Called && *number == call {
                step.outcome = step.outcome.max(Some(came));
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_steps_keep_both_ends() {
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
        let outcome = |at: usize| all[at].outcome;
        assert_eq!(outcome(0), Some(CallOutcome::Done));
        assert_eq!(outcome(1_999), Some(CallOutcome::Denied));
        let denied = (0..all.len()).filter(|at| outcome(*at) == Some(CallOutcome::Denied));
        assert_eq!(denied.count(), 1);
    }

    #[test]
    fn pieced_words_make_one_step() {
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
