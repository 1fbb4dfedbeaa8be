//! A feature and its loop as they stand, as data and as text.

use std::fmt::Write;
use std::path::Path;

use super::session_loop::{FoundLoop, SessionLoop};
use crate::engine::TerminalReason;
use crate::engine::aside::in_words;
use crate::engine::order::sorted;
use crate::engine::scope::in_runs;
use crate::engine::scoreboard::Scoreboard;
use crate::engine::tasks::TaskList;
use crate::evidence::task_list::TASKS;
use crate::feature::lists::others_in_words;
use crate::feature::project::{Feature, Project, printable};
use crate::feature::snapshot::FeatureSnapshot;
use crate::forms::loops::{EndForm, LoopForm, LoopSubject, NotBlocked, TaskCommand};
use crate::forms::plain::{JsonTime, words};
use crate::forms::proofs::ProofsForm;
use crate::forms::status::{FeatureFacts, FeatureForm};
use crate::session::messages::ends;
use crate::session::pinned;
use crate::session::view::{FeatureView, receipts_of};
use crate::store::loops::{LetGo, Loops, Record};
use crate::store::names::EndName;
use crate::store::pins::{Pin, PinState, Pins};
use crate::system::names;
use crate::text::{LARGEST, counted, rows, title};
use crate::world::WallTime;

/// The loop waits for a person's approval.
const AWAITS: &str = "the state file says `awaitingApproval: true`, so the agent may stop";

/// Letters for the ids of tasks in a line.
const IDS: usize = 120;

#[derive(Clone, Debug)]
pub struct FeatureReport {
    pub facts: FeatureFacts,
    /// The state file is there and cannot be read.
    corrupt: bool,
    /// The loop is about named tasks.
    named: bool,
    /// The id of the task to do now.
    next: Option<String>,
    /// `None` if the feature never had a loop in a session.
    pub r#loop: Option<SessionLoop>,
    /// Sessions that were allowed to stop because another session owns this loop, the latest first.
    pub let_go: Vec<LetGo>,
    /// The grades of done tasks in this loop.
    pub proofs: Scoreboard,
    /// The last review, in words for a person; empty for none.
    pub review: String,
    /// A runner's work on the feature, in words for a person; empty for none.
    pub runner: String,
}

impl FeatureReport {
    /// All features, the current one first.
    pub fn all(project: &Project, loops: &Loops) -> Vec<Self> {
        let current = project.current_feature().ok().flatten();
        let report = |feature: &Feature| {
            Self::of(project, feature, loops, current.as_ref() == Some(feature))
        };
        let features: Vec<Self> = project.features().iter().map(report).collect();
        sorted(features, |one, other| {
            (!one.facts.current, &one.facts.name).cmp(&(!other.facts.current, &other.facts.name))
        })
    }

