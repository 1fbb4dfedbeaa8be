//! Judges the ticks of a loop, for every driver: the stop, the iteration, `spool task done`, and the end.

pub mod command;
pub mod names;
pub mod promised;
pub mod rules;
pub mod ticks;
pub mod words;

use std::cell::{LazyCell, OnceCell};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use crate::engine::Check;
use crate::engine::matched::Matched;
use crate::engine::order::sorted;
use crate::engine::proof::{
    ChangedFile, FileChange, LeastProof, Proof, UnprovedReason, changed_at,
};
use crate::engine::tasks::{Task, TaskList};
use crate::evidence::commits;
use crate::evidence::contents::{Contents, ContentsLook, KeptContents, MOST_NAMED};
use crate::evidence::grown::NoLook;
use crate::evidence::pattern::end_bits;
use crate::evidence::task_list::TaskFile;
use crate::feature::HANDOFF;
use crate::store::loops::VerifyCommands;
use crate::store::receipts::{Receipt, Receipts, Witness, newest};
use crate::system::files::real_path;
use crate::system::names::with_slashes;
use crate::world::{Deadline, WallTime};
use command::Commands;
use names::{FileName, files_named_in, lower_files_in, names_in};
use rules::{FileFacts, JudgedTask, TaskFacts, VerifyShown};
use words::{doubtful_lines, line_of, part_of_judge};

/// The limit of a look at the files.
pub const LOOK: Duration = Duration::from_secs(2);
/// The doubt about a task that nothing but a commit may show.
const ONLY_COMMITTED: &str = "only a commit was made since the task before";
/// Paths that are followed through links at once: a stop has little time.
const MOST_LINKS: usize = 1_000;

/// Verify commands by the id of their task; read from disk on first use.
pub type LazyCommands = LazyCell<VerifyCommands, Box<dyn FnOnce() -> VerifyCommands>>;

/// The part of a person's arming that ticks are judged by.
pub struct ArmedTerms {
    pub at: WallTime,
    pub least: LeastProof,
    /// Patterns of files that only a person may change.
    pub protect: Vec<String>,
    pub checks: Vec<String>,
    pub verify: LazyCommands,
}

impl Default for ArmedTerms {
    fn default() -> Self {
        let verify = LazyCell::new(Box::new(VerifyCommands::new) as Box<_>);
        let (protect, checks) = (Vec::new(), Vec::new());
        Self { at: WallTime::default(), least: LeastProof::Word, protect, checks, verify }
    }
}

/// The files of a loop.
#[derive(Clone, Debug, Default)]
pub struct JudgedPlace {
    /// The folder that is looked through.
    pub folder: PathBuf,
    /// The project's path in `folder`, with its last slash; empty for the same folder.
    pub above: String,
    /// The task list's path, relative to the project, and to `folder`.
    pub list: String,
    pub list_at: String,
    /// The beginning of the runner's run; `None` in a session.
    pub run: Option<WallTime>,
}

pub struct TickJudge {
    pub place: JudgedPlace,
    pub armed: ArmedTerms,
    pub receipts: Receipts,
    /// The armed list, read on first use.
    list: OnceCell<Option<Rc<TaskFile>>>,
    /// Read on first use; a run sets them.
    pub looks: OnceCell<Looks>,
}

/// The files' contents at arming, and at the last tick.
#[derive(Clone, Debug, Default)]
pub struct Looks {
    /// `None` for a project that is too large to look through.
    pub armed: Option<Contents>,
    pub tick: Option<Contents>,
}

/// The files of a project and the loop's receipts at one moment.
#[derive(Clone, Debug, Default)]
pub struct FilesSeen {
    /// `None` without a whole look.
    pub now: Option<Contents>,
    pub facts: FileFacts,
    /// Those since arming, the oldest first.
    pub receipts: Rc<[Receipt]>,
}

impl ArmedTerms {
    pub fn commands_of(checks: &[Check]) -> Vec<String> {
        checks.iter().filter(|check| !check.is_review()).map(|check| check.run.clone()).collect()
    }

