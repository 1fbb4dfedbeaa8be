//! Use and files of an iteration whose runner was killed, and the use of a review cut off with its runner or by a stop.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::engine::Check;
use crate::evidence::tree::is_own;
use crate::forms::plain::{JsonNumber, words};
use crate::forms::review::{Review, ReviewOutcome};
use crate::forms::spent::{Amount, Spent, in_dollars, micros};
use crate::runner::git::{Git, NO_COMMIT};
use crate::runner::harness::{
    AgentOrder, AgentReport, ExitInfo, Harness, Permissions, TokenUsage, of_history,
};
use crate::runner::prices::PriceTable;
use crate::runner::state::{Iteration, KILLED, LoopState, is_change_id, time_of};
use crate::runner::story::read_again;
use crate::runner::tokens::{Counter, TokenCount};
use crate::runner::worktree::WorkTreeFiles;
use crate::store::read;
use crate::system::files;
use crate::world::WallTime;

/// Files of an iteration in its history.
pub(super) const MOST_FILES: usize = 200;
/// The agent of a killed runner may write for this long after the last sign of life: the time in which the supervisor
/// ends the tree, and some room.
const STILL_WRITING: Duration = Duration::from_secs(10);
/// The clock of file times is behind the wall clock by up to one tick of the system.
const CLOCK_TICK: Duration = Duration::from_millis(10);
/// Bytes of the last review.
const MOST: u64 = 16 << 20;

/// The files of an interrupted iteration at the start of the next run.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Unfinished {
    /// The iteration.
    pub(super) number: u32,
    /// Changed by the iteration, and untouched since.
    pub(super) files: Vec<PathBuf>,
    /// Changed since, or by an unknown hand.
    pub(super) later: Vec<PathBuf>,
}

/// Counts the tokens and the cost of an iteration whose runner was killed, by its log and the agent program's own
/// records. Other use stays unknown.
pub(super) fn count_cut_off(left: &mut Iteration, folder: &Path, prices: &PriceTable) {
    left.tokens_unknown = true;
    let is_log = left.log.strip_prefix("logs/").is_some_and(is_change_id);
    let log = (folder.join(&left.log), left.agent_log_bytes);
    let Some((harness, mut report)) = report_of_log(&left.harness, &log).filter(|_| is_log) else {
        return;
    };
    report.model = report.model.or_else(|| words(&left.model));
    let began = time_of(&left.started).unwrap_or_default();
    let counted = Counter::default().count(None, &report, harness.as_ref(), began);
    left.tokens_used = counted.tokens;
    left.tokens_estimated = counted.estimated;
    left.tokens_unknown = counted.unknown;
    left.session_id = report.session.clone().unwrap_or_default();
    left.tool_calls = report.tool_calls;
    left.failed_calls = report.failed_calls;
    left.denied.clone_from(&report.denied);
    if let Some(cost) = prices.of_run(&report, &counted, None) {
        left.cost_usd = Some(in_dollars(cost.value));
        left.cost_estimated = cost.estimated;
    }
}

/// The use of a review in the iteration's last step; zero without one. The log tells the use of a review that was cut
/// off; an unknown part is marked.
pub(super) fn review_of_cut_off(
    iteration: &Iteration,
    state: &LoopState,
    folder: &Path,
    prices: &PriceTable,
) -> Spent {
    let review = state.checks.iter().find(|check| check.is_review());
    let Some(review) = review.filter(|check| state.doing.contains(&format!("`{}`", check.run)))
    else {
        return Spent::default();
    };
    let began = time_of(&iteration.started).unwrap_or_default();
    let kept = read::read(&folder.join("review.json"), MOST).ok();
    let kept = kept.and_then(|file| Review::read(&file.bytes).ok());
    if let Some(kept) = kept.filter(|kept| kept.began_at.is_some_and(|at| at.wall() >= began)) {
        let is_cut = kept.outcome == ReviewOutcome::Interrupted;
        let amount = |value: Option<u64>, estimated| Amount {
            value: value.unwrap_or_default(),
            estimated,
            partial: is_cut || value.is_none(),
        };
        return Spent {
            tokens: amount(kept.tokens.map(JsonNumber::get), false),
            cost: amount(kept.cost_usd.map(micros), kept.cost_estimated),
        };
    }
    let log = folder.join("review.log");
    let written = fs::symlink_metadata(&log).and_then(|meta| meta.modified());
    let is_its = written.is_ok_and(|at| WallTime::from(at) >= began);
    let read = is_its.then(|| cut_off_review(review, log, prices)).flatten().unwrap_or_default();
    // The rest of the use is unknown.
    let unknown = Amount { partial: true, ..Amount::default() };
    read.plus(Spent { tokens: unknown, cost: unknown })
}

