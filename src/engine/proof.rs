//! How well a ticked task is proved, by what was seen of its work: a command that passed, files that changed, or words alone.

use serde::{Deserialize, Serialize};

use super::line::text_of;
use super::named::{BareName, bare_names, ends_file};
use super::observation::CheckResult;
use super::order::sorted;
use super::output::ran_no_test;
use super::tasks::{Task, TaskList};

pub use super::named::{NamedPath, files_named_in, names_file, paths_in};
pub use super::unproved::{Unproved, UnprovedTask};

/// How well a task has to be proved for its tick to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LeastProof {
    /// Every tick counts.
    #[default]
    Word,
    /// Something must have changed, or the agent says why not.
    Files,
}

/// How well a ticked task is proved; each is stronger than the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Proof {
    /// The agent says so, with a reason why nothing changed; or nobody could look.
    Word,
    /// Something changed, and nobody can tell whether it is this task's work.
    Tick,
    /// Files that are this task's work have changed.
    Files,
    /// Its Verify command passed after the newest change.
    Command,
}

impl Proof {
    /// Returns how well a task with this proof is proved once its command has passed: with nothing changed it may have passed
    /// before, and a run of no test says nothing.
    #[must_use]
    pub fn with_command(self, ran_no_test: bool) -> Self {
        if self == Self::Files && !ran_no_test { Self::Command } else { self }
    }
}

/// How a file differs from what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentChange {
    /// What it contains differs, or it is new.
    Content,
    /// It is gone, or nothing is left in it but comments and blanks.
    Gone,
    /// The same of a file that git ignores: the work of a task that names it, and of no other.
    Ignored,
    /// The same of a text in the folder of the feature, which says what is to be done.
    Text,
    /// Only blanks and line ends differ.
    Blanks,
    /// Only comments and blanks differ.
    Comments,
    /// The same content was at another path before, which is gone.
    Moved,
    /// Only whether it may be run as a program differs.
    Mode,
    /// A link is new, or leads elsewhere: it contains nothing itself.
    Link,
}

/// One file that differs from what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path relative to the project, with slashes.
    pub path: String,
    /// How it differs.
    pub change: ContentChange,
}

impl ChangedFile {
    /// Returns the same file of a feature's loop with this folder.
    #[must_use]
    pub fn of_feature(mut self, folder: &str) -> Self {
        let below = self.path.strip_prefix(folder).filter(|rest| rest.starts_with('/'));
        let ending = below.and_then(|path| path.rsplit_once('.')).map(|(_, ending)| ending);
        if self.change == ContentChange::Content && ending == Some("md") {
            self.change = ContentChange::Text;
        }
        self
    }
}

/// What came of the Verify command of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VerifyShown {
    /// It has none, or it did not run.
    #[default]
    Nothing,
    /// It passed, and its output says that it ran no test.
    NoTest,
    /// It passed after the newest change.
    Passed,
}

/// Lets the run of a command fail that ran no test: for a task that has nothing else, it is no proof.
pub fn refuse_empty_run(result: &mut CheckResult) {
    if result.passed && ran_no_test(result.tail.as_bytes()) {
        result.passed = false;
        result.outcome += ", and it ran no test";
    }
}

/// What was seen of one ticked task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskFacts {
    /// Its id.
    pub id: String,
    /// Its text, with the lines that belong to it.
    pub text: String,
    /// Whether it is a check, not a change (`[VERIFY]`).
    pub is_check: bool,
    /// Whether tasks are nested in it whose work is its own, and all of them are ticked.
    pub has_done_parts: bool,
    /// What its Verify command showed.
    pub verify: VerifyShown,
    /// Why it changes nothing, in the agent's words.
    pub no_change: Option<String>,
    /// What its text seems to name and what is no file: [`Self::with_words`].
    pub words: Vec<String>,
    /// Files in which its work is likely to be, for one that names none: [`Self::with_bare_names`].
    pub places: Vec<NamedPath>,
    /// Paths that it names and that are there themselves, where files of other folders have changed whose paths end with them.
    pub exact: Vec<String>,
}

/// What was seen of the files while a group of tasks was worked on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// The files that differ since the tick before, the task list and the loop's own files left out; `None` where nobody could look.
    pub since_tick: Option<Vec<ChangedFile>>,
    /// Those that differ since the loop was armed and that no earlier task has for its proof.
    pub unclaimed: Vec<ChangedFile>,
    /// Those of them that are protected and that no task names.
    pub protected: Vec<String>,
    /// The folder that has most of what is new, with its last slash or empty, where the project could be looked at when the loop
    /// was armed and has more now than can be.
    pub too_large: Option<String>,
}

impl FileFacts {
    /// Returns whether the files hold up every task, whatever was done for one.
    pub fn holds_up_all(&self) -> bool {
        !self.protected.is_empty() || self.too_large.is_some()
    }
}

