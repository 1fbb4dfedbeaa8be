//! How well the ticked tasks of a feature's loop are proved. What the files contained and which boxes were open when it was
//! armed, and its receipts, are kept where no edit of the agent gets.

use std::cell::OnceCell;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::engine::order::sorted;
use crate::engine::proof::{
    ChangedFile, ContentChange, FileFacts, JudgedTask, LeastProof, NamedPath, Proof, TaskFacts,
    Unproved, files_named_in, judge,
};
use crate::engine::tasks::{Task, TaskList};
use crate::evidence::contents::{Contents, ContentsLook, KeptContents, MOST_NAMED};
use crate::evidence::grown::NoLook;
use crate::evidence::links::Links;
use crate::evidence::protected::Protected;
use crate::evidence::task_list::TASKS;
use crate::feature::HANDOFF;
use crate::feature::project::{Feature, Project};
use crate::feature::settings::SETTINGS;
use crate::session::pinned;
use crate::store::loops::VerifyCommands;
use crate::store::pins::{Pin, PinKey, PinState, Pins};
use crate::store::receipts::{KnownReceipt, Receipt, Receipts};
use crate::world::WallTime;

/// What the tasks of a feature's loop are judged by.
pub struct TaskProofs<'a> {
    project: &'a Project,
    feature: &'a Feature,
    /// What a person armed, `None` where no person did.
    pin: Option<Pin>,
    /// Its receipts.
    pub receipts: Receipts,
    /// When it was armed; not known for a loop that no person armed.
    pub armed_at: WallTime,
    /// How well its tasks have to be proved.
    pub least: LeastProof,
    /// The list as it was when the loop was armed, once somebody has asked for it.
    armed: OnceCell<Option<ArmedList>>,
}

/// Why no tick can be judged.
#[derive(Debug)]
pub enum Unjudged {
    /// Nothing can be kept outside of the project: every tick counts.
    Nowhere(io::Error),
    /// What a person armed cannot be read at the moment, and why: no tick counts until it can.
    Unreadable(String),
}

/// What the files of a project show at one moment.
#[derive(Clone, Debug, Default)]
pub struct FilesSeen {
    /// What they contain, `None` where there is more than can be looked through.
    pub now: Option<Contents>,
    /// Those that differ since the last tick, `None` where that is not known.
    pub since_tick: Option<Vec<ChangedFile>>,
    /// Those that differ since arming, or nothing where that is not known.
    pub since_arming: Vec<ChangedFile>,
    /// Those of them that are protected and that no task names.
    pub protected: Vec<String>,
    /// The folder that has most of what is new, with its last slash or empty, where the project could be looked at when the loop
    /// was armed and has more now than can be.
    pub too_large: Option<String>,
}

/// The task list as it was when the loop was armed.
pub struct ArmedList {
    list: TaskList,
    bytes: Vec<u8>,
}

/// Returns the path of a feature's list, relative to the project.
pub fn list_of(feature: &Feature) -> String {
    [&feature.relative, "/", TASKS].concat()
}

/// Keeps what the files contain and which boxes are open when this is armed, with these Verify commands; looks no longer
/// than that. A project that is too large to be looked through is kept as that.
pub fn keep_armed(
    root: &Path,
    feature: &Feature,
    (pin, commands): (&Pin, &VerifyCommands),
    list: &[u8],
    limit: Duration,
) -> io::Result<()> {
    let its = list_of(feature);
    let receipts = Receipts::of(root, &feature.name, &its)?;
    let number = pin.armed_at.millis();
    let named = looked_at(list, pin, commands);
    let look = ContentsLook { root, without: &its, named: &named, earlier: None, limit };
    let contents = match look.look() {
        Ok(contents) => Some(contents),
        Err(NoLook::TooLarge { .. }) => None,
        Err(NoLook::NotNow) => return Err(io::Error::other("they could not all be read")),
    };
    let kept = KeptContents { number, contents };
    receipts.keep_armed(number, &kept.to_bytes(), list)
}

impl<'a> TaskProofs<'a> {
    /// Returns what the tasks of a feature are judged by under what a person armed, `None` where no person did; an error
    /// where nothing can be kept outside of the project.
    pub fn of(project: &'a Project, feature: &'a Feature, pin: Option<&Pin>) -> io::Result<Self> {
        Ok(Self {
            project,
            feature,
            receipts: Receipts::of(&project.root, &feature.name, &list_of(feature))?,
            armed_at: pin.map(|pin| pin.armed_at).unwrap_or_default(),
            least: pin.map(|pin| pin.proof).unwrap_or_default(),
            armed: OnceCell::new(),
            pin: pin.cloned(),
        })
    }

