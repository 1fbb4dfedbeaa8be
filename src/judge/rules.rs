//! The rules: a certainty refuses a tick, a doubt lowers its grade. Pure: facts go in, grades come out.

use std::slice;

use super::names::FileName;
use crate::engine::order::{few, sorted};
use crate::engine::proof::{ChangedFile, FileChange, Proof, Unproved, UnprovedReason};
use crate::engine::scoreboard::TESTS_CHANGED;
use crate::evidence::ignored::is_made;

/// Changes that leave a doubt, the strongest first, with the words before the files.
const DOUBTS: [(FileChange, &str); 9] = [
    (FileChange::Stub, "a stub was brought in:"),
    (FileChange::Moved, "only moved:"),
    (FileChange::Back, "only brought back to an earlier content:"),
    (FileChange::Comments, "only lines that look like comments differ in"),
    (FileChange::Blanks, "only blanks differ in"),
    (FileChange::Mode, "only whether it may be run differs:"),
    (FileChange::Link, "only a link:"),
    (FileChange::Folder, "only a new folder:"),
    (FileChange::Gone, "gone:"),
];
/// Files in one doubt.
const NAMED: usize = 3;

/// The outcome of a task's Verify command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VerifyShown {
    /// No command, or no run.
    #[default]
    Nothing,
    /// Passed, but its known test runner printed no number.
    Uncounted,
    /// Passed after the newest change.
    Passed,
}

/// The agent's words on a task besides its tick.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SaidWord {
    #[default]
    None,
    /// The task rightly changes nothing: the reason.
    NoChange(String),
    /// The work is not where the task's text says: the reason.
    Elsewhere(String),
    /// The work was done with this task.
    With(String),
}

/// One ticked task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskFacts {
    /// The id in the receipt.
    pub id: String,
    /// Words of the text that may name files.
    pub names: Vec<FileName>,
    /// A check, not a change (`[VERIFY]`).
    pub is_check: bool,
    /// Nested tasks of the armed list, all ticked.
    pub has_done_parts: bool,
    pub verify: VerifyShown,
    pub word: SaidWord,
    /// Changed files that the task's command or a check runs, and that no open task names.
    pub tests: Vec<String>,
    /// The Verify command was added after arming.
    pub has_new_command: bool,
}

/// The files while a group of tasks was worked on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// Differ since the tick before; `None` without a look.
    pub since_tick: Option<Vec<ChangedFile>>,
    /// Differ since arming.
    pub since_arming: Vec<ChangedFile>,
    /// Path and task of each file by the receipts, in alphabetical order; an empty id for files that a tick left over.
    pub claimed: Vec<(String, String)>,
    /// Protected and named by no task.
    pub protected: Vec<String>,
    /// Run by a check or a Verify command, and named by no open task.
    pub judges: Vec<String>,
    /// Named as paths by tasks and there at arming, in alphabetical order.
    pub known: Vec<String>,
    /// Named by tasks, missing now and at arming, although their first folder exists; in alphabetical order.
    pub missing: Vec<String>,
    /// Words that do not look like paths, but are names of files at arming; in alphabetical order.
    pub maybe: Vec<String>,
    /// The folder of the feature: its texts say what is to be done.
    pub beside: String,
    /// The folder with most of the new files, with its last slash or empty. Set if the project outgrew a look since
    /// arming.
    pub too_large: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedTask {
    pub id: String,
    /// The grade, or why the task counts as open.
    pub proof: Result<Proof, Unproved>,
    /// Why the grade is no better than a tick; empty for no doubt.
    pub doubt: String,
    /// The task's work.
    pub files: Vec<String>,
}

impl FileFacts {
    /// The reason why no task counts while the files stay like this.
    pub fn held_up(&self) -> Option<Unproved> {
        if !self.protected.is_empty() {
            return Some(Unproved::of(UnprovedReason::ProtectedChanged, &self.protected));
        }
        let folder = self.too_large.as_ref()?;
        let known: &[String] = if folder.is_empty() { &[] } else { slice::from_ref(folder) };
        Some(Unproved::of(UnprovedReason::TreeTooLarge, known))
    }

    fn is_text(&self, path: &str) -> bool {
        let below = path.strip_prefix(&*self.beside);
        !self.beside.is_empty() && below.is_some_and(|rest| rest.starts_with('/'))
    }

    fn is_judge(&self, path: &str) -> bool {
        self.judges.iter().any(|judge| judge == path)
    }

