//! The loops of sessions in the form that all loops have.

use super::loops::{
    ConvergeForm, EndForm, LoopArmer, LoopCheck, LoopDriver, LoopForm, LoopFormState, LoopSubject,
    NotBlocked, PauseForm, StopForm, TaskCommand, TurnForm,
};
use super::plain::{JsonTime, dollars, words};
use super::proofs::ProofsForm;
use super::status::FeatureForm;
use crate::session::report::TaskReport;
use crate::session::report::feature::FeatureReport;
use crate::session::report::live::LiveReport;
use crate::store::loops::{Asked, LetGo, Pause, Record};
use crate::store::names::{ArmedBy, EndName};
use crate::store::pins::Pin;

impl From<&FeatureReport> for FeatureForm {
    fn from(report: &FeatureReport) -> Self {
        let is_phase = |phase: &&String| !matches!(phase.as_str(), "none" | "corrupt");
        Self {
            name: report.name.clone(),
            folder: report.folder.clone(),
            current: report.current,
            phase: Some(&report.phase).filter(is_phase).cloned(),
            done: report.place.done.into(),
            total: report.place.total.into(),
            open: report.open.clone(),
            not_proved: report.not_proved.clone(),
            asides: report.asides.clone(),
            other_lists: report.others.clone(),
            attempt: report.attempt,
            max_attempts: report.max_attempts,
            awaits_approval: report.awaits_approval,
            problems: report.problems.clone(),
            r#loop: (report.loop_status != "none").then(|| of_feature(report)),
        }
    }
}

impl From<&TaskReport> for LoopForm {
    fn from(report: &TaskReport) -> Self {
        let record = &report.record;
        let assignment = record.ralph();
        let end = record
            .ledger
            .ended
            .as_ref()
            .map(|reason| EndForm { name: EndName::of(reason), words: record.words.clone() });
        let seen = LoopSeen {
            state: report.loop_status,
            record: Some(record),
            live: report.live.as_ref(),
            pin: report.pin.as_ref(),
            after_end: &report.next,
        };
        Self {
            kind: LoopSubject::Task,
            about: report.about.clone(),
            task: assignment.map(|it| it.task.clone()),
            end,
            max_iterations: assignment.and_then(|it| it.contract.guardrails.max_iterations),
            running_check: words(&report.checking),
            ..seen.form()
        }
    }
}

fn of_feature(report: &FeatureReport) -> LoopForm {
    let seen = LoopSeen {
        state: &report.loop_status,
        record: report.record.as_ref(),
        live: report.live.as_ref(),
        pin: report.pin.as_ref(),
        after_end: &report.next,
    };
    let end = || EndForm { name: report.reason.clone().into(), words: report.words.clone() };
    let command =
        |(task, run): (&String, &String)| TaskCommand { task: task.clone(), run: run.clone() };
    LoopForm {
        kind: LoopSubject::Feature,
        about: report.name.clone(),
        end: (report.loop_status == "ended").then(end),
        max_iterations: Some(report.max_iterations),
        verify_commands: report.verify.iter().map(command).collect(),
        running_check: words(&report.checking),
        proofs: ProofsForm::of(&report.proofs),
        not_blocked: report.let_go.iter().map(NotBlocked::from).collect(),
        ..seen.form()
    }
}

/// What a loop in a session is made of, whatever it is about.
struct LoopSeen<'a> {
    state: &'a str,
    record: Option<&'a Record>,
    live: Option<&'a LiveReport>,
    pin: Option<&'a Pin>,
    /// What a person does after its end, empty while it lives.
    after_end: &'a str,
}