    /// Returns the same under what holds for the feature now: what a person armed in a session, or a runner at work.
    pub fn standing(project: &'a Project, feature: &'a Feature) -> Result<Self, Unjudged> {
        let standing = pinned::standing_of_feature(&project.root, &feature.name);
        if let (PinState::Unknown(why) | PinState::Lost(why), Ok(_)) =
            (&standing, Pins::of(&project.root))
        {
            return Err(Unjudged::Unreadable(why.clone()));
        }
        let of_runner = || pinned::pin_of_runner(project, feature);
        let pin = standing.pin().cloned().or_else(of_runner);
        Self::of(project, feature, pin.as_ref()).map_err(Unjudged::Nowhere)
    }

    /// Returns whether the loop has a receipt of this task of a list.
    pub fn has_receipt(&self, task: &Task, list: &TaskList) -> bool {
        self.receipts_of(task, list).next().is_some()
    }

    /// Returns the ids of the tasks of a list that were ticked by hand in this loop and that nobody has found proved yet; none
    /// where every tick counts, or where the list is not known as it was when the loop was armed.
    pub fn not_proved(&self, list: &TaskList) -> Vec<String> {
        let Some(armed) = self.armed_list().filter(|_| self.least == LeastProof::Files) else {
            return Vec::new();
        };
        let known = self.receipts.known(self.armed_at);
        let ticked = armed.ticked_since(list).into_iter();
        ticked.filter(|(_, id)| !known.contains_key(*id)).map(|(task, _)| task.id.clone()).collect()
    }

    /// Returns the id that the receipt of a task of this list has.
    pub fn id_of(&self, task: &Task, list: &TaskList) -> String {
        self.armed_list().map_or(task.id.as_str(), |armed| armed.id_of(task, list)).to_owned()
    }

    /// Returns the receipts of this task of a list that were written since the loop was armed.
    pub fn receipts_of(&self, task: &Task, list: &TaskList) -> impl Iterator<Item = Receipt> {
        let task = &*self.id_of(task, list);
        let with = self.receipts.with(&[["\"task\":", &in_json(task)].concat()]);
        let (task, armed_at) = (task.to_owned(), self.armed_at);
        with.into_iter().filter(move |it| it.task == task && it.at >= armed_at)
    }

    /// Returns what the files show now. A tree that was too large when the loop was armed is not looked through again; one that
    /// has become too large since counts as that.
    pub fn look(&self, limit: Duration) -> FilesSeen {
        let last = self.kept(self.receipts.contents());
        let armed = self.kept(self.receipts.armed_contents()).and_then(|kept| kept.contents);
        if last.as_ref().is_some_and(|kept| kept.contents.is_none()) && armed.is_none() {
            return FilesSeen::default();
        }
        let earlier = last.as_ref().and_then(|kept| kept.contents.as_ref()).or(armed.as_ref());
        let seen = match self.look_now(earlier, limit) {
            Ok(seen) => seen,
            Err(NoLook::TooLarge { folder }) if armed.is_some() => {
                return FilesSeen { too_large: Some(folder), ..FilesSeen::default() };
            }
            Err(_) => return FilesSeen::default(),
        };
        let handoff = [&self.feature.relative, "/", HANDOFF].concat();
        let is_work = |file: &ChangedFile| file.path != handoff && file.path != SETTINGS;
        let changed_since = |kept: Contents| -> Vec<ChangedFile> {
            let work = seen.changed_since(&kept).into_iter().filter(is_work);
            work.map(|file| file.of_feature(&self.feature.relative)).collect()
        };
        let since_tick = last.and_then(|kept| kept.contents).map(changed_since);
        let since_arming = armed.map(changed_since).unwrap_or_default();
        // The settings are not among them: what was armed is pinned, and a message says that they differ.
        let protected = self.protected(&since_arming);
        FilesSeen { now: Some(seen), since_tick, since_arming, protected, too_large: None }
    }

    /// The protected ones of these files. What a task of the armed list names is its work.
    fn protected(&self, changed: &[ChangedFile]) -> Vec<String> {
        let Some(pin) = self.pin.as_ref().filter(|_| self.least == LeastProof::Files) else {
            return Vec::new();
        };
        let armed = self.verify_commands();
        let commands = pin.checks.iter().map(|check| &check.run).chain(armed.values());
        let protected = Protected::of(&pin.protect, commands.map(String::as_str));
        let list = self.armed_list().map(|armed| armed.bytes.as_slice());
        protected.among(changed, list.unwrap_or_default())
    }