/// What the proof of one task comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedTask {
    /// Its id.
    pub id: String,
    /// How well it is proved, or why it counts as open.
    pub proof: Result<Proof, Unproved>,
    /// The files that are its work.
    pub files: Vec<String>,
}

/// Returns how well each of these tasks is proved, which were ticked together: in one call, at one stop, in one iteration.
pub fn judge(tasks: &[TaskFacts], files: &FileFacts) -> Vec<JudgedTask> {
    let since = files.since_tick.as_deref().unwrap_or_default();
    let all: Vec<&ChangedFile> = since.iter().chain(&files.unclaimed).collect();
    let named: Vec<Vec<NamedPath>> = tasks.iter().map(|task| task.named(&all)).collect();
    // What other tasks of the group name is their work.
    let of_others = |file: &ChangedFile| named.iter().flatten().any(|path| path.covers(&file.path));
    let rest = || since.iter().filter(|file| !of_others(file));
    let nameless = tasks
        .iter()
        .zip(&named)
        .filter(|(task, named)| named.is_empty() && task.no_change.is_none() && !task.is_check);
    let is_alone = nameless.count() == 1;
    let judged = tasks.iter().zip(&named).map(|(task, named)| {
        let counts = |file: &&ChangedFile| task.counts(file.change);
        let mut own: Vec<String> = match named.is_empty() {
            // Without what seems to be a file, it is not sure that the task names none.
            true if is_alone && task.words.is_empty() && task.places.is_empty() => {
                rest().filter(counts).map(|file| file.path.clone()).collect()
            }
            true => Vec::new(),
            false => {
                let is_named = |file: &&ChangedFile| task.is_its(named, &file.path);
                let counts = |file: &&ChangedFile| task.counts_as_named(file.change);
                all.iter()
                    .copied()
                    .filter(is_named)
                    .filter(counts)
                    .map(|file| file.path.clone())
                    .collect()
            }
        };
        own = sorted(own, Ord::cmp);
        own.dedup();
        let proof = task.proof(named, &own, files);
        JudgedTask { id: task.id.clone(), proof, files: own }
    });
    judged.collect()
}

impl TaskFacts {
    /// Returns the same facts with what the list shows now of the tasks that are nested in the task. Those that were when the
    /// loop was armed say that it is done, or where none was, one that was added and is proved by a file that the task names too:
    /// anybody can add one that is ticked. `armed` is the list of that moment, without which all of them count; `work_of` are the
    /// files that prove a task, `None` where none do.
    #[must_use]
    pub fn with_parts(
        self,
        task: &Task,
        list: &TaskList,
        armed: Option<&TaskList>,
        work_of: &mut dyn FnMut(&Task) -> Option<Vec<String>>,
    ) -> Self {
        let parts = list.nested_in(task);
        let all_done = !parts.is_empty() && parts.iter().all(|part| part.done);
        let mut speak = |armed: &TaskList| {
            let then = armed.same_task(task, list).map_or(&[][..], |then| armed.nested_in(then));
            if then.is_empty() {
                let named = paths_in(&self.text);
                let is_its = |file: &String| named.iter().any(|path| path.covers(file));
                return parts.iter().any(|part| {
                    work_of(part).is_some_and(|work| named.is_empty() || work.iter().any(is_its))
                });
            }
            let there = |then: &Task| {
                parts.iter().any(|part| armed.same_task(part, list).is_some_and(|it| it == then))
            };
            then.iter().all(there)
        };
        // A repeat that was there at arming is done with the first.
        let is_repeat = |armed: &TaskList| {
            let then = armed.same_task(task, list);
            let first = then.and_then(|then| {
                armed.find(then.id.split_once('~')?.0).filter(|first| first.title == then.title)
            });
            first.is_some_and(|first| {
                list.find(&first.id).is_some_and(|now| now.done && now.title == first.title)
            })
        };
        let has_done_parts =
            (all_done && armed.is_none_or(&mut speak)) || armed.is_some_and(is_repeat);
        Self { has_done_parts, ..self }
    }

    /// Returns the facts of a task of a list; `text` are the bytes of that list.
    pub fn of(task: &Task, text: &[u8]) -> Self {
        let block = text.get(task.block.clone()).unwrap_or_default();
        Self {
            id: task.id.clone(),
            text: text_of(block).into_owned(),
            is_check: task.verify,
            ..Self::default()
        }
    }

    /// Returns the same facts of a task that names these files and folders as well, by their paths relative to the project.
    #[must_use]
    pub fn naming(mut self, also: &[String]) -> Self {
        for path in also {
            self.text.push_str(&["\n`./", path, "`"].concat());
        }
        self
    }