    fn lines(&self) -> impl Iterator<Item = &str> {
        self.checks.iter().chain(self.verify.values()).map(String::as_str)
    }

    fn commands(&self) -> Commands {
        Commands::of(self.lines())
    }

    /// Files that are looked at although git ignores them: protected ones, those that a command runs, and those that
    /// the list names.
    fn looked_at(&self, list: &[u8]) -> Vec<String> {
        // Protected files first: a list may name more files than are looked at.
        let mut all: Vec<String> = command::protected_paths(&self.protect).collect();
        all.extend(self.commands().paths().cloned());
        all.extend(files_named_in(list, MOST_NAMED));
        all
    }
}

impl JudgedPlace {
    fn beside(&self) -> &str {
        self.list.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// From paths of the project to paths of `folder`.
    pub fn looked_at(&self, paths: &[String]) -> Vec<String> {
        paths.iter().map(|path| [&self.above, path.as_str()].concat()).collect()
    }

    fn look(
        &self,
        named: &[String],
        earlier: Option<&Contents>,
        limit: Duration,
    ) -> Result<Contents, NoLook> {
        let Self { folder: root, list_at: without, run, .. } = self;
        let mut named = self.looked_at(named);
        // A folder may be named without its slash.
        let is_bare = |name: &str| !name.is_empty() && !name.trim_start_matches('.').contains('.');
        let bare = named.iter_mut().filter(|path| path.rsplit('/').next().is_some_and(is_bare));
        bare.filter(|path| root.join(&**path).is_dir()).for_each(|path| path.push('/'));
        ContentsLook { root, without, named: &named, earlier, limit, run: *run }.look()
    }

    /// From a path of `folder` to a path of the project; outside of the project it begins with `../`.
    pub fn in_project(&self, path: &str) -> String {
        let (mut above, mut below) = (self.above.as_str(), path);
        while let Some((folder, rest)) = above.split_once('/') {
            let Some(inside) = below.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'))
            else {
                break;
            };
            (above, below) = (rest, inside);
        }
        "../".repeat(above.matches('/').count()) + below
    }

    /// The files of the project that changed between two looks, without the task list and the handoff beside it.
    pub fn changed(&self, now: &Contents, then: &Contents) -> Vec<ChangedFile> {
        let mut changed = now.changed_since(then);
        let handoff = [self.beside(), "/", HANDOFF].concat();
        for file in &mut changed {
            file.path = self.in_project(&file.path);
        }
        changed.retain(|file| file.path != self.list && file.path != handoff);
        sorted(changed, |one, other| one.path.cmp(&other.path))
    }
}

impl TickJudge {
    pub fn of(place: JudgedPlace, armed: ArmedTerms, receipts: Receipts) -> Self {
        Self { place, armed, receipts, list: OnceCell::new(), looks: OnceCell::new() }
    }

    /// Sets list and looks from memory: a run does not read them from disk.
    pub fn knowing(self, list: Option<Rc<TaskFile>>, looks: Looks) -> Self {
        Self { list: OnceCell::from(list), looks: OnceCell::from(looks), ..self }
    }

    /// Stores the task list and the files' contents; no contents if the look did not see all files within `limit`.
    pub fn arm(&self, list: &[u8], limit: Duration) -> io::Result<Option<Contents>> {
        let number = self.number();
        let (named, deadline) = (self.armed.looked_at(list), Deadline::after(limit));
        let look = || self.place.look(&named, None, deadline.left());
        // Without contents every tick of the loop counts on the agent's word: a passing error is worth a second look.
        let contents = match look() {
            Err(NoLook::NotNow) => look(),
            seen => seen,
        };
        let contents = contents.ok();
        let kept = KeptContents { number, contents };
        self.receipts.keep_armed(number, &kept.to_bytes(), list)?;
        Ok(kept.contents)
    }

    /// Tells this loop's looks from those of other loops.
    pub fn number(&self) -> u64 {
        self.armed.at.millis()
    }

