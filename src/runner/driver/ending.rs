//! The end of a loop: written down, shown, and turned into an exit code.

use anyhow::Result;

use super::parts::Driver;
use crate::engine::scoreboard::Scoreboard;
use crate::engine::{Contract, Demand, Obstacle, TerminalReason, ended_by};
use crate::feature::project::printable;
use crate::forms::events::{RunnerEnd, RunnerEvent};
use crate::forms::plain;
use crate::forms::proofs::ProofsForm;
use crate::forms::summary::RunSummary;
use crate::notice::{NOTICE_LIMIT, PersonNotice, tell};
use crate::runner::report::form;
use crate::runner::screen::counted;
use crate::runner::state::{LoopStatus, add_left_ticks, iso, of_run, time_of, with_shares};
use crate::runner::story::find_kept;
use crate::runner::summary::{KEPT, keep};
use crate::runner::{exit, messages};
use crate::session::messages::feature::checks_at_end;
use crate::session::messages::shortfall::converged;
use crate::store::journal::Entry;
use crate::store::names::{EndName, JournalEvent};
use crate::store::receipts::Receipts;
use crate::world;

/// The person's next step after a full disk.
const MAKE_ROOM: &str =
    "Make room on the disk, then run the same command again: it continues this loop.";

impl Driver<'_> {
    /// A journal entry about this change.
    pub(super) fn entry(&self, event: JournalEvent, iteration: u32, words: &str) -> Entry {
        Entry::now(event, &self.plan.change.id, iteration, words)
    }

    /// Ends the loop between two iterations for a person.
    pub(super) fn stop(&mut self) -> Result<u8> {
        self.finish(&ended_by(&Demand::Stopped), self.console.signals.asked())
    }

    /// The words about a full disk, or another error, that ended the loop.
    fn ended_by_trouble(&self, reason: &TerminalReason) -> Option<&str> {
        let trouble = self.files.full_disk().or(self.totals.trouble.as_deref());
        trouble.filter(|_| *reason == TerminalReason::Stopped)
    }

    /// A person's next step in one or two sentences; empty for none.
    fn what_next(&self, reason: &TerminalReason) -> String {
        if self.files.full_disk().is_some() && *reason == TerminalReason::Stopped {
            return MAKE_ROOM.to_owned();
        }
        let state = &self.files.state;
        let (change, last) = (&self.plan.change.id, state.current_iteration);
        exit::what_next(reason, change, last, &state.harness)
    }

    /// Records and reports the end, and returns the exit code.
    pub(super) fn finish(&mut self, reason: &TerminalReason, signal: Option<i32>) -> Result<u8> {
        self.console.tell_standstill();
        let gone = self.project_is_gone();
        let reason = gone.as_ref().unwrap_or(reason);
        let checked = self.checks_at_end(reason, signal);
        self.look_at_end();
        let doubts = self.doubts(reason);
        let is_doubted = self.plan.options.settings.strict() && !doubts.is_empty();
        let (code, words) = match self.ended_by_trouble(reason) {
            Some(words) => (exit::FAILURE, words.to_owned()),
            None => {
                (exit::exit_code(reason, signal), messages::end(reason, &self.files.state, signal))
            }
        };
        let code = if code == 0 && is_doubted { exit::DOUBTED } else { code };
        let status = exit::status(reason);
        let state = &mut self.files.state;
        // The verdict of this end belongs to no iteration, and nothing is counted.
        state.ledger.ended = Some(reason.clone());
        state.status = status;
        reason.name().clone_into(&mut state.reason);
        state.words = [&words].into_iter().chain(&checked).cloned().collect::<Vec<_>>().join("; ");
        state.ended_at = iso(world::now());
        state.exit_code = Some(code);
        state.doing.clear();
        let saved = self.files.save();
        // The journal entry of the last iteration may have these words already.
        let is_new = |words: &&String| **words != self.totals.journaled_end;
        let new_words: Vec<String> =
            [&words].into_iter().chain(&checked).chain(&doubts).filter(is_new).cloned().collect();
        let iteration = self.files.state.current_iteration;
        let entry = Entry {
            task: self.tree.tasks_line(),
            reason: EndName::of(reason),
            ..self.entry(JournalEvent::Ended, iteration, &new_words.join("; "))
        };
        let is_noted = words == self.totals.journaled_end;
        let ledger = &self.files.state.ledger;
        let entry = if is_noted { entry } else { entry.with_reviews(ledger) };
        let entry = with_shares(entry, &self.files.state.agents);
        let noted = self.files.note(&entry);
        self.console.requests.clear_stop();
        self.console.screen.title(&status.word());
        self.summary(reason, code, &doubts);
        self.tell_person(reason);
        // The end is reported even if it cannot be written. Without the project, a failed write is no news.
        if gone.is_some() { Ok(code) } else { saved.and(noted).map(|()| code) }
    }

    /// The checks' words for an end short of completion. Checks run unless they ran on the same work.
    fn checks_at_end(&mut self, reason: &TerminalReason, signal: Option<i32>) -> Option<String> {
        let checks = self.plan.options.checks.clone();
        let commands = Contract::commands_and_review(&checks).0;
        let is_gone = matches!(reason, TerminalReason::Blocked { by: Obstacle::FolderGone, .. });
        if is_gone || *reason == TerminalReason::Completed || commands.is_empty() {
            return None;
        }
        let work = self.tree.fingerprint();
        let known = self.proofs.checked.as_ref().filter(|checked| checked.fingerprint == work);
        let mut results = known.map(|checked| checked.results.clone());
        let has_begun = self.files.state.current_iteration > 0;
        let may_run = signal.is_none() && has_begun && !self.plan.options.settings.no_final_check();
        if results.is_none() && may_run && !self.proofs.checks_stopped {
            // Another `spool stop` ends the checks.
            self.console.requests.clear_stop();
            let number = self.files.state.current_iteration;
            let log = self.files.log(number);
            results = log.ok().and_then(|(mut log, _)| {
                let mut one = |(check, number)| {
                    self.check_one(check, (number, commands.len()), None, &mut log)
                };
                let ran = commands.iter().zip(1..).map(|check| Some(one(check).ok()?.1));
                ran.collect()
            });
        }
        checks_at_end(commands, results.as_deref())
    }

    /// Runs the person's notice command, unless the person ended the loop.
    fn tell_person(&self, reason: &TerminalReason) {
        let command = &self.plan.options.settings.notify();
        let own = matches!(reason, TerminalReason::Cancelled | TerminalReason::Stopped);
        if (own && self.ended_by_trouble(reason).is_none()) || command.is_empty() {
            return;
        }
        let (change, state) = (&self.plan.change, &self.files.state);
        let next = self.what_next(reason);
        let head = EndName::of(reason).in_words();
        let iterations = counted(state.current_iteration.into(), "iteration");
        let words = format!("{head}: {} · {} · {iterations} {next}", change.id, state.words);
        let notice = PersonNotice::of(&change.id, reason.name(), words.trim_end());
        if let Some(why) = tell(command, &notice, &change.root, NOTICE_LIMIT) {
            self.console.screen.warn(&format!("the notice failed: {why}"));
        }
    }

    /// Notes why the runner cannot continue; closing the state files writes that down.
    pub(super) fn give_up(&mut self, error: &anyhow::Error) {
        let state = &mut self.files.state;
        if !state.status.is_over() {
            TerminalReason::Stopped.name().clone_into(&mut state.reason);
            state.words = format!("{error:#}");
            state.exit_code = Some(exit::FAILURE);
            self.console.screen.title(&LoopStatus::Stopped.word());
        }
    }

    /// Proofs of the tasks ticked in this run and done now.
    fn scoreboard(&self) -> Scoreboard {
        let began = time_of(&self.files.state.started_at).unwrap_or_default();
        let receipts = Receipts::named(&self.plan.change.root, &self.plan.change.id).ok();
        let then = self.proofs.list_at_start.as_ref().map(|file| &file.list);
        let board = |log: Receipts| log.scoreboard(began, self.tree.looked_list(), then);
        receipts.map(board).unwrap_or_default()
    }

    /// The figures of the loop, in a few words each.
    fn figures(&self, tasks: &str, commits: Option<u64>) -> Vec<String> {
        let (state, files) = (&self.files.state, self.tree.touched.len());
        let mut parts = messages::figures_of_run(state, self.files.elapsed(), commits, files);
        let converging = state.ledger.converging;
        parts.extend(converging.passed.then(|| converged(converging).to_owned()));
        parts.extend((!tasks.is_empty()).then(|| format!("{tasks} tasks")));
        parts
    }

    /// The changes of this run, and the costs of its tasks.
    fn run_summary(&self) -> RunSummary {
        let mut own = of_run(&self.files.folder, &self.files.state.started_at);
        add_left_ticks(own.iter_mut(), &self.plan.change.root, &self.plan.change.id);
        if let Some(git) = &self.tree.git {
            for iteration in &mut own {
                find_kept(&self.plan.change.id, iteration, git);
            }
        }
        RunSummary::of(&own, self.tree.path(), self.tree.git.as_ref(), true)
    }

    /// Reports the end, and keeps the report for later.
    fn report_end(&self, event: RunnerEvent, words: &str) {
        if self.project_is_gone().is_none()
            && let Err(error) =
                keep(&self.files.folder, &self.files.state.started_at, &event, words)
        {
            self.console.screen.warn(&format!(
                "the summary cannot be read again later: `{}` cannot be written: {error}\nsee that the disk has room; the next end writes its own",
                self.files.folder.join(KEPT).display()
            ));
        }
        self.console.screen.report(event, words);
    }

    /// The person's remedies for denied tools.
    pub(super) fn remedies(&self) -> String {
        messages::remedies(self.plan.options.allow_all, self.agents.seat().harness.accepts())
    }

    fn summary(&self, reason: &TerminalReason, code: u8, doubts: &[String]) {
        let state = &self.files.state;
        let tasks = self.tree.tasks_line();
        let came = self.run_summary();
        let parts = self.figures(&tasks, came.commits);
        let style = match (code, doubts.is_empty()) {
            (0, true) => crate::style::GOOD,
            _ => crate::style::WARN,
        };
        let word = exit::status(reason).word();
        let proofs = self.scoreboard();
        let mut lines = vec![parts.join(", ")];
        lines.extend(plain::words(&printable(&proofs.line())));
        let denied = messages::denied(state);
        if !denied.is_empty() {
            lines.extend([format!("Tools were denied {denied}"), self.remedies()]);
        }
        if !self.proofs.taken_back.is_empty() {
            let ids: Vec<&str> = self.proofs.taken_back.iter().map(String::as_str).collect();
            let ids = messages::some_of(&ids);
            lines.push(format!("Ticked with nothing behind it, and taken back: {ids}"));
        }
        let is_elsewhere = !self.plan.options.start.starts_with(self.tree.path());
        let elsewhere = is_elsewhere.then_some(self.tree.path());
        let said = |doubt: &&String| **doubt != state.words;
        lines.extend(doubts.iter().filter(said).cloned().chain(self.unfinished_words()));
        lines.extend(came.kept_in_words(&state.kept_as, elsewhere));
        lines.extend(messages::shares(&state.agents));
        let next = plain::words(&self.what_next(reason));
        lines.extend(next.clone());
        lines.extend(came.text(elsewhere));
        if self.project_is_gone().is_none() {
            let (change, root) = (&self.plan.change.id, &self.plan.change.root);
            let is_outside = !self.plan.options.start.starts_with(root);
            let place = is_outside.then(|| format!(" --project {}", root.display()));
            let place = place.unwrap_or_default();
            lines.push(format!("spool ralph --status --change {change}{place}"));
        }
        let lines = lines.join("\n       ");
        let head = EndName::of(reason).in_words();
        let words = format!("ralph: {style}{head}{style:#}: {}\n       {lines}", state.words);
        let end = RunnerEnd {
            status: word,
            reason: reason.name(),
            exit_code: code,
            seconds: self.files.elapsed().as_secs().into(),
            commits: came.commits.unwrap_or_default().into(),
            files_changed: (self.tree.touched.len() as u64).into(),
            tasks: plain::words(&tasks),
            taken_back: self.proofs.taken_back.iter().cloned().collect(),
            proofs: ProofsForm::of(&proofs),
            next,
            doubts: doubts.to_vec(),
            summary: came,
            ..form::end(state)
        };
        self.report_end(RunnerEvent::End(Box::new(end)), &words);
    }
}
