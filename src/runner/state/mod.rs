//! The files of a runner's loop: `loop-state.json` (spec 001) and `.spool/.state/ralph/<change>/` (spec 004).

mod context;
mod document;
mod folder;
mod history;
mod holder;
mod logs;
mod loop_state;
mod recover;
mod reserve;
mod time;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};

use self::document::{EndedIterations, MOST, OURS, ReadState, parse, written};
use self::folder::{at, is_disk_full, make, make_private, must_be_free_or_a_file};
use self::holder::{is_locked, lock_change, lock_tree};
use self::recover::{recover, repaired};
use super::options::Counting;
use super::requests::Requests;
use super::target::Change;
use crate::engine::TerminalReason;
use crate::forms::spent::Spent;
use crate::mask::masked_text;
use crate::store::journal::{self, Entry};
use crate::store::lock::Lock;
use crate::store::loops::put_aside;
use crate::store::read::{self, Problem};
use crate::store::write::{
    Flush, LEFT_ALONE, append_private_line, open_or_create, remove_all_leftovers, remove_leftovers,
    write_private, write_whole,
};
use crate::system::files::{changed_at, real_path};
use crate::world::{self, FileTime, Stopwatch};

pub use self::context::{Context, MOST as MOST_CONTEXT};
pub use self::document::{MOST_BYTES, MOST_ITERATIONS};
pub use self::folder::{
    changes_with_state, find_state_folder, is_change_id, make_state_folder, state_folder,
    states_folder,
};
pub use self::history::{NAME as HISTORY, Past, add_left_ticks, last, of_run, tail};
pub use self::holder::{Both, Holder, LockTaken, holder};
pub use self::logs::prompt_beside;
use self::loop_state::in_seconds;
pub use self::loop_state::{
    AgentShare, Iteration, LoopState, LoopStatus, MOST_DENIED_OF_RUN, PAUSED, shares_in,
    with_shares,
};
pub use self::recover::{KILLED, Recovered};
pub use self::time::{compact, iso, readable, time_of};

pub const VERSION: u32 = 1;

/// A change's state files, open for writing, with the locks on change and work tree.
///
/// Dropped within an iteration, they record the iteration as interrupted, and the loop as stopped.
#[derive(Debug)]
pub struct StateFiles {
    pub state: LoopState,
    /// `.spool/.state/ralph/<change>/`, a real path.
    pub folder: PathBuf,
    /// The remains of a killed runner.
    pub recovered: Option<Recovered>,
    /// The outcome of the loop before this run.
    pub earlier: EarlierLoop,
    /// Unreadable files that were renamed, so that nothing is lost.
    pub put_aside: Vec<PathBuf>,
    /// The words about a full disk; `None` while there was room.
    full_disk: Option<String>,
    /// `<worktree>/.claude/loop-state.json`.
    document: PathBuf,
    /// The running iteration, as last written.
    pub running: Option<Iteration>,
    ended: EndedIterations,
    /// Lines of the history that are not written yet.
    unwritten: Vec<u8>,
    /// The last recorded iteration, which no second call records again; 0 for none.
    recorded: u32,
    /// The time of this runner.
    pub clock: Stopwatch,
    /// The time of earlier runners; 0 for a new loop.
    pub ran_before: Duration,
    /// The project and the work tree, real paths.
    root: PathBuf,
    tree: PathBuf,
    tree_lock: Lock,
    change_lock: Lock,
}

/// The outcome of the loop before a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EarlierLoop {
    /// None, or an end that changes nothing.
    #[default]
    None,
    /// The loop was stopped: this run counts on.
    GoesOn,
    /// A limit ended the loop: this run begins with whole budgets.
    Used(TerminalReason),
}

/// The state files that a new runner finds.
struct OldFiles {
    state: Option<ReadState>,
    document: Option<ReadState>,
}