    /// Returns the same facts with what the text names and no file has, by the files that have `changed` since the loop was armed
    /// and whether a file `exists` or did then: what is likely to be no file is among the words, and a path with other capital
    /// letters stands for a file that has changed. Of a path that `is_there` itself, only that one is the task's work.
    #[must_use]
    pub fn with_words(
        mut self,
        changed: &[ChangedFile],
        exists: &dyn Fn(&NamedPath) -> bool,
        is_there: &dyn Fn(&NamedPath) -> bool,
    ) -> Self {
        let mut also = Vec::new();
        for path in paths_in(&self.text) {
            let is_elsewhere =
                |it: &ChangedFile| path.covers(&it.path) && !path.is_exactly(&it.path);
            if changed.iter().any(is_elsewhere)
                && (changed.iter().any(|it| path.is_exactly(&it.path)) || is_there(&path))
            {
                self.exact.push(path.path);
                continue;
            }
            let is_same = |file: &&ChangedFile| file.path.eq_ignore_ascii_case(&path.path);
            let same = changed.iter().find(is_same);
            // As a rule neither holds, and whether it exists is not asked: that looks at all files.
            if (same.is_none() && !self.is_word(&path))
                || changed.iter().any(|file| path.is_at(&file.path))
                || exists(&path)
            {
                continue;
            }
            match same {
                Some(file) => also.push(file.path.clone()),
                None => self.words.push(path.path),
            }
        }
        self.naming(&also)
    }

    /// Returns the same facts with the bare names of files in the text of a task that names no file otherwise, by whether a file
    /// `exists` or did when the loop was armed: `Update sum.py` names it, and of `Handle it in sum.py` that is likely.
    #[must_use]
    pub fn with_bare_names(mut self, exists: &dyn Fn(&NamedPath) -> bool) -> Self {
        if !self.paths().is_empty() {
            return self;
        }
        let mut bare = bare_names(&self.text);
        bare.retain(|(name, _)| exists(name));
        if bare.iter().any(|(_, said)| *said == BareName::Object) {
            let names: Vec<String> = bare.into_iter().map(|(name, _)| name.path).collect();
            return self.naming(&names);
        }
        self.places = bare.into_iter().map(|(name, _)| name).collect();
        self
    }

    /// Returns the files and folders that it names, or in which its work is likely to be.
    pub fn paths(&self) -> Vec<NamedPath> {
        let mut paths = paths_in(&self.text);
        paths.extend(self.places.iter().cloned());
        paths
    }

    /// Whether this file is one that the task names.
    fn is_its(&self, named: &[NamedPath], file: &str) -> bool {
        named
            .iter()
            .any(|it| it.covers(file) && (it.is_exactly(file) || !self.exact.contains(&it.path)))
    }

    /// What it names; what is only likely to be its place counts where a file there has changed.
    fn named(&self, files: &[&ChangedFile]) -> Vec<NamedPath> {
        let mut named = paths_in(&self.text);
        named.retain(|it| !self.words.contains(&it.path));
        let is_place = |file: &ChangedFile| {
            self.counts(file.change) && self.places.iter().any(|it| it.covers(&file.path))
        };
        if named.is_empty() && files.iter().any(|file| is_place(file)) {
            return self.places.clone();
        }
        named
    }

    /// Whether what exists nowhere is likely to be no file: a key, a call, a product, a place in the web, a route, a table.
    fn is_word(&self, path: &NamedPath) -> bool {
        let (first, below) = path.path.split_once('/').unwrap_or((&path.path, ""));
        // `@scope/name/` is a package of npm.
        if WORDS.split(' ').any(|word| word == first)
            || (first.starts_with('@') && !self.says(ABOUT_FILES))
        {
            return true;
        }
        let Some((_, ending)) = first.rsplit_once('.') else {
            return path.is_folder && below.is_empty() && self.calls_route(&path.path);
        };
        if first.starts_with('.') || self.says(ABOUT_FILES) {
            return false;
        }
        match below {
            "" => !path.is_folder && !ends_file(ending),
            _ => matches!(ending, "com" | "org" | "net" | "io" | "dev"),
        }
    }

    /// Whether the word before or behind this path says that it is a route or a table.
    fn calls_route(&self, path: &str) -> bool {
        let blank = ['`', ' '];
        let text = self.text.to_ascii_lowercase();
        text.split_once(&*path.to_ascii_lowercase()).is_some_and(|(before, behind)| {
            let (before, behind) =
                (before.trim_end_matches(blank), behind.trim_start_matches(blank));
            ROUTES.iter().any(|it| before.ends_with(it) || behind.starts_with(it))
        })
    }

