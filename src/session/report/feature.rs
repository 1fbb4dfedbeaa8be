//! A feature and its loop as they stand, as data and as text.

use std::fmt::Write;
use std::path::Path;

use super::session_loop::{FoundLoop, SessionLoop};
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
use crate::forms::proofs::ProofsForm;
use crate::forms::status::{FeatureFacts, FeatureForm};
use crate::session::counted::{as_counted, asked, missing};
use crate::session::messages::ends;
use crate::session::pinned;
use crate::session::proof::judge_now;
use crate::session::task_log::receipts_of;
use crate::store::loops::{LetGo, Loops};
use crate::store::names::EndName;
use crate::store::pins::{Pin, PinState, Pins};
use crate::system::names;
use crate::text::{LARGEST, counted, title};

/// The loop waits for a person's approval.
const AWAITS: &str =
    "  Waiting: the state file says `awaitingApproval: true`, so the agent may stop\n";

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
    /// Sessions that were let go at a stop, because this loop is another session's; the latest first.
    pub let_go: Vec<LetGo>,
    /// The grades of done tasks in this loop.
    pub proofs: Scoreboard,
    /// The last review, in words for a person; empty for none.
    pub review: String,
    /// A runner's work on the feature, in words for a person; empty for none.
    pub runner: String,
}

impl FeatureReport {
    /// The features with a state file or a loop, and the current one first.
    pub fn all(project: &Project, loops: &Loops) -> Vec<Self> {
        let current = project.current_feature().ok().flatten();
        let report = |feature: &Feature| {
            Self::of(project, feature, loops, current.as_ref() == Some(feature))
        };
        let mut features: Vec<Self> = project.features().iter().map(report).collect();
        features.retain(|Self { facts, corrupt, r#loop, .. }| {
            facts.current || *corrupt || facts.phase.is_some() || r#loop.is_some()
        });
        sorted(features, |one, other| {
            (!one.facts.current, &one.facts.name).cmp(&(!other.facts.current, &other.facts.name))
        })
    }

