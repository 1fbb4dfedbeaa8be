//! The report of `spool ralph --status`: a loop and its last iterations.
//!
//! The report reads `state.json` and the end of `history.jsonl`, never the whole history.

pub mod form;

use std::fmt::Write;
use std::path::Path;

use anyhow::{Result, bail};

use super::options::DoneWhen;
use super::requests::Requests;
use super::state::{
    Iteration, LoopState, PAUSED, Past, add_left_ticks, changes_with_state, find_state_folder,
    holder, read_state, readable, seconds, tail, time_of,
};
use super::target::{ChangeQuery, FoundChange, find};
use super::{exit, messages};
use crate::engine::aside::{Aside, in_words};
use crate::engine::scoreboard::Scoreboard;
use crate::engine::tasks::TaskList;
use crate::feature::project::printable;
use crate::forms::loops::LoopFormState;
use crate::session::messages::person::reviews;
use crate::session::report::feature::write_proofs;
use crate::store::names::EndName;
use crate::store::receipts::Receipts;
use crate::text::{self, rows};
use crate::world::WallTime;

/// Iterations in the table.
const SHOWN: usize = 10;
/// Letters below a row of the table.
const WHY: usize = 72;

/// A loop as it is.
#[derive(Clone, Debug)]
pub struct RunnerReport {
    pub change_id: String,
    /// The state folder.
    pub folder: String,
    pub is: LoopFormState,
    /// The time of a person's request for a pause.
    pub paused_since: Option<WallTime>,
    /// Why the state could not be read; empty if it could.
    pub unreadable: String,
    pub state: LoopState,
    /// Lines of the change's list that do not count or have an odd mark.
    pub asides: Vec<Aside>,
    /// The running iteration, or the one in which the runner was killed.
    pub running_iteration: Option<Iteration>,
    /// Proofs of the tasks ticked in this run.
    pub proofs: Scoreboard,
    /// The last iterations of all runs, oldest first, ten at most.
    pub iterations: Vec<Past>,
}

impl RunnerReport {
    /// An error means that no loop has run on the change, or that its state folder cannot be found.
    pub fn of(root: &Path, change: &str) -> Result<Self> {
        let Some(folder) = find_state_folder(root, change)? else {
            bail!("no loop has run on the change `{}` yet\n{}", printable(change), others(root));
        };
        // The runner with the lock may end before the state is read. The lock comes first: a loop that ends in between
        // is shown as ended, never as dead.
        let alive = holder(&folder).map(|holder| holder.is_some());
        let (alive, (read, unreadable)) = match (alive, read_state(&folder)) {
            (Ok(alive), Ok(read)) => (alive, (read, String::new())),
            (Ok(alive), Err(why)) => (alive, (None, why)),
            (Err(why), _) => (false, (None, why.to_string())),
        };
        let (mut state, running_iteration) = read.unwrap_or_default();
        let paused_since = Requests::of(&folder).pause_asked().filter(|_| alive);
        let is = match (alive, state.status.is_over()) {
            (true, _) if paused_since.is_some() => LoopFormState::Paused,
            (true, _) => LoopFormState::Live,
            (false, false) if !state.change_id.is_empty() => LoopFormState::Dead,
            (false, _) if !unreadable.is_empty() => LoopFormState::Unreadable,
            (false, _) => LoopFormState::Ended,
        };
        // The next run counts the use of the killed runner's iteration.
        let is_cut_off = is == LoopFormState::Dead && running_iteration.is_some();
        state.tokens_unknown |= is_cut_off;
        state.cost_unknown |= is_cut_off;
        let began = time_of(&state.started_at).unwrap_or_default();
        let list = list_of(root, change);
        let board = |log: Receipts| {
            let run = log.of_run().run().ok().flatten();
            let then = run.map(|run| TaskList::parse(&run.list));
            log.scoreboard(began, list.as_ref(), then.as_ref())
        };
        let proofs = Receipts::named(root, change).map(board).unwrap_or_default();
        let mut iterations = tail(&folder, SHOWN).unwrap_or_default();
        add_left_ticks(iterations.iter_mut().map(|past| &mut past.iteration), root, change);
        Ok(Self {
            change_id: change.to_owned(),
            folder: folder.display().to_string(),
            is,
            paused_since,
            unreadable,
            asides: asides(list, state.include_optional),
            state,
            running_iteration,
            proofs,
            iterations,
        })
    }