    /// Returns the Verify commands that a person armed, by the id of their task; none where they cannot be read.
    pub fn verify_commands(&self) -> VerifyCommands {
        let Some(pin) = self.pin.as_ref().filter(|pin| pin.verify > 0) else {
            return VerifyCommands::new();
        };
        let whose = match pin.process {
            0 => PinKey::Feature(&self.feature.name),
            _ => PinKey::Change(&self.feature.name),
        };
        let commands = Pins::of(&self.project.root).and_then(|pins| pins.verify(whose, pin));
        commands.unwrap_or_default()
    }

    /// Returns what the files contain now; what nobody has touched since an earlier look is not read again.
    pub fn look_again(&self, earlier: Option<&Contents>, limit: Duration) -> Option<Contents> {
        self.look_now(earlier, limit).ok()
    }

    fn look_now(&self, earlier: Option<&Contents>, limit: Duration) -> Result<Contents, NoLook> {
        let (its, armed) = (list_of(self.feature), self.armed_list());
        let named = armed
            .zip(self.pin.as_ref())
            .map(|(armed, pin)| looked_at(&armed.bytes, pin, &self.verify_commands()));
        let named = named.unwrap_or_default();
        let root = &self.project.root;
        ContentsLook { root, without: &its, named: &named, earlier, limit }.look()
    }

    /// Adds receipts, with the files to compare the next tick with; where these are not known, the last ones stay.
    pub fn add_receipts(
        &self,
        receipts: &[Receipt],
        contents: Option<&Contents>,
    ) -> io::Result<()> {
        let Some(contents) = contents else { return self.receipts.add_all(receipts) };
        let (head, files) = KeptContents::parts(self.armed_at.millis(), Some(contents));
        self.receipts.add_with(receipts, (&head, files))
    }

    fn kept(&self, bytes: Option<Vec<u8>>) -> Option<KeptContents> {
        let kept = KeptContents::parse(bytes?)?;
        (kept.number == self.armed_at.millis()).then_some(kept)
    }

    /// Returns the list as it was when the loop was armed, `None` where that is not known.
    pub fn armed_list(&self) -> Option<&ArmedList> {
        let read = || {
            let bytes = self.receipts.armed_list(self.armed_at.millis())?;
            Some(ArmedList { list: TaskList::parse(&bytes), bytes })
        };
        self.armed.get_or_init(read).as_ref()
    }

    /// Returns these facts of a task with what is known of the tasks that are nested in it.
    pub fn with_parts(&self, facts: TaskFacts, task: &Task, list: &TaskList) -> TaskFacts {
        let armed = self.armed_list().map(|armed| &armed.list);
        facts.with_parts(task, list, armed, &mut |part| {
            let id = self.id_of(part, list);
            let text = [["\"task\":", &in_json(&id)].concat()];
            let mut receipts = self.receipts.claims(&text, self.armed_at).into_iter();
            let its = receipts.find(|it| it.task == id && it.proof >= Some(Proof::Files))?;
            Some(its.own)
        })
    }

    /// Returns how well these tasks are proved, which were ticked together; `list` is the list as it is now.
    pub fn judge(&self, tasks: &[TaskFacts], seen: &FilesSeen, list: &TaskList) -> Vec<JudgedTask> {
        let list_path = list_of(self.feature);
        let place = (self.project.root.as_path(), list_path.as_str());
        let mut places = NamedPlaces::of(place, &seen.since_arming, seen.now.as_ref());
        let tasks: Vec<TaskFacts> = tasks.iter().map(|task| places.found(task.clone())).collect();
        let files = FileFacts {
            since_tick: seen.since_tick.clone(),
            unclaimed: self.unclaimed(&tasks, &mut places, list),
            protected: seen.protected.clone(),
            too_large: seen.too_large.clone(),
        };
        judge(&tasks, &files)
    }

    /// Returns those of these files that no receipt of this loop has as the work of a task.
    pub fn unclaimed_by_any(&self, files: &[ChangedFile]) -> Vec<ChangedFile> {
        let texts: Vec<String> = files.iter().map(|file| in_json(&file.path)).collect();
        let claims = self.receipts.claims(&texts, self.armed_at);
        let is_free = |file: &&ChangedFile| claims.iter().all(|it| !it.own.contains(&file.path));
        files.iter().filter(is_free).cloned().collect()
    }