    fn proof(
        &self,
        named: &[NamedPath],
        own: &[String],
        files: &FileFacts,
    ) -> Result<Proof, Unproved> {
        if !files.protected.is_empty() {
            return Err(Unproved::ProtectedChanged(files.protected.clone()));
        }
        if let Some(folder) = &files.too_large {
            return Err(Unproved::TreeTooLarge(folder.clone()));
        }
        let Some(since) = &files.since_tick else {
            return Ok(if self.verify == VerifyShown::Passed {
                Proof::Command
            } else {
                Proof::Word
            });
        };
        let changed = since.iter().any(|file| self.counts(file.change));
        match self.verify {
            VerifyShown::Passed if self.is_check || !own.is_empty() => return Ok(Proof::Command),
            VerifyShown::Passed if named.is_empty() && changed => return Ok(Proof::Command),
            // A command that passes with nothing done may have passed before.
            VerifyShown::Passed => return Ok(Proof::Tick),
            VerifyShown::Nothing | VerifyShown::NoTest => {}
        }
        if !own.is_empty() {
            return Ok(Proof::Files);
        }
        if self.no_change.is_some() || self.is_check {
            return Ok(Proof::Word);
        }
        if self.has_done_parts {
            return Ok(Proof::Tick);
        }
        if !named.is_empty() {
            // It is gone, though nothing says that it was to go, or it is another file whose path ends alike.
            let is_doubt = |file: &ChangedFile| {
                named.iter().any(|it| it.covers(&file.path))
                    && (file.change == ContentChange::Gone || self.counts_as_named(file.change))
            };
            // It names both what a file was called and what it is called now: in other languages, too, that is what it wanted.
            let moved = |file: &&ChangedFile| {
                file.change == ContentChange::Moved
                    && named.iter().any(|it| it.is_exactly(&file.path))
            };
            if since.iter().chain(&files.unclaimed).any(is_doubt)
                || since.iter().filter(moved).count() > 1
            {
                return Ok(Proof::Tick);
            }
            let paths = named.iter().map(|it| it.path.clone()).collect();
            return Err(Unproved::NamedFilesUnchanged(paths));
        }
        let may_be =
            [ContentChange::Moved, ContentChange::Link, ContentChange::Gone, ContentChange::Text];
        let is_work = changed || since.iter().any(|file| may_be.contains(&file.change));
        if is_work { Ok(Proof::Tick) } else { Err(Unproved::NothingChanged) }
    }

    /// Returns whether a file that the task names and that differs in this way can be its work.
    pub fn counts_as_named(&self, change: ContentChange) -> bool {
        matches!(change, ContentChange::Ignored | ContentChange::Text) || self.counts(change)
    }

    /// Whether a file that differs in this way can be the work of the task.
    fn counts(&self, change: ContentChange) -> bool {
        match change {
            ContentChange::Content => true,
            ContentChange::Ignored => false,
            ContentChange::Gone => self.says(AWAY),
            ContentChange::Text => self.says(TEXTS),
            ContentChange::Blanks => self.says(LAYOUT),
            ContentChange::Comments => self.says("comment|document|docs|docstring|license header"),
            ContentChange::Moved => self.says("rename|move |relocate|moving|moved "),
            ContentChange::Mode => self.says("executable|chmod|permission|mode "),
            ContentChange::Link => self.says("link|symlink|symbolic"),
        }
    }

    /// Whether a word of the text begins with one of these, which have a `|` between them.
    fn says(&self, words: &str) -> bool {
        // A path says nothing of what is to be done: `app/models/user.py` is no word on a mode.
        let words_of = self.text.split_whitespace().filter(|word| !word.contains('/'));
        let text = words_of.fold(String::new(), |text, word| {
            text + " " + word.trim_start_matches(|it: char| !it.is_alphanumeric())
        });
        let text = text.to_lowercase();
        words.split('|').any(|word| text.contains(&format!(" {word}")))
    }
}

/// Calls and products that look like files.
const WORDS: &str = "\
    console.log process.env response.json res.json request.json Node.js Express.js Vue.js \
    Next.js Nuxt.js";
/// What is said of a file that is to go, or whose content is to be elsewhere.
const AWAY: &str = "archiv|clean|clear|consolidat|convert|dead|delet|deprecat|discard|drop|eliminat|empty|entfern|extract|get rid|\
    inline|lösch|merg|migrat|mov|no longer|obsolete|prune|purge|refactor|relocat|remov|renam|replac|retir|revert|rid |split|strip|\
    supprim|undo|uninstall|unused|wipe";
/// What is said of texts that are written about a feature.
const TEXTS: &str = "checklist|contract|data model|data-model|decision|describe|design|docs|document|explain|note|plan|quickstart|\
    research|spec|summar";
/// What is said where blanks and empty files are the work.
const LAYOUT: &str = "format|reformat|indent|whitespace|blank|line end|empty|placeholder|structure|scaffold|skeleton";
const ABOUT_FILES: &str = "create|file|generate|save|scaffold|write ";
const ROUTES: &[&str] = &["api", "endpoint", "route", "table", "url"];

#[cfg(test)]
mod tests;
