//! The loops of sessions in the form of all loops.

use super::loops::{
    ConvergeForm, EndForm, LoopArmer, LoopCheck, LoopForm, LoopSubject, NotBlocked, PauseForm,
    StopForm, TaskCommand, TurnForm,
};
use super::plain::{JsonTime, dollars, words};
use super::proofs::ProofsForm;
use super::status::FeatureForm;
use crate::session::report::feature::FeatureReport;
use crate::session::report::live::LiveReport;
use crate::session::report::session_loop::SessionLoop;
use crate::store::loops::{LetGo, Pause, Record};
use crate::store::names::ArmedBy;

impl From<&FeatureReport> for FeatureForm {
    fn from(report: &FeatureReport) -> Self {
        let command =
            |(task, run): (&String, &String)| TaskCommand { task: task.clone(), run: run.clone() };
        let r#loop = report.r#loop.as_ref().map(|own| LoopForm {
            kind: LoopSubject::Feature,
            verify_commands: report.verify.iter().map(command).collect(),
            proofs: ProofsForm::of(&report.proofs),
            not_blocked: report.let_go.iter().map(NotBlocked::from).collect(),
            ..own.into()
        });
        Self { facts: report.facts.clone(), r#loop }
    }
}

impl From<&SessionLoop> for LoopForm {
    fn from(known: &SessionLoop) -> Self {
        let (record, live, pin) = (known.record.as_ref(), known.live.as_ref(), known.pin.as_ref());
        let ledger = record.map(|record| record.ledger.clone()).unwrap_or_default();
        let turn = live.filter(|_| record.is_some());
        let calls = turn.and_then(|turn| turn.turn_tool_calls).unwrap_or_default();
        let noted = record.and_then(|record| record.asked.as_deref());
        let asked = pin.map_or(noted, |pin| pin.asked.as_deref());
        let armed_by = pin.map(|pin| &pin.armed_by).or(record.map(|record| &record.armed_by));
        let armed_at = record.map(|record| record.armed_at);
        let hooks_ran = record.map(|record| record.hooks_ran.clone()).unwrap_or_default();
        let due = pin.map(|pin| pin.hooks.left(&hooks_ran)).unwrap_or_default();
        LoopForm {
            about: known.about.clone(),
            task: record.and_then(Record::ralph).map(|assignment| assignment.task.clone()),
            state: known.state,
            session: record.and_then(|record| words(&record.session)),
            session_state: turn.map(|live| live.session_state),
            process: live.and_then(|live| live.process),
            armed_at: armed_at.or(live.map(|live| live.armed_at)).and_then(JsonTime::of),
            armed_by: armed_by.and_then(LoopArmer::of),
            pinned: pin.is_some(),
            last_sign_at: record.and_then(|record| JsonTime::of(record.last_sign())),
            end: known.end.clone().map(|(name, words)| EndForm { name, words }),
            pause: record.and_then(Record::pause).map(PauseForm::from),
            iterations: ledger.iterations,
            max_iterations: known.max_iterations,
            tokens: record.map(|_| turn.map_or(ledger.tokens, |turn| turn.tokens).into()),
            tokens_complete: record.is_some(),
            review_tokens: ledger.review_tokens.into(),
            review_cost_usd: dollars(ledger.review_cost),
            review_cost_estimated: ledger.review_cost_estimated,
            tool_calls: record.map(|_| ledger.tool_calls.saturating_add(calls).into()),
            tool_calls_complete: record.is_some()
                && !ledger.more_calls
                && turn.is_none_or(|turn| turn.turn_tool_calls.is_some() && !turn.turn_more_calls),
            commits: ledger.commits.into(),
            sent_back: ledger.continued,
            refused_claims: ledger.refused_claims,
            turn: turn.map(TurnForm::from),
            at_work: live.and_then(|live| words(&live.at_work)),
            last_stop: record.and_then(|record| {
                Some(StopForm { at: JsonTime::of(record.seen_at)?, words: record.last_words() })
            }),
            checks: pin.iter().flat_map(|pin| pin.checks.iter().map(LoopCheck::from)).collect(),
            running_check: words(&known.checking),
            hooks_due: [due.before, due.after].concat(),
            converge: pin.and_then(|pin| ConvergeForm::of(&pin.converge, &ledger)),
            notify: pin.and_then(|pin| words(&pin.notify)),
            only_tasks: asked.map(|asked| asked.tasks.clone()).filter(|tasks| !tasks.is_empty()),
            words_for_agent: asked.and_then(|asked| words(&asked.words)),
            waits_for: live.map(|live| live.waits_for.clone()).unwrap_or_default(),
            next: live.and_then(|live| words(&live.next)).or_else(|| words(&known.next)),
            taken_over_from: record
                .and_then(|record| record.adopted.as_ref())
                .map(|adopted| adopted.from.clone()),
            taken_over_by: record.and_then(|record| words(&record.moved_to)),
            ..Self::default()
        }
    }
}

impl LoopArmer {
    /// `None` for a word of another version.
    fn of(armed_by: &ArmedBy) -> Option<Self> {
        Some(match armed_by {
            ArmedBy::Command => Self::Command,
            ArmedBy::Terminal | ArmedBy::Lost => Self::Terminal,
            ArmedBy::Session => Self::Session,
            ArmedBy::Unkept => Self::Unkept,
            ArmedBy::Runner => Self::Runner,
            ArmedBy::Claim => Self::Nobody,
            ArmedBy::Other(_) => return None,
        })
    }
}

impl From<&LiveReport> for TurnForm {
    fn from(live: &LiveReport) -> Self {
        Self {
            tool_calls: live.turn_tool_calls.map(Into::into),
            tool_calls_complete: live.turn_tool_calls.is_some() && !live.turn_more_calls,
            tokens: live.turn_tokens.into(),
        }
    }
}

impl From<&Pause> for PauseForm {
    fn from(pause: &Pause) -> Self {
        Self {
            since: JsonTime::of(pause.at),
            words: pause.words(),
            ends_by_itself: pause.ends_by_itself(),
        }
    }
}

impl From<&LetGo> for NotBlocked {
    fn from(stop: &LetGo) -> Self {
        Self { session: stop.session.clone(), at: JsonTime::of(stop.at) }
    }
}