    /// Lines for the person who arms the loop: files that its commands run, and patterns that protect no file; empty
    /// for none. `how` names what protects a file.
    pub fn armed_lines(&self, files: &Contents, how: &str) -> String {
        let paths: Vec<String> =
            files.paths(u64::MAX).map(|path| self.place.in_project(path)).collect();
        let (commands, beside) = (self.armed.commands(), self.place.beside());
        let judged = paths.iter().filter(|_| self.armed.least == LeastProof::Files);
        let is_run = |path: &&String| commands.run(path, beside) && **path != self.place.list;
        let run = sorted(judged.filter(is_run).cloned().collect(), Ord::cmp);
        let unmet = command::unmet(&self.armed.protect, &paths);
        let root = self.place.folder.join(&self.place.above);
        let [missing, deaf] = command::doubtful(self.armed.lines(), &root);
        // An open task may be to write the missing file.
        let doubtful = doubtful_lines(&[self.named_by_none(missing), deaf]);
        part_of_judge(&run, how)
            + &line_of("protects no file that is looked at", &unmet)
            + &doubtful
    }

    pub fn looks(&self) -> &Looks {
        let kept = |bytes: Option<Vec<u8>>| {
            KeptContents::parse(bytes?).filter(|kept| kept.number == self.number())?.contents
        };
        self.looks.get_or_init(|| Looks {
            armed: kept(self.receipts.armed_contents()),
            tick: kept(self.receipts.contents()),
        })
    }

    /// The list at arming; `None` if unknown.
    pub fn armed_list(&self) -> Option<&TaskFile> {
        let read =
            || self.receipts.armed_list(self.number()).map(|bytes| Rc::new(TaskFile::of(bytes)));
        self.list.get_or_init(read).as_deref()
    }

    /// Files that are looked at although git ignores them.
    pub fn looked_at(&self) -> Vec<String> {
        self.armed_list().map(|list| self.armed.looked_at(&list.bytes)).unwrap_or_default()
    }

    /// The current contents of the project alone.
    pub fn contents_of_project(&self, root: &Path) -> Result<Contents, NoLook> {
        let (folder, list_at, run) = (root.to_owned(), self.place.list.clone(), self.place.run);
        let project = JudgedPlace { folder, list_at, run, ..JudgedPlace::default() };
        project.look(&self.looked_at(), None, LOOK)
    }

    /// The current contents; files untouched since `earlier` are not read again.
    pub fn contents(
        &self,
        earlier: Option<&Contents>,
        limit: Duration,
    ) -> Result<Contents, NoLook> {
        self.place.look(&self.looked_at(), earlier, limit)
    }

    /// The files now. A project that was too large at arming is not looked through again; one that became too large
    /// since is reported.
    pub fn look(&self, limit: Duration) -> FilesSeen {
        self.look_beside(self.known(), limit)
    }

    /// The same, with receipts that the caller has read.
    fn look_beside(&self, receipts: Rc<[Receipt]>, limit: Duration) -> FilesSeen {
        let mut seen = FilesSeen { receipts, ..FilesSeen::default() };
        let Looks { armed, tick } = self.looks();
        let Some(earlier) = tick.as_ref().or(armed.as_ref()) else { return seen };
        let now = match self.contents(Some(earlier), limit) {
            Ok(now) => now,
            Err(why) => {
                if let (NoLook::TooLarge { folder }, Some(_)) = (why, armed) {
                    seen.facts.too_large = Some(folder);
                }
                return seen;
            }
        };
        let since_tick = tick.as_ref().map(|tick| self.place.changed(&now, tick));
        // Before the first tick, and without an armed look, both spans are the same.
        let mut since_arming = match armed.as_ref().filter(|_| armed != tick) {
            Some(armed) => self.place.changed(&now, armed),
            None => since_tick.clone().unwrap_or_default(),
        };
        let since = since_tick.as_deref().unwrap_or_default();
        add_steps(&mut since_arming, since, &seen.receipts);
        let beside = self.place.beside().to_owned();
        seen.facts = FileFacts { since_tick, since_arming, beside, ..FileFacts::default() };
        self.add_protected(&mut seen.facts);
        FilesSeen { now: Some(now), ..seen }
    }

