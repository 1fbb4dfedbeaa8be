//! The task list of a feature: `tasks.md` read as data, without losing a byte of it.
//!
//! A task is a list item with a box: any indent, `-` or `*`, `[ ]`, `[x]` or `[X]`. Boxes in code
//! fences and HTML comments and `CHK…` checklist items are no tasks (design, "What decides done").

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::fingerprint::hash_of;

/// A task list as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskList {
    /// The tasks in the order of the file.
    pub tasks: Vec<Task>,
}

/// One task of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// What names the task: `T001`, `1.2`, or `#` and a hash of its text where it has no id.
    pub id: String,
    /// The text behind the id and the marks.
    pub title: String,
    /// Whether the box is ticked.
    pub done: bool,
    /// `[P]`: may be done side by side with its neighbours.
    pub parallel: bool,
    /// `[VERIFY]`: a check, not a change.
    pub verify: bool,
    /// `[FIX T003]`: the task that this one repairs.
    pub fixes: Option<String>,
    /// The heading it stands under, empty before the first one.
    pub phase: String,
    /// Where the character between the brackets stands, in bytes from the start of the file.
    pub mark_at: usize,
    /// The line it stands on, from 1.
    pub line: usize,
    /// The bytes of the task with the lines that belong to it.
    pub block: std::ops::Range<usize>,
    /// The number of headings and checkpoints above it: tasks of one parallel group share it.
    pub section: usize,
}

impl Task {
    /// Returns the command that proves the task: what stands in backticks on its `Verify` line.
    ///
    /// Prose on that line is for the reader; only code is run.
    pub fn verify_command(&self, text: &[u8]) -> Option<String> {
        let block = String::from_utf8_lossy(text.get(self.block.clone())?).into_owned();
        block.lines().skip(1).find_map(|line| {
            let line = line.trim_start().trim_start_matches(['-', '*', ' ', '_']);
            let value = line.strip_prefix("Verify").or_else(|| line.strip_prefix("verify"))?;
            let value = value.trim_start_matches(['*', '_', ' ']).strip_prefix(':')?;
            let (_, code) = value.split_once('`')?;
            let (code, _) = code.split_once('`')?;
            Some(code.trim().to_owned()).filter(|code| !code.is_empty())
        })
    }

    /// Returns the task with the lines that belong to it, without the blank lines at its end.
    pub fn block_text(&self, text: &[u8]) -> String {
        let block = text.get(self.block.clone()).unwrap_or_default();
        String::from_utf8_lossy(block).trim_end().to_owned()
    }
}

impl TaskList {
    /// Returns the tasks found in the bytes of a `tasks.md`; never fails, whatever the input.
    pub fn parse(text: &[u8]) -> Self {
        let lines = split_lines(text);
        let hidden = hidden_lines(&lines);
        let mut list = Self::default();
        let mut phase = String::new();
        let mut section = 0;
        let mut open: Option<usize> = None;
        let mut taken = BTreeSet::new();
        for (number, line) in lines.iter().enumerate() {
            if hidden[number] {
                continue;
            }
            if let Some(heading) = heading_of(line.text) {
                list.close(open.take(), line.start);
                phase = heading;
                section += 1;
                continue;
            }
            let Some(found) = TaskLine::read(line.text) else {
                section += usize::from(is_checkpoint(line.text));
                continue;
            };
            list.close(open.take(), line.start);
            let id = unused_id(&found, &mut taken);
            open = Some(list.tasks.len());
            list.tasks.push(Task {
                id,
                title: found.title,
                done: found.done,
                parallel: found.parallel,
                verify: found.verify,
                fixes: found.fixes,
                phase: phase.clone(),
                mark_at: line.start + found.mark_at,
                line: number + 1,
                block: line.start..text.len(),
                section,
            });
        }
        list
    }

    /// Returns how many tasks are ticked.
    pub fn done(&self) -> usize {
        self.tasks.iter().filter(|task| task.done).count()
    }

    /// Returns the open tasks in the order of the list.
    pub fn open(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| !task.done)
    }

    /// Returns the place of the first open task, from 0, or the number of tasks when none is open.
    pub fn first_open(&self) -> usize {
        let place = self.tasks.iter().position(|task| !task.done);
        place.unwrap_or(self.tasks.len())
    }

    /// Returns the task of that id, letter case ignored.
    pub fn find(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id.eq_ignore_ascii_case(id))
    }

    fn close(&mut self, open: Option<usize>, at: usize) {
        if let Some(task) = open.and_then(|index| self.tasks.get_mut(index)) {
            task.block.end = at;
        }
    }
}

