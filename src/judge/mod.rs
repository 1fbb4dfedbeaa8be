//! What the ticks of a loop are judged by, for every driver: the stop, the iteration, `spool task done`, and the end.

pub mod command;
pub mod names;
pub mod promised;
pub mod rules;
pub mod ticks;
pub mod words;

use std::cell::{LazyCell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::engine::Check;
use crate::engine::order::sorted;
use crate::engine::proof::{ChangedFile, FileChange, LeastProof, Proof, Unproved, UnprovedTask};
use crate::engine::tasks::{Task, TaskList};
use crate::evidence::contents::{Contents, ContentsLook, KeptContents, MOST_NAMED};
use crate::evidence::grown::NoLook;
use crate::feature::HANDOFF;
use crate::store::loops::VerifyCommands;
use crate::store::receipts::{KnownReceipt, MOST_FILES, Receipt, Receipts};
use crate::system::files::real_path;
use crate::system::names::with_slashes;
use crate::world::WallTime;
use command::Commands;
use names::{files_named_in, names_in};
use rules::{FileFacts, JudgedTask, TaskFacts, VerifyShown};

/// The longest that the files are looked through.
pub const LOOK: Duration = Duration::from_secs(2);
/// The most paths that are followed through links at once: a stop has little time.
const MOST_LINKS: usize = 1_000;

/// Verify commands, by the id of their task, which are read where somebody asks for them.
pub type LazyCommands = LazyCell<VerifyCommands, Box<dyn FnOnce() -> VerifyCommands>>;

/// What a person armed, as far as ticks are judged by it.
pub struct ArmedTerms {
    pub at: WallTime,
    pub least: LeastProof,
    /// Patterns of files that nobody but a person may change.
    pub protect: Vec<String>,
    /// The commands of its checks.
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

/// Where the files are that a loop is about.
#[derive(Clone, Debug, Default)]
pub struct JudgedPlace {
    /// The folder whose files are looked at.
    pub folder: PathBuf,
    /// The path of the project in it, with its last slash; empty where they are the same.
    pub above: String,
    /// The path of the task list, relative to the project, and to that folder.
    pub list: String,
    pub list_at: String,
}

/// What the ticks of one loop are judged by.
pub struct TickJudge {
    pub place: JudgedPlace,
    pub armed: ArmedTerms,
    pub receipts: Receipts,
    /// The list as it was when the loop was armed, once somebody has asked for it.
    list: OnceCell<Option<ArmedList>>,
    looks: OnceCell<Looks>,
}

/// What the files contained when the loop was armed, and when a task was ticked last.
#[derive(Clone, Debug, Default)]
pub struct Looks {
    /// `None` where there was more than can be looked through.
    pub armed: Option<Contents>,
    pub tick: Option<Contents>,
}

/// What the files of a project show at one moment.
#[derive(Clone, Debug, Default)]
pub struct FilesSeen {
    /// What they contain, `None` where there is more than can be looked through.
    pub now: Option<Contents>,
    pub facts: FileFacts,
}

/// The task list as it was when the loop was armed.
#[derive(Debug)]
pub struct ArmedList {
    pub list: TaskList,
    pub bytes: Vec<u8>,
}

impl ArmedTerms {
    pub fn commands_of(checks: &[Check]) -> Vec<String> {
        checks.iter().filter(|check| !check.is_review()).map(|check| check.run.clone()).collect()
    }

    fn commands(&self) -> Commands {
        Commands::of(self.checks.iter().chain(self.verify.values()).map(String::as_str))
    }

    /// The files that are looked at although git ignores them: those that are protected or run, and those that the list names.
    fn looked_at(&self, list: &[u8]) -> Vec<String> {
        // They come first: a list may name more than is looked at.
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

    /// Returns these paths of the project as paths of the folder that is looked at.
    pub fn looked_at(&self, paths: &[String]) -> Vec<String> {
        paths.iter().map(|path| [&self.above, path.as_str()].concat()).collect()
    }

    /// Returns this path of that folder as one of the project; what is not in the project begins with `../`.
    pub fn in_project(&self, path: &str) -> String {
        let (mut above, mut below) = (self.above.as_str(), path);
        while let Some((folder, rest)) = above.split_once('/') {
            let Some(inside) = below.strip_prefix(folder).and_then(|it| it.strip_prefix('/'))
            else {
                break;
            };
            (above, below) = (rest, inside);
        }
        "../".repeat(above.matches('/').count()) + below
    }

    /// Returns the files of the project that differ since an earlier look, without the list and the handoff beside it.
    pub fn changed(&self, now: &Contents, then: &Contents) -> Vec<ChangedFile> {
        let mut changed = now.changed_since(then);
        let handoff = [self.beside(), "/", HANDOFF].concat();
        for file in &mut changed {
            if !self.above.is_empty() {
                file.path = self.in_project(&file.path);
            }
        }
        changed.retain(|file| file.path != self.list && file.path != handoff);
        sorted(changed, |one, other| one.path.cmp(&other.path))
    }
}

impl TickJudge {
    /// Returns what the ticks of a loop are judged by, which has these receipts.
    pub fn of(place: JudgedPlace, armed: ArmedTerms, receipts: Receipts) -> Self {
        Self { place, armed, receipts, list: OnceCell::new(), looks: OnceCell::new() }
    }

    /// Returns the same of a run that knows these itself.
    #[must_use]
    pub fn knowing(self, list: Option<ArmedList>, looks: Looks) -> Self {
        Self { list: OnceCell::from(list), looks: OnceCell::from(looks), ..self }
    }

    /// Keeps what the files contain and which boxes are open when this is armed; looks no longer than that. A project that is
    /// too large to be looked through is kept as that. Returns what the files contain.
    pub fn arm(&self, list: &[u8], limit: Duration) -> io::Result<Option<Contents>> {
        let number = self.number();
        let contents = match self.look_with(&self.armed.looked_at(list), None, limit) {
            Ok(contents) => Some(contents),
            Err(NoLook::TooLarge { .. }) => None,
            Err(NoLook::NotNow) => return Err(io::Error::other("they could not all be read")),
        };
        let kept = KeptContents { number, contents };
        self.receipts.keep_armed(number, &kept.to_bytes(), list)?;
        Ok(kept.contents)
    }

    /// Returns what tells the looks of this loop from those of another one.
    pub fn number(&self) -> u64 {
        self.armed.at.millis()
    }

    /// Returns those of these files of the project that its commands run.
    pub fn run_by_commands<'a>(&self, mut files: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
        let commands = self.armed.commands();
        let beside = self.place.beside();
        let mut found = Vec::new();
        while let Some(path) = files.next().filter(|_| self.armed.least == LeastProof::Files) {
            if commands.run(path, beside) && path != self.place.list {
                found.push(path);
            }
        }
        found
    }

    fn looks(&self) -> &Looks {
        let kept = |bytes: Option<Vec<u8>>| {
            KeptContents::parse(bytes?).filter(|it| it.number == self.number())?.contents
        };
        self.looks.get_or_init(|| Looks {
            armed: kept(self.receipts.armed_contents()),
            tick: kept(self.receipts.contents()),
        })
    }

    /// Returns the list as it was when the loop was armed, `None` where that is not known.
    pub fn armed_list(&self) -> Option<&ArmedList> {
        let read = || self.receipts.armed_list(self.number()).map(ArmedList::of);
        self.list.get_or_init(read).as_ref()
    }

    fn look_with(
        &self,
        named: &[String],
        earlier: Option<&Contents>,
        limit: Duration,
    ) -> Result<Contents, NoLook> {
        let JudgedPlace { folder: root, list_at: without, .. } = &self.place;
        let named = self.place.looked_at(named);
        ContentsLook { root, without, named: &named, earlier, limit }.look()
    }

    /// Returns the files that are looked at although git ignores them.
    pub fn looked_at(&self) -> Vec<String> {
        self.armed_list().map(|list| self.armed.looked_at(&list.bytes)).unwrap_or_default()
    }

    /// Returns the same where the project alone is looked at.
    #[must_use]
    pub fn of_project(mut self, root: &Path) -> Self {
        let list = self.place.list.clone();
        self.place = JudgedPlace {
            folder: root.to_owned(),
            above: String::new(),
            list_at: list.clone(),
            list,
        };
        self
    }

    /// Returns what the files contain now; what nobody has touched since an earlier look is not read again.
    pub fn contents(
        &self,
        earlier: Option<&Contents>,
        limit: Duration,
    ) -> Result<Contents, NoLook> {
        self.look_with(&self.looked_at(), earlier, limit)
    }

    /// Returns what the files show now. A tree that was too large when the loop was armed is not looked through again; one that
    /// has become too large since counts as that.
    pub fn look(&self, limit: Duration) -> FilesSeen {
        let Looks { armed, tick } = self.looks();
        let Some(earlier) = tick.as_ref().or(armed.as_ref()) else { return FilesSeen::default() };
        let now = match self.contents(Some(earlier), limit) {
            Ok(now) => now,
            Err(NoLook::TooLarge { folder }) if armed.is_some() => {
                let facts = FileFacts { too_large: Some(folder), ..FileFacts::default() };
                return FilesSeen { now: None, facts };
            }
            Err(_) => return FilesSeen::default(),
        };
        let since_tick = tick.as_ref().map(|tick| self.place.changed(&now, tick));
        // Where nobody armed anything, there is no other beginning.
        let since_arming = match armed {
            Some(armed) => self.place.changed(&now, armed),
            None => since_tick.clone().unwrap_or_default(),
        };
        let beside = self.place.beside().to_owned();
        let mut facts = FileFacts { since_tick, since_arming, beside, ..FileFacts::default() };
        self.add_protected(&mut facts);
        FilesSeen { now: Some(now), facts }
    }

    /// Adds the changed files that are protected, and those that a command runs.
    fn add_protected(&self, facts: &mut FileFacts) {
        if self.armed.least == LeastProof::Word {
            return;
        }
        facts.protected = self.protected(&facts.since_arming);
        let (commands, armed) = (self.armed.commands(), self.looks().armed.as_ref());
        let was_there = |path: &str| {
            let path = self.place.looked_at(&[path.to_owned()]);
            armed.is_some_and(|armed| armed.among(&path)[0])
        };
        let changed = facts.since_arming.iter().map(|file| file.path.as_str());
        let is_run = |path: &&str| commands.run(path, &facts.beside) && was_there(path);
        facts.judges = self.named_by_none(changed.filter(is_run).map(str::to_owned).collect());
    }

    /// Returns those of these files that are protected and that no task names.
    pub fn protected(&self, changed: &[ChangedFile]) -> Vec<String> {
        let all =
            changed.iter().filter(|file| command::is_protected(&self.armed.protect, &file.path));
        self.named_by_none(all.map(|file| file.path.clone()).collect())
    }

    /// Those of these files that no task names which was open when the loop was armed: that is its work.
    fn named_by_none(&self, mut files: Vec<String>) -> Vec<String> {
        if !files.is_empty() {
            let open = self.armed_list().map(ArmedList::open_text).unwrap_or_default();
            let named = names_in(&open);
            files.retain(|path| !named.iter().any(|name| !name.is_folder() && name.covers(path)));
        }
        files
    }

    /// Adds receipts, with the files to compare the next tick with; where these are not known, the last ones stay.
    pub fn add_receipts(&self, receipts: &[Receipt], now: Option<&Contents>) -> io::Result<()> {
        let Some(contents) = now else { return self.receipts.add_all(receipts) };
        let (head, files) = KeptContents::parts(self.number(), Some(contents));
        self.receipts.add_with(receipts, (&head, files))
    }

    /// Returns the last receipt of each task of this loop, by its id.
    pub fn known(&self) -> BTreeMap<String, KnownReceipt> {
        self.receipts.known(self.armed.at)
    }

    /// Returns the id that the receipt of a task of this list has.
    pub fn id_of(&self, task: &Task, list: &TaskList) -> String {
        self.armed_list().map_or(&*task.id, |armed| armed.id_of(task, list)).to_owned()
    }

    /// Returns the Verify command that a person armed for what a task of this list was then, whatever its id was.
    pub fn command_of(&self, task: &Task, list: &TaskList) -> Option<String> {
        if self.armed.verify.is_empty() {
            return None;
        }
        self.armed.verify.get(&self.armed_id(task, list)?).cloned()
    }

    /// Returns the id under which the Verify command of a task of this list was armed: an agent may have renumbered the list. `None`
    /// for a task that was added since; its own id where the armed list is not known.
    pub fn armed_id(&self, task: &Task, list: &TaskList) -> Option<String> {
        match self.armed_list() {
            Some(armed) => armed.list.same_task(task, list).map(|then| then.id.clone()),
            None => Some(task.id.clone()),
        }
    }

    /// Returns the receipts of this task of a list that were written since the loop was armed.
    pub fn receipts_of(&self, task: &Task, list: &TaskList) -> Vec<Receipt> {
        let id = self.id_of(task, list);
        let mut found = self.receipts.with(&[["\"task\":", &in_json(&id)].concat()]);
        found.retain(|it| it.task == id && it.at >= self.armed.at);
        found
    }

    /// Returns the tasks of a list that were ticked by hand in this loop and that nobody has found proved yet; none where every
    /// tick counts, or where the list is not known as it was when the loop was armed.
    pub fn not_proved(&self, list: &TaskList) -> Vec<String> {
        let Some(armed) = self.armed_list().filter(|_| self.armed.least == LeastProof::Files)
        else {
            return Vec::new();
        };
        let known = self.known();
        let ticked = armed.ticked_since(list).into_iter();
        ticked.filter(|(_, id)| !known.contains_key(*id)).map(|(task, _)| task.id.clone()).collect()
    }

    /// Returns the facts of a task of a list, by what it said when the loop was armed where that is known; `text` are the bytes
    /// of the list.
    pub fn facts(&self, task: &Task, list: &TaskList, text: &[u8]) -> TaskFacts {
        let armed = self.armed_list();
        let then = armed.and_then(|armed| Some((armed.list.same_task(task, list)?, armed)));
        let (its, bytes) = then.map_or((task, text), |(then, armed)| (then, &*armed.bytes));
        let says = String::from_utf8_lossy(bytes.get(its.block.clone()).unwrap_or_default());
        TaskFacts {
            id: self.id_of(task, list),
            names: names_in(&says),
            is_check: its.verify,
            has_done_parts: then.is_some_and(|(then, armed)| armed.has_done_parts(then, list)),
            ..TaskFacts::default()
        }
    }

    /// Returns how well these tasks are proved, which were ticked together.
    pub fn judge(&self, tasks: &[TaskFacts], seen: &FilesSeen) -> Vec<JudgedTask> {
        let mut facts = seen.facts.clone();
        facts.claimed = self.claims(&facts.since_arming);
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
        let names = tasks.iter().flat_map(|task| &task.names).filter(|name| name.looks);
        let mut paths = sorted(names.map(|name| name.path.clone()).collect(), Ord::cmp);
        paths.dedup();
        if let Some(armed) = &self.looks().armed {
            let there = armed.among(&self.place.looked_at(&paths));
            let known = paths.into_iter().zip(there).filter(|(_, is_there)| *is_there);
            facts.known = known.map(|(path, _)| path).collect();
            let others = tasks.iter().flat_map(|task| &task.names).filter(|name| !name.looks);
            let others = sorted(others.map(|name| name.path.as_str()).collect(), Ord::cmp);
            let is_beside = |path: &str| path.starts_with(&[&facts.beside, "/"].concat());
            let there = armed.paths().filter(|path| !others.is_empty() && !is_beside(path));
            let names = there.map(|path| path.rsplit('/').next().unwrap_or(path));
            let maybe = names.filter(|name| others.binary_search(name).is_ok());
            let mut maybe: Vec<String> = maybe.map(str::to_owned).collect();
            // With a slash it is the whole path.
            let paths = others.iter().filter(|path| path.contains('/'));
            let paths: Vec<String> = paths.map(|path| (*path).to_owned()).collect();
            let there = armed.among(&self.place.looked_at(&paths));
            maybe.extend(paths.into_iter().zip(there).filter(|it| it.1).map(|it| it.0));
            facts.maybe = sorted(maybe, Ord::cmp);
        }
        rules::judge(&tasks, &facts, &|files| self.named_by_none(files))
    }

    /// Puts where links lead in the place of what tasks name, and a path from a folder above as one of the project. A link that has
    /// changed is not followed: an agent could make it lead to the work of another task. Returns those that are not there, although
    /// their first folder is.
    fn follow_links(&self, tasks: &mut [TaskFacts], changed: &[ChangedFile]) -> Vec<String> {
        let (root, mut missing) = (self.place.folder.join(&self.place.above), Vec::new());
        let Ok(top) = real_path(&root) else { return missing };
        let names = tasks.iter_mut().flat_map(|task| &mut task.names).filter(|name| name.looks);
        for name in names.take(MOST_LINKS) {
            let path = name.path.trim_end_matches('/');
            let is_above = |file: &ChangedFile| {
                path.strip_prefix(&*file.path)
                    .is_some_and(|it| it.is_empty() || it.starts_with('/'))
            };
            if changed.iter().any(is_above) {
                continue;
            }
            let Ok(real) = real_path(&root.join(path)) else {
                let mut folders = path.match_indices('/').map(|(at, _)| &path[..at]);
                let is_there = |folder: &str| root.join(folder).is_dir();
                if folders.clone().next().is_none_or(is_there) {
                    missing.push(name.path.clone());
                } else if let Some(above) = folders.rfind(|above| top.ends_with(above)) {
                    name.path = name.path[above.len() + 1..].to_owned();
                }
                continue;
            };
            let end = real.strip_prefix(&top).map(with_slashes).unwrap_or_default();
            if !end.is_empty() && end != path {
                let slash = if name.is_folder() { "/" } else { "" };
                name.path = end + slash;
            }
        }
        missing
    }

    /// Whose work which of these files is by the receipts: the id of the task by the path; none for what a tick has left over.
    fn claims(&self, files: &[ChangedFile]) -> Vec<(String, String)> {
        let texts = match files.len() {
            ..=64 => files.iter().map(|file| in_json(&file.path)).collect(),
            _ => vec!["\"files\":[\"".to_owned(), "\"own\":[\"".to_owned()],
        };
        let all = self.receipts.claims(&texts, self.armed.at).into_iter().rev();
        let claims = all.flat_map(|receipt| {
            let left = receipt.files.into_iter().map(|path| (path, String::new()));
            receipt.own.into_iter().map(move |path| (path, receipt.task.clone())).chain(left)
        });
        // Of several claims on one file the newest counts.
        let mut claims = sorted(claims.collect(), |(path, task): &(String, String), other| {
            path.cmp(&other.0).then(task.is_empty().cmp(&other.1.is_empty()))
        });
        claims.dedup_by(|(one, _), (other, _)| one == other);
        claims
    }

    /// Returns the ticked tasks of a list whose work is there no more, by their last receipts: none of their files differs from
    /// what it was when the loop was armed, or none in more than blanks and comments.
    pub fn gone(&self, list: &TaskList, seen: &FilesSeen) -> Vec<UnprovedTask> {
        let (Some(now), true) = (&seen.now, self.armed.least == LeastProof::Files) else {
            return Vec::new();
        };
        let changed = &seen.facts.since_arming;
        let mut newest: BTreeMap<String, KnownReceipt> = BTreeMap::new();
        for (number, it) in self.receipts.since(self.armed.at).into_iter().enumerate() {
            newest.insert(it.task.clone(), KnownReceipt { number, ..it });
        }
        let stands = |receipt: &KnownReceipt| {
            let mut paths = receipt.paths().iter();
            paths.len() == 0
                || receipt.proof.is_none_or(|proof| proof == Proof::Word)
                || paths.any(|path| match changed.binary_search_by(|file| file.path.cmp(path)) {
                    Ok(place) => match (changed[place].change, receipt.proof) {
                        // That it goes was the work.
                        (_, Some(Proof::Tick)) => true,
                        (FileChange::Gone, _) => false,
                        // One of its files differed in more, unless that is not among those that are kept.
                        (FileChange::Blanks | FileChange::Comments | FileChange::Mode, proof) => {
                            proof != Some(Proof::Files) || receipt.own.len() == MOST_FILES
                        }
                        _ => true,
                    },
                    Err(_) => {
                        path.ends_with('/')
                            && now.has_below(&self.place.looked_at(std::slice::from_ref(path))[0])
                    }
                })
        };
        let fallen: Vec<&KnownReceipt> =
            newest.values().filter(|receipt| !stands(receipt)).collect();
        if fallen.is_empty() {
            return Vec::new();
        }
        let ticked =
            list.tasks.iter().filter(|task| task.done).map(|task| (task, self.id_of(task, list)));
        let ticked: Vec<(&Task, String)> = ticked.collect();
        // A later task that names a file may have taken it away.
        let is_excused = |receipt: &KnownReceipt| {
            ticked.iter().any(|(task, id)| {
                // One without a receipt was ticked just now.
                let is_later = newest
                    .get(id)
                    .is_none_or(|other| other.number > receipt.number && stands(other));
                is_later
                    && names_in(&task.title)
                        .iter()
                        .any(|name| receipt.paths().iter().any(|path| name.covers(path)))
            })
        };
        let opened = ticked.iter().filter_map(|(task, id)| {
            let receipt = fallen.iter().find(|it| it.task == *id && !is_excused(it))?;
            let why = Unproved::WorkGone(receipt.paths().to_vec());
            Some(UnprovedTask { id: task.id.clone(), why })
        });
        opened.collect()
    }
}

impl ArmedList {
    /// Returns the list in these bytes.
    pub fn of(bytes: Vec<u8>) -> Self {
        Self { list: TaskList::parse(&bytes), bytes }
    }

    /// The texts of the tasks that were open.
    fn open_text(&self) -> String {
        let blocks = self.list.open().filter_map(|task| self.bytes.get(task.block.clone()));
        blocks.map(String::from_utf8_lossy).collect()
    }

    /// Whether this task is a repeat, and the first one is ticked in a later list; or tasks were nested in it, and all are.
    fn has_done_parts(&self, then: &Task, list: &TaskList) -> bool {
        let parts = self.list.nested_in(then);
        let done = || list.tasks.iter().filter(|task| task.done);
        let is_done = |part: &Task| {
            // As a rule a list keeps its order.
            let place = self.list.tasks.partition_point(|it| it.mark_at < part.mark_at);
            let is_same = |now: &&Task| now.id == part.id && now.title == part.title;
            let near = list.tasks.get(place).filter(is_same);
            let is_any = || done().any(|it| self.list.same_task(it, list) == Some(part));
            near.map_or_else(is_any, |now| now.done)
        };
        let first = then.id.split_once('~').and_then(|(first, _)| self.list.find(first));
        let is_repeat = first.is_some_and(|first| {
            let is_first = |now: &Task| now.done && now.title == first.title;
            first.title == then.title && list.find(&first.id).is_some_and(is_first)
        });
        is_repeat || (!parts.is_empty() && parts.iter().all(is_done))
    }

    /// Returns the tasks that are ticked in a list, and were not when the loop was armed, each with the id that its receipt has.
    pub fn ticked_since<'b>(&'b self, list: &'b TaskList) -> Vec<(&'b Task, &'b str)> {
        let mut then = self.list.tasks.as_slice();
        let mut ticked = Vec::new();
        for task in list.tasks.iter().filter(|task| task.done) {
            // As a rule the tasks are in the same order.
            let is_same = |other: &Task| other.id == task.id && other.title == task.title;
            let (was_done, id) = if let Some(place) = then.iter().position(is_same) {
                let was_done = then[place].done;
                then = &then[place + 1..];
                (was_done, task.id.as_str())
            } else {
                let then = self.list.same_task(task, list);
                (then.is_some_and(|then| then.done), self.id_of(task, list))
            };
            if !was_done {
                ticked.push((task, id));
            }
        }
        ticked
    }

    /// Returns the id that the receipt of a task of this list has: that which it had when the loop was armed, where another
    /// task of the list has it now.
    pub fn id_of<'b>(&'b self, task: &'b Task, list: &TaskList) -> &'b str {
        let then = self.list.same_task(task, list).map(|then| then.id.as_str());
        then.filter(|id| *id != task.id && list.find(id).is_some()).unwrap_or(&task.id)
    }

    /// Returns the tasks that were open and are in a list no more, neither by their id nor by their words.
    pub fn missing(&self, list: &TaskList) -> Vec<String> {
        let (removed, _) = list.since(&self.list.open_lines());
        let is_elsewhere = |id: &String| {
            let then = self.list.find(id);
            then.is_some_and(|then| list.tasks.iter().any(|task| task.title == then.title))
        };
        removed.removed.into_iter().filter(|id| !is_elsewhere(id)).collect()
    }
}

/// Takes out of these names of missing files what may be none: a folder, one that was there since the tick before, one in letters
/// that can be written in two ways, and without a folder what is somewhere else or has an ending that no file has (`console.log`).
fn without_known(missing: &mut Vec<String>, seen: &FilesSeen) {
    let since = seen.facts.since_tick.as_deref().unwrap_or_default();
    missing.retain(|name| {
        name.is_ascii() && !name.ends_with('/') && since.iter().all(|file| file.path != *name)
    });
    if missing.iter().all(|name| name.contains('/')) {
        return;
    }
    let (mut names, mut endings) = (BTreeSet::new(), BTreeSet::new());
    for path in seen.now.iter().flat_map(Contents::paths) {
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        endings.extend(name.rsplit_once('.').map(|(_, ending)| ending.to_owned()));
        names.insert(name);
    }
    let is_new = |name: &str| !names.contains(name);
    let is_file = |name: &str| name.rsplit_once('.').is_some_and(|it| endings.contains(it.1));
    missing.retain(|name| {
        let lower = name.to_ascii_lowercase();
        name.contains('/') || (is_new(&lower) && is_file(&lower))
    });
}

/// A text as it is in a receipt.
fn in_json(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}
