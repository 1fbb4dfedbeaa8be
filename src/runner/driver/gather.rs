//! What an iteration came to, as an observation for the engine.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use super::{AgentRun, Driver};
use crate::engine::promise::{blocked, promise};
use crate::engine::{
    Check, CheckResult, Demand, Difference, Evaluation, Fingerprint, Hasher, Observation, Promise,
    TerminalReason, Tree, UnchangedFiles, Verdict, Waiting, Work, evaluate, hash_of,
};
use crate::runner::capture::capture;
use crate::runner::checks;
use crate::runner::git::{self, Git, NO_COMMIT};
use crate::runner::harness::{Outcome, Report, is_passing};
use crate::runner::monitor::{asked, wants_end};
use crate::runner::options::Commits;
use crate::runner::screen::lasted;
use crate::runner::state::Iteration;
use crate::runner::task_list::{TaskListUpdate, Tasks};
use crate::runner::tokens::TokenCount;
use crate::runner::worktree::Files;
use crate::store::names::PromiseState;
use crate::world::Stopwatch;

/// The most files of an iteration that are named in its history.
const MOST_FILES: usize = 200;
/// The longest that a commit may take, with the repository's hooks.
pub(super) const COMMIT_LIMIT: Duration = Duration::from_mins(10);
/// The most characters of what the agent asks a person for.
const LONGEST_NEED: usize = 500;

