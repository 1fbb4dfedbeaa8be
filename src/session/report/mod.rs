//! The ralph loops of a project as they stand, as data and as text.

mod armed;
pub mod feature;
#[cfg(feature = "cli")]
pub mod live;

use std::cmp::Reverse;
use std::fmt::Write;
use std::path::Path;

use crate::engine::order::sorted;
use crate::feature::project::{Project, printable};
use crate::session::life::{self, SessionLife};
use crate::session::{messages, pinned, select};
use crate::store::loops::{Loops, Record};
use crate::store::names::LoopKind;
use crate::store::pins::{Pin, PinState};
use feature::{FeaturesReport, orphaned, write_iteration, write_session};
#[cfg(feature = "cli")]
use live::LiveReport;

/// Of how many sessions the loops are looked at, the newest; those that a person armed and that live are looked at besides.
const NEWEST: usize = 500;
/// How many ended loops are listed.
const PAST: usize = 3;

/// Everything that `spool status` tells.
#[derive(Clone, Debug)]
pub struct StatusReport {
    /// The features and their loops.
    pub speckit: FeaturesReport,
    /// The ralph loops: the live ones, and the last three that have ended.
    pub tasks: Vec<TaskReport>,
}

/// One ralph loop.
#[derive(Clone, Debug)]
pub struct TaskReport {
    /// The session it is bound to.
    pub session: String,
    /// The first words of its task.
    pub about: String,
    /// `live`, `paused`, `orphaned` when it lives and its session is gone or has been silent for an hour, or `ended`.
    pub loop_status: &'static str,
    /// Why it ended, empty while it lives.
    pub reason: String,
    /// What a person does after its end, empty while it lives.
    pub next: String,
    /// The check that runs just now with its number, empty while none runs.
    pub checking: String,
    /// What a person armed, `None` where no person did, nobody knows, or the loop has ended.
    pub pin: Option<Pin>,
    /// Who armed the loop and what holds for it, as lines for a person; empty where it has ended.
    pub armed: String,
    /// The session's notes.
    pub record: Record,
    /// Whether its session is known to be gone.
    pub gone: bool,
    /// The loop at this moment, `None` where it has ended.
    #[cfg(feature = "cli")]
    pub live: Option<LiveReport>,
}

impl StatusReport {
    /// Returns the report on all loops of a project.
    pub fn of(project: &Project) -> Self {
        let tasks = TaskReport::all(&project.root);
        Self { speckit: FeaturesReport::of(project), tasks }
    }

    /// Returns the report as text for a person, with line breaks and no colour.
    pub fn text(&self) -> String {
        self.speckit.text() + &self.tasks_text()
    }

    /// Returns the part of it on the ralph loops.
    pub fn tasks_text(&self) -> String {
        let mut text = String::new();
        for task in &self.tasks {
            task.write(&mut text, self.speckit.switch());
        }
        text
    }
}

impl TaskReport {
    /// The live ralph loops of a project and the last three that have ended, newest first.
    fn all(root: &Path) -> Vec<Self> {
        let loops = &Loops::of(root);
        let records = select::newest_sessions(loops, NEWEST)
            .into_iter()
            .filter_map(|session| loops.peek(&session));
        let records = records.filter(|record| record.kind == LoopKind::Task);
        let place =
            |record: Record| ((!record.ledger.is_live(), Reverse(record.last_sign())), record);
        let records =
            sorted(records.map(place).collect(), |one: &(_, Record), other| one.0.cmp(&other.0));
        let mut records: Vec<Record> = records.into_iter().map(|(_, record)| record).collect();
        let live = records.iter().filter(|record| record.ledger.is_live()).count();
        records.truncate(live + PAST);
        records.into_iter().map(|record| Self::of(root, loops, record)).collect()
    }

    fn of(root: &Path, loops: &Loops, record: Record) -> Self {
        let ended = record.ledger.ended.as_ref();
        let standing = match ended {
            None => pinned::standing(root, &record),
            Some(_) => PinState::Nobody,
        };
        let life = if ended.is_none() { life::of(loops, &record) } else { SessionLife::Unknown };
        let lines =
            ended.is_none().then(|| armed::lines(root, &standing, Some(&record), record.armed_at));
        Self {
            session: record.session.clone(),
            about: record.about.clone(),
            loop_status: match ended {
                Some(_) => "ended",
                None if life.leaves_behind(&record) => "orphaned",
                None if record.pause().is_some() => "paused",
                None => "live",
            },
            reason: ended.map(|reason| reason.name().to_owned()).unwrap_or_default(),
            next: messages::task::after_end(&record),
            checking: feature::checking(loops, Some(&record)),
            armed: lines.unwrap_or_default(),
            pin: standing.pin().cloned(),
            gone: life == SessionLife::Gone,
            #[cfg(feature = "cli")]
            live: ended.is_none().then(|| {
                LiveReport::of(&record, &life, String::new()).unless_lost(&record, &standing)
            }),
            record,
        }
    }

    fn write(&self, text: &mut String, switch: &str) {
        let ledger = &self.record.ledger;
        let _ = writeln!(text, "\nTask: {}", printable(&self.about));
        let state = match (self.loop_status, &ledger.ended) {
            // That a cancelled loop was cancelled is said already.
            (_, Some(crate::engine::TerminalReason::Cancelled)) => {
                format!("ended ({})", self.reason)
            }
            (_, Some(_)) => {
                format!("ended ({}): {}", self.reason, printable(&self.record.words))
            }
            ("orphaned", _) => {
                let cancel = format!("spool stop --session {}", self.session);
                orphaned(&self.record, self.gone, &cancel)
            }
            ("paused", _) => feature::paused(Some(&self.record)),
            _ => format!("live{switch}"),
        };
        let _ = writeln!(text, "  Loop: {state}");
        #[cfg(feature = "cli")]
        if let Some(live) = &self.live {
            live.write(text);
        }
        if !self.checking.is_empty() {
            let _ = writeln!(text, "  Checking: {}", printable(&self.checking));
        }
        let limit = self.record.ralph().and_then(|it| it.contract.guardrails.max_iterations);
        #[cfg(feature = "cli")]
        let so_far = self.live.as_ref().map(LiveReport::so_far).unwrap_or_default();
        #[cfg(not(feature = "cli"))]
        let so_far = String::new();
        write_iteration(text, Some(ledger), limit, &so_far);
        text.push_str(&self.armed);
        write_session(text, &self.record, "refused promises");
        #[cfg(feature = "cli")]
        if let Some(live) = &self.live {
            live.write_next(text);
        }
        if !self.next.is_empty() {
            let _ = writeln!(text, "  Next: {}", self.next);
        }
    }
}