    /// The task that claims the file by its receipts; empty for a file that a tick left over.
    fn whose(&self, path: &str) -> Option<&String> {
        let place = self.claimed.binary_search_by(|(claimed, _)| claimed.as_str().cmp(path));
        Some(&self.claimed[place.ok()?].1)
    }

    /// The file can be the task's work: no other task has it, or it has changed since that task's tick. A content that
    /// a tick left counts as new in the turn of that tick, but it is that task's work.
    fn may_be_of(&self, task: &TaskFacts, file: &ChangedFile, new: Option<FileChange>) -> bool {
        let [then, now] = file.step;
        let is_its = |whose: &String| whose.is_empty() || *whose == task.id;
        new.is_some_and(|new| new != FileChange::Content || then != now)
            || self.whose(&file.path).is_none_or(is_its)
    }
}

/// A changed file that a task names, by places.
#[derive(Clone, Copy)]
struct Match {
    task: usize,
    file: usize,
    /// The path is the named one, or nobody knows where the named one is: its first folder is not there.
    is_exact: bool,
}

/// Grades tasks that were ticked together: in one call, at one stop, in one iteration. `free` drops files that an open
/// task of the list names.
pub fn judge(
    tasks: &[TaskFacts],
    files: &FileFacts,
    free: &dyn Fn(Vec<String>) -> Vec<String>,
) -> Vec<JudgedTask> {
    let mut group = Group::of(tasks, files);
    group.divide(free);
    let judged = tasks.iter().enumerate().map(|(place, task)| {
        let own = sorted(group.own[place].clone(), Ord::cmp);
        let graded = group.proof(place, task).map(|(proof, doubt)| (Ok(proof), doubt));
        let (proof, doubt) = graded.unwrap_or_else(|why| (Err(why), String::new()));
        let path = |file: &usize| files.since_arming[*file].path.clone();
        JudgedTask { id: task.id.clone(), proof, doubt, files: own.iter().map(path).collect() }
    });
    judged.collect()
}

/// Tasks ticked together, and the division of files among them.
struct Group<'a> {
    tasks: &'a [TaskFacts],
    files: &'a FileFacts,
    /// Per file of `since_arming`: its change since the tick before.
    new: Vec<Option<FileChange>>,
    /// Per task: named files that can be its work.
    named: Vec<Vec<Match>>,
    /// Per word of each task: it names a file that differs from arming, whoever owns that file.
    hits: Vec<Vec<bool>>,
    /// Per task: files that are its work alone. A task that names nothing gets the leftover files.
    own: Vec<Vec<usize>>,
    /// Per file: its owner among the tasks that name it.
    owner: Vec<Option<usize>>,
    /// The first of several tasks that name nothing: it gets the leftover files and shares them.
    shared_by: Option<usize>,
    /// Since the last tick: a file changed, and a text about the feature changed.
    any_new: [bool; 2],
    /// Changed since the tick before, back to their state at arming.
    put_back: Vec<String>,
}

impl<'a> Group<'a> {
    fn of(tasks: &'a [TaskFacts], files: &'a FileFacts) -> Self {
        let all = &files.since_arming;
        let since = files.since_tick.as_deref().unwrap_or_default();
        let place = |path: &str| all.binary_search_by(|file| file.path.as_str().cmp(path)).ok();
        let (mut new, mut put_back) = (vec![None; all.len()], Vec::new());
        for file in since {
            match place(&file.path) {
                Some(place) => new[place] = Some(file.change),
                None => put_back.push(file.path.clone()),
            }
        }
        let mut named = vec![Vec::new(); tasks.len()];
        let (found, hits) = matches(tasks, files);
        for found in found {
            if files.may_be_of(&tasks[found.task], &all[found.file], new[found.file]) {
                named[found.task].push(found);
            }
        }
        let (own, owner) = (vec![Vec::new(); tasks.len()], vec![None; all.len()]);
        let has_new = |is_text: bool| {
            let mut new = all.iter().zip(&new).filter(|(_, new)| new.is_some());
            new.any(|(file, _)| !file.ignored && files.is_text(&file.path) == is_text)
        };
        let any_new = [has_new(false), has_new(true)];
        Self { tasks, files, new, named, hits, own, owner, shared_by: None, any_new, put_back }
    }