/// The task's own id, or a hash of its text; a repeated one gets a number behind it.
fn unused_id(found: &TaskLine, taken: &mut BTreeSet<String>) -> String {
    let id = match &found.id {
        Some(id) => id.clone(),
        None => format!("#{:08x}", hash_of(found.title.as_bytes()) & 0xffff_ffff),
    };
    let mut unused = id.clone();
    let mut copy = 2_usize;
    while !taken.insert(unused.to_ascii_uppercase()) {
        unused = format!("{id}~{copy}");
        copy += 1;
    }
    unused
}

struct Line<'a> {
    start: usize,
    text: &'a [u8],
}

fn split_lines(text: &[u8]) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text).chain([text.len()]) {
        let line = &text[start..end];
        lines.push(Line { start, text: line.strip_suffix(b"\r").unwrap_or(line) });
        start = end + 1;
    }
    lines
}

/// Which lines stand in a code fence or an HTML comment.
///
/// One that is never closed hides nothing: a slip must not make open tasks invisible.
fn hidden_lines(lines: &[Line<'_>]) -> Vec<bool> {
    let mut hidden = vec![false; lines.len()];
    let mut unclosed = Unclosed::default();
    let mut at = 0;
    while at < lines.len() {
        let opened = hiding_start(lines[at].text).filter(|opened| !unclosed.covers(opened));
        let Some(opened) = opened else {
            at += 1;
            continue;
        };
        let end =
            (at..lines.len()).find(|line| opened.is_closed_by(lines[*line].text, *line == at));
        if let Some(end) = end {
            hidden[at..=end].fill(true);
            at = end + 1;
        } else {
            unclosed.remember(&opened);
            at += 1;
        }
    }
    hidden
}

/// What is known never to be closed further down: nothing is looked for twice.
#[derive(Default)]
struct Unclosed {
    comment: bool,
    backticks: Option<usize>,
    tildes: Option<usize>,
}

impl Unclosed {
    fn covers(&self, opened: &Hiding) -> bool {
        match opened {
            Hiding::Comment => self.comment,
            Hiding::Fence(b'`', length) => self.backticks.is_some_and(|known| *length >= known),
            Hiding::Fence(_, length) => self.tildes.is_some_and(|known| *length >= known),
        }
    }

    fn remember(&mut self, opened: &Hiding) {
        match opened {
            Hiding::Comment => self.comment = true,
            Hiding::Fence(b'`', length) => self.backticks = Some(*length),
            Hiding::Fence(_, length) => self.tildes = Some(*length),
        }
    }
}

enum Hiding {
    Comment,
    Fence(u8, usize),
}

fn hiding_start(line: &[u8]) -> Option<Hiding> {
    let text = line.trim_ascii_start();
    if text.starts_with(b"<!--") {
        return Some(Hiding::Comment);
    }
    let mark = *text.first().filter(|mark| matches!(mark, b'`' | b'~'))?;
    let length = text.iter().take_while(|byte| **byte == mark).count();
    // Three backticks and more on one line are inline code, not the start of a fence.
    let inline = mark == b'`' && text[length..].contains(&b'`');
    (length >= 3 && !inline).then_some(Hiding::Fence(mark, length))
}

impl Hiding {
    fn is_closed_by(&self, line: &[u8], own_line: bool) -> bool {
        match self {
            Self::Comment => memchr::memmem::find(line, b"-->").is_some(),
            Self::Fence(mark, length) => {
                let text = line.trim_ascii();
                !own_line && text.len() >= *length && text.iter().all(|byte| byte == mark)
            }
        }
    }
}

fn heading_of(line: &[u8]) -> Option<String> {
    let level = line.iter().take_while(|byte| **byte == b'#').count();
    if !(1..=6).contains(&level) || !matches!(line.get(level), None | Some(b' ' | b'\t')) {
        return None;
    }
    Some(text_of(line[level..].trim_ascii()).into_owned())
}

/// The text in these bytes. Whole text is checked in one go; only broken text is gone through
/// letter by letter, which is ten times dearer.
fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// `**Checkpoint**: …` between two groups of tasks.
fn is_checkpoint(line: &[u8]) -> bool {
    let text = line.trim_ascii_start();
    let text = text.strip_prefix(b"**").unwrap_or(text);
    text.len() >= 10 && text[..10].eq_ignore_ascii_case(b"checkpoint")
}

struct TaskLine {
    id: Option<String>,
    title: String,
    done: bool,
    parallel: bool,
    verify: bool,
    fixes: Option<String>,
    mark_at: usize,
}

impl TaskLine {
    fn read(line: &[u8]) -> Option<Self> {
        let indent = line.len() - line.trim_ascii_start().len();
        let item = &line[indent..];
        if !matches!(item.first(), Some(b'-' | b'*')) {
            return None;
        }
        let gap = item[1..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let [b'[', mark, b']', rest @ ..] = &item[1 + gap..] else {
            return None;
        };
        // `[-]`, `[~]` and the like are read as open: they are boxes that nobody ticked.
        let is_box = matches!(mark, b' ' | b'x' | b'X' | b'-' | b'~' | b'/' | b'>' | b'!' | b'?');
        if gap == 0 || !is_box || !matches!(rest.first(), Some(b' ' | b'\t')) {
            return None;
        }
        let text = text_of(rest.trim_ascii());
        if text.is_empty() {
            return None;
        }
        let mut task = Self {
            id: None,
            title: String::new(),
            done: matches!(mark, b'x' | b'X'),
            parallel: false,
            verify: text.contains("[VERIFY]"),
            fixes: None,
            mark_at: indent + 1 + gap + 1,
        };
        let mut rest = &*text;
        if is_checklist_item(rest) {
            return None;
        }
        if let Some((id, after)) = take_id(rest) {
            task.id = Some(id.to_owned());
            rest = after;
        }
        rest = task.take_marks(rest);
        if task.id.is_none()
            && let Some((id, after)) = take_id(rest)
        {
            task.id = Some(id.to_owned());
            rest = task.take_marks(after);
        }
        rest.clone_into(&mut task.title);
        Some(task)
    }

    /// Takes the marks in brackets that stand before the description.
    fn take_marks<'a>(&mut self, text: &'a str) -> &'a str {
        let mut rest = text.trim_start();
        while let Some((mark, after)) = bracketed(rest) {
            match mark {
                "P" => self.parallel = true,
                "VERIFY" => {}
                _ if mark.starts_with("FIX ") => {
                    self.fixes = Some(mark["FIX ".len()..].trim().to_owned());
                }
                _ if is_story(mark) => {}
                _ => break,
            }
            rest = after.trim_start();
        }
        rest
    }
}