    /// Adds the changed files that are protected, and those that a command runs.
    fn add_protected(&self, facts: &mut FileFacts) {
        if self.armed.least == LeastProof::Word {
            return;
        }
        facts.protected = self.protected(&facts.since_arming);
        let commands = self.armed.commands();
        let changed = facts.since_arming.iter().map(|file| &file.path);
        let run = changed.filter(|path| commands.run(path, &facts.beside)).cloned().collect();
        facts.judges = self.named_by_none(self.were_there(run));
    }

    /// The paths at which a file existed at arming.
    fn were_there(&self, paths: Vec<String>) -> Vec<String> {
        let Some(armed) = &self.looks().armed else { return Vec::new() };
        let is_there = armed.among(&self.place.looked_at(&paths));
        let found = paths.into_iter().zip(is_there).filter(|(_, is_there)| *is_there);
        found.map(|(path, _)| path).collect()
    }

    /// The protected files that no task names.
    pub fn protected(&self, changed: &[ChangedFile]) -> Vec<String> {
        let all =
            changed.iter().filter(|file| command::is_protected(&self.armed.protect, &file.path));
        self.named_by_none(all.map(|file| file.path.clone()).collect())
    }

    /// Drops files that an open task of the armed list names: they are that task's work.
    fn named_by_none(&self, mut files: Vec<String>) -> Vec<String> {
        if !files.is_empty() {
            let open = self.armed_list().map(open_text).unwrap_or_default();
            let named = lower_files_in(&open);
            files.retain(|path| {
                let path = path.to_lowercase();
                let ends = path.match_indices(['/', ' ']).map(|(at, _)| &path[at + 1..]);
                !ends.chain([&*path]).any(|end| named.contains(end))
            });
        }
        files
    }

    /// `now` is the look that the next tick is compared with; without one the last look stays.
    pub fn add_receipts(&self, receipts: &[Receipt], now: Option<&Contents>) -> io::Result<()> {
        let Some(contents) = now else { return self.receipts.add_all(receipts) };
        let (head, files) = KeptContents::parts(self.number(), Some(contents));
        self.receipts.add_with(receipts, (&head, files))
    }

    /// The loop's receipts, the oldest first.
    pub fn known(&self) -> Rc<[Receipt]> {
        self.receipts.since(self.armed.at).into()
    }

    /// Pairs the list's tasks with those of the armed list; with themselves if that list is unknown.
    pub fn matched<'a>(&'a self, list: &'a TaskList) -> Matched<'a> {
        Matched::of(self.armed_list().map_or(list, |armed| &armed.list), list)
    }

    /// The Verify command that a person armed for the task with this lasting id.
    fn command_of(&self, id: &str) -> Option<String> {
        self.armed.verify.get(id).cloned()
    }

    /// Open tasks that have left the list and have no receipt: those of the armed list, and those that a stop has seen
    /// leave (`gone`). Of the armed list only the `asked` ones, if any are named.
    pub fn missing(&self, list: &TaskList, gone: &[String], asked: &[String]) -> Vec<String> {
        let (armed, receipts) = (self.armed_list(), LazyCell::new(|| self.known()));
        let is_new = |id: &&String| armed.is_none_or(|armed| armed.list.find(id).is_none());
        let is_asked = |id: &String| asked.is_empty() || asked.contains(id) || gone.contains(id);
        let missing = self.matched(list).missing();
        missing
            .into_iter()
            .chain(gone.iter().filter(is_new).cloned())
            .filter(is_asked)
            .filter(|id| receipts.iter().all(|receipt| receipt.task != *id))
            .collect()
    }

    /// Tasks ticked by hand in this loop without a receipt; none if every tick counts, or if the armed list is unknown.
    pub fn not_proved(&self, list: &TaskList) -> Vec<String> {
        if self.armed.least != LeastProof::Files || self.armed_list().is_none() {
            return Vec::new();
        }
        let receipts = self.known();
        let (known, list) = (newest(&receipts), self.matched(list));
        let ticked = list.ticked(&|_, _| false).into_iter();
        ticked.filter(|(_, id)| !known.contains_key(*id)).map(|(task, _)| task.id.clone()).collect()
    }

