//! How well a ticked task is proved, by what was seen of its work: a command that passed, files that changed, or words alone.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::observation::CheckResult;
use super::order::sorted;
use super::output::ran_no_test;
use super::tasks::{Task, TaskList};

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
    /// Returns what a receipt calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::Tick => "tick",
            Self::Files => "files",
            Self::Command => "command",
        }
    }

    /// Returns how well a task with this proof is proved once its command has passed: with nothing changed it may have passed
    /// before, and a run of no test says nothing.
    #[must_use]
    pub fn with_command(self, ran_no_test: bool) -> Self {
        if self == Self::Files && !ran_no_test { Self::Command } else { self }
    }

    /// Returns the proof that a receipt calls so, `None` for another word.
    pub fn called(name: &str) -> Option<Self> {
        match name {
            "word" => Some(Self::Word),
            "tick" => Some(Self::Tick),
            "files" => Some(Self::Files),
            "command" => Some(Self::Command),
            _ => None,
        }
    }
}

/// How a file differs from what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentChange {
    /// What it contains differs; it is new, or it is gone.
    Content,
    /// The same of a file that git ignores: the work of a task that names it, and of no other.
    Ignored,
    /// Only blanks and line ends differ.
    Blanks,
    /// Only comments and blanks differ.
    Comments,
    /// The same content was at another path before, which is gone.
    Moved,
    /// Only whether it may be run as a program differs.
    Mode,
}

