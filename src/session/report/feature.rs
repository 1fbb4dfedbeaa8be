//! The loops of a project as they stand, as data and as text.

use std::fmt::Write;
use std::path::Path;

use super::armed;
#[cfg(feature = "cli")]
use super::live::{self, LiveReport};
use crate::engine::aside::{Aside, in_words};
use crate::engine::order::sorted;
use crate::engine::scope::in_runs;
#[cfg(feature = "cli")]
use crate::engine::scoreboard::Scoreboard;
use crate::engine::tasks::TaskList;
use crate::engine::{Ledger, TerminalReason};
use crate::evidence::task_list::TASKS;
use crate::feature::lists::others_in_words;
use crate::feature::project::{Feature, Project, printable};
use crate::feature::settings::Settings;
use crate::feature::snapshot::{FeatureSnapshot, TaskPosition};
use crate::session::life::{self, SessionLife};
use crate::session::messages::ends;
use crate::session::messages::person::{more_than, reviews};
use crate::session::pinned;
use crate::session::proof::standing;
#[cfg(feature = "cli")]
use crate::session::task_log::receipts_of;
use crate::store::loops::{Claim, LetGo, Loops, Record, VerifyCommands};
use crate::store::names::EndName;
use crate::store::pins::{Pin, PinKey, PinState, Pins};
use crate::system::names;
use crate::text::{age, counted, grouped, title};
use crate::world::WallTime;

/// The most lines of what failed checks printed that are shown.
const OUTPUT: usize = 6;

/// The most letters of the ids of tasks in a line.
const IDS: usize = 120;

/// Everything that `spool status` tells.
#[derive(Clone, Debug)]
pub struct FeaturesReport {
    /// The project's root.
    pub project: String,
    /// Whether loops are switched on here.
    pub enabled: bool,
    /// Why the settings cannot be used, with the line, empty when they can: then nothing can be armed.
    pub settings_problem: String,
    /// The features that have a state file or a loop, and the current one.
    pub features: Vec<FeatureReport>,
}

/// One feature and its loop.
#[derive(Clone, Debug)]
pub struct FeatureReport {
    /// The feature's name.
    pub name: String,
    /// Its folder, relative to the project.
    pub folder: String,
    /// Whether it is the one that is worked on.
    pub current: bool,
    /// The phase in the state file, `none` without one, `corrupt` when it cannot be read.
    pub phase: String,
    /// The ids of the open tasks.
    pub open: Vec<String>,
    /// The lines of its list that do not count, or have an odd mark.
    pub asides: Vec<Aside>,
    /// What is said of its other lists, `None` for nothing.
    pub others: Option<String>,
    /// The attempt that the present task is at.
    pub attempt: u32,
    /// The attempts that a task has.
    pub max_attempts: u32,
    /// The iteration limit.
    pub max_iterations: u32,
    /// Its loop: `none`, `unbound`, `live`, `paused`, `orphaned` when it lives and its session is gone
    /// or has been silent for an hour, or `ended`.
    pub loop_status: String,
    /// Why the loop ended, empty while it lives.
    pub reason: String,
    /// The same in plain words.
    pub words: String,
    /// What a person does after its end, empty while it lives.
    pub next: String,
    /// Sessions that were not blocked since, because this loop is another session's, the latest first.
    pub let_go: Vec<LetGo>,
    /// The check that runs just now with its number, empty while none runs.
    pub checking: String,
    /// What a person armed, `None` where no person did, nobody knows, or the loop has ended.
    pub pin: Option<Pin>,
    /// The Verify commands that may be run, by the id of their task.
    pub verify: VerifyCommands,
    /// Who armed the loop and what holds for it, as lines for a person; empty where no loop lives.
    pub armed: String,
    /// Whether the state file asks for a person's approval.
    pub awaits_approval: bool,
    /// The session's notes, `None` before a session has taken the loop.
    pub record: Option<Record>,
    /// The present task among those that the loop is about.
    pub place: TaskPosition,
    /// Whether its session is known to be gone.
    pub gone: bool,
    /// The files of the feature that are missing or cannot be read, each with why.
    pub problems: Vec<String>,
    /// How well the tasks that are done are proved, as far as this loop has seen.
    #[cfg(feature = "cli")]
    pub proofs: Scoreboard,
    /// The ids of the tasks that were ticked by hand in the live loop and that nobody has found proved yet.
    pub not_proved: Vec<String>,
    /// The loop at this moment, `None` where none lives.
    #[cfg(feature = "cli")]
    pub live: Option<LiveReport>,
    /// The last review of it, in words for a person; empty for none.
    pub review: String,
    /// What a runner does with it now, in words for a person; empty while none works on it.
    pub runner: String,
}

