//! The receipts of a feature: what is seen of the work when a task is ticked.

use std::io;

use super::Books;
use crate::evidence::commits;
use crate::evidence::contents::{Contents, KeptContents};
use crate::feature::project::{Feature, Project};
use crate::judge::{LOOK, TickJudge};
use crate::session::proof::{Unjudged, judge_now, list_of};
use crate::store::loops::Record;
use crate::store::receipts::{Receipt, Receipts};
use crate::world::{self, WallTime};

/// An error if nothing can be kept outside of the project.
pub fn receipts_of(project: &Project, feature: &Feature) -> io::Result<Receipts> {
    Receipts::of(&project.root, &feature.name, &list_of(feature))
}

/// Ticks that did not count at the loop's last stop and have no receipt since.
pub fn refused(project: &Project, feature: &Feature, record: &Record) -> Vec<String> {
    let receipts = receipts_of(project, feature);
    let known = receipts.map(|receipts| receipts.since(record.armed_at)).unwrap_or_default();
    let is_open = |id: &&String| known.iter().all(|receipt| receipt.task != **id);
    record.refused.iter().filter(is_open).cloned().collect()
}

/// Stores the files' contents before a loop's first task, unless they are stored: they will show its work.
pub fn begin_tasks(project: &Project, feature: &Feature) -> io::Result<()> {
    let judge = judge_now(project, feature).map_err(|unjudged| match unjudged {
        Unjudged::Nowhere(error) => error,
        Unjudged::Unreadable(why) => io::Error::other(why),
    })?;
    let number = judge.number();
    let kept = judge.receipts.contents();
    if kept.and_then(|bytes| KeptContents::number_in(&bytes)) == Some(number) {
        return Ok(());
    }
    let contents = judge.contents(None, LOOK).ok();
    judge.receipts.keep_contents(&KeptContents { number, contents }.to_bytes())
}

impl Books<'_> {
    /// Keeps the receipt of a task that is ticked or dropped. `shared_commits` belong to tasks that were done with it;
    /// the next task is compared with `now`. An error says why the receipt is not kept.
    pub fn keep_receipt(
        &self,
        judge: &TickJudge,
        receipt: Receipt,
        shared_commits: u64,
        now: Option<&Contents>,
    ) -> io::Result<()> {
        let root = &self.project.root;
        let last = judge.receipts.last().filter(|last| last.at >= judge.armed.at);
        let pin = self.loops.found(&self.feature.name).ok().flatten();
        let log_then = last.map(|last| last.log_read).or(pin.and_then(|pin| pin.commits_from));
        let commits =
            log_then.and_then(|from| commits::made_since(root, from, WallTime::default()));
        let record = self.record();
        let receipt = Receipt {
            at: world::now(),
            session: record.map(|record| record.session).unwrap_or_default(),
            iteration: self.record_iterations(),
            commits: commits.map(|own| own + shared_commits),
            log_read: commits::log_place(root).length,
            ..receipt
        };
        judge.add_receipts(&[receipt], now)
    }
}