    fn of(project: &Project, feature: &Feature, loops: &Loops, current: bool) -> Self {
        let known = PinnedLoop::of(project, feature, loops);
        let standing = known.as_ref().map(|known| known.standing.clone()).unwrap_or_default();
        let record = known.as_ref().and_then(|known| known.record.as_ref());
        let view = FeatureView::under(project, feature, standing, record);
        let armed_at = known.as_ref().map(PinnedLoop::armed_at).unwrap_or_default();
        let snapshot = view.snapshot();
        let place = snapshot.place();
        let open = snapshot.tasks.iter().flat_map(TaskList::open);
        let phase = Some(snapshot.state.phase()).filter(|phase| !phase.is_empty());
        let mut proofs = receipts_of(project, feature)
            .map(|receipts| receipts.scoreboard(armed_at, snapshot.tasks.as_ref(), None))
            .unwrap_or_default();
        let unverified = view.record.iter().flat_map(|record| &record.unverified);
        proofs.failed = unverified.filter(|id| snapshot.not_proved.contains(id)).cloned().collect();
        let let_go = let_go(loops, &feature.name);
        let r#loop = known.map(|known| {
            let mut own = known.shown(project, loops, &snapshot);
            own.form.proofs = ProofsForm::of(&proofs);
            own.form.not_blocked = let_go.iter().map(NotBlocked::from).collect();
            own
        });
        Self {
            r#loop,
            proofs,
            facts: FeatureFacts {
                name: feature.name.clone(),
                folder: feature.relative.clone(),
                current,
                phase: phase.filter(|_| snapshot.unreadable.is_none()).map(printable),
                done: place.done.min(LARGEST),
                total: place.total.min(LARGEST),
                open: open
                    .map(|task| &task.id)
                    .chain(&snapshot.gone)
                    .map(|id| printable(id))
                    .collect(),
                not_proved: snapshot.not_proved.iter().map(|id| printable(id)).collect(),
                asides: snapshot.tasks.as_ref().map(TaskList::asides).unwrap_or_default(),
                other_lists: others_in_words(&feature.folder),
                attempt: snapshot.state.task_iteration(),
                max_attempts: snapshot.limits.max_task_iterations,
                awaits_approval: snapshot.state.awaits_approval(),
                problems: problems(project, &snapshot),
            },
            corrupt: snapshot.unreadable.is_some(),
            named: place.named,
            next: snapshot.tasks.as_ref().and_then(|list| Some(printable(&list.present()?.id))),
            let_go,
            review: String::new(),
            runner: String::new(),
        }
    }

    /// The current feature, and one with a state file or a loop.
    pub fn is_begun(&self) -> bool {
        self.facts.current || self.corrupt || self.facts.phase.is_some() || self.r#loop.is_some()
    }

    pub fn form(&self) -> FeatureForm {
        let r#loop = self.r#loop.as_ref().map(|own| own.form.clone());
        FeatureForm { facts: self.facts.clone(), r#loop }
    }

    pub fn write(&self, text: &mut String, switch: &str) {
        let facts = &self.facts;
        let current = if facts.current { " (current)" } else { "" };
        let state = match &self.r#loop {
            Some(found) => found.words(switch, &["spool stop ", &facts.name].concat()),
            None if self.runner.is_empty() => "none".to_owned(),
            None => "none in a session".to_owned(),
        };
        let _ = writeln!(text, "\nFeature: {}{current}", facts.name);
        rows(text, "Loop", [state]);
        rows(text, "Runner", [printable(&self.runner)]);
        rows(text, "Problem", &facts.problems);
        let what = if self.named { " named tasks" } else { "" };
        rows(text, "Tasks", [format!("{} of {}{what} done", facts.done, facts.total)]);
        let not_proved = [title(&in_runs(&facts.not_proved), IDS)];
        rows(text, "Ticked by hand and not proved yet, so open", not_proved);
        let open = |next: &String| match facts.open.len() {
            1 => next.clone(),
            all => format!("next {next}, then {} more", all - 1),
        };
        rows(text, "Open", self.next.as_ref().map(open));
        let asides = in_words(&facts.asides).into_iter().chain(facts.other_lists.clone());
        rows(text, "List", asides.map(|aside| printable(&aside)));
        write_proofs(text, &self.proofs);
        match &self.r#loop {
            Some(found) => found.write_now(text, &self.review),
            None => rows(text, "Review", [printable(&self.review)]),
        }
        let corrupt = self.corrupt.then_some("corrupt");
        rows(text, "Phase", corrupt.or(facts.phase.as_deref()));
        let awaits = if facts.awaits_approval { AWAITS } else { "" };
        if let Some(found) = &self.r#loop {
            found.write_course(text, awaits, "refused claims", &self.let_go);
        }
    }
}

/// A feature's loop by its pin and by its session's record.
struct PinnedLoop {
    pin: Pin,
    record: Option<Record>,
    /// Why it ended, and in which words.
    end: Option<(TerminalReason, String)>,
    standing: PinState,
    /// A session owns the loop, even if its record is gone.
    is_bound: bool,
}