/// The agent program of this name, and its report from the log of a run that was cut off. Nothing is started.
fn report_of_log(
    harness: &str,
    (log, bytes): &(PathBuf, u64),
) -> Option<(Box<dyn Harness>, AgentReport)> {
    let is_words = harness == "command";
    let (harness, permissions) = (of_history(harness)?, Permissions::default());
    let mut reader = harness.reader(&AgentOrder::of_log(&permissions, log.parent()?));
    read_again(reader.as_mut(), is_words, (log, *bytes), &mut |_| ()).ok()?;
    Some((harness, reader.report(&ExitInfo { cut: true, ..ExitInfo::default() })))
}

/// The use of a cut off review by its log.
fn cut_off_review(review: &Check, log: PathBuf, prices: &PriceTable) -> Option<Spent> {
    let (_, report) = report_of_log(review.reader(), &(log, 0))?;
    let tokens = report.tokens.map_or(0, TokenUsage::total);
    let counted = TokenCount { tokens, usage: report.tokens, ..TokenCount::default() };
    let cost = prices.of_run(&report, &counted, None);
    let tokens = Amount { value: tokens, ..Amount::default() };
    Some(Spent { tokens, cost: cost.unwrap_or_default() })
}

/// Names the files of an iteration whose runner was killed before it looked at them: those touched since the beginning,
/// and those of its commits.
pub(super) fn name_cut_off_files(left: &mut Iteration, git: Option<&Git>, worktree: &Path) {
    if left.files_changed > 0 {
        return;
    }
    let candidates = git.map_or_else(|| WorkTreeFiles::all(worktree), Git::dirty);
    let Unfinished { files, later, .. } = sorted(left, Some(candidates), worktree);
    let mut files: BTreeSet<PathBuf> = files.into_iter().chain(later).collect();
    if !left.commits.is_empty() {
        let head = Some(left.head_at_start.as_str()).filter(|head| *head != NO_COMMIT);
        files.extend(git.iter().flat_map(|git| git.files_since(head)));
    }
    left.files_changed = files.len() as u64;
    left.files = files.iter().take(MOST_FILES).map(|file| file.display().to_string()).collect();
}

/// Separates files that someone touched since. `dirty` are git's changed files, `None` without a repository.
pub(super) fn sorted(
    iteration: &Iteration,
    dirty: Option<Vec<PathBuf>>,
    worktree: &Path,
) -> Unfinished {
    let began = time_of(&iteration.started).unwrap_or(WallTime::from_millis(u64::MAX));
    let ended = iteration.ended.as_deref().and_then(time_of).unwrap_or_default();
    // The agent of a killed runner may have written after the last look at its files.
    let known = iteration.files.len() as u64 == iteration.files_changed
        && iteration.files_changed > 0
        && iteration.words != KILLED;
    let is_known = |file: &PathBuf| iteration.files.iter().any(|path| Path::new(path) == file);
    let candidates = match dirty {
        Some(mut dirty) => {
            dirty.retain(|file| !file.ancestors().any(is_own));
            dirty
        }
        None => iteration.files.iter().map(PathBuf::from).collect(),
    };
    let mut left = Unfinished { number: iteration.n, ..Unfinished::default() };
    for file in candidates {
        let touched = touched_at(&worktree.join(&file));
        let is_its = match touched {
            _ if known => is_known(&file),
            Some(at) => at.after(CLOCK_TICK) >= began,
            // The file is gone, at an unknown time.
            None => true,
        };
        let limit = if known { ended } else { ended.after(STILL_WRITING) };
        match touched {
            _ if !is_its => {}
            Some(at) if at <= limit => left.files.push(file),
            None if known => left.files.push(file),
            _ => left.later.push(file),
        }
    }
    left
}

/// The last change of a file or its entry; `None` if it is gone.
fn touched_at(path: &Path) -> Option<WallTime> {
    let meta = path.symlink_metadata().ok()?;
    let modified = meta.modified().map(WallTime::from).unwrap_or_default();
    Some(modified.max(files::entry_changed_at(&meta)))
}
