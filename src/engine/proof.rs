//! How well a ticked task is proved, and how a file differs from what it was: the words that all rooms share.

use serde::{Deserialize, Serialize};

use super::observation::CheckResult;
use super::output::{TestsRun, tests_run};

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
    /// Something changed, and a doubt is left whether it is this task's work.
    Tick,
    /// Files that are this task's work have changed.
    Files,
    /// Its Verify command passed after the newest change.
    Command,
}

/// How a file differs from what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// What it contains.
    Content,
    /// It has more stubs than before, such as `todo!()`.
    Stub,
    /// Only lines that look like comments differ, and blanks.
    Comments,
    /// Only blanks and line ends differ.
    Blanks,
    /// The same content was at another path before, which is gone.
    Moved,
    /// Only whether it may be run as a program differs.
    Mode,
    /// A link is new, or leads elsewhere.
    Link,
    /// It is gone, or nothing is left in it.
    Gone,
    /// A folder is new, and no file is in it.
    Folder,
}

/// One file that differs from what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path relative to the project, with slashes; a folder ends with one.
    pub path: String,
    /// How it differs.
    pub change: FileChange,
    /// Whether git ignores it: it is the work of a task that names it, and of no other.
    pub ignored: bool,
}

/// Lets the run of a command fail in which a test failed or none ran, and returns whether none did.
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