    /// For a person, with line breaks and without color.
    pub fn text(&self) -> String {
        let state = &self.state;
        let mut text = format!("Change: {}\n", printable(&self.change_id));
        let unreadable = Some(&self.unreadable).filter(|why| !why.is_empty());
        let unread = unreadable.map(|why| format!("it cannot be read: {}", printable(why)));
        rows(&mut text, "State", unread);
        self.write_loop(&mut text);
        let limit = match state.max_iterations {
            0 => "no limit".to_owned(),
            limit => format!("of {limit}"),
        };
        rows(&mut text, "Iteration", [format!("{} ({limit})", state.current_iteration)]);
        let began = if self.is_alive() { "began" } else { "was cut off; began" };
        let running = self.running_iteration.as_ref();
        let this = running.map(|running| format!("{began} {}", since(&running.started)));
        rows(&mut text, "This one", this);
        rows(&mut text, "Task", [cut(&state.task, 72)]);
        let done = match state.done_criteria {
            DoneWhen::Tasks => "every task is ticked",
            DoneWhen::Manual => "the agent gives its promise",
            DoneWhen::Check => "the checks pass",
        };
        rows(&mut text, "Done when", [done]);
        rows(&mut text, "List", in_words(&self.asides).iter().map(|aside| printable(aside)));
        let agent = [&state.harness, &state.harness_version, &state.model];
        let agent = agent.into_iter().filter(|word| !word.is_empty()).map(|word| printable(word));
        rows(&mut text, "Agent", [agent.collect::<Vec<_>>().join(" ")]);
        rows(&mut text, "Tokens", [self.tokens()]);
        rows(&mut text, "Cost", state.spent().cost.money());
        let killed = running.filter(|_| !self.is_alive());
        let used = |Iteration { n, .. }: &Iteration| {
            format!("what iteration {n} used, in which the runner was killed")
        };
        rows(&mut text, "Not in it", killed.map(used));
        rows(&mut text, "Reviews beside that", [reviews(&state.ledger)]);
        write_proofs(&mut text, &self.proofs);
        rows(&mut text, "Denied", [messages::denied(state)]);
        if !state.kept_as.is_empty() {
            let name = printable(&state.kept_as);
            let _ = writeln!(text, "  Kept: {name}");
            let _ = writeln!(text, "    (see it: git show {name})");
            let _ = writeln!(text, "    (remove it: git update-ref --no-deref -d {name})");
        }
        self.write_table(&mut text);
        let _ = writeln!(text, "\nAll of it: {}", self.folder);
        let change = printable(&self.change_id);
        if self.is_alive() {
            let _ = writeln!(text, "End it: spool stop --change {change}");
        } else if !state.change_id.is_empty() {
            let _ = writeln!(text, "What it came to: spool log --summary --change {change}");
        }
        text
    }

    /// A runner works on the loop.
    pub fn is_alive(&self) -> bool {
        matches!(self.is, LoopFormState::Live | LoopFormState::Paused)
    }