    /// The facts of a task by its armed text, if known; `text` has the bytes of its list.
    pub fn facts<'a>(
        &self,
        task: &'a Task,
        (list, text): (&Matched<'a>, &[u8]),
        receipts: &[Receipt],
    ) -> TaskFacts {
        let armed = self.armed_list().map_or(text, |armed| &armed.bytes);
        let (then, id) = (list.then(task), id_of(task, list, receipts));
        // A task that was done at arming and then reopened may have been rewritten: judge it by its new text.
        let asked = then.filter(|then| !then.done && then.id == id);
        let (asked, bytes) = asked.map_or((task, text), |then| (then, armed));
        let says = String::from_utf8_lossy(bytes.get(asked.block.clone()).unwrap_or_default());
        let had = then.and_then(|then| then.verify_command(armed));
        TaskFacts {
            id: id.to_owned(),
            has_new_command: had.is_none() && task.verify_command(text).is_some(),
            names: names_in(&says),
            is_check: asked.verify,
            has_done_parts: then.is_some_and(|then| list.has_done_parts(then)),
            ..TaskFacts::default()
        }
    }

    /// Judges tasks that were ticked together.
    pub fn judge(&self, tasks: &[TaskFacts], seen: &FilesSeen) -> Vec<JudgedTask> {
        let mut facts = seen.facts.clone();
        add_removed(tasks, &mut facts, &seen.receipts);
        facts.claimed = claims(&facts.since_arming, &seen.receipts);
        let mut tasks = tasks.to_vec();
        let mut missing = self.follow_links(&mut tasks, &facts.since_arming);
        without_known(&mut missing, seen);
        facts.missing = sorted(missing, Ord::cmp);
        if !facts.judges.is_empty() {
            for task in &mut tasks {
                let verify =
                    self.armed.verify.get(&task.id).filter(|_| task.verify != VerifyShown::Nothing);
                let commands =
                    Commands::of(self.armed.checks.iter().chain(verify).map(String::as_str));
                let runs = |path: &&String| commands.run(path, &facts.beside);
                task.tests = facts.judges.iter().filter(runs).cloned().collect();
            }
        }
        // A name with a slash is a whole path.
        let is_path = |name: &FileName| name.looks || name.path.contains('/');
        let named = |paths: bool| {
            let names =
                tasks.iter().flat_map(|task| &task.names).filter(|name| is_path(name) == paths);
            let mut paths = sorted(names.map(|name| name.path.clone()).collect(), Ord::cmp);
            paths.dedup();
            paths
        };
        if let Some(armed) = &self.looks().armed {
            facts.known = self.were_there(named(true));
            let bare = named(false);
            let ends = bare.iter().fold(0, |ends, name| ends | end_bits(name.as_bytes()));
            let beside = [&facts.beside, "/"].concat();
            let others = armed.paths(ends).filter(|path| !path.starts_with(&beside));
            let others = others.map(|path| path.rsplit('/').next().unwrap_or(path).to_owned());
            let maybe = others.filter(|name| bare.binary_search(name).is_ok());
            facts.maybe = sorted(maybe.collect(), Ord::cmp);
        }
        let mut judged = rules::judge(&tasks, &facts, &|files| self.named_by_none(files));
        let mut commits = LazyCell::new(|| self.commits(&seen.receipts));
        for (task, judged) in tasks.iter().zip(&mut judged) {
            let lacks = judged.proof.as_ref().err().map(|why| why.reason);
            let is_nameless = task.names.iter().all(|name| !name.looks);
            // The task may be to commit what others have done. A commit is one task's. An untouched project has nothing
            // to commit.
            let may_be = is_nameless && !facts.since_arming.is_empty();
            if lacks == Some(UnprovedReason::NothingChanged) && may_be && *commits > 0 {
                *commits -= 1;
                (judged.proof, judged.doubt) = (Ok(Proof::Tick), ONLY_COMMITTED.to_owned());
            }
        }
        judged
    }