/// `[text] rest` as `(text, rest)`.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let (mark, rest) = text.strip_prefix('[')?.split_once(']')?;
    // `[label](target)` is a link, not a mark.
    (!rest.starts_with('(')).then_some((mark, rest))
}

fn is_story(mark: &str) -> bool {
    mark.strip_prefix("US").is_some_and(|digits| all_digits(digits.as_bytes()))
}

fn is_checklist_item(text: &str) -> bool {
    let text = text.trim_start_matches(['*', '`', '[']);
    let digits = text.strip_prefix("CHK").unwrap_or_default();
    digits.starts_with(|first: char| first.is_ascii_digit())
}

/// Takes `T001`, `1.2`, `T001:`, `**T001**`, `[T001]` or `1.` from the front of a description.
fn take_id(text: &str) -> Option<(&str, &str)> {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let bare = word.trim_start_matches(['*', '`', '[', '_']);
    let id = bare.trim_end_matches(['*', '`', ']', '_', ':', '.', ')', ',']);
    // `3 retries` is prose; `3.` and `3)` number a task.
    let marked = id.len() < bare.len();
    (is_id(id) || (marked && all_digits(id.as_bytes()))).then_some((id, rest))
}

/// Whether a word is a task id: `T001`, `T001a`, `FIX-12`, `1.2.3`, `T003.F1`.
fn is_id(word: &str) -> bool {
    let repaired = word.rsplit_once('F').filter(|(_, number)| all_digits(number.as_bytes()));
    let repaired = repaired.and_then(|(front, _)| front.strip_suffix(['.', '-']));
    let (head, suffix) = (repaired.unwrap_or(word), repaired.is_some());
    let bytes = head.as_bytes();
    let letters = bytes.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    let rest = &bytes[letters..];
    let rest = match rest.split_last() {
        Some((last, front)) if last.is_ascii_lowercase() => front,
        _ => rest,
    };
    match letters {
        0 => {
            let parts = rest.split(|byte| *byte == b'.').count();
            (parts > 1 || suffix) && rest.split(|byte| *byte == b'.').all(all_digits)
        }
        1 => rest.split(|byte| *byte == b'.').all(all_digits),
        2..=8 => rest.strip_prefix(b"-").is_some_and(all_digits),
        _ => false,
    }
}

