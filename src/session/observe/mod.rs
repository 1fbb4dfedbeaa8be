//! Gathers the observation of a stop; this file has the part for both kinds of loops.

pub mod feature;
pub mod task;

use std::path::Path;
use std::time::Duration;

use crate::engine::promise::asks_approval;
use crate::engine::{Guardrails, Observation, Waiting, is_last_idle_stop};
use crate::hosts::transcript::{Activity, Transcript, TranscriptPart, TurnEnd};
use crate::hosts::{HookEvent, transcript_at};
use crate::store::loops::{Loops, Record};
use crate::store::names::LoopKind;
use crate::text;
use crate::world::{self, Deadline};

/// Between two looks at a transcript that lags.
const PAUSE: Duration = Duration::from_millis(20);
/// Characters of a question for a person.
const QUESTION: usize = 200;

/// The part of a transcript that belongs to one stop: lines that no earlier stop has counted.
pub struct TurnTranscript<'a> {
    transcript: &'a dyn Transcript,
    unread: TranscriptPart,
    /// A stop without a tool call would end the loop.
    is_last_idle: bool,
    end: TurnEnd<'a>,
}

impl<'a> TurnTranscript<'a> {
    /// `None` if the event names no transcript.
    fn of(event: &'a HookEvent, record: &Record, rails: &Guardrails, needed: u64) -> Option<Self> {
        Some(Self {
            transcript: event.transcript.as_deref()?,
            unread: TranscriptPart {
                from: record.transcript_read,
                last: record.last_message,
                needed,
                // After another hook's block the turn goes on: lines typed during it still wait for its end.
                let_go: if event.reentered && record.marks.waited { 0 } else { record.let_go },
                taken_up: 0,
            },
            is_last_idle: is_last_idle_stop(rails, &record.ledger),
            end: TurnEnd {
                said: &event.last_message,
                armed_at: record.armed_at,
                after: record.seen_at,
            },
        })
    }

    fn activity(&self) -> Option<Activity> {
        self.transcript.activity(self.unread)
    }

    /// There is no tool call, and a stop without one would end the loop.
    fn is_idle(&self, activity: Option<&Activity>) -> bool {
        self.is_last_idle && activity.is_some_and(|activity| activity.count == Some(0))
    }

    fn shows_end(&self) -> bool {
        self.transcript.shows(self.end, self.unread.from)
    }

    /// The time to wait for a transcript that lags.
    fn patience(&self, deadline: Deadline) -> Deadline {
        Deadline::after(self.transcript.lag().min(deadline.left()))
    }

    /// Waits for a lagging transcript while an idle stop would end the loop, or while `in_doubt`. The host's usual lag
    /// and the deadline bound the wait.
    fn wait(&self, deadline: Deadline, in_doubt: impl Fn(Option<&Activity>) -> bool) {
        let patience = self.patience(deadline);
        loop {
            let activity = self.activity();
            let waits = self.is_idle(activity.as_ref()) || in_doubt(activity.as_ref());
            if !waits || self.shows_end() || patience.is_over() {
                return;
            }
            world::pause(PAUSE);
        }
    }

    /// Counts the turn's calls and tokens, and advances in the transcript. A lagging transcript may lack calls that
    /// were made: the next stop reads it again.
    fn take(&self, activity: &Activity, record: &mut Record, seen: &mut Observation) {
        if self.is_idle(Some(activity)) && !self.shows_end() {
            return;
        }
        record.transcript_read = activity.read_up_to;
        record.last_message = activity.last;
        seen.tool_calls = activity.count;
        seen.tokens = activity.tokens.all;
        seen.written_tokens = activity.tokens.written;
    }

    /// The wait for a command that ends this loop: typed by a person while the agent worked, and kept by the client
    /// until the turn ends. A block would keep the command waiting forever.
    ///
    /// Input that the client does not name may be such a command. The client takes the input up when the turn ends, and
    /// that turn has a stop of its own. Only one stop is let go for it, because a killed client takes nothing up. Input
    /// from before this client took the session up is not waited for.
    fn typed_cancel(
        &self,
        root: &Path,
        activity: &Activity,
        record: &mut Record,
    ) -> Option<Waiting> {
        let mut cancel = self.cancel_in(activity, record)?;
        let taken_up = Loops::of(root).taken_up_at(&record.session);
        if taken_up > self.unread.from {
            let part = TranscriptPart { taken_up, ..self.unread };
            cancel = self.cancel_in(&self.transcript.activity(part)?, record)?;
        }
        record.let_go = activity.read_up_to;
        Some(Waiting::Typed(cancel))
    }

    /// The first typed line that ends this loop, or may end it.
    fn cancel_in(&self, activity: &Activity, record: &Record) -> Option<String> {
        let ends = |(name, argument): (&str, &str)| {
            let is_task = record.kind == LoopKind::Task;
            match name {
                "cancel-ralph" => is_task && (argument.is_empty() || argument == record.session),
                "cancel" => argument.is_empty() || (!is_task && argument == record.about),
                _ => false,
            }
        };
        let mut typed = activity.typed_ahead.iter();
        let cancel = typed
            .find(|typed| typed.is_empty() || self.transcript.command(typed).is_some_and(ends))?;
        Some(cancel.trim().to_owned())
    }
}

/// The agent's work since the last stop; nothing without a readable transcript.
pub fn open_turn(record: &Record) -> Activity {
    let turn = transcript_at(&record.transcript).activity(TranscriptPart {
        from: record.transcript_read,
        last: record.last_message,
        needed: u64::MAX,
        ..TranscriptPart::default()
    });
    turn.unwrap_or_default()
}

/// Counts the turn under way as work of the loop, where no stop will.
pub fn count_open_turn(record: &mut Record) {
    let (turn, ledger) = (open_turn(record), &mut record.ledger);
    ledger.tool_calls = ledger.tool_calls.saturating_add(turn.count.unwrap_or(0));
    ledger.failed_calls = ledger.failed_calls.saturating_add(turn.failed);
    ledger.more_calls |= turn.more;
    ledger.tokens = ledger.tokens.saturating_add(turn.tokens.all);
    ledger.written_tokens = ledger.written_tokens.saturating_add(turn.tokens.written);
}

/// An agent that has done nothing since it was sent back asks a person for approval.
fn asked(seen: &Observation, said: &str) -> Option<Waiting> {
    let question = (seen.tool_calls == Some(0)).then(|| asks_approval(said))??;
    Some(Waiting::Answer(text::title(question, QUESTION)))
}

/// Everything that this stop waits for: the end of a pause, an approval, background work.
fn waiting(event: &HookEvent, record: &Record, approval: Option<Waiting>) -> Vec<Waiting> {
    let paused = record.pause().map(|pause| Waiting::Paused(pause.words()));
    let background = event.background.iter().cloned().map(Waiting::Background);
    paused.into_iter().chain(approval).chain(background).collect()
}
