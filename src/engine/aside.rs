//! What of a task list is no work, or may not be what it looks like: what is told of it before a loop begins, and at its end.

use serde::Serialize;

use super::line::{TaskBox, TaskKind, Unread, Why};
use super::order::sorted;
use super::tasks::{Task, TaskList};

/// The most lines that are told, and the most names in one of them.
const TOLD: usize = 6;
const NAMED: usize = 8;
/// The same at the end of a loop, and the most characters of a line there.
const NAMED_AT_END: usize = 4;
const SHOWN_AT_END: usize = 40;
/// The kind of what counts as open whatever its mark means.
const MARK: &str = "mark";
/// The kinds that are told together, each with what such lines are.
const TOGETHER: [(&str, &str); 6] = [
    ("optional", "optional, and left out"),
    ("struck", "struck through, and left out"),
    ("legend", "a legend, and no work"),
    ("placeholder", "a template, and no work"),
    ("gate", "a checklist of the list itself, and left out"),
    (MARK, "marked with something else than a tick, and count as open"),
];

/// A line of a task list with a box that does not count, or that counts as open and has an odd mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Aside {
    /// The id that stands in it; null for none.
    pub id: Option<String>,
    /// Its line in the file, from 1.
    pub line: usize,
    /// What it is: `optional`, `struck`, `legend`, `placeholder`, `gate`; `escaped`, `table`, `quote`, `code`, `bullet`, `later`,
    /// `bare`, `encoding`; `mark` for a task that counts as open and has an odd mark.
    pub kind: &'static str,
    /// The same in more words, or why it does not count.
    pub why: &'static str,
    /// What it says, cut short.
    pub text: String,
    #[serde(skip)]
    is_open: bool,
}

impl TaskList {
    /// Returns the lines that do not count, or have an odd mark, in the order of the file.
    pub fn beside(&self) -> Vec<Aside> {
        let odd = self.open().filter(|task| task.mark != ' ');
        let tasks = self.left_out.iter().chain(odd).map(Aside::of_task);
        let all = tasks.chain(self.unread.iter().map(Aside::of_line)).collect();
        sorted(all, |one: &Aside, other| one.line.cmp(&other.line))
    }

    /// Returns what a person has to know of these lines, in words.
    pub fn asides(&self) -> Vec<String> {
        in_words(&self.beside())
    }

    /// Returns which boxes are open and do not count, on one line; `None` for none.
    pub fn uncounted(&self) -> Option<String> {
        let mut open = self.beside();
        open.retain(|aside| aside.is_open && aside.kind != MARK);
        let name = |aside: &Aside| match &aside.id {
            Some(id) => format!("{id} ({})", aside.kind),
            None => format!("line {} ({}: {})", aside.line, aside.kind, cut(&aside.text)),
        };
        let named: Vec<String> = open.iter().take(NAMED_AT_END).map(name).collect();
        let boxes = match open.len() {
            0 => return None,
            1 => "1 box is open and does not count".to_owned(),
            several => format!("{several} boxes are open and do not count"),
        };
        Some(format!("{boxes}: {}{}", named.join(", "), more_than(open.len(), NAMED_AT_END)))
    }
}

impl Aside {
    fn of_task(task: &Task) -> Self {
        let kind = match task.kind {
            TaskKind::Work => MARK,
            TaskKind::Optional => "optional",
            TaskKind::Struck => "struck",
            TaskKind::Legend => "legend",
            TaskKind::Placeholder => "placeholder",
            TaskKind::Gate => "gate",
        };
        Self {
            id: task.has_own_id().then(|| task.id.clone()),
            line: task.line,
            kind,
            why: together(kind).unwrap_or_default(),
            text: task.title.to_string(),
            is_open: !task.done,
        }
    }

    fn of_line(line: &Unread) -> Self {
        let (kind, why) = match line.why {
            Why::Encoding => ("encoding", "the file is UTF-16 text: save it as UTF-8"),
            Why::Legend => ("legend", ""),
            Why::Struck => ("struck", ""),
            Why::Escaped => ("escaped", "its brackets are escaped"),
            Why::Table => ("table", "it is a row of a table"),
            Why::Quote => ("quote", "it is a quote"),
            Why::Code => ("code", "it is HTML, or indented as code"),
            Why::Bullet => ("bullet", "no bullet with a blank behind it stands before the box"),
            Why::Later => ("later", "its box does not stand first"),
            Why::Bare => ("bare", "no words stand behind its box"),
        };
        let why = together(kind).unwrap_or(why);
        let (text, is_open) = (line.text.clone(), !line.is_ticked);
        Self { id: None, line: line.line, kind, why, text, is_open }
    }

