//! The receipts of a feature's tasks: what is seen of the work when one is ticked.

use std::io;

use super::{Books, Done};
use crate::engine::proof::ChangedFile;
use crate::engine::tasks::{Task, TaskList};
use crate::evidence::commits;
use crate::evidence::contents::{Contents, KeptContents};
use crate::evidence::task_list::TASKS;
use crate::feature::project::{Feature, Project};
use crate::session::pinned;
use crate::store::loops::Loops;
use crate::store::receipts::{MOST_FILES, Receipt, Receipts, VerifyRun, Witness};
use crate::world::{self, WallTime};

/// What is known of a tick besides the files.
#[derive(Clone, Debug, Default)]
pub struct Tick {
    /// The run of the task's Verify command, `None` where it did not run.
    pub verify: Option<VerifyRun>,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The tasks that were ticked right before, with whose work its own was done.
    pub together: Vec<String>,
}

/// Returns the receipts of a feature's tasks; an error where nothing can be kept outside of the project.
pub fn receipts_of(project: &Project, feature: &Feature) -> io::Result<Receipts> {
    Receipts::of(&project.root, &feature.name, &list_of(feature))
}

/// Remembers what the files contain before the first task of a loop, where nobody has: its work is known by their content.
pub fn begin_tasks(project: &Project, feature: &Feature) -> io::Result<()> {
    let receipts = receipts_of(project, feature)?;
    let number = armed_at(project, feature).millis();
    if receipts.contents().and_then(|bytes| KeptContents::number_in(&bytes)) == Some(number) {
        return Ok(());
    }
    let contents = Contents::look(&project.root, &list_of(feature));
    receipts.keep_contents(&KeptContents { number, contents }.to_bytes())
}

fn list_of(feature: &Feature) -> String {
    format!("{}/{TASKS}", feature.relative)
}

/// When the loop over a feature was armed; not known for one that no person armed.
fn armed_at(project: &Project, feature: &Feature) -> WallTime {
    let standing = pinned::standing_of_feature(&project.root, &feature.name);
    let armed = standing.pin().map(|pin| pin.armed_at);
    let of_runner = || pinned::pin_of_runner(project, feature).map(|pin| pin.armed_at);
    armed.or_else(of_runner).unwrap_or_default()
}

impl Books<'_> {
    /// Keeps the receipt of a task that is ticked; does nothing for one that was ticked before and has one. An error says why
    /// it cannot be kept.
    pub fn keep_receipt(&self, id: &str, done: Done, tick: &Tick) -> io::Result<()> {
        let Some(task) = self.list.find(id) else { return Ok(()) };
        let (project, feature) = (self.project, self.feature);
        let (root, armed_at) = (&project.root, armed_at(project, feature));
        let receipts = receipts_of(project, feature)?;
        let is_of_loop = |receipt: &Receipt| receipt.at >= armed_at;
        let has_one = |receipt: Receipt| is_of_loop(&receipt) && receipt.task == task.id;
        if done == Done::Before && receipts.all().into_iter().any(has_one) {
            return Ok(());
        }
        let last = receipts.last().filter(is_of_loop);
        let kept = receipts.contents().and_then(|bytes| KeptContents::parse(&bytes));
        let kept = kept.filter(|kept| kept.number == armed_at.millis());
        // A tree that was too large before is not looked through for every task.
        let is_large = kept.as_ref().is_some_and(|kept| kept.contents.is_none());
        let now = if is_large { None } else { Contents::look(root, &list_of(feature)) };
        let mut files = match (&now, kept.and_then(|kept| kept.contents)) {
            (Some(now), Some(before)) => Some(paths(now.changed_since(&before))),
            _ => None,
        };
        let claim = Loops::of(root).claim(&feature.name);
        let log_then =
            last.as_ref().map(|last| last.log_read).or(claim.and_then(|it| it.commits_from));
        let mut commits = log_then.and_then(|from| commits::made_since(root, from));
        if let Some(last) = last.filter(|last| is_together(&self.list, task, last, tick)) {
            files = files.zip(last.files).map(|(own, shared)| joined(own, shared));
            commits = commits.zip(last.commits).map(|(own, shared)| own + shared);
        }
        let count = files.as_ref().map_or(0, Vec::len);
        if let Some(files) = &mut files {
            files.truncate(MOST_FILES);
        }
        let record = self.record();
        receipts.add(&Receipt {
            at: world::now(),
            task: task.id.clone(),
            by: Witness::Done,
            session: record.map(|record| record.session).unwrap_or_default(),
            iteration: self.record_iterations(),
            by_content: files.is_some(),
            more_files: (count - files.as_ref().map_or(0, Vec::len)) as u64,
            files,
            commits,
            log_read: commits::log_length(root),
            verify: tick.verify.clone(),
            attempt: tick.attempt,
            ..Receipt::default()
        })?;
        let kept = KeptContents { number: armed_at.millis(), contents: now };
        receipts.keep_contents(&kept.to_bytes())
    }
}

/// Whether a task was done with the work of the one before it: ticked in one call, or of one parallel group.
fn is_together(tasks: &TaskList, task: &Task, before: &Receipt, tick: &Tick) -> bool {
    let of_group = |other: &Task| other.parallel && task.parallel && other.section == task.section;
    tick.together.contains(&before.task) || tasks.find(&before.task).is_some_and(of_group)
}

fn paths(changed: Vec<ChangedFile>) -> Vec<String> {
    changed.into_iter().map(|file| file.path).collect()
}

fn joined(mut own: Vec<String>, shared: Vec<String>) -> Vec<String> {
    own.extend(shared);
    own.sort_unstable();
    own.dedup();
    own
}
