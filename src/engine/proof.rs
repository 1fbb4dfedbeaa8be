//! The grades of proof, and the kinds of a file's change.

use serde::{Deserialize, Serialize};

use super::observation::CheckResult;
use super::output::{TestsRun, tests_run};

pub use super::unproved::{Unproved, UnprovedReason, UnprovedTask};

/// The proof that a tick needs to count.
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
    /// Something changed, and a doubt is left whether it is this task's work.
    Tick,
    /// Files that are this task's work have changed.
    Files,
    /// Its Verify command passed after the newest change.
    Command,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// Other content.
    Content,
    /// More stubs than before, such as `todo!()`.
    Stub,
    /// Only blanks and lines that look like comments differ.
    Comments,
    /// Only blanks and line ends differ.
    Blanks,
    /// The content was at another path before, which is gone.
    Moved,
    /// The content is that from before another task.
    Back,
    /// Only the permission to run the file differs.
    Mode,
    /// A link is new, or leads elsewhere.
    Link,
    /// The file is gone, or empty.
    Gone,
    /// A new folder without a file.
    Folder,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Relative to the project, with slashes; a folder ends with one.
    pub path: String,
    pub change: FileChange,
    /// Git ignores the file: only a task that names the file gets it as work.
    pub ignored: bool,
    /// Hashes of the content before and now, 0 for no file. The judge compares all files with the last tick here.
    pub step: [u64; 2],
    /// Tasks whose work is gone: the content is that from before their ticks.
    pub back: Vec<String>,
}

/// The file at this path, of files in the order of their paths.
pub fn changed_at<'a>(files: &'a [ChangedFile], path: &str) -> Option<&'a ChangedFile> {
    files.binary_search_by(|file| file.path.as_str().cmp(path)).ok().map(|place| &files[place])
}

/// Fails a run in which a test failed or none ran; `true` if none ran.
pub fn refuse_empty_run(result: &mut CheckResult) -> bool {
    let shown = tests_run(&result.run, result.tail.as_bytes());
    let words = match shown {
        TestsRun::None => ", but it ran no test",
        TestsRun::Failed => ", but its output says that tests failed",
        _ => "",
    };
    let is_refused = result.passed && !words.is_empty();
    if is_refused {
        result.passed = false;
        result.outcome += words;
    }
    is_refused && shown == TestsRun::None
}