    /// Commits since the last tick of this loop, or since arming.
    fn commits(&self, receipts: &[Receipt]) -> u64 {
        let is_tick = |by: Witness| !matches!(by, Witness::Review | Witness::Drop);
        let last = receipts.iter().rfind(|receipt| is_tick(receipt.by));
        let (at, read) = last.map_or((self.armed.at, 0), |last| (last.at, last.log_read));
        // The log has seconds: those of the tick itself are not behind it.
        let since = at.after(Duration::from_secs(1));
        commits::made_since(&self.place.folder, read, since).unwrap_or_default()
    }

    /// Replaces links in the tasks' names by their targets, and paths from a folder above by project paths. A changed
    /// link is not followed: the agent could point it at another task's work. Returns names that certainly mean
    /// missing files, and whose first folder exists.
    fn follow_links(&self, tasks: &mut [TaskFacts], changed: &[ChangedFile]) -> Vec<String> {
        let (root, mut missing) = (self.place.folder.join(&self.place.above), Vec::new());
        let Ok(top) = real_path(&root) else { return missing };
        let is_folder = |path: &str| path.contains(['.', '/']) && root.join(path).is_dir();
        let is_place = |name: &&mut FileName| name.looks || is_folder(&name.path);
        let names = tasks.iter_mut().flat_map(|task| &mut task.names).filter(is_place);
        for name in names.take(MOST_LINKS) {
            let path = name.path.trim_end_matches('/');
            let below = |file: &ChangedFile| path.strip_prefix(&*file.path);
            if changed.iter().filter_map(below).any(|rest| rest.is_empty() || rest.starts_with('/'))
            {
                continue;
            }
            let Ok(real) = real_path(&root.join(path)) else {
                let mut folders = path.match_indices('/').map(|(at, _)| &path[..at]);
                let is_there = |folder: &str| root.join(folder).is_dir();
                if folders.clone().next().is_none_or(is_there) {
                    missing.extend(is_certain(&root, &name.path).then(|| name.path.clone()));
                } else if let Some(above) = folders.rfind(|above| top.ends_with(above)) {
                    name.path = name.path[above.len() + 1..].to_owned();
                }
                continue;
            };
            let end = real.strip_prefix(&top).map(with_slashes).unwrap_or_default();
            let slash = if name.is_folder() || real.is_dir() { "/" } else { "" };
            if !end.is_empty() {
                name.path = end + slash;
            }
        }
        missing
    }
}

/// Adds the steps since the last tick, none for a content that the newest tick of the file left. Adds the tasks whose
/// work is gone because a file has again what it had before their ticks. A task whose newest tick left this very content
/// keeps its work. Removals have rules of their own.
fn add_steps(changed: &mut [ChangedFile], since: &[ChangedFile], receipts: &[Receipt]) {
    let at_tick =
        |file: &ChangedFile| changed_at(since, &file.path).map_or(file.step[1], |new| new.step[0]);
    for file in &mut *changed {
        file.step[0] = at_tick(file);
    }
    for Receipt { task, own, steps, .. } in receipts {
        for (path, &[then, after]) in own.iter().zip(steps) {
            let place = changed.binary_search_by(|file| file.path.cmp(path));
            let Ok(file) = place.map(|place| &mut changed[place]) else { continue };
            let now = file.step[1];
            file.step[0] = if after == now { now } else { at_tick(file) };
            if after == now {
                file.back.retain(|known| known != task);
            } else if now != 0 && then != after && (then == now || !file.back.is_empty()) {
                file.back.push(task.clone());
            }
        }
    }
}

/// Adds named files that another task made and that are gone now: their removal can be this task's work.
fn add_removed(tasks: &[TaskFacts], facts: &mut FileFacts, receipts: &[Receipt]) {
    let names: Vec<&FileName> = tasks.iter().flat_map(|task| &task.names).collect();
    let is_it = |file: &&ChangedFile| {
        let at = facts.since_arming.binary_search_by(|other| other.path.cmp(&file.path));
        let is_away = matches!(file.change, FileChange::Gone | FileChange::Moved);
        is_away && at.is_err() && names.iter().any(|name| name.covers(&file.path))
    };
    let mut removed: Vec<ChangedFile> =
        facts.since_tick.iter().flatten().filter(is_it).cloned().collect();
    if removed.is_empty() {
        return;
    }
    let claims = claims(&removed, receipts);
    removed.retain(|file| {
        let mut its = claims.iter().filter(|(path, _)| *path == file.path);
        its.any(|(_, whose)| tasks.iter().all(|task| task.id != *whose))
    });
    removed.append(&mut facts.since_arming);
    facts.since_arming = sorted(removed, |one, other| one.path.cmp(&other.path));
}

/// Path and task of each of these files that receipts claim; an empty id for files that a tick left over.
fn claims(files: &[ChangedFile], receipts: &[Receipt]) -> Vec<(String, String)> {
    let claims = receipts.iter().rev().flat_map(|receipt| {
        let left = receipt.changed().iter().map(|path| (path, ""));
        receipt.own.iter().map(|path| (path, &*receipt.task)).chain(left)
    });
    let claims = claims.filter(|(path, _)| changed_at(files, path).is_some());
    // The newest claim on a file counts.
    let mut claims = sorted(claims.collect(), |(path, task): &(&String, &str), other| {
        path.cmp(&other.0).then(task.is_empty().cmp(&other.1.is_empty()))
    });
    claims.dedup_by(|(one, _), (other, _)| one == other);
    claims.into_iter().map(|(path, task)| (path.clone(), task.to_owned())).collect()
}

/// The id under which receipts know a task. A task that was reworded after its tick goes by its title.
pub fn id_of<'a>(task: &'a Task, list: &Matched<'a>, receipts: &[Receipt]) -> &'a str {
    let id = list.lasting_id(task);
    let is_reworded = list.then(task).is_some_and(|then| then.title != task.title);
    let is_known = || receipts.iter().any(|receipt| receipt.task == id);
    if is_reworded && is_known() { &task.title } else { id }
}

/// The last of these receipts that is one of this task.
pub fn receipt_of<'b>(
    task: &Task,
    list: &Matched<'_>,
    receipts: &'b [Receipt],
) -> Option<&'b Receipt> {
    let id = id_of(task, list, receipts);
    receipts.iter().rfind(|receipt| receipt.task == id)
}