/// One file that differs from what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path relative to the project, with slashes.
    pub path: String,
    /// How it differs.
    pub change: ContentChange,
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
    /// Whether tasks are nested in it, and all of them are ticked: their work is its own.
    pub has_done_parts: bool,
    /// What its Verify command showed.
    pub verify: VerifyShown,
    /// Why it changes nothing, in the agent's words.
    pub no_change: Option<String>,
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
    let named: Vec<Vec<NamedPath>> = tasks.iter().map(|task| paths_in(&task.text)).collect();
    // What other tasks of the group name is their work.
    let of_others = |file: &ChangedFile| named.iter().flatten().any(|path| path.covers(&file.path));
    let since = files.since_tick.as_deref().unwrap_or_default();
    let rest = || since.iter().filter(|file| !of_others(file));
    let nameless = tasks
        .iter()
        .zip(&named)
        .filter(|(task, named)| named.is_empty() && task.no_change.is_none() && !task.is_check);
    let is_alone = nameless.count() == 1;
    let judged = tasks.iter().zip(&named).map(|(task, named)| {
        let counts = |file: &&ChangedFile| task.counts(file.change);
        let all = since.iter().chain(&files.unclaimed);
        let mut own: Vec<String> = match named.is_empty() {
            true if is_alone => rest().filter(counts).map(|file| file.path.clone()).collect(),
            true => Vec::new(),
            false => {
                let is_named = |file: &&ChangedFile| named.iter().any(|it| it.covers(&file.path));
                let counts =
                    |file: &&ChangedFile| file.change == ContentChange::Ignored || counts(file);
                all.filter(is_named).filter(counts).map(|file| file.path.clone()).collect()
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
    /// Returns the same facts with what the list shows now of the tasks that are nested in the task.
    #[must_use]
    pub fn with_parts(self, task: &Task, list: &TaskList) -> Self {
        let parts = list.nested_in(task);
        let has_done_parts = !parts.is_empty() && parts.iter().all(|part| part.done);
        Self { has_done_parts, ..self }
    }

    /// Returns the facts of a task of a list; `text` are the bytes of that list.
    pub fn of(task: &Task, text: &[u8]) -> Self {
        let block = text.get(task.block.clone()).unwrap_or_default();
        Self {
            id: task.id.clone(),
            text: String::from_utf8_lossy(block).into_owned(),
            is_check: task.verify,
            ..Self::default()
        }
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
            let paths = named.iter().map(|it| it.path.clone()).collect();
            return Err(Unproved::NamedFilesUnchanged(paths));
        }
        let is_work = changed || since.iter().any(|file| file.change == ContentChange::Moved);
        if is_work { Ok(Proof::Tick) } else { Err(Unproved::NothingChanged) }
    }

    /// Whether a file that differs in this way can be the work of the task.
    fn counts(&self, change: ContentChange) -> bool {
        let says = |words: &[&str]| {
            // A path says nothing of what is to be done: `app/models/user.py` is no word on a mode.
            let words_of = self.text.split_whitespace().filter(|word| !word.contains('/'));
            let text = words_of.fold(String::new(), |text, word| {
                text + " " + word.trim_start_matches(|it: char| !it.is_alphanumeric())
            });
            let text = text.to_lowercase();
            words.iter().any(|word| text.contains(&format!(" {word}")))
        };
        match change {
            ContentChange::Content => true,
            ContentChange::Ignored => false,
            ContentChange::Blanks => says(&[
                "format",
                "reformat",
                "indent",
                "whitespace",
                "blank",
                "line end",
                "empty",
                "placeholder",
                "structure",
                "scaffold",
                "skeleton",
            ]),
            ContentChange::Comments => {
                says(&["comment", "document", "docs", "docstring", "license header"])
            }
            ContentChange::Moved => says(&["rename", "move ", "relocate", "moving", "moved "]),
            ContentChange::Mode => says(&["executable", "chmod", "permission", "mode "]),
        }
    }
}

/// A file or folder that the text of a task names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPath {
    /// As it is written, without a `./` before it.
    pub path: String,
    is_folder: bool,
}

impl NamedPath {
    /// Returns whether a path of a file, relative to the project, is this one, is in it, or ends with it.
    pub fn covers(&self, file: &str) -> bool {
        let path = self.path.as_str();
        if self.is_folder {
            return file.starts_with(path) || file.contains(&format!("/{path}"));
        }
        file == path || file.strip_suffix(path).is_some_and(|before| before.ends_with('/'))
    }
}

/// Returns the files and folders that a text names: words with a slash and an ending, or a slash at the end, or an ending in
/// backticks. Lines that begin with `Verify` name what a command reads and not what is to be changed.
pub fn paths_in(text: &str) -> Vec<NamedPath> {
    let mut found: Vec<NamedPath> = Vec::new();
    each_path(text, false, &mut |path| {
        if !found.contains(&path) {
            found.push(path);
        }
        true
    });
    found
}

/// Returns the files, without the folders, that a task list names, in the order of the alphabet; the first ones where it names
/// more than that.
pub fn files_named_in(list: &str, most: usize) -> Vec<String> {
    let mut found = BTreeSet::new();
    each_path(list, false, &mut |path| {
        if !path.is_folder {
            found.insert(path.path);
        }
        found.len() < most
    });
    found.into_iter().collect()
}

/// Returns whether a text names this file also by its bare name, without backticks: for a file that is known to be one.
pub fn names_file(text: &str, file: &str) -> bool {
    let mut is_named = false;
    each_path(text, true, &mut |path| {
        is_named = path.covers(file);
        !is_named
    });
    is_named
}

/// Hands out each path that a text names, until `visit` wants no more; as code, each word with an ending is one.
fn each_path(text: &str, all_code: bool, visit: &mut dyn FnMut(NamedPath) -> bool) {
    for line in text.lines() {
        let start = line.trim_start_matches([' ', '\t', '-', '*', '_']);
        if start.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("verify")) {
            continue;
        }
        for (number, piece) in line.split('`').enumerate() {
            let in_code = all_code || number % 2 == 1;
            for word in
                piece.split(|it: char| it.is_whitespace() || matches!(it, ',' | ';' | '(' | ')'))
            {
                if let Some(path) = path_of(word, in_code)
                    && !visit(path)
                {
                    return;
                }
            }
        }
    }
}