impl StateFiles {
    /// Opens and locks a change's state files. An iteration of a killed runner is first recorded as interrupted:
    /// `complete` adds the known facts about it, commits, tokens and costs, and returns the use of a review in it. An
    /// error names the process with the lock.
    pub fn open_with(
        change: &Change,
        mut state: LoopState,
        counting: Counting,
        complete: impl FnOnce(&mut Iteration, &LoopState) -> Spent,
    ) -> Result<Self> {
        let folder = make_state_folder(&change.root, &change.id)?;
        let tree = real_path(&change.worktree);
        let tree = tree.with_context(|| format!("`{}`", change.worktree.display()))?;
        let claude = make(&tree, &tree.join(".claude"))?;
        let now = world::now();
        if state.started_at.is_empty() {
            state.started_at = iso(now);
        }
        let change_lock = lock_change(&folder, &change.id, &state.started_at)?;
        let document = claude.join("loop-state.json");
        let tree_lock = lock_tree(&claude, &document)?;
        remove_all_leftovers(&folder, LEFT_ALONE);
        logs::prune(&folder.join("logs"), logs::MOST);
        for path in [&document, &folder.join("state.json")] {
            must_be_free_or_a_file(path)?;
            remove_leftovers(path, Duration::ZERO);
        }
        for name in [HISTORY, "journal.jsonl", "context.md"] {
            must_be_free_or_a_file(&folder.join(name))?;
        }
        let mut put_aside = Vec::new();
        let mut found = OldFiles {
            state: read_or_put_aside(&folder.join("state.json"), &mut put_aside)?,
            document: read_or_put_aside(&document, &mut put_aside)?,
        };
        let last_run = found.state.as_ref().map(|old| old.state.started_at.clone());
        if last_run.as_ref() == Some(&state.started_at) {
            // A run is known by its start: two within one millisecond are kept apart.
            state.started_at =
                iso(time_of(&state.started_at).unwrap_or(now).after(Duration::from_millis(1)));
        }
        let recovered = found.state.as_mut().and_then(|old| recover(&folder, old, complete));
        let mut files = Self {
            state: LoopState::default(),
            folder,
            recovered: None,
            earlier: EarlierLoop::None,
            put_aside,
            full_disk: None,
            document,
            running: None,
            ended: EndedIterations::default(),
            unwritten: Vec::new(),
            recorded: 0,
            clock: Stopwatch::start(),
            ran_before: Duration::ZERO,
            root: change.root.clone(),
            tree,
            tree_lock,
            change_lock,
        };
        if let Some(recovered) = recovered {
            files.close_the_old(&found, recovered)?;
        }
        Requests::of(&files.folder).forget_all();
        files.begin_run(state, &change.id, found, counting)?;
        reserve::keep(&files.folder);
        Ok(files)
    }

    /// Writes the state whole, with a running iteration.
    ///
    /// The end of a loop goes to the disk at once. Earlier writes survive the program, and a power cut as far as the
    /// system has written them.
    pub fn save(&mut self) -> Result<()> {
        self.with_room(Self::write_state)
    }

    fn write_state(&mut self) -> Result<()> {
        self.put_back()?;
        self.write_history()?;
        self.state.updated_at = iso(world::now());
        self.state.ran_seconds = in_seconds(self.elapsed());
        self.state.words = masked_text(&self.state.words).into_owned();
        // They would stand in the file twice.
        self.state.more.retain(|name, _| !OURS.contains(&name.as_str()));
        let [state, document] = written(&self.state, &self.ended, self.running.as_ref())?;
        let flush = if self.state.status.is_over() { Flush::ToDisk } else { Flush::ToSystem };
        let path = self.folder.join("state.json");
        write_private(&path, state.as_bytes(), flush).map_err(|error| at(&path, &error))?;
        write_whole(&self.document, document.as_bytes(), flush)
            .map_err(|error| at(&self.document, &error))
    }

    /// Makes removed folders again, mostly after an agent's `git clean`: their content is gone, but the loop goes on.
    /// If another runner has come meanwhile, the loop is that runner's.
    pub fn put_back(&mut self) -> Result<()> {
        if !is_locked(&self.folder, &self.change_lock) || !is_real(&self.folder) {
            let folder = make_state_folder(&self.root, &self.state.change_id)?;
            self.is_where_it_was(&folder, &self.folder)?;
            let (change, since) = (&self.state.change_id, &self.state.started_at);
            self.change_lock = lock_change(&self.folder, change, since)?;
        }
        let claude = self.tree.join(".claude");
        if !is_locked(&claude, &self.tree_lock) || !is_real(&claude) {
            self.is_where_it_was(&make(&self.tree, &claude)?, &claude)?;
            self.tree_lock = lock_tree(&claude, &self.document)?;
        }
        Ok(())
    }