impl FeaturesReport {
    /// Returns the report on a project; files that cannot be read are reported, not fatal.
    pub fn of(project: &Project) -> Self {
        let current = project.current_feature().ok().flatten();
        let loops = Loops::of(&project.root);
        let features: Vec<FeatureReport> = project
            .features()
            .iter()
            .map(|feature| {
                let is_current = current.as_ref() == Some(feature);
                FeatureReport::of(project, feature, &loops, is_current)
            })
            .filter(|report| {
                report.current || report.phase != "none" || report.loop_status != "none"
            })
            .collect();
        let features = sorted(features, |one, other| {
            (!one.current, &one.name).cmp(&(!other.current, &other.name))
        });
        let settings = Settings::read(&project.root);
        Self {
            project: project.root.display().to_string(),
            enabled: !settings.as_ref().is_ok_and(|settings| !settings.chosen.enabled()),
            settings_problem: settings.err().map(|error| error.one_line()).unwrap_or_default(),
            features,
        }
    }

    /// Returns the report as text for a person, with line breaks and no colour.
    pub fn text(&self) -> String {
        let mut text = format!("Project: {}\n", printable(&self.project));
        if !self.enabled {
            text.push_str("Loops are switched off by .claude/ralph-speckit.local.md\n");
        }
        if !self.settings_problem.is_empty() {
            let _ = writeln!(text, "Nothing can be armed: {}", printable(&self.settings_problem));
        }
        if self.features.is_empty() {
            text.push_str("No feature has a loop. Start one with /speckit:implement in Claude Code, or `spool start`.\n");
        }
        for feature in &self.features {
            feature.write(&mut text, self.switch());
        }
        text
    }

    /// Returns what is said beside a live loop where the settings switch loops off; empty otherwise.
    pub fn switch(&self) -> &'static str {
        if self.enabled { "" } else { ", but switched off by the settings: the agent may stop" }
    }
}

impl FeatureReport {
    fn of(project: &Project, feature: &Feature, loops: &Loops, current: bool) -> Self {
        let claim = loops.claim(&feature.name);
        // What a person armed lives until its pin says that it ended, whatever became of the loop's notes.
        let armed = pinned::standing_of_feature(&project.root, &feature.name);
        let pinned_to = armed.pin().map(|pin| pin.session.as_str());
        let owner = pinned_to.filter(|session| !session.is_empty());
        let owner = owner.or_else(|| claim.as_ref().and_then(|claim| claim.session.as_deref()));
        let record = owner.and_then(|session| loops.peek(session));
        let record = record.filter(|record| {
            record.about == feature.name && (pinned_to.is_none() || record.ledger.is_live())
        });
        let told = claim.as_ref().filter(|_| pinned_to.is_none());
        let end = FeatureEnd::of(record.as_ref(), told);
        let alive = record.as_ref().filter(|record| record.ledger.is_live());
        let life = alive.map(|record| life::of(loops, record)).unwrap_or_default();
        let loop_status = match &record {
            _ if claim.is_none() && pinned_to.is_none() => "none",
            _ if !end.reason.is_empty() => "ended",
            None if pinned_to.is_some_and(|session| !session.is_empty()) => "live",
            None => "unbound",
            Some(record) if life.leaves_behind(record) => "orphaned",
            Some(record) if record.pause().is_some() => "paused",
            Some(_) => "live",
        };
        let lives = !matches!(loop_status, "none" | "ended");
        let standing = match &record {
            Some(record) if lives => pinned::standing(&project.root, record),
            None if lives => armed,
            _ => PinState::Nobody,
        };
        let verify = standing.pin().and_then(|pin| {
            Pins::of(&project.root).ok()?.verify(PinKey::Feature(&feature.name), pin).ok()
        });
        let snapshot = FeatureSnapshot::of_loop(feature, &standing, record.as_ref());
        let noted = record.as_ref().map(|record| record.armed_at);
        let armed_at = noted.or_else(|| claim.as_ref().map(|claim| claim.armed_at));
        let armed_at = armed_at.unwrap_or_default();
        #[cfg(feature = "cli")]
        let moment = lives.then(|| match &record {
            Some(record) => {
                let at_work = live::at_work(snapshot.tasks.as_ref());
                LiveReport::of(record, &life, at_work).unless_lost(record, &standing)
            }
            None => LiveReport::unbound(armed_at),
        });
        Self {
            #[cfg(feature = "cli")]
            live: moment,
            #[cfg(feature = "cli")]
            proofs: proofs(project, feature, armed_at, &snapshot),
            not_proved: not_proved(project, feature, &snapshot),
            problems: problems(project, &snapshot),
            gone: life == SessionLife::Gone,
            name: feature.name.clone(),
            folder: feature.relative.clone(),
            current,
            phase: phase_of(&snapshot),
            place: snapshot.place(),
            open: open_ids(&snapshot),
            asides: snapshot.tasks.as_ref().map(TaskList::asides).unwrap_or_default(),
            others: others_in_words(&feature.folder),
            attempt: snapshot.state.task_iteration(),
            max_attempts: snapshot.limits.max_task_iterations,
            max_iterations: snapshot.limits.max_iterations,
            loop_status: loop_status.to_owned(),
            next: end.next(record.as_ref(), snapshot.all_done()),
            reason: end.reason,
            words: end.words,
            let_go: let_go(loops, &feature.name),
            checking: checking(loops, record.as_ref()),
            armed: if lives {
                armed::lines(&project.root, &standing, record.as_ref(), armed_at)
            } else {
                String::new()
            },
            awaits_approval: snapshot.state.awaits_approval(),
            verify: verify.unwrap_or_default(),
            pin: standing.pin().cloned(),
            record,
            review: String::new(),
            runner: String::new(),
        }
    }