    /// The files that one of these tasks names, that differ since arming, and that no receipt has as the work of another
    /// task that names them too.
    fn unclaimed(
        &self,
        tasks: &[TaskFacts],
        places: &mut NamedPlaces<'_>,
        list: &TaskList,
    ) -> Vec<ChangedFile> {
        let named: Vec<_> = tasks.iter().flat_map(TaskFacts::paths).collect();
        let is_named = |file: &&ChangedFile| named.iter().any(|path| path.covers(&file.path));
        let files: Vec<&ChangedFile> = places.changed.iter().filter(is_named).collect();
        if files.is_empty() {
            return Vec::new();
        }
        let texts: Vec<String> = files.iter().map(|file| in_json(&file.path)).collect();
        let claims = self.receipts.claims(&texts, self.armed_at);
        let claims = claims.iter().filter(|claim| tasks.iter().all(|it| it.id != claim.task));
        let armed = self.armed_list();
        let claims: Vec<_> = claims
            .filter_map(|receipt| {
                let task = list.find(&receipt.task)?;
                let then = armed.and_then(|armed| Some((armed.list.find(&task.id)?, &armed.bytes)));
                let its = |then: (&Task, &Vec<u8>)| TaskFacts::of(then.0, then.1);
                let title = || TaskFacts { text: task.title.to_string(), ..TaskFacts::default() };
                let facts = then.map_or_else(title, its);
                Some((receipt, places.found(facts).paths()))
            })
            .collect();
        let is_claimed = |file: &ChangedFile| {
            claims.iter().any(|(receipt, named)| {
                receipt.own.contains(&file.path) && named.iter().any(|it| it.covers(&file.path))
            })
        };
        files.into_iter().filter(|file| !is_claimed(file)).cloned().collect()
    }
}

impl FilesSeen {
    /// Returns why nothing counts as done as long as the files are like this, `None` as a rule.
    pub fn held_up(&self) -> Option<Unproved> {
        if !self.protected.is_empty() {
            return Some(Unproved::ProtectedChanged(self.protected.clone()));
        }
        self.too_large.clone().map(Unproved::TreeTooLarge)
    }

    /// Adds what is still there of the work of a task that was ticked before, by its receipt. Returns whether that may be
    /// the work of other tasks.
    pub fn add_rest_of(&mut self, receipt: &Receipt) -> bool {
        let Some(since) = &mut self.since_tick else { return false };
        let may_be_others = receipt.own.is_empty();
        let paths = if may_be_others { receipt.files.as_ref() } else { Some(&receipt.own) };
        let is_its = |file: &&ChangedFile| paths.is_some_and(|paths| paths.contains(&file.path));
        let rest = self.since_arming.iter().filter(is_its);
        let rest: Vec<_> =
            rest.filter(|file| since.iter().all(|it| it.path != file.path)).cloned().collect();
        let is_any = !rest.is_empty();
        since.extend(rest);
        since.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        may_be_others && is_any
    }

    /// Adds what is still there of what had changed for a task that was ticked by `spool task done` in the same turn.
    pub fn add_turn_of(&mut self, receipt: &KnownReceipt) {
        let Some(since) = &mut self.since_tick else { return };
        let is_its = |file: &&ChangedFile| {
            receipt.files.iter().chain(&receipt.own).any(|it| *it == file.path)
        };
        let still = self.since_arming.iter().filter(is_its);
        let more: Vec<_> =
            still.filter(|file| since.iter().all(|it| it.path != file.path)).cloned().collect();
        since.extend(more);
        *since = sorted(std::mem::take(since), |one, other| one.path.cmp(&other.path));
    }

    /// Adds the work of a task that was ticked before, with which another one was done.
    pub fn add_work_of(&mut self, receipt: &Receipt) {
        let Some(since) = &mut self.since_tick else { return };
        for path in receipt.files.iter().flatten().chain(&receipt.own) {
            if since.iter().all(|file| file.path != *path) {
                since.push(ChangedFile { path: path.clone(), change: ContentChange::Content });
            }
        }
        *since = sorted(std::mem::take(since), |one, other| one.path.cmp(&other.path));
    }
}

impl ArmedList {
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

    /// Returns a task of this list as it was when the loop was armed, `None` where it is new.
    pub fn then<'b>(&'b self, task: &Task, list: &TaskList) -> Option<&'b Task> {
        self.list.same_task(task, list)
    }

    /// Returns the id that the receipt of a task of this list has: that which it had when the loop was armed, where another
    /// task of the list has it now.
    pub fn id_of<'b>(&'b self, task: &'b Task, list: &TaskList) -> &'b str {
        let then = self.list.same_task(task, list).map(|then| then.id.as_str());
        then.filter(|id| list.find(id).is_some()).unwrap_or(&task.id)
    }
}

