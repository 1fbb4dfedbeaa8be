//! What of a task list is no work, or may not be what it looks like: what is told of it before a loop begins.

use super::line::TaskKind;
use super::reading::{Unread, Why};
use super::tasks::{Task, TaskList};

/// The most lines that are told, and the most names in one of them.
const TOLD: usize = 6;
const NAMED: usize = 8;

impl TaskList {
    /// Returns what a person has to know of the lines that do not count, or have an odd mark, a line each.
    pub fn asides(&self) -> Vec<String> {
        let kinds = [
            (TaskKind::Optional, "optional, and left out"),
            (TaskKind::Struck, "struck through, and left out"),
            (TaskKind::Repeat, "written twice, and done with the first"),
            (TaskKind::Legend, "a legend, and no work"),
            (TaskKind::Placeholder, "a template, and no work"),
            (TaskKind::Gate, "a checklist of the list itself, and left out"),
        ];
        let of_kind = |(kind, words): &(TaskKind, &str)| {
            named(self.left_out.iter().filter(|task| task.kind == *kind), words)
        };
        let odd = self.open().filter(|task| task.mark != ' ');
        let odd = named(odd, "marked with something else than a tick, and count as open");
        let mut told: Vec<String> = kinds.iter().filter_map(of_kind).chain(odd).collect();
        told.extend(self.unread.iter().take(TOLD).map(Unread::told));
        if let Some(more) = self.unread.len().checked_sub(TOLD).filter(|more| *more > 0) {
            told.push(format!("{more} more lines look like tasks and do not count"));
        }
        told
    }
}

/// The tasks by name, with what they are.
fn named<'a>(tasks: impl Iterator<Item = &'a Task>, what: &str) -> Option<String> {
    let names: Vec<String> = tasks
        .map(|task| match task.has_own_id() {
            true => task.id.clone(),
            false => format!("line {}", task.line),
        })
        .collect();
    let more = names.len().saturating_sub(NAMED);
    let shown = names[..names.len() - more].join(", ");
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| format!("{what}: {shown}{rest}"))
}

impl Unread {
    /// Returns the line, and why it does not count.
    pub fn told(&self) -> String {
        let why = match self.why {
            Why::Encoding => return "the file is UTF-16 text: save it as UTF-8".to_owned(),
            Why::Legend => return format!("line {} is of a legend, and no work", self.line),
            Why::Escaped => "its brackets are escaped",
            Why::Table => "it is a row of a table",
            Why::Quote => "it is a quote",
            Why::Code => "it is indented as code",
            Why::Bullet => "no bullet with a blank behind it stands before the box",
            Why::Later => "its box does not stand first",
            Why::Bare => "no words stand behind its box",
            Why::Struck => "it is struck through",
        };
        format!("line {} looks like a task and does not count, for {why}: {}", self.line, self.text)
    }
}