/// The texts of the open tasks.
fn open_text(file: &TaskFile) -> String {
    let blocks = file.list.open().filter_map(|task| file.bytes.get(task.block.clone()));
    blocks.map(String::from_utf8_lossy).collect()
}

/// Drops bare names that exist elsewhere, or whose ending no file has (`console.log`).
fn without_known(missing: &mut Vec<String>, seen: &FilesSeen) {
    if missing.iter().all(|name| name.contains('/')) {
        return;
    }
    let (mut names, mut endings) = (BTreeSet::new(), BTreeSet::new());
    for path in seen.now.iter().flat_map(|now| now.paths(u64::MAX)) {
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        endings.extend(name.rsplit_once('.').map(|(_, ending)| ending.to_owned()));
        names.insert(name);
    }
    let is_file = |name: &str| name.rsplit_once('.').is_some_and(|parts| endings.contains(parts.1));
    missing.retain(|name| {
        let lower = name.to_ascii_lowercase();
        name.contains('/') || (!names.contains(&lower) && is_file(&lower))
    });
}

/// The path means one file: it is no folder, no template, and has no letters outside of ASCII, which have two spellings.
/// In TypeScript `sum.js` is what `sum.ts` becomes.
fn is_certain(root: &Path, path: &str) -> bool {
    let stem = path.strip_suffix(".js");
    let is_made_of =
        |end: &&str| stem.is_some_and(|stem| root.join(format!("{stem}{end}")).exists());
    let is_plain = !path.contains(['[', '$', '+']) && !path.contains("..");
    is_plain && path.is_ascii() && !path.ends_with('/') && ![".ts", ".tsx"].iter().any(is_made_of)
}
