//! The person's command for notices.

use std::path::Path;
use std::time::Duration;

use crate::checks::outcome;
use crate::exec::{LIMIT_ALONE, Program, shell};
use crate::text;

/// A notice for a person, told by their own command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersonNotice {
    /// The subject of the loop.
    pub about: String,
    /// One word: the name of the end, or of the need for the person.
    pub reason: String,
    /// The person's words.
    pub words: String,
}

impl PersonNotice {
    /// `words` may begin with our name.
    pub fn of(about: &str, reason: &str, words: &str) -> Self {
        let words = words.strip_prefix(text::OURS).unwrap_or(words);
        Self { about: about.to_owned(), reason: reason.to_owned(), words: words.to_owned() }
    }
}

pub const NOTICE_LIMIT: Duration = LIMIT_ALONE;

/// Runs a person's command with a notice. The result: why that failed, or `None`. A command that takes longer than
/// `patience` goes on alone, until its limit.
///
/// No word of the notice is in the command line: all are in variables, and the words on standard input, too.
pub fn tell(
    command: &str,
    notice: &PersonNotice,
    project: &Path,
    patience: Duration,
) -> Option<String> {
    // A command that goes on alone is ended after the wait for it.
    let patience = patience.min(NOTICE_LIMIT.saturating_sub(Duration::from_secs(1)));
    let mut shell = shell::line_with_words(command);
    // A notice about a vanished project is wanted, too.
    let folder = project.ancestors().find(|folder| folder.is_dir()).unwrap_or(project);
    shell.current_dir(folder).env("RALPH_PROJECT", project);
    for (name, value) in [
        ("RALPH_ABOUT", &notice.about),
        ("RALPH_REASON", &notice.reason),
        ("RALPH_WORDS", &notice.words),
    ] {
        shell.env(name, &*text::block(value));
    }
    let (passed, outcome) = match Program::new(shell, patience).run_or_leave() {
        Ok(None) => (false, format!("not over yet, ended after {} s", NOTICE_LIMIT.as_secs())),
        end => {
            let (passed, outcome, _) = outcome(end.map(|end| (end, Vec::new())), NOTICE_LIMIT);
            (passed, outcome)
        }
    };
    (!passed).then_some(outcome)
}