    /// One change proves once. A file that one task names belongs to that task; a file that several name goes to the
    /// first without a file yet.
    ///
    /// Files that no task of the list names go to the only task that names nothing; of several such tasks the first
    /// gets them, and shares them.
    fn divide(&mut self, free: &dyn Fn(Vec<String>) -> Vec<String>) {
        let mut named_by: Vec<Vec<usize>> = vec![Vec::new(); self.owner.len()];
        for found in self.named.iter().flatten().filter(|named| named.is_exact) {
            named_by[found.file].push(found.task);
        }
        for is_shared in [false, true] {
            for (file, tasks) in named_by.iter().enumerate() {
                let Some(first) = tasks.first().filter(|_| (tasks.len() > 1) == is_shared) else {
                    continue;
                };
                let without = tasks.iter().find(|task| self.own[**task].is_empty());
                let task = *without.unwrap_or(first);
                self.own[task].push(file);
                self.owner[file] = Some(task);
            }
        }
        let is_nameless = |place: &usize| {
            let task = &self.tasks[*place];
            let says = matches!(task.word, SaidWord::None | SaidWord::Elsewhere(_));
            let has_none = !self.hits[*place].contains(&true)
                && self.unchanged_files(&self.unchanged_names(*place)).is_none();
            has_none && !task.is_check && !task.has_done_parts && says
        };
        let nameless: Vec<usize> = (0..self.tasks.len()).filter(is_nameless).collect();
        let Some(place) = nameless.first().copied() else { return };
        let is_shared = nameless.len() > 1;
        let is_its =
            |whose: &String| !is_shared && (whose.is_empty() || *whose == self.tasks[place].id);
        let is_rest = |file: &usize| {
            let (change, new) = (&self.files.since_arming[*file], self.new[*file]);
            let may_be = || self.files.may_be_of(&self.tasks[place], change, new);
            self.owner[*file].is_none()
                && !change.ignored
                && !self.files.is_text(&change.path)
                && named_by[*file].is_empty()
                && ((new.is_some() && may_be())
                    || self.files.whose(&change.path).is_some_and(is_its))
        };
        let rest: Vec<usize> = (0..self.owner.len()).filter(is_rest).collect();
        let is_nobodys =
            |file: &usize| self.files.whose(self.path(*file)).is_none_or(String::is_empty);
        let nobodys = rest.iter().filter(|file| is_nobodys(file));
        let free = free(nobodys.map(|file| self.path(*file).to_owned()).collect());
        let is_free = |file: &usize| !is_nobodys(file) || is_among(&free, self.path(*file));
        self.own[place] = rest.into_iter().filter(is_free).collect();
        self.shared_by = Some(place).filter(|_| is_shared);
    }

    fn path(&self, file: usize) -> &str {
        &self.files.since_arming[file].path
    }

    /// The grade. Changed tests, or a command that is newer than the arming, cap it at a tick.
    fn proof(&self, place: usize, task: &TaskFacts) -> Result<(Proof, String), Unproved> {
        let (proof, doubt) = self.proof_by_files(place, task)?;
        if proof > Proof::Tick && !task.tests.is_empty() {
            return Ok((Proof::Tick, tests_changed(&task.tests)));
        }
        if proof > Proof::Tick && task.has_new_command {
            return Ok((Proof::Tick, "its Verify command was added after arming".to_owned()));
        }
        Ok((proof, doubt))
    }

    fn proof_by_files(&self, place: usize, task: &TaskFacts) -> Result<(Proof, String), Unproved> {
        if let Some(why) = self.files.held_up() {
            return Err(why);
        }
        let sure = |proof| Ok((proof, String::new()));
        let tick = |doubt: &str| Ok((Proof::Tick, doubt.to_owned()));
        let has_passed = task.verify == VerifyShown::Passed;
        if self.files.since_tick.is_none() {
            return sure(if has_passed { Proof::Command } else { Proof::Word });
        }
        let (named, own) = (&self.named[place], &self.own[place]);
        let is_text_work = self.any_new[1] && task.names.iter().all(|name| !name.looks);
        let has_any = self.any_new[0] || is_text_work || !named.is_empty() || !own.is_empty();
        let unnamed = self.unchanged_names(place);
        let doubt = self.doubt(place, task, &unnamed);
        let unchanged = if named.is_empty() { self.unchanged_files(&unnamed) } else { None };
        if has_passed && (task.is_check || (has_any && unchanged.is_none())) {
            return sure(Proof::Command);
        }
        let is_strong = own.iter().any(|file| self.is_strong(place, *file));
        if is_strong && doubt.is_empty() {
            return sure(Proof::Files);
        }
        let is_gone = |file: &usize| self.files.since_arming[*file].back.contains(&task.id);
        if !own.iter().all(is_gone) {
            return Ok((Proof::Tick, doubt));
        }
        match &task.word {
            SaidWord::NoChange(_) => return sure(Proof::Word),
            SaidWord::Elsewhere(_) if !has_any => return sure(Proof::Word),
            SaidWord::Elsewhere(why) => {
                return tick(&["elsewhere, the agent says: ", why].concat());
            }
            SaidWord::With(other) => return tick(&["done with ", other].concat()),
            SaidWord::None if !own.is_empty() => {
                let own: Vec<String> = own.iter().map(|file| self.path(*file).to_owned()).collect();
                return Err(Unproved::of(UnprovedReason::WorkGone, &own));
            }
            SaidWord::None if task.is_check => return sure(Proof::Word),
            SaidWord::None => {}
        }
        if task.verify != VerifyShown::Nothing {
            return tick("its command passes, and nothing of its work is seen");
        }
        if task.has_done_parts {
            return tick("its parts are done");
        }
        if !has_any && !self.any_new[1] {
            let none = self.put_back.is_empty();
            let why =
                if none { UnprovedReason::NothingChanged } else { UnprovedReason::OnlyPutBack };
            return Err(Unproved::of(why, &self.put_back));
        }
        unchanged.map_or(Ok((Proof::Tick, doubt)), Err)
    }