impl PinnedLoop {
    /// `None` if the feature never had a loop in a session. An unreadable pin counts as a loop.
    fn of(project: &Project, feature: &Feature, loops: &Loops) -> Option<Self> {
        let pin = loops
            .found(&feature.name)
            .unwrap_or_else(|_| Some(loops.recorded(&feature.name).unwrap_or_default()))?;
        let armed = pinned::standing_of_feature(&project.root, &feature.name);
        let pinned_to = armed.pin().map(|pin| pin.session.as_str());
        let is_bound = pinned_to.is_some_and(|session| !session.is_empty());
        let record = loops.peek(&pin.session).filter(|record| {
            record.about == feature.name && (pinned_to.is_none() || record.ledger.is_live())
        });
        // As the session's record says, otherwise the pin.
        let noted = record.as_ref();
        let end = noted.and_then(|own| Some((own.ledger.ended.clone()?, own.words.clone())));
        let end = end.or_else(|| pin.ended.clone().map(|end| (end.reason, end.words)));
        let standing = match &record {
            _ if end.is_some() => PinState::Nobody,
            Some(record) => pinned::standing(&project.root, record),
            None => armed,
        };
        Some(Self { pin, record, end, standing, is_bound })
    }

    fn armed_at(&self) -> WallTime {
        self.record.as_ref().map_or(self.pin.armed_at, |record| record.armed_at)
    }

    fn shown(self, project: &Project, loops: &Loops, snapshot: &FeatureSnapshot) -> SessionLoop {
        let about = &snapshot.feature.name;
        let next = |(why, _): &(TerminalReason, String)| {
            ends::after_end(snapshot, self.record.as_ref(), why)
        };
        let pin = self.standing.pin();
        let verify = pin.and_then(|pin| Pins::of(&project.root).ok()?.verify(pin.key(), pin).ok());
        let command = |(task, run)| TaskCommand { task, run };
        let sums = self.record.as_ref().map(|record| LoopForm::from(&record.ledger));
        let form = LoopForm {
            kind: LoopSubject::Feature,
            about: about.clone(),
            armed_at: JsonTime::of(self.armed_at()),
            next: words(&self.end.as_ref().map(next).unwrap_or_default()),
            end: self.end.map(|(why, words)| EndForm { name: EndName::of(&why), words }),
            max_iterations: Some(snapshot.limits.max_iterations),
            verify_commands: verify.unwrap_or_default().into_iter().map(command).collect(),
            ..sums.unwrap_or_default()
        };
        let found = FoundLoop {
            form,
            record: self.record,
            standing: &self.standing,
            is_bound: self.is_bound,
            tasks: snapshot.tasks.as_ref(),
        };
        SessionLoop::of(&project.root, loops, found)
    }
}

/// Writes the grades of a loop's tasks, and what to look at first; nothing if nothing is known.
pub fn write_proofs(text: &mut String, board: &Scoreboard) {
    let line = board.line();
    let receipts = counted(board.receipts as u64, "receipt");
    if !line.is_empty() {
        let _ = writeln!(text, "  {} ({receipts})", printable(&line));
    }
    for sentence in board.look_first() {
        let _ = writeln!(text, "    Look first: {}", printable(&sentence));
    }
}

/// Sessions that were allowed to stop since this loop was armed, because another session owns it.
pub fn let_go(loops: &Loops, feature: &str) -> Vec<LetGo> {
    let Some(pin) = loops.live_pin(feature) else { return Vec::new() };
    let mut sessions = loops.let_go();
    sessions.retain(|stopped| {
        let is_current = pin.session == stopped.owner && stopped.session != stopped.owner;
        stopped.about == feature && is_current && stopped.at >= pin.armed_at
    });
    sessions
}

/// Files that are missing or cannot be read, and open tasks that have left the list.
fn problems(project: &Project, snapshot: &FeatureSnapshot) -> Vec<String> {
    let shown = |path: &Path| {
        let path = path.strip_prefix(&project.root).unwrap_or(path);
        printable(&names::with_slashes(path))
    };
    let unreadable = snapshot.unreadable.iter();
    let mut all: Vec<_> = unreadable
        .map(|file| format!("`{}` cannot be read: {}", shown(&file.path), printable(&file.why)))
        .collect();
    let list = shown(&snapshot.feature.folder.join(TASKS));
    if snapshot.tasks.is_none() && all.is_empty() {
        all.push(format!("`{list}` is missing"));
    }
    if !snapshot.gone.is_empty() {
        let ids = title(&in_runs(&snapshot.gone), IDS);
        all.push(format!("open tasks have left `{list}`, and are still open: {ids}"));
    }
    all
}