    fn of(project: &Project, feature: &Feature, loops: &Loops, current: bool) -> Self {
        // One that cannot be read is a loop all the same.
        let pin = loops
            .found(&feature.name)
            .unwrap_or_else(|_| loops.recorded(&feature.name).or_else(|| Some(Pin::default())));
        let armed = pinned::standing_of_feature(&project.root, &feature.name);
        let pinned_to = armed.pin().map(|pin| pin.session.as_str());
        let record = pin.as_ref().and_then(|pin| loops.peek(&pin.session));
        let record = record.filter(|record| {
            record.about == feature.name && (pinned_to.is_none() || record.ledger.is_live())
        });
        // As the session's record says, otherwise the pin.
        let ended = record.as_ref().and_then(|own| Some((own.ledger.ended.as_ref()?, &own.words)));
        let pinned = || pin.as_ref()?.ended.as_ref().map(|end| (&end.reason, &end.words));
        let (why, words) = ended.or_else(pinned).unzip();
        let end = why.map(EndName::of);
        let (why, words) = (why.cloned(), words.cloned().unwrap_or_default());
        let is_bound = pinned_to.is_some_and(|session| !session.is_empty());
        let lives = pin.is_some() && end.is_none();
        let standing = match &record {
            Some(record) if lives => pinned::standing(&project.root, record),
            None if lives => armed,
            _ => PinState::Nobody,
        };
        let verify = standing
            .pin()
            .and_then(|pin| Pins::of(&project.root).ok()?.verify(pin.key(), pin).ok());
        let snapshot = as_counted(project, feature, &standing, record.as_ref());
        let noted = record.as_ref().map(|record| record.armed_at);
        let armed_at = noted.or_else(|| pin.as_ref().map(|pin| pin.armed_at));
        let armed_at = armed_at.unwrap_or_default();
        let missing = match (judge_now(project, feature), &snapshot.tasks) {
            (Ok(judge), Some(list)) if lives => {
                let asked = asked(&project.root, &standing, record.as_ref());
                missing(&judge, list, &[], Some(&asked))
            }
            _ => Vec::new(),
        };
        let place = snapshot.place();
        let open = snapshot.tasks.iter().flat_map(TaskList::open);
        let phase = Some(snapshot.state.phase()).filter(|phase| !phase.is_empty());
        let found = FoundLoop {
            about: &feature.name,
            next: match &end {
                Some(_) => ends::after_end(
                    &feature.name,
                    record.as_ref(),
                    why.as_ref(),
                    snapshot.all_done(),
                ),
                None => String::new(),
            },
            end: end.map(|name| EndForm { name, words }),
            max_iterations: Some(snapshot.limits.max_iterations),
            armed_at,
            standing: &standing,
            is_bound,
            tasks: snapshot.tasks.as_ref(),
            record,
        };
        let proofs = receipts_of(project, feature)
            .map(|receipts| receipts.scoreboard(armed_at, snapshot.tasks.as_ref(), None))
            .unwrap_or_default();
        let let_go = let_go(loops, &feature.name);
        let command = |(task, run)| TaskCommand { task, run };
        let r#loop = pin.is_some().then(|| {
            let mut own = SessionLoop::of(&project.root, loops, found);
            own.form = LoopForm {
                kind: LoopSubject::Feature,
                verify_commands: verify.unwrap_or_default().into_iter().map(command).collect(),
                proofs: ProofsForm::of(&proofs),
                not_blocked: let_go.iter().map(NotBlocked::from).collect(),
                ..own.form
            };
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
                total: (place.total + missing.len() as u64).min(LARGEST),
                open: open.map(|task| &task.id).chain(&missing).map(|id| printable(id)).collect(),
                not_proved: snapshot.not_proved.iter().map(|id| printable(id)).collect(),
                asides: snapshot.tasks.as_ref().map(TaskList::asides).unwrap_or_default(),
                other_lists: others_in_words(&feature.folder),
                attempt: snapshot.state.task_iteration(),
                max_attempts: snapshot.limits.max_task_iterations,
                awaits_approval: snapshot.state.awaits_approval(),
                problems: problems(project, &snapshot, &missing),
            },
            corrupt: snapshot.unreadable.is_some(),
            named: place.named,
            next: snapshot.tasks.as_ref().and_then(|list| Some(printable(&list.present()?.id))),
            let_go,
            review: String::new(),
            runner: String::new(),
        }
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
        let _ = writeln!(text, "\nFeature: {}{current}\n  Loop: {state}", facts.name);
        if !self.runner.is_empty() {
            let _ = writeln!(text, "  Runner: {}", printable(&self.runner));
        }
        for problem in &facts.problems {
            let _ = writeln!(text, "  Problem: {problem}");
        }
        let what = if self.named { " named tasks" } else { "" };
        let _ = writeln!(text, "  Tasks: {} of {}{what} done", facts.done, facts.total);
        if !facts.not_proved.is_empty() {
            let ids = title(&in_runs(&facts.not_proved), IDS);
            let _ = writeln!(text, "  Ticked by hand and not proved yet, so open: {ids}");
        }
        let _ = match (&self.next, facts.open.len()) {
            (None, _) => Ok(()),
            (Some(next), 1) => writeln!(text, "  Open: {next}"),
            (Some(next), all) => writeln!(text, "  Open: next {next}, then {} more", all - 1),
        };
        for aside in in_words(&facts.asides).iter().chain(&facts.other_lists) {
            let _ = writeln!(text, "  List: {}", printable(aside));
        }
        write_proofs(text, &self.proofs);
        let review = match self.review.as_str() {
            "" => String::new(),
            review => format!("  Review: {}\n", printable(review)),
        };
        match &self.r#loop {
            Some(found) => found.write_now(text, &review),
            None => text.push_str(&review),
        }
        let corrupt = self.corrupt.then_some("corrupt");
        if let Some(phase) = corrupt.or(facts.phase.as_deref()) {
            let _ = writeln!(text, "  Phase: {phase}");
        }
        let awaits = if facts.awaits_approval { AWAITS } else { "" };
        if let Some(found) = &self.r#loop {
            found.write_course(text, awaits, "refused claims", &self.let_go);
        }
    }
}

/// Writes the grades of a loop's tasks, and what to look at first; nothing if nothing is known.
pub fn write_proofs(text: &mut String, board: &Scoreboard) {
    let line = board.line();
    if line.is_empty() {
        return;
    }
    let receipts = counted(board.receipts as u64, "receipt");
    let _ = writeln!(text, "  {} ({receipts})", printable(&line));
    for sentence in board.look_first() {
        let _ = writeln!(text, "    Look first: {}", printable(&sentence));
    }
}

/// Sessions that were let go since the feature's live loop was armed, because it is another session's.
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
fn problems(project: &Project, snapshot: &FeatureSnapshot, missing: &[String]) -> Vec<String> {
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
    if !missing.is_empty() {
        let ids = title(&in_runs(missing), IDS);
        all.push(format!("open tasks have left `{list}`, and are still open: {ids}"));
    }
    all
}
