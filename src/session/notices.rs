//! Notices for a person beside a verdict, each given once: no person armed the loop, its settings have changed, it
//! waits for an approval, or it is switched off.

use std::time::Duration;

use super::context::StopContext;
use crate::engine::{TerminalReason, Verdict, Waiting, hash_of};
use crate::feature::settings::SETTINGS;
use crate::hosts::HookAnswer;
use crate::notice::{self, PersonNotice};
use crate::session::pinned;
use crate::store::journal::Entry;
use crate::store::loops::{Loops, Record};
use crate::store::names::{JournalEvent, LoopKind};
use crate::store::pins::{LoopLimits, Pin, PinState};
use crate::text;

/// A notice for the person and the journal.
pub struct Notice {
    event: JournalEvent,
    words: String,
}

impl Notice {
    pub fn entry(&self, record: &Record) -> Entry {
        record.entry(self.event.clone(), &self.words)
    }

    /// Its words, if the loop waits for the person.
    pub fn needs_person(&self) -> Option<&str> {
        (self.event == JournalEvent::Approval).then_some(&*self.words)
    }
}

/// The time the hook waits for a person's command, when nothing else waits for the hook.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// Runs the command that a person armed for notices, if any. A failure goes into the journal, and changes nothing about
/// the loop.
pub fn tell(
    loops: &Loops,
    record: &Record,
    pin: Option<&Pin>,
    notice: &PersonNotice,
    patience: Duration,
) {
    let (Some(pin), Ok(root)) = (pin.filter(|pin| !pin.notify.is_empty()), loops.root()) else {
        return;
    };
    let Some(why) = notice::tell(&pin.notify, notice, &root, patience) else { return };
    let entry =
        Notice { event: JournalEvent::Notify, words: ["the notice failed: ", &why].concat() };
    // A broken journal is reported with the next verdict.
    let _ = loops.note(&record.session, &entry.entry(record));
}

pub fn with_notices(answer: HookAnswer, notices: &[Notice]) -> HookAnswer {
    notices.iter().fold(answer, |answer, notice| {
        answer.also_notify(&format!("Ralph-speckit: {}", notice.words))
    })
}

/// The new notices. Marks them as given in the record.
pub fn notices(
    context: &StopContext<'_>,
    record: &mut Record,
    standing: &PinState,
    limits: LoopLimits,
    verdict: &Verdict,
) -> Vec<Notice> {
    record.notified.switched_off = false;
    let mut notices = Vec::new();
    notices.extend(unarmed(context, record, standing, limits, verdict));
    notices.extend(settings_changed(context, record, standing));
    notices.extend(approval(record, verdict));
    notices
}

/// The state file of an armed loop names another phase; `None` if the person knows.
pub fn other_phase(record: &mut Record, phase: &str) -> Option<Notice> {
    if phase == "execution" {
        record.notified.phase = 0;
        return None;
    }
    let hash = hash_of(phase.as_bytes()).max(1);
    if std::mem::replace(&mut record.notified.phase, hash) == hash {
        return None;
    }
    let about = text::title(&record.about, 80);
    let phase = text::title(phase, 40);
    let words = format!(
        "the state file of {about} says `phase`: `{phase}`; the loop stays armed, and continues. To end it: /speckit:cancel."
    );
    Some(Notice { event: JournalEvent::Phase, words })
}

/// Says once that the settings switch this session's live loop off.
pub fn switched_off(loops: &Loops, session: &str) -> Option<HookAnswer> {
    let is_news = |record: &Record| record.ledger.is_live() && !record.notified.switched_off;
    loops.peek(session).filter(is_news)?;
    let folder = loops.session(session).ok()?;
    let mut record = folder.record().ok().flatten().filter(is_news)?;
    record.notified.switched_off = true;
    let about = text::title(&record.about, 80);
    let words = format!(
        "`enabled: false` in `{SETTINGS}` switches the loop of {about} off: the agent may stop, and the loop stays armed. Set `enabled: true` to continue, or end it with `spool stop`."
    );
    let notice = Notice { event: JournalEvent::SwitchedOff, words };
    // A failed note is said again at the next stop.
    let _ = folder.note(&notice.entry(&record)).and_then(|()| folder.save(&record));
    Some(with_notices(HookAnswer::silent(), &[notice]))
}

fn unarmed(
    context: &StopContext<'_>,
    record: &mut Record,
    standing: &PinState,
    limits: LoopLimits,
    verdict: &Verdict,
) -> Option<Notice> {
    if standing.pin().is_some() || matches!(verdict, Verdict::Wait(_)) {
        return None;
    }
    let event = JournalEvent::Unarmed;
    let asked = context.settings.checks.len().to_string();
    let asked = if context.broken.is_some() { "which cannot be read" } else { &asked };
    let completed = matches!(verdict, Verdict::End(TerminalReason::Completed));
    if completed && !matches!(standing, PinState::Lost(_)) {
        // A completion without the project's checks is always reported.
        let words = format!(
            "{} is complete by its task list alone: no person armed it, so the checks in `{SETTINGS}` ({asked}) were not run.",
            text::title(&record.about, 80)
        );
        return (asked != "0" && record.kind != LoopKind::Task).then_some(Notice { event, words });
    }
    if std::mem::replace(&mut record.notified.unarmed, true) {
        return None;
    }
    Some(Notice { event, words: pinned::nobody_words(record, standing, limits) })
}

fn settings_changed(
    context: &StopContext<'_>,
    record: &mut Record,
    standing: &PinState,
) -> Option<Notice> {
    let pin = standing.pin()?;
    let now = context.settings.digest;
    if now == pin.settings.hash {
        record.notified.settings = 0;
        return None;
    }
    // Missing settings are a change as well.
    let hash = now.max(1);
    if std::mem::replace(&mut record.notified.settings, hash) == hash {
        return None;
    }
    let what = match context.broken {
        Some(error) => format!("changed and cannot be used ({})", error.what()),
        None if now == 0 => "was removed".to_owned(),
        None => "changed".to_owned(),
    };
    let runs = pin.checks.iter().map(|check| format!("`{}`", text::title(&check.run, 120)));
    let checks = match runs.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => "no check was armed then, and none is run".to_owned(),
        runs => format!("the checks armed then still hold: {runs}"),
    };
    let words = format!(
        "`{SETTINGS}` {what} since the loop of {} was armed; {checks}. To change that, a person arms it again.",
        text::title(&record.about, 80)
    );
    Some(Notice { event: JournalEvent::Settings, words })
}

fn approval(record: &mut Record, verdict: &Verdict) -> Option<Notice> {
    let waits = matches!(verdict, Verdict::Wait(waiting) if waiting.contains(&Waiting::Approval));
    if !waits {
        record.notified.approval = false;
        return None;
    }
    if std::mem::replace(&mut record.notified.approval, true) {
        return None;
    }
    let words = format!(
        "the state file of {} says `awaitingApproval: true`: the agent may stop until it says `false`, and nothing is counted.",
        text::title(&record.about, 80)
    );
    Some(Notice { event: JournalEvent::Approval, words })
}