    fn write(&self, text: &mut String, switch: &str) {
        let current = if self.current { " (current)" } else { "" };
        let _ = writeln!(text, "\nFeature: {}{current}", self.name);
        let _ = writeln!(text, "  Loop: {}", self.loop_words(switch));
        if !self.runner.is_empty() {
            let _ = writeln!(text, "  Runner: {}", printable(&self.runner));
        }
        for problem in &self.problems {
            let _ = writeln!(text, "  Problem: {problem}");
        }
        let what = if self.place.named { " named tasks" } else { "" };
        let stands = stands(&self.not_proved);
        let _ =
            writeln!(text, "  Tasks: {} of {}{what} {stands}", self.place.done, self.place.total);
        if let Some(next) = self.open.first() {
            let _ = match self.open.len() - 1 {
                0 => writeln!(text, "  Open: {next}"),
                more => writeln!(text, "  Open: next {next}, then {more} more"),
            };
        }
        for aside in in_words(&self.asides).iter().chain(&self.others) {
            let _ = writeln!(text, "  List: {}", printable(aside));
        }
        #[cfg(feature = "cli")]
        write_proofs(text, &self.proofs);
        #[cfg(feature = "cli")]
        if let Some(live) = &self.live {
            live.write(text);
        }
        if !self.review.is_empty() {
            let _ = writeln!(text, "  Review: {}", printable(&self.review));
        }
        if !self.checking.is_empty() {
            let _ = writeln!(text, "  Checking: {}", printable(&self.checking));
        }
        if self.phase != "none" {
            let _ = writeln!(text, "  Phase: {}", self.phase);
        }
        if self.loop_status == "none" {
            return;
        }
        let ledger = self.record.as_ref().map(|record| &record.ledger);
        #[cfg(feature = "cli")]
        let so_far = self.live.as_ref().map(LiveReport::so_far).unwrap_or_default();
        #[cfg(not(feature = "cli"))]
        let so_far = String::new();
        write_iteration(text, ledger, Some(self.max_iterations), &so_far);
        text.push_str(&self.armed);
        if self.awaits_approval {
            text.push_str(
                "  Waiting: the state file says `awaitingApproval: true`, so the agent may stop\n",
            );
        }
        if let Some(record) = &self.record {
            write_session(text, record, "refused claims");
        }
        for session in &self.let_go {
            let _ = writeln!(text, "  Not blocked: {}", let_go_line(session));
        }
        #[cfg(feature = "cli")]
        if let Some(live) = &self.live {
            live.write_next(text);
        }
        if !self.next.is_empty() {
            let _ = writeln!(text, "  Next: {}", self.next);
        }
    }

    /// How the loop is, in words.
    fn loop_words(&self, switch: &str) -> String {
        match self.loop_status.as_str() {
            "none" if self.runner.is_empty() => "none".to_owned(),
            "none" => "none in a session".to_owned(),
            "unbound" if !switch.is_empty() => format!("armed{switch}"),
            "unbound" => "armed; the first session that stops takes it".to_owned(),
            "live" => format!("live{switch}"),
            "orphaned" => {
                let cancel = format!("spool stop {}", self.name);
                self.record.as_ref().map(|it| orphaned(it, self.gone, &cancel)).unwrap_or_default()
            }
            "paused" => paused(self.record.as_ref()),
            _ => {
                let words = more_than(&self.reason.clone().into(), &self.words);
                let why = if words.is_empty() { "" } else { ": " };
                format!("ended ({}){why}{words}", self.reason)
            }
        }
    }
}