impl LoopSeen<'_> {
    /// The form, with what only one kind of loop has left open.
    fn form(&self) -> LoopForm {
        let Self { record, live, pin, .. } = *self;
        let ledger = record.map(|record| record.ledger.clone()).unwrap_or_default();
        let turn = live.filter(|_| record.is_some());
        let calls = turn.and_then(|turn| turn.turn_tool_calls).unwrap_or_default();
        let asked = self.asked();
        let armed_at = record.map(|record| record.armed_at);
        let due = pin.map(|pin| {
            pin.hooks.left(&record.map(|record| record.hooks_ran.clone()).unwrap_or_default())
        });
        LoopForm {
            state: self.state(),
            driver: LoopDriver::Session,
            session: record.and_then(|record| words(&record.session)),
            session_state: turn.map(|live| live.session_state),
            process: live.and_then(|live| live.process),
            armed_at: armed_at.or(live.map(|live| live.armed_at)).and_then(JsonTime::of),
            armed_by: self.armed_by(),
            pinned: pin.is_some(),
            last_sign_at: record.and_then(|record| JsonTime::of(record.last_sign())),
            pause: record.and_then(Record::pause).map(PauseForm::from),
            iterations: ledger.iterations,
            tokens: record.map(|_| turn.map_or(ledger.tokens, |turn| turn.tokens).into()),
            tokens_complete: record.is_some(),
            review_tokens: ledger.review_tokens.into(),
            review_cost_usd: dollars(ledger.review_cost),
            review_cost_estimated: ledger.review_cost_estimated,
            tool_calls: record.map(|_| ledger.tool_calls.saturating_add(calls).into()),
            tool_calls_complete: record.is_some()
                && !ledger.more_calls
                && turn.is_none_or(|it| it.turn_tool_calls.is_some() && !it.turn_more_calls),
            commits: ledger.commits.into(),
            sent_back: ledger.continued,
            refused_claims: ledger.refused_claims,
            turn: turn.map(TurnForm::from),
            at_work: live.and_then(|live| words(&live.at_work)),
            last_stop: record.and_then(|record| {
                Some(StopForm { at: JsonTime::of(record.seen_at)?, words: record.words.clone() })
            }),
            checks: pin
                .into_iter()
                .flat_map(|pin| pin.checks.iter().map(LoopCheck::from))
                .collect(),
            hooks_due: due.map(|due| [due.before, due.after].concat()).unwrap_or_default(),
            converge: pin.and_then(|pin| ConvergeForm::of(&pin.converge, &ledger)),
            notify: pin.and_then(|pin| words(&pin.notify)),
            only_tasks: asked.map(|it| it.tasks.clone()).filter(|tasks| !tasks.is_empty()),
            words_for_agent: asked.and_then(|it| words(&it.words)),
            waits_for: live.map(|live| live.waits_for.clone()).unwrap_or_default(),
            next: live.and_then(|live| words(&live.next)).or_else(|| words(self.after_end)),
            taken_over_from: record
                .and_then(|record| record.adopted.as_ref())
                .map(|adopted| adopted.from.clone()),
            taken_over_by: record.and_then(|record| words(&record.moved_to)),
            ..LoopForm::default()
        }
    }

    fn state(&self) -> LoopFormState {
        match self.state {
            "unbound" => LoopFormState::Unbound,
            "paused" => LoopFormState::Paused,
            "orphaned" => LoopFormState::Orphaned,
            "ended" => LoopFormState::Ended,
            _ => LoopFormState::Live,
        }
    }

    /// What was asked besides the feature: by a person, otherwise as the loop's own notes say.
    fn asked(&self) -> Option<&Asked> {
        let noted = self.record.and_then(|record| record.asked.as_deref());
        self.pin.map_or(noted, |pin| pin.asked.as_deref())
    }

    fn armed_by(&self) -> Option<LoopArmer> {
        let armed_by = self.pin.map(|pin| &pin.armed_by);
        match armed_by.or(self.record.map(|record| &record.armed_by))? {
            ArmedBy::Command => Some(LoopArmer::Command),
            ArmedBy::Terminal => Some(LoopArmer::Terminal),
            ArmedBy::Session => Some(LoopArmer::Session),
            ArmedBy::Unkept => Some(LoopArmer::Unkept),
            ArmedBy::Runner => Some(LoopArmer::Runner),
            ArmedBy::Claim => Some(LoopArmer::Nobody),
            ArmedBy::Other(_) => None,
        }
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
    fn from(it: &LetGo) -> Self {
        Self { session: it.session.clone(), at: JsonTime::of(it.at) }
    }
}