    /// Without a line end.
    pub fn line(&self) -> String {
        let state = &self.state;
        let stands = match self.is {
            LoopFormState::Paused if self.is_paused() => printable(&state.doing),
            LoopFormState::Paused => "to be paused".to_owned(),
            LoopFormState::Dead => {
                "its runner was killed, the same command continues it".to_owned()
            }
            _ if self.is_alive() => state.status.word(),
            _ => self.ended_as(),
        };
        let limit = match state.max_iterations {
            0 => String::new(),
            limit => format!(" of {limit}"),
        };
        let when = if self.is_gone() {
            format!("ended {}{}", since(&state.ended_at), self.why())
        } else {
            format!("began {}", since(&state.started_at))
        };
        let (change, number) = (printable(&self.change_id), state.current_iteration);
        let tokens = self.tokens();
        format!("{change}: {stands}, iteration {number}{limit}, {tokens} tokens, {when}")
    }

    /// The loop has ended, or its state is unknown.
    fn is_gone(&self) -> bool {
        matches!(self.is, LoopFormState::Ended | LoopFormState::Unreadable)
    }

    /// The words of the end, with those of its checks.
    fn why(&self) -> String {
        let words = printable(&self.state.words);
        if words.is_empty() { words } else { format!(": {words}") }
    }

    /// The loop does nothing until a person continues it.
    fn is_paused(&self) -> bool {
        self.paused_since.is_some() && self.state.doing.starts_with(PAUSED)
    }

    fn ended_as(&self) -> String {
        printable(&EndName::from(self.state.reason.clone()).in_words())
    }

    fn tokens(&self) -> String {
        self.state.spent().tokens.tokens()
    }

    /// A person's next step; empty for none.
    fn next_step(&self) -> String {
        let ended = self.state.ledger.ended.as_ref().filter(|_| self.is_gone());
        let (change, state) = (&self.change_id, &self.state);
        let next =
            |reason| exit::what_next(reason, change, state.current_iteration, &state.harness);
        ended.map(next).unwrap_or_default()
    }

    fn write_loop(&self, text: &mut String) {
        let state = &self.state;
        let status = state.status.word();
        match self.is {
            LoopFormState::Live | LoopFormState::Paused => {
                let began = since(&state.started_at);
                rows(text, "Loop", [format!("{status} (process {}), began {began}", state.pid)]);
                rows(text, "Doing", [printable(&state.doing)]);
                let does = if self.is_paused() { "continues the loop" } else { "cancels it" };
                let next = format!("spool resume --change {}", printable(&self.change_id));
                let asked = self.paused_since.map(|at| text::age(at.age()));
                let pause = asked.map(|age| format!("asked for {age} ago; `{next}` {does}"));
                return rows(text, "Pause", pause);
            }
            LoopFormState::Dead => {
                let _ = writeln!(
                    text,
                    "  Loop: dead. Its file says {status}, but process {} was killed, or the machine went down.",
                    state.pid
                );
                rows(text, "Last sign of life", [since(&state.updated_at)]);
            }
            _ if state.change_id.is_empty() => {
                return rows(text, "Loop", ["nothing is written yet"]);
            }
            _ => {
                rows(text, "Loop", [self.ended_as() + &self.why()]);
                rows(text, "Ended", [since(&state.ended_at)]);
            }
        }
        rows(text, "Next", self.next());
    }

    fn write_table(&self, text: &mut String) {
        if self.iterations.is_empty() {
            text.push_str("\nNo iteration has ended yet.\n");
            return;
        }
        text.push_str("\nLast iterations\n");
        let _ = writeln!(
            text,
            "  {:>4}  {:<16}  {:>11}  {:>7}  {:>11}  {:>5}  verdict",
            "#", "began", "took", "commits", "tokens", "tasks"
        );
        let mut run = self.iterations[0].run_started_at.as_str();
        for Past { run_started_at, iteration } in &self.iterations {
            if run != run_started_at {
                run = run_started_at;
                text.push_str("        -- a new run --\n");
            }
            let began = time_of(&iteration.started).map(readable).unwrap_or_default();
            let began: String = began.chars().take(16).collect();
            let tokens = iteration.spent().tokens.tokens();
            let _ = writeln!(
                text,
                "  {:>4}  {began:<16}  {:>11}  {:>7}  {tokens:>11}  {:>5}  {}",
                iteration.n,
                text::lasted(seconds(iteration.seconds)),
                iteration.commits.len(),
                iteration.tasks_ticked.len(),
                verdict(iteration),
            );
            // The row has no room for the words within 80 columns.
            let why = why(iteration);
            if !why.is_empty() {
                let _ = writeln!(text, "        {why}");
            }
        }
    }
}