    /// An error if one of the loop's folders leads elsewhere now: nothing is written there.
    fn is_where_it_was(&self, now: &Path, before: &Path) -> Result<()> {
        if now == before {
            return Ok(());
        }
        anyhow::bail!(
            "`{}`: a symbolic link leads to `{}` since the loop of `{}` began\nmove it away, then start again",
            before.display(),
            now.display(),
            self.state.change_id
        )
    }

    /// Records that an iteration has begun, as an entry without `ended`. A second call for the same iteration adds the
    /// facts known by then.
    pub fn begin(&mut self, iteration: &Iteration) -> Result<()> {
        self.state.current_iteration = iteration.n;
        self.running = Some(Iteration { ended: None, ..iteration.clone() });
        self.save()
    }

    /// Writes down the end of the running iteration, with the current state.
    pub fn end(&mut self, iteration: &Iteration) -> Result<()> {
        let iteration = self.as_begun(iteration);
        self.record(&iteration)?;
        self.running = None;
        self.save()
    }

    /// Takes back an iteration that does not count: the history keeps its run, the list does not.
    pub fn give_back(&mut self, iteration: &Iteration) -> Result<()> {
        let iteration = self.as_begun(iteration);
        self.write_later(&self.state.started_at.clone(), &iteration)?;
        self.forget_begun();
        self.save()
    }

    /// The time of the loop, with earlier runners.
    pub fn elapsed(&self) -> Duration {
        self.ran_before.saturating_add(self.clock.elapsed())
    }

    /// The last save, by the files' clock.
    pub fn saved_at(&self) -> FileTime {
        let saved = fs::metadata(self.folder.join("state.json"));
        saved.map(|meta| changed_at(&meta)).unwrap_or_default()
    }

    /// One line in one write.
    pub fn note(&mut self, entry: &Entry) -> Result<()> {
        self.with_room(|files| {
            files.put_back()?;
            let path = files.folder.join("journal.jsonl");
            all_or_nothing(&path, |path| journal::append(path, std::slice::from_ref(entry)))
        })
    }

    /// On a full disk, frees the reserve and writes again.
    fn with_room<T>(&mut self, mut write: impl FnMut(&mut Self) -> Result<T>) -> Result<T> {
        let done = write(self);
        if self.frees_room_for(&done) { write(self) } else { done }
    }

    /// True if a write failed on a full disk and the reserve is free now.
    pub fn frees_room_for<T>(&mut self, done: &Result<T>) -> bool {
        done.as_ref().is_err_and(|error| self.fills_disk(error)) && self.frees_reserve()
    }

    /// True if the error is a full disk. Then the loop ends before its next step.
    pub fn fills_disk(&mut self, error: &anyhow::Error) -> bool {
        let is_full = is_disk_full(error);
        if is_full && self.full_disk.is_none() {
            // What happened to which file, without advice.
            let why = format!("{error:#}");
            let why = why.lines().next().unwrap_or_default();
            self.full_disk = Some(format!("the disk was full: {why}"));
        }
        is_full
    }

    /// The words about a full disk.
    pub fn full_disk(&self) -> Option<&str> {
        self.full_disk.as_deref()
    }

    /// An error after a full disk: no further step begins.
    pub fn has_room(&self) -> Result<()> {
        self.full_disk().map_or(Ok(()), |words| Err(anyhow!("{words}")))
    }

    /// Frees the room, unless a link is in place of the folder.
    fn frees_reserve(&self) -> bool {
        is_real(&self.folder) && reserve::free(&self.folder)
    }

    /// Takes back an iteration that was written down and never began.
    pub fn forget_begun(&mut self) {
        if let Some(iteration) = self.running.take() {
            self.state.current_iteration = iteration.n.saturating_sub(1);
        }
    }

    /// A new file for an iteration's output, and its path relative to the state folder.
    pub fn log(&mut self, iteration: u32) -> Result<(File, String)> {
        self.with_room(|files| files.new_log(iteration))
    }

    fn new_log(&mut self, iteration: u32) -> Result<(File, String)> {
        self.put_back()?;
        let logs = self.folder.join("logs");
        self.is_where_it_was(&make_private(&self.folder, &logs)?, &logs)?;
        let run: String =
            self.state.started_at.chars().filter(char::is_ascii_alphanumeric).take(18).collect();
        // The next iteration reuses the number of one that did not count.
        let numbered = |again: u32| match again {
            1 => format!("logs/{run}-{iteration:04}.log"),
            again => format!("logs/{run}-{iteration:04}-{again}.log"),
        };
        let is_free = |name: &String| self.folder.join(name).symlink_metadata().is_err();
        let name = (1..1000).map(numbered).find(is_free).unwrap_or_else(|| numbered(1));
        let path = self.folder.join(&name);
        // Pruning asks about every log, so not every iteration prunes.
        if iteration.is_multiple_of(logs::ALWAYS as u32) {
            logs::prune(&logs, logs::MOST);
        }
        let file = open_or_create(&path, File::options().write(true).truncate(true))
            .map_err(|error| at(&path, &error))?;
        Ok((file, name))
    }