    /// Names that certainly are files, and have not changed.
    fn unchanged_files(&self, names: &[String]) -> Option<Unproved> {
        let among = |reason, all: &[String]| {
            let found = names.iter().filter(|name| is_among(all, name));
            let files: Vec<String> = found.cloned().collect();
            (!files.is_empty()).then_some(Unproved { reason, files })
        };
        among(UnprovedReason::NamedFilesUnchanged, &self.files.known)
            .or_else(|| among(UnprovedReason::NamedFilesMissing, &self.files.missing))
    }

    /// The change of a file for a task. For another task's file, only the change since the last tick counts.
    fn change(&self, place: usize, file: usize) -> FileChange {
        let ChangedFile { path, change, back, .. } = &self.files.since_arming[file];
        let change = if back.is_empty() { change } else { &FileChange::Back };
        let is_others = self
            .files
            .whose(path)
            .is_some_and(|whose| !whose.is_empty() && *whose != self.tasks[place].id);
        let new = self.new[file].filter(|_| is_others && *change == FileChange::Content);
        new.unwrap_or(*change)
    }

    /// True if the change of this file shows the task's work.
    fn is_strong(&self, place: usize, file: usize) -> bool {
        let path = self.path(file);
        let is_fresh =
            || self.new[file].is_some() || self.files.whose(path) == Some(&self.tasks[place].id);
        let is_named = self.named[place].iter().any(|named| named.file == file);
        let is_alone = self.shared_by != Some(place);
        let may_be = !self.files.is_judge(path) && !is_made(path);
        let is_its = is_named || (is_alone && is_fresh() && may_be);
        is_its && self.change(place, file) == FileChange::Content
    }

    /// Names that are paths, and of which no file differs from arming.
    fn unchanged_names(&self, place: usize) -> Vec<String> {
        let names = self.tasks[place].names.iter().zip(&self.hits[place]);
        let is_it = |(name, hit): &(&FileName, &bool)| {
            let known = [&self.files.known, &self.files.maybe];
            let may_be = (name.looks && !name.is_ending())
                || known.iter().any(|paths| is_among(paths, &name.path));
            !**hit && may_be && !self.files.is_text(&name.path)
        };
        names.filter(is_it).map(|(name, _)| name.path.clone()).collect()
    }