/// `None` if the change or its list is gone.
pub fn list_of(root: &Path, change: &str) -> Option<TaskList> {
    let wanted = ChangeQuery { change: Some(change), module: None };
    let Ok(FoundChange::One(change)) = find(root, &wanted) else { return None };
    Some(change.task_list()?.list)
}

fn asides(list: Option<TaskList>, optional: bool) -> Vec<Aside> {
    list.unwrap_or_default().with_optional(optional).asides()
}

/// Reports on all changes of a project that a runner has worked on, by id.
pub fn all(root: &Path) -> Vec<RunnerReport> {
    let reports = changes_with_state(root).into_iter();
    let reports = reports.filter_map(|change| RunnerReport::of(root, &change).ok());
    // A refused runner, or added words, leave a folder without a loop.
    let is_loop = |report: &RunnerReport| {
        report.is_alive() || !report.state.change_id.is_empty() || !report.unreadable.is_empty()
    };
    reports.filter(is_loop).collect()
}

/// The nearest folder at or above `start` in which a runner has worked.
pub fn root_around(start: &Path) -> Option<&Path> {
    start.ancestors().find(|folder| !changes_with_state(folder).is_empty())
}

/// Changes with a running loop. An error means that this is unknown for one of them.
pub fn live(root: &Path) -> Result<Vec<String>> {
    let mut live = Vec::new();
    for change in changes_with_state(root) {
        let Some(folder) = find_state_folder(root, &change)? else { continue };
        if holder(&folder)?.is_some() {
            live.push(change);
        }
    }
    Ok(live)
}

/// The change of the only running loop, else the one with the newest state; `None` when no loop has run. Several
/// running loops are an error.
pub fn select(root: &Path) -> Result<Option<String>> {
    let running = only_live(root)?;
    let newest = || {
        changes_with_state(root).into_iter().max_by_key(|change| {
            let path = super::state::state_folder(root, change).join("state.json");
            let changed = path.symlink_metadata().and_then(|meta| meta.modified());
            changed.map(WallTime::from).unwrap_or_default()
        })
    };
    Ok(running.or_else(newest))
}

/// The change of the only running loop; several are an error.
pub fn only_live(root: &Path) -> Result<Option<String>> {
    let mut live = live(root)?;
    if live.len() > 1 {
        bail!("{} loops run here\nname one with --change: {}", live.len(), live.join(", "));
    }
    Ok(live.pop())
}

fn others(root: &Path) -> String {
    let changes = changes_with_state(root);
    if changes.is_empty() {
        return "start one with `spool ralph \"what to do\" --change ID`".to_owned();
    }
    format!("loops have run on: {}", changes.join(", "))
}

fn verdict(iteration: &Iteration) -> String {
    if iteration.interrupted {
        return "cut off".to_owned();
    }
    printable(iteration.verdict.as_str())
}

fn why(iteration: &Iteration) -> String {
    cut(&messages::causes(iteration), WHY)
}

/// The first line, cut to this many letters.
fn cut(text: &str, most: usize) -> String {
    let mut lines = text.trim().lines();
    let mut first = lines.next().unwrap_or_default().to_owned();
    if lines.next().is_some() {
        first.push('…');
    }
    crate::text::title(&first, most)
}

/// A point in time, and its age.
pub fn since(iso: &str) -> String {
    time_of(iso).map_or_else(
        || "at an unknown time".to_owned(),
        |at| format!("{} ({} ago)", readable(at), text::age(at.age())),
    )
}

#[cfg(test)]
mod tests;