fn all_digits(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<String> {
        let list = TaskList::parse(text.as_bytes());
        list.tasks.iter().map(|task| task.id.clone()).collect()
    }

    #[test]
    fn spec_kit_lines_are_read_with_id_marks_and_phase() {
        let list = TaskList::parse(
            b"# Tasks\r\n## Phase 1: Setup\r\n- [X] T001 Create it\r\n- [ ] T002 [P] [US1] Model in a.py\r\n  - Do: this\r\n## Phase 2\r\n* [ ] T003 [VERIFY] Run tests\r\n",
        );
        let seen: Vec<_> = list
            .tasks
            .iter()
            .map(|t| {
                (t.id.as_str(), t.title.as_str(), t.done, t.parallel, t.verify, t.phase.as_str())
            })
            .collect();
        assert_eq!(
            seen,
            [
                ("T001", "Create it", true, false, false, "Phase 1: Setup"),
                ("T002", "Model in a.py", false, true, false, "Phase 1: Setup"),
                ("T003", "Run tests", false, false, true, "Phase 2"),
            ]
        );
        assert_eq!(list.done(), 1);
        assert_eq!(list.first_open(), 1);
    }

    #[test]
    fn boxes_in_fences_comments_and_checklists_are_no_tasks() {
        let text = "```\n- [ ] T001 fenced\n```\n<!--\n- [ ] T002 hidden\n-->\n- [ ] CHK001 check\n    ~~~~\n- [ ] T003 fenced\n~~~\n    ~~~~\n- [ ] T004 real\n";
        assert_eq!(ids(text), ["T004"]);
    }

    #[test]
    fn an_unclosed_fence_or_comment_hides_nothing() {
        assert_eq!(
            ids("- [x] T001 a\n```\n- [ ] T002 b\n<!-- oh\n- [ ] T003 c\n"),
            ["T001", "T002", "T003"]
        );
    }

    #[test]
    fn ids_of_older_lists_and_fix_tasks_are_whole_words() {
        let text = "- [ ] 1.1 a\n- [ ] 1.10 b\n- [ ] **2.1** c\n- [ ] T003.F1 [FIX T003] d\n- [ ] TASK-7: e\n- [ ] 4. f\n";
        assert_eq!(ids(text), ["1.1", "1.10", "2.1", "T003.F1", "TASK-7", "4"]);
        let list = TaskList::parse(text.as_bytes());
        assert_eq!(list.tasks[3].fixes.as_deref(), Some("T003"));
        assert_eq!(list.find("1.1").map(|task| task.title.as_str()), Some("a"));
    }

    #[test]
    fn a_task_without_an_id_is_known_by_its_text() {
        let found =
            ids("- [ ] 3 retries on failure\n- [ ] 3 retries on failure\n- [ ] HTTP2 support\n");
        assert!(found.iter().all(|id| id.starts_with('#')), "{found:?}");
        assert_eq!(found[1], format!("{}~2", found[0]));
        let moved = ids("- [ ] other\n- [ ] HTTP2 support\n");
        assert_eq!(moved[1], found[2]);
    }

    #[test]
    fn nested_boxes_count_and_links_do_not() {
        let text = "- [ ] T001 a\n\t- [x] T002 nested\n- [a] no\n- [x](http://x) no\n-[ ] no\n- [ ]no\n- [~] T005 half\n";
        assert_eq!(ids(text), ["T001", "T002", "T005"]);
    }

    #[test]
    fn the_mark_stands_between_the_brackets() {
        let text = "x\n  *  [ ] T001 \u{e9}\n";
        let list = TaskList::parse(text.as_bytes());
        assert_eq!(&text[list.tasks[0].mark_at..=list.tasks[0].mark_at], " ");
        assert_eq!(&text[list.tasks[0].block.clone()], "  *  [ ] T001 \u{e9}\n");
    }
}