impl Driver<'_> {
    /// Looks what the repository looks like now; starts git only where something has moved.
    pub(super) fn look_at_git(&mut self) {
        if let Some(git) = &self.git {
            self.latest = git.moment(Some(std::mem::take(&mut self.latest)));
        }
    }

    /// The commit on which an iteration begins, empty without a repository.
    pub(super) fn head_at_start(&self) -> String {
        let none = self.git.as_ref().map(|_| NO_COMMIT.to_owned());
        self.moment.head.clone().or(none).unwrap_or_default()
    }

    /// Finds out which files and commits the iteration made; commits them where that is asked for.
    pub(super) fn changed_files(
        &mut self,
        before: &Files,
        looked: &TaskListUpdate,
        ran: &AgentRun,
        entry: &mut Iteration,
        log: &mut File,
    ) {
        let after = Files::of(&self.change.worktree, self.git.as_ref());
        let mut changed = after.changed_since(before);
        if let Some(git) = &self.git {
            changed = git.not_ignored(changed);
        }
        if !changed.is_empty() {
            self.visible = after.hash();
        }
        if after.blind {
            self.visible = 0;
        }
        let commits = self.options.commits == Commits::EachIteration && ran.asked.is_none();
        if let Some(git) = self.git.as_ref().filter(|_| commits && !changed.is_empty()) {
            let done = looked.ticked.join(" ");
            let message =
                format!("ralph: {} iteration {} {done}", self.change.id, entry.n).trim().to_owned();
            let mut files = changed.clone();
            files.extend(self.uncommitted.iter().cloned());
            let (signals, requests, screen) = (self.signals, &self.requests, &self.screen);
            let clock = Stopwatch::start();
            let mut interrupted = || {
                screen.live(&format!("git commit · {}", lasted(clock.elapsed())));
                wants_end(signals, requests, screen)
            };
            let (supervisor, folder) = (&self.supervisor, &self.change.worktree);
            // A hook of the repository's own does not make the loop longer than it may be.
            let left = self.options.max_runtime.map(|all| all.saturating_sub(self.clock.elapsed()));
            let limit = left.map_or(COMMIT_LIMIT, |left| left.max(git::LEAST)).min(COMMIT_LIMIT);
            let made = git.commit(&files, &message, &mut |launch| {
                Ok(capture(supervisor, &launch, folder, limit, log, &mut interrupted)?)
            });
            self.screen.still();
            self.uncommitted.clear();
            if let Err(error) = made {
                let words = format!("the runner could not commit this iteration: {error:#}");
                self.screen.warn(&words);
                self.remarks.push(words);
                // They are not lost: the next commit takes them along.
                self.uncommitted.extend(files);
            }
        }
        if ran.asked.is_some() {
            self.interrupted.clone_from(&changed);
        }
        self.look_at_git();
        if let Some(git) = &self.git {
            let commits = git.commits_between(&self.moment, &self.latest);
            entry.commits = commits.unwrap_or_else(|error| {
                self.screen.warn(&format!("git cannot tell the commits: {error:#}"));
                Vec::new()
            });
            if !entry.commits.is_empty() {
                let committed = git.files_since(self.moment.head.as_deref());
                let known: BTreeSet<PathBuf> = changed.iter().cloned().collect();
                changed.extend(committed.into_iter().filter(|file| !known.contains(file)));
            }
        }
        if let Some(silence) = self.git.as_ref().and_then(Git::silence) {
            self.screen.warn(&format!(
                "{silence}; files and commits of this iteration may be missing below\nsee what `git status` waits for: a filter, a hook, a pipe in the place of a file"
            ));
        }
        self.commits_made += entry.commits.len() as u64;
        // A commit of nothing, or of the loop's own notes, gets the work no further.
        self.worked = entry.commits.is_empty() || !changed.is_empty();
        // Where the head was moved between two iterations, a check or a person has done it.
        if self.worked && self.latest.head != self.moment.head {
            self.head.clone_from(&self.latest.head);
        }
        entry.files_changed = changed.len() as u64;
        entry.files =
            changed.iter().take(MOST_FILES).map(|file| file.display().to_string()).collect();
        self.touched.extend(changed);
    }

    /// Gathers the observation, runs the checks where they are wanted, and asks the engine.
    pub(super) fn judge(
        &mut self,
        ran: &AgentRun,
        counted: &TokenCount,
        looked: TaskListUpdate,
        entry: &mut Iteration,
        log: &mut File,
    ) -> Verdict {
        let seen = self.observe(ran, counted, looked, entry);
        let ledger = self.books.state.ledger.clone();
        let judgement =
            match evaluate(&self.contract, &ledger, seen, &mut || UnchangedFiles::InFingerprint) {
                Evaluation::Decided(judgement) => *judgement,
                Evaluation::RunChecks(pending) => match self.check(pending.checks(), log) {
                    Ok(results) => {
                        entry.checks.clone_from(&results);
                        let fingerprint = self.fingerprint_after_checks();
                        let now = Observation { fingerprint, ..pending.seen().clone() };
                        pending.with(&self.contract, &ledger, results, now)
                    }
                    Err(Stopped) => pending.interrupted(&self.contract, &ledger, Demand::Stopped),
                },
            };
        entry.done_check = judgement.verdict == Verdict::End(TerminalReason::Completed);
        if self.contract.token.is_some() {
            entry.promise = match (judgement.seen.claimed, entry.done_check) {
                (false, _) => PromiseState::Missing,
                (true, true) => PromiseState::Accepted,
                (true, false) => PromiseState::Refused,
            };
        }
        self.books.state.ledger = judgement.ledger;
        judgement.verdict
    }

    pub(super) fn observe(
        &self,
        ran: &AgentRun,
        counted: &TokenCount,
        looked: TaskListUpdate,
        entry: &Iteration,
    ) -> Observation {
        let report = &ran.report;
        let token = self.contract.token.as_deref();
        // Words count only when the agent program came to its own good end.
        let said =
            if report.outcome == Outcome::Finished { report.final_text.as_str() } else { "" };
        let promised = promise(token, self.options.promise_match, said);
        let blind = self.visible == 0;
        let mut seen = Observation {
            work: looked.work,
            claimed: promised == Promise::Kept,
            promise: promised,
            tampered: looked.tampered,
            tool_calls: report.tool_calls,
            failed_calls: report.failed_calls,
            answered: is_answered(report),
            commits: self
                .git
                .as_ref()
                .map(|_| if self.worked { entry.commits.len() as u64 } else { 0 }),
            tokens: counted.tokens,
            since_arming: match (self.touched.is_empty(), blind) {
                (false, _) => Difference::Changed,
                (true, true) => Difference::Unknown,
                (true, false) => Difference::Same,
            },
            fingerprint: self.fingerprint(blind),
            elapsed_seconds: self.clock.elapsed().as_secs(),
            ..Observation::default()
        };
        match &report.outcome {
            _ if ran.asked.is_some() => seen.demand = Some(Demand::Stopped),
            Outcome::Finished => {
                // Who needs a person has not finished, whatever else is written beside it.
                seen.demand = need(said).map(Demand::Blocked);
            }
            Outcome::Lasting(why) if !is_complete(&seen.work) => {
                seen.demand = Some(Demand::HarnessFailed(why.clone()));
            }
            Outcome::Failed(why) | Outcome::Lasting(why) | Outcome::SessionGone(why) => {
                seen.failed = Some(why.clone());
            }
            Outcome::UsageLimit { words, .. } => {
                seen.waiting = vec![Waiting::UsageLimit(words.clone())];
            }
            Outcome::Cut => {}
        }
        seen
    }

    /// What the work looks like now.
    pub(super) fn fingerprint(&self, blind: bool) -> Fingerprint {
        let head = self.head.clone().unwrap_or_default();
        let tasks = self.tasks.as_ref().map_or(0, Tasks::hash);
        let work = Hasher::default().with_number(tasks).with_number(hash_of(head.as_bytes()));
        let tree = if blind { Tree::Unknown } else { Tree::Hash(self.visible) };
        Fingerprint { work: work.finish(), tree }
    }

    /// What the work looks like once the checks have run: they may have written into the list.
    fn fingerprint_after_checks(&mut self) -> Fingerprint {
        if let Some(tasks) = &mut self.tasks {
            tasks.look();
        }
        self.fingerprint(self.visible == 0)
    }

    /// Runs the checks one after the other; an error means that a person stopped the loop meanwhile.
    pub(super) fn check(
        &mut self,
        checks: &[Check],
        log: &mut File,
    ) -> std::result::Result<Vec<CheckResult>, Stopped> {
        let mut results = Vec::new();
        let all = checks.len();
        for (place, check) in checks.iter().enumerate() {
            let words = format!("checking `{}` ({} of {all})", check.run, place + 1);
            self.books.state.doing.clone_from(&words);
            // It is only for people who look on; the next step is written down in any case.
            let _ = self.books.save();
            self.screen.tell("check", &format!("  {words}"), json!({"run": check.run}));
            let (signals, requests, screen) = (self.signals, &self.requests, &self.screen);
            let clock = Stopwatch::start();
            let mut interrupted = || {
                screen.live(&format!("{words} · {}", lasted(clock.elapsed())));
                wants_end(signals, requests, screen)
            };
            let folder = &self.change.worktree;
            let result = checks::run(&self.supervisor, check, folder, log, &mut interrupted);
            self.screen.still();
            if asked(self.signals, &self.requests).is_some() {
                return Err(Stopped);
            }
            let outcome = if result.passed { "passed" } else { "failed" };
            let line = format!("  `{}` {outcome}: {}", result.run, result.outcome);
            self.screen.tell("checked", &line, json!({"run": result.run, "passed": result.passed}));
            results.push(result);
        }
        Ok(results)
    }
}

/// Whether the service has answered: with work or words, or that it is busy.
fn is_answered(report: &Report) -> bool {
    let has_worked = !report.final_text.is_empty()
        || report.tool_calls.unwrap_or(0) > 0
        || report.tokens.is_some_and(|tokens| tokens.total() > 0);
    match report.outcome {
        Outcome::Finished | Outcome::Cut | Outcome::UsageLimit { .. } => true,
        _ => has_worked || is_passing(report.status),
    }
}

/// A person stopped the loop while checks ran.
pub(super) struct Stopped;

/// What the agent says that a person must do, fit for a message.
pub(super) fn need(text: &str) -> Option<String> {
    let need = crate::text::title(blocked(text)?, LONGEST_NEED);
    (!need.is_empty()).then_some(need)
}

pub(super) fn is_complete(work: &Work) -> bool {
    matches!(work, Work::List { done: 1.., open } if open.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_need_is_fit_for_a_message() {
        assert_eq!(need("<blocked>set API_KEY</blocked>"), Some("set API_KEY".to_owned()));
        assert_eq!(need("<blocked>\u{1b}[31mx</blocked>"), Some("�[31mx".to_owned()));
    }
}