    /// The doubt about a proof by files; empty for none.
    fn doubt(&self, place: usize, task: &TaskFacts, unnamed: &[String]) -> String {
        let (named, own) = (&self.named[place], &self.own[place]);
        let best = own.iter().copied().min_by_key(|file| rank(self.change(place, *file)));
        let best = best.map(|file| (file, self.change(place, file)));
        let is_clear = |change| change != FileChange::Content || self.shared_by != Some(place);
        if let Some((file, best)) = best.filter(|(_, change)| is_clear(*change)) {
            if own.iter().any(|file| self.is_strong(place, *file)) {
                return match &task.word {
                    SaidWord::With(other) => ["done with ", other].concat(),
                    _ if named.is_empty() && !unnamed.is_empty() => could_be(unnamed),
                    _ => String::new(),
                };
            }
            if best == FileChange::Content && self.files.is_judge(self.path(file)) {
                return tests_changed(&self.files.judges);
            }
            let alike = own.iter().filter(|file| self.change(place, **file) == best);
            let alike = alike.map(|file| self.path(*file).to_owned());
            let made = |path: &String| best == FileChange::Content && is_made(path);
            let made = few(&mut alike.clone().filter(made), NAMED);
            if !made.is_empty() {
                return ["only files that look generated: ", &made].concat();
            }
            return weak(best, &mut { alike });
        }
        let taken = named.iter().find_map(|named| Some((named.file, self.owner[named.file]?)));
        if let Some((file, owner)) = taken {
            return [self.path(file), " had changed once, for ", &self.tasks[owner].id].concat();
        }
        if let Some(found) = named.first() {
            return ["a file of the same name in another folder: ", self.path(found.file)].concat();
        }
        if let Some(hit) = self.hits[place].iter().position(|hit| *hit) {
            return [&task.names[hit].path, " has changed only for another task"].concat();
        }
        if !unnamed.is_empty() {
            return could_be(unnamed);
        }
        if self.any_new[1] && !self.any_new[0] {
            return "only texts about the feature have changed".to_owned();
        }
        "files have changed, and nothing shows that they are its work".to_owned()
    }
}

/// The weakest change has the highest rank.
pub fn rank(change: FileChange) -> usize {
    DOUBTS.iter().position(|(other, _)| *other == change).map_or(0, |place| place + 1)
}

/// The words before files whose best change is this one.
pub fn words_of(change: FileChange) -> &'static str {
    rank(change).checked_sub(1).map_or("changed before the last tick already:", |at| DOUBTS[at].1)
}

pub fn weak(change: FileChange, files: &mut dyn Iterator<Item = String>) -> String {
    [words_of(change), " ", &few(files, NAMED)].concat()
}

fn is_among(paths: &[String], path: &str) -> bool {
    paths.binary_search_by(|known| known.as_str().cmp(path)).is_ok()
}

fn tests_changed(files: &[String]) -> String {
    [TESTS_CHANGED, &few(&mut files.iter().cloned(), NAMED)].concat()
}

fn could_be(names: &[String]) -> String {
    [&few(&mut names.iter().cloned(), NAMED), " could be a file, and has not changed"].concat()
}

/// Matches tasks with changed files, and tells which words matched. Each file is looked up by all ends of its path, and
/// by the folders in it.
fn matches(tasks: &[TaskFacts], files: &FileFacts) -> (Vec<Match>, Vec<Vec<bool>>) {
    let mut index: Vec<(String, usize, usize)> = Vec::new();
    for (task, facts) in tasks.iter().enumerate() {
        let names = facts.names.iter().enumerate();
        index.extend(names.map(|(place, name)| (name.path.to_lowercase(), task, place)));
    }
    let index = sorted(index, Ord::cmp);
    let mut hits: Vec<Vec<bool>> = tasks.iter().map(|task| vec![false; task.names.len()]).collect();
    let mut found: Vec<Match> = Vec::new();
    for (file, changed) in files.since_arming.iter().enumerate() {
        let path = changed.path.to_lowercase();
        let path = path.trim_end_matches('/');
        let begins = memchr::memchr_iter(b'/', path.as_bytes()).map(|at| at + 1);
        let begins = begins.chain(path.rfind(' ').map(|at| at + 1)).chain([0]);
        let mut take = |key: &str| {
            let from = index.partition_point(|(name, ..)| name.as_str() < key);
            for (_, task, name) in index[from..].iter().take_while(|(name, ..)| name == key) {
                hits[*task][*name] = true;
                let name = &tasks[*task].names[*name].path;
                let is_there = [&files.known, &files.missing].iter().any(|all| is_among(all, name));
                let is_it = *name == changed.path
                    || (name.ends_with('/') && changed.path.starts_with(&**name));
                let is_exact = is_it || !is_there;
                match found
                    .iter_mut()
                    .rev()
                    .take_while(|named| named.file == file)
                    .find(|named| named.task == *task)
                {
                    Some(known) => known.is_exact |= is_exact,
                    None => found.push(Match { task: *task, file, is_exact }),
                }
            }
        };
        for begin in begins {
            let end = &path[begin..];
            take(end);
            for at in memchr::memchr_iter(b'/', end.as_bytes()) {
                take(&end[..=at]);
            }
            take(&[end, "/"].concat());
        }
    }
    (found, hits)
}

#[cfg(test)]
mod tests;