fn path_of(word: &str, in_code: bool) -> Option<NamedPath> {
    let word = word.trim_matches(['"', '\'', '*', '<', '>', ':']).trim_end_matches(['.', '!', '?']);
    let word = word.strip_prefix("./").unwrap_or(word);
    let is_path =
        |it: char| it.is_alphanumeric() || matches!(it, '.' | '_' | '-' | '/' | '@' | '+');
    let has_parts = word.split('/').all(|part| part != "." && part != "..");
    if word.is_empty()
        || word.len() > 300
        || word.starts_with(['/', '-'])
        || !has_parts
        || !word.chars().all(is_path)
        || word.contains("//")
    {
        return None;
    }
    if let Some(folder) = word.strip_suffix('/') {
        return (!folder.is_empty()).then(|| NamedPath { path: word.to_owned(), is_folder: true });
    }
    let name = word.rsplit('/').next()?;
    let has_slash = name.len() < word.len();
    let (_, ending) = name.rsplit_once('.')?;
    let is_ending = (1..=10).contains(&ending.len())
        && ending.chars().all(|it| it.is_ascii_alphanumeric())
        && ending.starts_with(|it: char| it.is_ascii_alphabetic());
    (is_ending && (has_slash || in_code))
        .then(|| NamedPath { path: word.to_owned(), is_folder: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, text: &str) -> TaskFacts {
        TaskFacts { id: id.to_owned(), text: format!("- [x] {id} {text}"), ..TaskFacts::default() }
    }

    fn changed(files: &[(&str, ContentChange)]) -> FileFacts {
        let file = |(path, change): &(&str, ContentChange)| ChangedFile {
            path: (*path).to_owned(),
            change: *change,
        };
        FileFacts { since_tick: Some(files.iter().map(file).collect()), ..FileFacts::default() }
    }

    fn proof(task: TaskFacts, files: &FileFacts) -> Result<Proof, Unproved> {
        judge(&[task], files).remove(0).proof
    }

    #[test]
    fn files_that_a_text_names() {
        let paths = |text: &str| paths_in(text).into_iter().map(|it| it.path).collect::<Vec<_>>();
        assert_eq!(
            paths("Create User in src/models/user.py, and `README.md`."),
            ["src/models/user.py", "README.md"]
        );
        assert_eq!(
            paths("under `src/api/` and ./a/b.rs (see docs/x.md)"),
            ["src/api/", "a/b.rs", "docs/x.md"]
        );
        assert_eq!(
            paths("Set up Node.js 3.12 and/or CI/CD, e.g. https://a.b/c.html"),
            Vec::<String>::new()
        );
        assert_eq!(paths("Do it\n  - **Verify**: `pytest tests/test_a.py`"), Vec::<String>::new());
        assert_eq!(paths("`cargo test` /etc/passwd ../x.rs src/[name].py"), Vec::<String>::new());
        assert_eq!(paths("`.gitignore` and config/.env"), [".gitignore", "config/.env"]);
    }

    #[test]
    fn files_that_a_list_names() {
        let list = "- [ ] T1 Write src/b.rs and docs/\n- [ ] T2 src/a.rs, src/b.rs\n  - Verify: `test src/c.rs`\n";
        assert_eq!(files_named_in(list, 9), ["src/a.rs", "src/b.rs"]);
        assert_eq!(files_named_in(list, 1), ["src/b.rs"]);
    }

    #[test]
    fn a_file_that_git_ignores_is_the_work_of_a_task_that_names_it_and_of_no_other() {
        let files = changed(&[("config/local.env", ContentChange::Ignored)]);
        let named = task("T1", "Put the address into config/local.env");
        assert_eq!(proof(named, &files), Ok(Proof::Files));
        assert_eq!(proof(task("T1", "Do it"), &files), Err(Unproved::NothingChanged));
    }

    #[test]
    fn a_tick_with_nothing_behind_it_counts_as_open() {
        for files in
            [vec![], vec![("a", ContentChange::Blanks)], vec![("a", ContentChange::Comments)]]
        {
            assert_eq!(proof(task("T1", "Do it"), &changed(&files)), Err(Unproved::NothingChanged));
        }
        assert_eq!(
            proof(task("T1", "Do it"), &changed(&[("a", ContentChange::Moved)])),
            Ok(Proof::Tick)
        );
        let named = task("T1", "Write src/a.rs");
        let wanted = Err(Unproved::NamedFilesUnchanged(vec!["src/a.rs".to_owned()]));
        for change in [ContentChange::Blanks, ContentChange::Comments, ContentChange::Moved] {
            assert_eq!(proof(named.clone(), &changed(&[("src/a.rs", change)])), wanted);
        }
        assert_eq!(proof(named.clone(), &changed(&[("src/b.rs", ContentChange::Content)])), wanted);
        assert_eq!(
            proof(named, &changed(&[("src/a.rs", ContentChange::Content)])),
            Ok(Proof::Files)
        );
    }

    #[test]
    fn what_a_task_asks_for_decides_which_changes_count() {
        for (text, change) in [
            ("Format src/a.rs", ContentChange::Blanks),
            ("Document src/a.rs", ContentChange::Comments),
            ("Rename b.rs to src/a.rs", ContentChange::Moved),
            ("Create an empty src/a.rs", ContentChange::Blanks),
            ("Make src/a.rs executable", ContentChange::Mode),
        ] {
            assert_eq!(
                proof(task("T1", text), &changed(&[("src/a.rs", change)])),
                Ok(Proof::Files)
            );
        }
    }

    #[test]
    fn a_path_says_nothing_of_what_is_to_be_done() {
        for (path, change) in [
            ("app/models/user.py", ContentChange::Mode),
            ("docs/information.js", ContentChange::Comments),
            ("lib/format/rename.py", ContentChange::Moved),
            ("lib/format/rename.py", ContentChange::Blanks),
        ] {
            let files = changed(&[(path, change)]);
            let named = task("T1", &format!("Improve the information in `{path}`"));
            assert!(proof(named, &files).is_err(), "{path} {change:?}");
        }
    }

    #[test]
    fn a_reason_is_a_word_and_a_command_is_more_where_something_changed() {
        let no_change = Some("it is there".to_owned());
        let said = TaskFacts { no_change, ..task("T1", "Write src/a.rs") };
        assert_eq!(proof(said, &changed(&[])), Ok(Proof::Word));
        let passed = TaskFacts { verify: VerifyShown::Passed, ..task("T1", "Do it") };
        assert_eq!(proof(passed.clone(), &changed(&[])), Ok(Proof::Tick));
        assert_eq!(
            proof(passed.clone(), &changed(&[("a", ContentChange::Content)])),
            Ok(Proof::Command)
        );
        let check = TaskFacts { is_check: true, ..passed.clone() };
        assert_eq!(proof(check, &changed(&[])), Ok(Proof::Command));
        let empty = TaskFacts { verify: VerifyShown::NoTest, ..passed };
        assert_eq!(proof(empty, &changed(&[])), Err(Unproved::NothingChanged));
    }

    #[test]
    fn tasks_that_were_ticked_together_share_only_what_nobody_names() {
        let group =
            [task("T1", "Write src/a.rs"), task("T2", "Do it"), task("T3", "Write src/c.rs")];
        let judged = |files: &FileFacts| {
            judge(&group, files).into_iter().map(|it| it.proof).collect::<Vec<_>>()
        };
        let a = ("src/a.rs", ContentChange::Content);
        let open = Err(Unproved::NamedFilesUnchanged(vec!["src/c.rs".to_owned()]));
        assert_eq!(judged(&changed(&[a])), [Ok(Proof::Files), Ok(Proof::Tick), open.clone()]);
        let other = ("b.rs", ContentChange::Content);
        assert_eq!(judged(&changed(&[a, other])), [Ok(Proof::Files), Ok(Proof::Files), open]);
        let two = [task("T1", "Do it"), task("T2", "Do that")];
        let all: Vec<_> = judge(&two, &changed(&[other])).into_iter().map(|it| it.proof).collect();
        assert_eq!(all, [Ok(Proof::Tick), Ok(Proof::Tick)]);
    }

    #[test]
    fn protected_files_and_a_look_that_nobody_could_take() {
        let protected = FileFacts {
            protected: vec!["tests/a.rs".to_owned()],
            ..changed(&[("a", ContentChange::Content)])
        };
        let wanted = Err(Unproved::ProtectedChanged(vec!["tests/a.rs".to_owned()]));
        assert_eq!(proof(task("T1", "Do it"), &protected), wanted);
        assert_eq!(proof(task("T1", "Do it"), &FileFacts::default()), Ok(Proof::Word));
    }

    #[test]
    fn a_task_whose_parts_are_all_ticked_is_done_with_them() {
        let of = |text: &str| {
            let list = TaskList::parse(text.as_bytes());
            let facts = TaskFacts::of(&list.tasks[0], text.as_bytes());
            proof(facts.with_parts(&list.tasks[0], &list), &changed(&[]))
        };
        assert_eq!(of("- [x] 1 Page\n  - [x] 1.1 Form\n  - [x] 1.2 List\n"), Ok(Proof::Tick));
        let open = "- [x] 1 Page\n  - [x] 1.1 Form\n  - [ ] 1.2 List\n";
        assert_eq!(of(open), Err(Unproved::NothingChanged));
        assert_eq!(of("- [x] 1 Page\n- [x] 2 Form\n"), Err(Unproved::NothingChanged));
    }

    #[test]
    fn work_that_was_done_before_another_task_was_ticked_counts() {
        let early = ChangedFile { path: "src/b.rs".to_owned(), change: ContentChange::Content };
        let files = FileFacts { unclaimed: vec![early], ..changed(&[]) };
        assert_eq!(proof(task("T2", "Write src/b.rs"), &files), Ok(Proof::Files));
        assert_eq!(proof(task("T2", "Do it"), &files), Err(Unproved::NothingChanged));
    }
}