/// Returns the facts of a task of a list, by what it said when the loop was armed where that is known; `text` are the bytes of
/// the list.
pub fn facts_of(armed: Option<&ArmedList>, task: &Task, list: &TaskList, text: &[u8]) -> TaskFacts {
    let Some(armed) = armed else { return TaskFacts::of(task, text) };
    let facts = match armed.list.same_task(task, list) {
        Some(then) => TaskFacts::of(then, &armed.bytes),
        None => TaskFacts::of(task, text),
    };
    TaskFacts { id: armed.id_of(task, list).to_owned(), ..facts }
}

/// Returns the id under which the Verify command of a task of a list was armed: an agent may have renumbered the list. `None` for
/// a task that was added since; its own id where the armed list is not known.
pub fn armed_id(proofs: Option<&TaskProofs<'_>>, task: &Task, list: &TaskList) -> Option<String> {
    match proofs.and_then(TaskProofs::armed_list) {
        Some(armed) => armed.then(task, list).map(|then| then.id.clone()),
        None => Some(task.id.clone()),
    }
}

/// What the texts of tasks that were ticked together name, by where that is.
pub struct NamedPlaces<'a> {
    links: Links<'a>,
    /// The folder of the task list.
    beside: Option<NamedPath>,
    changed: &'a [ChangedFile],
    now: Option<&'a Contents>,
}

impl<'a> NamedPlaces<'a> {
    /// Returns what finds them: by all files that differ since the loop was armed, also those that are the work of other tasks, and
    /// by those that are there now, `None` where nobody could look. `list` is the path of the task list from the root.
    pub fn of(
        (root, list): (&'a Path, &str),
        changed: &'a [ChangedFile],
        now: Option<&'a Contents>,
    ) -> Self {
        Self { links: Links::of(root), beside: NamedPath::folder_of(list), changed, now }
    }

    /// Returns these facts of a task with where links lead on the way to what it names, with what of that is no file, and with what
    /// is one although only its name is there.
    pub fn found(&mut self, facts: TaskFacts) -> TaskFacts {
        let Self { links, beside, changed, now } = self;
        let ends = links.ends(&facts.text, changed);
        let facts = facts.naming(&ends);
        let Some(now) = now else { return facts };
        // What is beside the list says what is to be done: a task may speak of it, and changes other files.
        let is_work = |file: &str| !beside.as_ref().is_some_and(|it| it.covers(file));
        let exists = |named: &NamedPath| now.has(named, &|_| true);
        let is_there = |named: &NamedPath| now.has(named, &|file| named.is_exactly(file));
        facts.with_words(changed, &exists, &is_there).with_bare_names(&|named| {
            let has_changed = |file: &ChangedFile| named.covers(&file.path) && is_work(&file.path);
            changed.iter().any(has_changed) || now.has(named, &is_work)
        })
    }
}

/// Returns how well a task is proved where every tick counts.
pub fn at_least_word(judged: &JudgedTask) -> Proof {
    judged.proof.clone().unwrap_or(Proof::Word)
}

/// Returns the files that count as work although git ignores them: those that a task list names.
pub fn named_in(list: &[u8]) -> Vec<String> {
    files_named_in(list, MOST_NAMED)
}

/// The files that are looked at although git ignores them: those that the list names, and those that are protected.
fn looked_at(list: &[u8], pin: &Pin, commands: &VerifyCommands) -> Vec<String> {
    let runs = pin.checks.iter().map(|check| check.run.as_str());
    let commands = runs.chain(commands.values().map(String::as_str));
    // They come first: a list may name more than is looked at.
    let mut all = Protected::known_paths(&pin.protect, commands);
    all.extend(named_in(list));
    all
}

/// A text as it is in a receipt.
fn in_json(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_still_there_of_the_work_of_a_task_is_counted_again() {
        let file =
            |path: &str| ChangedFile { path: path.to_owned(), change: ContentChange::Content };
        let seen = FilesSeen {
            since_tick: Some(Vec::new()),
            since_arming: vec![file("a"), file("b")],
            ..FilesSeen::default()
        };
        let names =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let own = Receipt { own: names(&["b", "gone"]), ..Receipt::default() };
        let mut again = seen.clone();
        assert!(!again.add_rest_of(&own));
        assert_eq!(again.since_tick, Some(vec![file("b")]));
        let shared = Receipt { files: Some(names(&["a", "gone"])), ..Receipt::default() };
        let mut again = seen;
        assert!(again.add_rest_of(&shared), "it may be the work of another task");
        assert_eq!(again.since_tick, Some(vec![file("a")]));
    }
}
