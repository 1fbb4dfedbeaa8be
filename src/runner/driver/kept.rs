//! The work of an iteration without an end of its own: kept under a ref, and named until an iteration ends by itself.

use super::agents::AgentRun;
use super::parts::Driver;
use super::unfinished::named;
use crate::forms::events::RunnerEvent;
use crate::runner::git::UnfinishedTry;
use crate::runner::harness::RunOutcome;
use crate::runner::process::Cut;
use crate::runner::state::{Iteration, compact, time_of};
use crate::store::names::JournalEvent;

impl Driver<'_> {
    /// Keeps the work of an iteration without an end of its own, if it changed anything or an earlier ref still exists.
    /// An iteration with an end of its own clears the name.
    pub(super) fn keep_unfinished(&mut self, entry: &mut Iteration, ran: &AgentRun) {
        let Some(why) = unfinished(ran) else {
            self.files.state.kept_as.clear();
            return;
        };
        if entry.files_changed > 0 || !self.files.state.kept_as.is_empty() {
            self.keep(entry, why);
            entry.kept_as.clone_from(&self.files.state.kept_as);
        }
    }

    /// Keeps the uncommitted work as that of this iteration.
    pub(super) fn keep(&mut self, iteration: &Iteration, why: &str) {
        let Some(git) = &self.tree.git else { return };
        let began = time_of(&iteration.started).map(compact).unwrap_or_default();
        let unfinished = UnfinishedTry {
            change: &self.plan.change.id,
            iteration: iteration.n,
            began: &began,
            why,
        };
        match git.keep(&unfinished) {
            Ok(None) => self.files.state.kept_as.clear(),
            Ok(Some(kept)) => {
                let mut words = format!("  unfinished work is kept as {}", kept.name);
                if !kept.left_out.is_empty() {
                    words = format!("{words}, without {}", named(&kept.left_out));
                }
                let left_out = kept.left_out.iter().map(|file| file.display().to_string()).collect();
                let event = RunnerEvent::Kept { name: kept.name.clone(), left_out };
                self.console.screen.report(event, &words);
                self.files.state.kept_as = kept.name;
            }
            Err(error) => self.console.screen.warn(&format!(
                "what the unfinished iteration left is only in the work tree, git did not keep it: {error:#}"
            )),
        }
    }

    /// Notes the kept work in the journal, for an iteration whose own entry could not name it.
    pub(super) fn note_kept(&mut self, iteration: &Iteration) {
        let name = &self.files.state.kept_as;
        if name.is_empty() {
            return;
        }
        let words = format!("unfinished work is kept as {name}");
        let entry = self.entry(JournalEvent::Interrupted, iteration.n, &words);
        // Prompt and state name the ref as well. If the journal cannot be written, the loop ends soon.
        let _ = self.files.note(&entry);
    }

    /// Words for the next prompt.
    pub(super) fn kept_words(&self) -> Option<String> {
        let name = &self.files.state.kept_as;
        (!name.is_empty()).then(|| {
            format!(
                "The last try did not come to its own end. The work tree as it was then is kept as `{name}`: `git show {name}` shows what it had changed, `git diff {name}` what is different now. Take over what is good."
            )
        })
    }
}

/// Why a run did not end by itself.
fn unfinished(ran: &AgentRun) -> Option<&'static str> {
    match (&ran.report.outcome, ran.ended.cut) {
        _ if ran.end_request.is_some() => Some("it was interrupted"),
        (_, Some(Cut::Wall)) => Some("its time was up"),
        (_, Some(Cut::Silence)) => Some("nothing was heard of it"),
        _ if ran.passed_at.is_some() => Some("the budget was used up"),
        (RunOutcome::Finished, _) => None,
        (RunOutcome::UsageLimit { .. }, _) => Some("a usage limit was reached"),
        (RunOutcome::Cut, _) => Some("it was ended"),
        _ => Some("the agent program failed"),
    }
}