    /// Keeps an iteration's prompt beside its log, with keys masked.
    pub fn keep_prompt(&mut self, log: &str, prompt: &str) -> Result<()> {
        self.with_room(|files| {
            let path = files.folder.join(prompt_beside(log));
            write_private(&path, masked_text(prompt).as_bytes(), Flush::ToSystem)
                .map_err(|error| at(&path, &error))
        })
    }

    /// The iteration with its recorded beginning, which identifies it.
    fn as_begun(&self, iteration: &Iteration) -> Iteration {
        let mut iteration = iteration.clone();
        for words in [&mut iteration.words, &mut iteration.failure] {
            *words = masked_text(words).into_owned();
        }
        if let Some(running) = self.running.as_ref().filter(|running| running.n == iteration.n) {
            iteration.started.clone_from(&running.started);
        }
        iteration.ended.get_or_insert_with(|| iso(world::now()));
        iteration
    }

    /// Puts an ended iteration into history and list.
    fn record(&mut self, iteration: &Iteration) -> Result<()> {
        if iteration.n == self.recorded {
            return Ok(());
        }
        self.recorded = iteration.n;
        self.write_later(&self.state.started_at.clone(), iteration)?;
        self.ended.push(iteration)?;
        Ok(())
    }

    /// Queues an iteration for the next write of the history.
    fn write_later(&mut self, run: &str, iteration: &Iteration) -> Result<()> {
        self.unwritten.extend(history::line(run, iteration)?);
        self.unwritten.push(b'\n');
        Ok(())
    }

    /// The history comes first: the other files can be repaired by it.
    fn write_history(&mut self) -> Result<()> {
        if self.unwritten.is_empty() {
            return Ok(());
        }
        let path = self.folder.join(HISTORY);
        let lines = self.unwritten.trim_ascii_end();
        all_or_nothing(&path, |path| append_private_line(path, lines))?;
        self.unwritten.clear();
        Ok(())
    }

    /// Writes the end of a killed runner's run.
    fn close_the_old(&mut self, found: &OldFiles, recovered: Recovered) -> Result<()> {
        let Some(old) = &found.state else { return Ok(()) };
        self.state = old.state.clone();
        self.ran_before = seconds(old.state.ran_seconds);
        if let Some(cut_off) = recovered.iteration.as_ref().filter(|_| !recovered.is_in_history) {
            self.write_later(&recovered.run_started_at, cut_off)?;
        }
        self.ended = repaired(&found.own_document(), Some(&recovered))?;
        self.write_state()?;
        self.note(&recovered.entry(&self.state.change_id, &self.state.words))?;
        self.recovered = Some(recovered);
        Ok(())
    }

    fn begin_run(
        &mut self,
        state: LoopState,
        change: &str,
        found: OldFiles,
        counting: Counting,
    ) -> Result<()> {
        let old = found.state.as_ref().filter(|_| counting == Counting::Continued);
        self.earlier = old.map(|old| EarlierLoop::of(&old.state)).unwrap_or_default();
        self.clock = Stopwatch::start();
        self.ran_before = Duration::ZERO;
        self.state = state;
        self.ended = EndedIterations::default();
        match (&found.state, &self.earlier) {
            (Some(old), EarlierLoop::GoesOn) => {
                self.ran_before = seconds(old.state.ran_seconds);
                self.ended = repaired(&found.own_document(), self.recovered.as_ref())?;
                self.state = std::mem::take(&mut self.state).going_on_from(&old.state);
            }
            _ => {
                if let Some(cut_off) = self.recovered.as_ref().and_then(Recovered::for_next_run) {
                    self.ended.push(&cut_off)?;
                }
            }
        }
        self.state.version = VERSION;
        change.clone_into(&mut self.state.change_id);
        change.clone_into(&mut self.state.worktree_name);
        self.state.pid = std::process::id();
        for old in [found.document, found.state].into_iter().flatten() {
            for (name, value) in old.state.more {
                self.state.more.entry(name).or_insert(value);
            }
        }
        self.write_state()
    }
}