/// The ids of the open tasks.
fn open_ids(snapshot: &FeatureSnapshot) -> Vec<String> {
    let tasks = snapshot.tasks.iter();
    tasks.flat_map(|list| list.open().map(|task| printable(&task.id))).collect()
}

/// How well the tasks of a feature are proved that are done, by the receipts since its loop was armed.
#[cfg(feature = "cli")]
fn proofs(
    project: &Project,
    feature: &Feature,
    armed_at: WallTime,
    snapshot: &FeatureSnapshot,
) -> Scoreboard {
    let receipts = receipts_of(project, feature).ok();
    receipts.map(|it| it.scoreboard(armed_at, snapshot.tasks.as_ref())).unwrap_or_default()
}

/// Returns the tasks that were ticked by hand in a feature's live loop and are not proved yet.
pub fn not_proved(project: &Project, feature: &Feature, snapshot: &FeatureSnapshot) -> Vec<String> {
    let (Some(list), Ok(judge)) = (&snapshot.tasks, standing(project, feature)) else {
        return Vec::new();
    };
    judge.not_proved(list).iter().map(|id| printable(id)).collect()
}

/// Returns what tasks are whose boxes are ticked, where these of them are not proved yet: a box is no work.
fn stands(not_proved: &[String]) -> String {
    if not_proved.is_empty() {
        return "done".to_owned();
    }
    let ids = title(&in_runs(not_proved), IDS);
    format!("ticked, {} of them by hand and not proved yet: {ids}", not_proved.len())
}

/// Writes how well the tasks of a loop are proved, and what to look at first; nothing where nothing is known.
#[cfg(feature = "cli")]
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

/// How the loop of a feature ended; all empty while it lives, but for the words of its claim.
#[derive(Default)]
struct FeatureEnd {
    reason: String,
    words: String,
    /// The reason with what is known of it, `None` where only its name is.
    why: Option<TerminalReason>,
}

impl FeatureEnd {
    /// As the session's notes say, otherwise the claim that may speak for it.
    fn of(record: Option<&Record>, told: Option<&Claim>) -> Self {
        let ended = record.and_then(|record| record.ledger.ended.as_ref());
        let closed = told.and_then(|claim| claim.closed.clone());
        let words = record.filter(|_| ended.is_some()).map(|record| record.words.clone());
        let words = words.or_else(|| told.map(|claim| claim.words.clone())).unwrap_or_default();
        let Some(name) = ended.map(EndName::of).or(closed) else {
            return Self { words, ..Self::default() };
        };
        let why = ended.or_else(|| told.and_then(|claim| claim.reason.as_ref())).cloned();
        Self { reason: name.to_string(), words, why }
    }

    /// What a person does after it; empty while the loop lives.
    fn next(&self, record: Option<&Record>, all_done: bool) -> String {
        if self.reason.is_empty() {
            return String::new();
        }
        ends::after_end(record, self.why.as_ref(), all_done)
    }
}

/// Writes what the session of a loop has done so far; `refused` is what its refused words are called.
pub fn write_session(text: &mut String, record: &Record, refused: &str) {
    let ledger = &record.ledger;
    let ago = |at: WallTime| age(at.age());
    let _ = writeln!(text, "  Session: {}", record.session);
    if let Some(adopted) = &record.adopted {
        let (from, ago) = (printable(&adopted.from), ago(adopted.at));
        let _ = writeln!(text, "  Taken over from session {from}, {ago} ago");
    }
    let _ = writeln!(
        text,
        "  Sent back: {}; {refused}: {}",
        counted(ledger.continued.into(), "time"),
        ledger.refused_claims
    );
    text.push_str(&counted_line(ledger));
    let reviews = reviews(ledger);
    if !reviews.is_empty() {
        let _ = writeln!(text, "  Reviews beside that: {reviews}");
    }
    if record.seen_at.is_known() {
        let (ago, words) = (ago(record.seen_at), printable(&record.words));
        let _ = writeln!(text, "  Last stop: {ago} ago: {words}");
    }
    for line in record.output.lines().take(OUTPUT) {
        let _ = writeln!(text, "    {}", printable(line));
    }
    if record.output.lines().nth(OUTPUT).is_some() {
        text.push_str("    …: `spool log` has all of it\n");
    }
}

