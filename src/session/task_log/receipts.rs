//! The receipts of a feature's tasks: what is seen of the work when one is ticked.

use std::io;
use std::time::Duration;

use super::Books;
use crate::engine::proof::Proof;
use crate::engine::tasks::{Task, TaskList};
use crate::evidence::commits;
use crate::evidence::contents::{Contents, KeptContents};
use crate::feature::project::{Feature, Project};
use crate::session::proof::{FilesSeen, TaskProofs, Unjudged, list_of};
use crate::store::loops::Loops;
use crate::store::receipts::{MOST_FILES, Receipt, Receipts, VerifyRun, Witness};
use crate::world;

/// The longest that the files are looked through.
const LOOK: Duration = Duration::from_secs(2);

/// What is known of a tick besides its task.
#[derive(Clone, Debug, Default)]
pub struct Tick {
    /// The run of the task's Verify command, `None` where it did not run.
    pub verify: Option<VerifyRun>,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// How well it is proved, `None` where nobody judged that.
    pub proof: Option<Proof>,
    /// The files that are its work.
    pub own: Vec<String>,
    /// Why it changes nothing, in the agent's words.
    pub no_change: Option<String>,
    /// What the files showed before it was ticked, with the work that it shares.
    pub seen: FilesSeen,
    /// What they contain, to compare the next task with.
    pub now: Option<Contents>,
    /// Commits of tasks with which it was done.
    pub shared_commits: u64,
}

/// Returns the receipts of a feature's tasks; an error where nothing can be kept outside of the project.
pub fn receipts_of(project: &Project, feature: &Feature) -> io::Result<Receipts> {
    Receipts::of(&project.root, &feature.name, &list_of(feature))
}

/// Remembers what the files contain before the first task of a loop, where nobody has: its work is known by their content.
pub fn begin_tasks(project: &Project, feature: &Feature) -> io::Result<()> {
    let proofs = TaskProofs::standing(project, feature).map_err(|unjudged| match unjudged {
        Unjudged::Nowhere(error) => error,
        Unjudged::Unreadable(why) => io::Error::other(why),
    })?;
    let number = proofs.armed_at.millis();
    let kept = proofs.receipts.contents();
    if kept.and_then(|bytes| KeptContents::number_in(&bytes)) == Some(number) {
        return Ok(());
    }
    let contents = proofs.look_again(None, LOOK);
    proofs.receipts.keep_contents(&KeptContents { number, contents }.to_bytes())
}

impl Books<'_> {
    /// Keeps the receipt of a task that is ticked. An error says why it cannot be kept.
    pub fn keep_receipt(&self, proofs: &TaskProofs<'_>, id: &str, tick: &Tick) -> io::Result<()> {
        let Some(task) = self.list.find(id) else { return Ok(()) };
        let root = &self.project.root;
        let last = proofs.receipts.last().filter(|it| it.at >= proofs.armed_at);
        let claim = Loops::of(root).claim(&self.feature.name);
        let log_then = last.map(|last| last.log_read).or(claim.and_then(|it| it.commits_from));
        let commits = log_then.and_then(|from| commits::made_since(root, from));
        let files = tick.seen.since_tick.as_ref();
        let files: Option<Vec<String>> =
            files.map(|files| files.iter().map(|file| file.path.clone()).collect());
        let count = files.as_ref().map_or(0, Vec::len);
        let record = self.record();
        let receipt = Receipt {
            at: world::now(),
            task: proofs.id_of(task, &self.list),
            by: Witness::Done,
            session: record.map(|record| record.session).unwrap_or_default(),
            iteration: self.record_iterations(),
            by_content: files.is_some(),
            more_files: count.saturating_sub(MOST_FILES) as u64,
            files: files.map(|files| files.into_iter().take(MOST_FILES).collect()),
            commits: commits.map(|own| own + tick.shared_commits),
            log_read: commits::log_length(root),
            verify: tick.verify.clone(),
            attempt: tick.attempt,
            proof: tick.proof,
            own: tick.own.iter().take(MOST_FILES).cloned().collect(),
            no_change: tick.no_change.clone(),
            ..Receipt::default()
        };
        proofs.add_receipts(&[receipt], tick.now.as_ref())
    }
}

/// Returns whether a task was done with the work of another one: both are of one parallel group.
pub fn is_together(tasks: &TaskList, task: &Task, before: &Receipt) -> bool {
    let of_group = |other: &Task| other.parallel && task.parallel && other.section == task.section;
    tasks.find(&before.task).is_some_and(of_group)
}
