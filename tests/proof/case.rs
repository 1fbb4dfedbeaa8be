//! One planted case, and the words in which the kinds write theirs.

use crate::layout::Layout;

/// How the agent ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It edits the list.
    Hand,
    /// It calls `spool task done`.
    Spool,
    /// It calls `spool task done`, and edits the list where that refuses.
    Both,
}

/// Some cases that are made alike, for layouts that differ.
pub struct Kind {
    pub name: &'static str,
    /// How many.
    pub cases: usize,
    pub ways: &'static [Way],
    /// Which layouts it can be played in.
    pub fits: fn(&Layout) -> bool,
    /// The case of this number for a layout.
    pub make: fn(&Layout, usize) -> Case,
}

pub const ALL_WAYS: &[Way] = &[Way::Hand, Way::Spool, Way::Both];
pub const BOTH_WAYS: &[Way] = &[Way::Hand, Way::Spool];
pub const BY_HAND: &[Way] = &[Way::Hand];

pub fn any(_: &Layout) -> bool {
    true
}

pub fn in_git(layout: &Layout) -> bool {
    layout.git
}

/// A kind for all ways and layouts.
pub const fn kind(name: &'static str, cases: usize, make: fn(&Layout, usize) -> Case) -> Kind {
    Kind { name, cases, ways: ALL_WAYS, fits: any, make }
}

/// What is planted, what the agent does, and what it is about.
pub struct Case {
    pub kind: &'static str,
    pub name: String,
    pub way: Way,
    /// Whether the project is a git repository.
    pub git: bool,
    /// The folder of the repository that the project is, empty for its top.
    pub below: &'static str,
    /// What the project has at the start, committed where it is a repository.
    pub files: Vec<(String, Vec<u8>)>,
    /// What the agent has beside the project, on `$DESK`.
    pub desk: Vec<(String, Vec<u8>)>,
    pub list: String,
    /// The ids whose proof is asked for.
    pub suspects: Vec<&'static str>,
    pub checks: Vec<String>,
    pub protect: Vec<String>,
    /// A script that prepares the project before the loop is armed.
    pub before: String,
    /// A script for each turn; `mark ID…` ticks.
    pub turns: Vec<String>,
    /// What the agent does when it is sent back after its last turn.
    pub second_word: Option<String>,
    /// What the agent says at the end of each turn.
    pub words: String,
    /// What somebody has to read, in a message or a receipt; empty for nothing.
    pub must_say: String,
    /// Whether it may not even end as a doubt.
    pub must_stay_open: bool,
}

/// Texts of tasks with a word in each that looks like a file and is none, or has other capital letters than the file.
pub fn with_words(layout: &Layout, number: usize) -> String {
    let texts = [
        "Take every `console.log` out",
        "Keep to `server.port` of the settings",
        "Return the route `users/` a page at a time",
        "Let it run with `Node.js` 22",
        "Use Express.js/Vue.js for it",
        "Do it as in example.com/spec.html",
    ];
    let other_case = || format!("Sum up more than two in `{}`", layout.source.to_uppercase());
    texts.get(number % 7).map_or_else(other_case, |text| (*text).to_owned())
}

impl Case {
    /// A case in this layout with these tasks: id and text.
    pub fn new(layout: &Layout, tasks: &[(&'static str, String)]) -> Self {
        Self {
            kind: "",
            name: String::new(),
            way: Way::Hand,
            git: layout.git,
            below: layout.below,
            files: layout.files(),
            desk: layout.desk(),
            list: layout.list(tasks),
            suspects: tasks.iter().map(|(id, _)| *id).collect(),
            checks: Vec::new(),
            protect: Vec::new(),
            before: String::new(),
            turns: Vec::new(),
            second_word: None,
            words: "All tasks are done.".to_owned(),
            must_say: String::new(),
            must_stay_open: false,
        }
    }

    /// The script of one more turn.
    pub fn turn(mut self, script: impl Into<String>) -> Self {
        self.turns.push(script.into());
        self
    }

    pub fn suspects(mut self, ids: &[&'static str]) -> Self {
        self.suspects = ids.to_vec();
        self
    }

    pub fn file(mut self, path: &str, text: impl AsRef<[u8]>) -> Self {
        self.files.push((path.to_owned(), text.as_ref().to_vec()));
        self
    }

    pub fn desk(mut self, name: &str, text: impl AsRef<[u8]>) -> Self {
        self.desk.push((name.to_owned(), text.as_ref().to_vec()));
        self
    }

    pub fn check(mut self, command: &str) -> Self {
        self.checks.push(command.to_owned());
        self
    }

    pub fn protect(mut self, glob: &str) -> Self {
        self.protect.push(glob.to_owned());
        self
    }

    pub fn before(mut self, script: impl Into<String>) -> Self {
        self.before = script.into();
        self
    }

    pub fn second_word(mut self, script: impl Into<String>) -> Self {
        self.second_word = Some(script.into());
        self
    }

    pub fn saying(mut self, words: &str) -> Self {
        words.clone_into(&mut self.words);
        self
    }

    /// It may not even end as a doubt.
    pub fn stays_open(mut self) -> Self {
        self.must_stay_open = true;
        self
    }
}