/// Returns the sessions that were not blocked since a feature's live loop was armed, because it is
/// another session's.
pub fn let_go(loops: &Loops, feature: &str) -> Vec<LetGo> {
    let Some(claim) = loops.claim(feature).filter(|claim| claim.closed.is_none()) else {
        return Vec::new();
    };
    let mut sessions = loops.let_go();
    sessions.retain(|it| {
        let is_current = claim.session.as_ref() == Some(&it.owner) && it.session != it.owner;
        it.about == feature && is_current && it.at >= claim.armed_at
    });
    sessions
}

/// Returns what is said of a session that was not blocked.
pub fn let_go_line(session: &LetGo) -> String {
    format!(
        "session {} stopped {} ago and was not blocked: the loop is session {}'s; /speckit:implement takes it over",
        printable(&session.session),
        age(session.at.age()),
        printable(&session.owner)
    )
}

/// Returns in a few words what a loop has cost and made, as far as it could be seen; `None` for
/// nothing.
pub fn sums(tool_calls: u64, commits: u64, tokens: u64) -> Option<String> {
    let counts = [(tool_calls, "tool call"), (commits, "commit"), (tokens, "token")];
    let words: Vec<_> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(count, what))
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Writes which iteration runs, and what was done in it, or how many there were.
pub fn write_iteration(
    text: &mut String,
    ledger: Option<&Ledger>,
    limit: Option<u32>,
    so_far: &str,
) {
    let over = ledger.map_or(0, |ledger| ledger.iterations);
    let limit = limit.map_or_else(|| ", no limit".to_owned(), |limit| format!(" of {limit}"));
    let _ = if ledger.is_some_and(Ledger::is_live) {
        writeln!(text, "  Iteration: {}{limit}{so_far}", over.saturating_add(1))
    } else {
        writeln!(text, "  Iterations: {over}{limit}")
    };
}

/// Returns the line on what a loop has cost and made until it was last judged, with a line break; empty for nothing.
fn counted_line(ledger: &Ledger) -> String {
    let (all, written) = (ledger.tokens, ledger.written_tokens);
    let sums = sums(ledger.tool_calls, ledger.commits, all);
    let written =
        if all > 0 { format!(" ({} of them written)", grouped(written)) } else { String::new() };
    let when = if ledger.is_live() { "Before this iteration" } else { "Seen since it was armed" };
    sums.map_or_else(String::new, |sums| format!("  {when}: {sums}{written}\n"))
}

/// Returns what is said of a loop whose session is gone or has been silent for an hour: how to continue it, and how to end
/// it.
pub fn orphaned(record: &Record, gone: bool, cancel: &str) -> String {
    let why = if gone {
        "is gone".to_owned()
    } else {
        format!("has been silent for {}", age(record.silent_for()))
    };
    let session = printable(&record.session);
    format!(
        "live, but its session {why}\n    continue it: claude --resume {session}\n    or in another session: /speckit:ralph-loop --adopt {session}\n    end it: {cancel}"
    )
}

fn phase_of(snapshot: &FeatureSnapshot) -> String {
    match (&snapshot.unreadable, snapshot.state.phase()) {
        (Some(_), _) => "corrupt".to_owned(),
        (None, "") => "none".to_owned(),
        (None, phase) => printable(phase),
    }
}

/// The files of a feature that are missing or cannot be read.
fn problems(project: &Project, snapshot: &FeatureSnapshot) -> Vec<String> {
    let shown = |path: &Path| {
        let path = path.strip_prefix(&project.root).unwrap_or(path);
        printable(&names::with_slashes(path))
    };
    let unreadable = snapshot.unreadable.iter();
    let mut all: Vec<_> = unreadable
        .map(|it| format!("`{}` cannot be read: {}", shown(&it.path), printable(&it.why)))
        .collect();
    if snapshot.tasks.is_none() && all.is_empty() {
        all.push(format!("`{}` is missing", shown(&snapshot.feature.folder.join(TASKS))));
    }
    all
}

/// Returns since when a loop is paused, why, and what ends the pause; empty when it is not paused.
pub fn paused(record: Option<&Record>) -> String {
    let Some((record, pause)) = record.and_then(|record| Some((record, record.pause()?))) else {
        return String::new();
    };
    let next = if pause.ends_by_itself() {
        "the next prompt in its session continues the loop".to_owned()
    } else {
        format!("to continue: spool resume --session {}", record.session)
    };
    let since = age(pause.at.age());
    format!("paused for {since} ({}); {next}", printable(&pause.words()))
}

/// Returns the check that runs for a live loop just now, empty while none does.
pub fn checking(loops: &Loops, record: Option<&Record>) -> String {
    let live = record.filter(|record| record.ledger.is_live());
    live.and_then(|record| loops.running_check(&record.session)).unwrap_or_default()
}