impl OldFiles {
    /// The iterations of the run in `state.json`; none if the document is about another run.
    fn own_document(&self) -> ReadState {
        let is_its_own = |read: &&ReadState| {
            self.state.as_ref().is_some_and(|old| {
                read.state.started_at == old.state.started_at
                    && read.state.change_id == old.state.change_id
            })
        };
        self.document.as_ref().filter(is_its_own).cloned().unwrap_or_default()
    }
}

impl EarlierLoop {
    fn of(old: &LoopState) -> Self {
        match &old.ledger.ended {
            _ if old.goes_on() => Self::GoesOn,
            Some(
                reason @ (TerminalReason::MaxIters { .. }
                | TerminalReason::TimedOut { .. }
                | TerminalReason::Budget { .. }),
            ) => Self::Used(reason.clone()),
            _ => Self::None,
        }
    }
}

/// An impossible length counts as 0.
pub fn seconds(written: f64) -> Duration {
    Duration::try_from_secs_f64(written).unwrap_or_default()
}

impl Drop for StateFiles {
    /// However the runner left, no iteration stays open, and no loop counts as running.
    fn drop(&mut self) {
        self.frees_reserve();
        if self.state.status.is_over() && self.running.is_none() && self.unwritten.is_empty() {
            return;
        }
        let now = world::now();
        if let Some(mut iteration) = self.running.take() {
            iteration.interrupted = true;
            iteration.ended = Some(iso(now));
            let began = time_of(&iteration.started).unwrap_or(now);
            iteration.seconds = in_seconds(now.since(began));
            // No caller is left to get the error: the next run repairs the files.
            let _ = self.record(&iteration);
        }
        if !self.state.status.is_over() {
            self.state.status = LoopStatus::Stopped;
            self.state.ended_at = iso(now);
            self.state.doing.clear();
            if self.state.reason.is_empty() {
                "stopped".clone_into(&mut self.state.reason);
                "the runner left before the loop had an end".clone_into(&mut self.state.words);
            }
        }
        let _ = self.save();
    }
}

/// The state, and the running iteration by `state.json`; `None` without the file. An error in words if it cannot be
/// read.
pub fn read_state(folder: &Path) -> Result<Option<(LoopState, Option<Iteration>)>, String> {
    let found = read::read_if_there(&folder.join("state.json"), MOST);
    let Some(content) = found.map_err(|problem| problem.to_string())? else { return Ok(None) };
    parse(&content.bytes).map(|read| Some((read.state, read.running)))
}

/// Appends to a file with a single writer. A failed append leaves nothing behind.
fn all_or_nothing(path: &Path, append: impl FnOnce(&Path) -> io::Result<()>) -> Result<()> {
    let before = match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        found => found.map(|meta| meta.len()),
    };
    let written = append(path);
    if let (Err(_), Ok(before)) = (&written, before)
        && path.symlink_metadata().is_ok_and(|meta| meta.len() > before)
    {
        let _ =
            open_or_create(path, File::options().write(true)).and_then(|file| file.set_len(before));
    }
    written.map_err(|error| at(path, &error))
}

/// No link leads to this folder.
fn is_real(folder: &Path) -> bool {
    real_path(folder).is_ok_and(|real| real == folder)
}

/// The content of a state file. An unreadable file is renamed, never overwritten, and never fatal.
fn read_or_put_aside(path: &Path, aside: &mut Vec<PathBuf>) -> Result<Option<ReadState>> {
    let why = match read::read(path, MOST) {
        Err(Problem::Missing) => return Ok(None),
        // The file may be intact: only a file that was read and is not ours is renamed.
        Err(Problem::Refused(why)) => {
            anyhow::bail!(
                "`{}` cannot be read: {why}\nmake it readable, then start again",
                path.display()
            )
        }
        Err(problem) => problem.to_string(),
        Ok(content) => match parse(&content.bytes) {
            Ok(read) => return Ok(Some(read)),
            Err(why) => why,
        },
    };
    let renamed: io::Result<PathBuf> = put_aside(path);
    aside.push(renamed.with_context(|| {
        format!("`{}` cannot be read ({why}), and cannot be renamed\nmove it away", path.display())
    })?);
    Ok(None)
}

#[cfg(test)]
mod tests;