    /// The line, and why it does not count.
    fn told(&self) -> String {
        let Self { line, why, text, .. } = self;
        if self.kind == "encoding" {
            return (*why).to_owned();
        }
        format!("line {line} looks like a task and does not count, for {why}: {text}")
    }
}

/// Returns what a person has to know of such lines, a line each.
pub fn in_words(asides: &[Aside]) -> Vec<String> {
    let of_kind = |(kind, what): &(&str, &str)| {
        named(asides.iter().filter(|aside| aside.kind == *kind), what)
    };
    let mut told: Vec<String> = TOGETHER.iter().filter_map(of_kind).collect();
    let alone = || asides.iter().filter(|aside| together(aside.kind).is_none());
    told.extend(alone().take(TOLD).map(Aside::told));
    if let Some(more) = alone().count().checked_sub(TOLD).filter(|more| *more > 0) {
        told.push(format!("{more} more lines look like tasks and do not count"));
    }
    told
}

/// The lines by name, with what they are.
fn named<'a>(asides: impl Iterator<Item = &'a Aside>, what: &str) -> Option<String> {
    let name = |aside: &Aside| aside.id.clone().unwrap_or_else(|| format!("line {}", aside.line));
    let names: Vec<String> = asides.map(name).collect();
    let shown = names[..names.len().min(NAMED)].join(", ");
    (!names.is_empty()).then(|| format!("{what}: {shown}{}", more_than(names.len(), NAMED)))
}

/// What lines of a kind are, where they are told together.
fn together(kind: &str) -> Option<&'static str> {
    TOGETHER.iter().find(|(known, _)| *known == kind).map(|(_, what)| *what)
}

fn more_than(all: usize, shown: usize) -> String {
    let more = all.saturating_sub(shown);
    if more > 0 { format!(" and {more} more") } else { String::new() }
}

fn cut(text: &str) -> String {
    let mut letters = text.chars();
    let start: String = letters.by_ref().take(SHOWN_AT_END).collect();
    if letters.next().is_some() { start.trim_end().to_owned() + "…" } else { start }
}

/// Whether the boxes in a line are ticked, all of them.
pub(super) fn is_ticked(line: &[u8]) -> bool {
    let plain: Vec<u8> = line.iter().copied().filter(|byte| *byte != b'\\').collect();
    let boxes = memchr::memchr_iter(b'[', &plain).filter_map(|at| TaskBox::read(&plain[at..]));
    let mut ticked = boxes
        .filter(|found| found.is_ticked() || !found.mark.is_alphanumeric())
        .map(|found| found.is_ticked())
        .peekable();
    ticked.peek().is_some() && ticked.all(|ticked| ticked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_that_do_not_count_are_named() {
        let list = |text: &str| TaskList::parse(text.as_bytes()).uncounted();
        assert_eq!(list("- [x] T1 a\n- [ ] T2 b\n- [-] T3 c\n"), None);
        assert_eq!(list("- [x] T1 a\n- [x]* T2 b\n| [x] | c |\n\\[x\\] d\n"), None);
        let words =
            "2 boxes are open and do not count: T2 (optional), line 3 (later: **[ ] T3 c**)";
        assert_eq!(list("- [x] T1 a\n- [ ]* T2 b\n**[ ] T3 c**\n").as_deref(), Some(words));
        let long = format!("- [x] T1 a\n\n| [x] | [ ] | {} |\n", "word ".repeat(20));
        let words = "1 box is open and does not count: line 3 (table: | [x] | [ ] | word word word word word w…)";
        assert_eq!(list(&long).as_deref(), Some(words));
        let many = format!("- [x] T1 a\n{}", "- [ ]* b\n".repeat(9));
        assert!(list(&many).unwrap().ends_with("line 5 (optional: b) and 5 more"));
    }
}
