//! Reads a task list: which lines are tasks, what belongs to each, and which lines only look like tasks.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use memchr::memmem;

use super::aside::{Aside, AsideKind, TOGETHER};
use super::boxes;
use super::line::{Piece, TaskBox, TaskText, text_of};
use super::markdown::{self, Kind, Line};
use super::tasks::{NESTED, Task, TaskList};

const VERIFY: &[u8] = b"[VERIFY]";
/// Letters of a title that stand for an id.
const SHORT: usize = 28;
/// Names of a legend.
const LEGENDS: &str = "legend|notation|key|symbols|markers|marks|status key|status markers|status legend|leyenda|s\u{ed}mbolos|legende|zeichenerkl\u{e4}rung|simboli|symbole|l\u{e9}gende|\u{56fe}\u{4f8b}|\u{51e1}\u{4f8b}|\u{43b}\u{435}\u{433}\u{435}\u{43d}\u{434}\u{430}|\u{43e}\u{431}\u{43e}\u{437}\u{43d}\u{430}\u{447}\u{435}\u{43d}\u{438}\u{44f}|\u{bc94}\u{b840}";
/// Bytes of the longest name, with signs around it.
const LONGEST_LEGEND: usize = 32;

impl TaskList {
    /// Any input is a list: nothing fails.
    pub fn parse(text: &[u8]) -> Self {
        Self::read(text, false)
    }

    fn read(text: &[u8], has_labels: bool) -> Self {
        let is_utf16 = text.starts_with(b"\xff\xfe")
            || text.starts_with(b"\xfe\xff")
            || (memchr::memchr(0, text).is_some() && memmem::find(text, b"\0[\0").is_some());
        if is_utf16 {
            let unread = vec![Aside::new(AsideKind::Encoding, 1, b"", true)];
            return Self { unread, ..Self::default() };
        }
        let lines = markdown::lines(text);
        let mut reader = ListReader {
            // Lines of whole text need no check of their own.
            whole: std::str::from_utf8(text).ok().map(Arc::from),
            has_formats: memchr::memchr(b'?', text).is_some(),
            checks: memmem::find_iter(text, VERIFY).collect(),
            front: markdown::front_matter(&lines),
            length: text.len(),
            tasks: Vec::with_capacity(lines.len()),
            ids: Ids { has_labels, ..Ids::default() },
            ..ListReader::default()
        };
        for (number, line) in lines.iter().enumerate() {
            reader.read(number + 1, line);
        }
        if reader.ids.has_labels && !has_labels {
            return Self::read(text, true);
        }
        reader.leave_headings(0);
        // `[in progress]` is a state to the eye where boxes stand below the same heading.
        let has_box = |at| reader.tasks.binary_search_by_key(&at, |task| task.section).is_ok();
        let states = reader.states.into_iter().filter(|(section, _)| section.is_none_or(has_box));
        reader.unread.extend(states.map(|(_, aside)| aside));
        let left_out = reader.tasks.extract_if(.., |task| task.aside.is_some()).collect();
        Self { tasks: reader.tasks, left_out, unread: reader.unread }
    }

    /// The open boxes and all boxes of a checklist. A checklist is no work, so all boxes count, except those in prose
    /// and those that explain the list.
    pub fn boxes(text: &[u8]) -> (usize, usize) {
        let (list, mut open, mut all) = (Self::parse(text), 0, 0);
        for aside in list.asides() {
            let text = &aside.text;
            let is_prose =
                aside.kind == AsideKind::State || (text.starts_with('[') && !text.contains("CHK"));
            if !is_prose && (aside.kind == AsideKind::Gate || !TOGETHER.contains(&aside.kind)) {
                (open, all) = (open + usize::from(aside.is_open), all + 1);
            }
        }
        (list.open().count() + open, list.tasks.len() + all)
    }
}

/// The state that the lines above leave for a line.
#[derive(Default)]
struct Above {
    /// The line above is blank.
    is_blank: bool,
    /// The line above is hidden.
    is_hidden: bool,
    /// The heading right above, with only blank lines between.
    heading: Option<Arc<str>>,
    /// The marks that the legend has explained, a tab for an item without a box, and a line break for a line or a row;
    /// `None` outside of a legend.
    legend: Option<String>,
    /// A line announces a gate.
    says_gate: bool,
}

impl Above {
    /// A legend explains each mark once; `true` if an item ends the legend.
    fn ends_legend(&mut self, found: Option<&TaskBox>) -> bool {
        let mark = found.map_or('\t', |found| found.mark);
        let is_known = |marks: &mut String| mark != '\t' && marks.contains(mark);
        let is_end = self.legend.take_if(is_known).is_some();
        self.legend.as_mut().into_iter().for_each(|marks| marks.push(mark));
        is_end
    }
}

/// A question mark behind a mark, as in spec-kit's explanation of a task's form.
fn says_format(text: &str) -> bool {
    ["[P?]", "[US?]", "[Story?]"].iter().any(|mark| text.contains(mark))
}

/// The words, or those before their colon or a wide sign, name a legend.
fn is_legend(words: &str) -> bool {
    let end = memchr::memchr2(b':', 0xef, words.as_bytes()).unwrap_or(words.len());
    let name = words.get(..end).filter(|name| name.len() <= LONGEST_LEGEND);
    let name = name.filter(|name| !name.bytes().any(|byte| byte.is_ascii_digit()));
    let lower = name.map(|name| name.trim_matches(['*', '_', ' ']).to_lowercase());
    lower.is_some_and(|lower| LEGENDS.split('|').any(|legend| legend == lower))
}

/// A name may have pictures in front.
fn undrawn(name: &str) -> &str {
    name.trim_start_matches(|sign: char| !sign.is_ascii() && !sign.is_alphanumeric()).trim_start()
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty())
}

#[derive(Default)]
struct ListReader {
    whole: Option<Arc<str>>,
    /// Some line may explain the form of a task.
    has_formats: bool,
    /// Places of `VERIFY`, in bytes from the start of the text.
    checks: Vec<usize>,
    /// The first place in `checks` behind the lines read so far.
    next_check: usize,
    length: usize,
    /// Lines of front matter.
    front: usize,
    tasks: Vec<Task>,
    unread: Vec<Aside>,
    /// Lines that begin with a possible state, each with its section; `None` if the section does not matter.
    states: Vec<(Option<usize>, Aside)>,
    /// Headings around the line, and lines right below them, that may tell the state of a part; each with its `part`.
    parts: Vec<(usize, usize, Aside)>,
    /// Tasks that a line may belong to, each nested in the one before.
    open: Vec<usize>,
    ids: Ids,
    phase: Arc<str>,
    section: usize,
    phases: usize,
    /// The level of the heading above, and the number of tasks above the heading.
    part: (usize, usize),
    /// Extra columns of all tasks: those below a heading with a box are nested in the heading.
    base: usize,
    above: Above,
}

impl ListReader {
    fn read(&mut self, number: usize, line: &Line<'_>) {
        match line.kind {
            Kind::Hidden => {
                if !self.above.is_hidden {
                    self.leave(line.column + 1, line.start);
                }
                self.above.is_hidden = true;
                return self.note(number, line);
            }
            Kind::Blank => {
                self.above.legend.take_if(|marks| marks.ends_with('\n'));
                self.above.is_blank = true;
                return;
            }
            Kind::Heading(level) => self.heading(number, line, level),
            Kind::Rule => {
                self.close(0, line.start);
                self.above.legend = None;
            }
            Kind::Quote | Kind::Code => {
                self.leave_after_blank(line);
                self.check(line, if line.kind == Kind::Quote { line.words() } else { &[] });
                self.note(number, line);
            }
            Kind::Item => self.item(number, line),
            Kind::Text => self.text(number, line),
        }
        (self.above.is_blank, self.above.is_hidden) = (false, false);
    }

    fn heading(&mut self, number: usize, line: &Line<'_>, level: usize) {
        self.close(0, line.start);
        self.leave_headings(level);
        let title = line.title();
        self.phases += usize::from(level < 3 || phase_of(&title).is_some());
        self.section += 1;
        self.base = 0;
        self.part = (level, self.tasks.len());
        let legend = is_legend(undrawn(&title)).then(String::new);
        self.above = Above { legend, ..Above::default() };
        self.phase = title.into();
        if let Some(found) = line.task_box() {
            self.task(number, line, &found, None);
            self.base = NESTED;
        } else {
            self.note(number, line);
            self.above.heading = Some(self.phase.clone());
        }
    }

    fn text(&mut self, number: usize, line: &Line<'_>) {
        let words = line.words();
        if is_checkpoint(words) {
            self.section += 1;
            self.close(0, line.start);
            return self.note(number, line);
        }
        self.leave_after_blank(line);
        let plain = text_of(words);
        let name = plain.trim_end_matches(['*', '_', ' ', ':', '\u{ff1a}']);
        if is_legend(undrawn(name.trim_start_matches('*'))) && !name.contains([':', '\u{ff1a}']) {
            self.above.legend = Some(String::new());
        } else if self.above.is_blank || name.len() < plain.trim_end().len() {
            self.above.legend.take_if(|marks| !marks.is_empty());
        }
        // This fence has no end: one above may be the stray one, and hide work.
        if words.starts_with(b"```") || words.starts_with(b"~~~") {
            let hidden = |aside: &&mut Aside| aside.kind == AsideKind::Hidden;
            self.unread.iter_mut().filter(hidden).for_each(|aside| aside.is_open = true);
        }
        self.above.says_gate |= words_of(&plain).next() == Some("GATE");
        self.above.heading = None;
        self.check(line, words);
        self.note(number, line);
    }

    fn item(&mut self, number: usize, line: &Line<'_>) {
        let words = line.words();
        let found = line.task_box();
        // Two items of a block with one mark are work.
        if self.above.ends_legend(found.as_ref()) && !self.above.is_blank {
            let items = self.tasks.iter_mut().rev();
            let legend = items.take_while(|task| task.aside == Some(AsideKind::Legend));
            legend.for_each(|task| task.aside = None);
        }
        self.leave((line.column + self.base + 1).saturating_sub(NESTED), line.start);
        let Some(found) = found else {
            self.check(line, words);
            return self.note(number, line);
        };
        let heading =
            self.above.heading.take().filter(|_| words[found.text_at..].trim_ascii().is_empty());
        self.task(number, line, &found, heading.as_ref());
    }

    /// Takes the task on a line with this box; a task without words gets the title of the heading above.
    fn task(
        &mut self,
        number: usize,
        line: &Line<'_>,
        found: &TaskBox,
        heading: Option<&Arc<str>>,
    ) {
        let behind = line.words()[found.text_at..].trim_ascii();
        let end = line.start + line.text.trim_ascii_end().len();
        let said = match (heading, self.whole.as_deref()) {
            (Some(title), _) => Cow::Borrowed(&**title),
            (None, Some(whole)) => {
                Cow::Borrowed(whole.get(end - behind.len()..end).unwrap_or_default())
            }
            (None, None) => text_of(behind),
        };
        let mut task = TaskText::read(&said);
        if self.ids.has_labels && task.is_in_brackets(&said) {
            task = task.behind_label();
        }
        let none = match task.id {
            None if said.is_empty() => Some(AsideKind::Bare),
            // Spec-kit's `[P]` marks parallel work; its notes explain the mark in a list.
            None if found.mark == 'P' => return self.state(number, line, (false, true)),
            // A number in brackets without an id is a reference.
            None if found.mark.is_ascii_digit() => Some(AsideKind::Odd),
            Some(id) if id.starts_with("CHK") && !id.contains('-') => Some(AsideKind::Gate),
            _ => None,
        };
        if let Some(kind) = none {
            self.unread.push(Aside::new(kind, number, line.text, !found.is_ticked()));
            return;
        }
        let aside = self.aside(&task, found, &said);
        for outer in &self.open {
            let block = &mut self.tasks[*outer].block;
            block.end = block.end.min(line.start);
        }
        while self.checks.get(self.next_check).is_some_and(|mark| *mark < line.start) {
            self.next_check += 1;
        }
        let is_on_line = |mark: &usize| *mark < line.start + line.text.len();
        let names_check =
            task.fixes.is_none() && self.checks.get(self.next_check).is_some_and(is_on_line);
        let id = self.ids.unused(&task, &said, &self.tasks);
        self.open.push(self.tasks.len());
        self.tasks.push(Task {
            id,
            title: match &self.whole {
                Some(whole) if heading.is_none() => Piece::of(whole, end - task.title.len()..end),
                _ => Piece::of(&task.title.into(), 0..task.title.len()),
            },
            aside,
            done: found.is_ticked(),
            mark: found.mark,
            parallel: task.parallel,
            verify: task.verify || names_check,
            fixes: task.fixes.map(str::to_owned),
            phase: self.phase.clone(),
            mark_at: line.start + line.words_at + found.mark_at,
            line: number,
            column: line.column + self.base,
            block: line.start..self.length,
            end: self.length,
            checks: Vec::new(),
            section: self.section,
            phases: self.phases,
        });
    }

    /// The reason why a task here does not count.
    fn aside(&self, task: &TaskText<'_>, found: &TaskBox, said: &str) -> Option<AsideKind> {
        match task.aside {
            _ if found.is_optional => Some(AsideKind::Optional),
            _ if self.has_formats && says_format(said) => Some(AsideKind::Placeholder),
            _ if task.id.is_none() && self.above.legend.is_some() => Some(AsideKind::Legend),
            _ if task.id.is_none() && self.is_gate() => Some(AsideKind::Gate),
            // Parts of a task that does not count do not count either.
            own => own.or_else(|| self.tasks[*self.open.last()?].aside),
        }
    }

    /// Tasks here are checks of the list itself, by its author.
    fn is_gate(&self) -> bool {
        let is_checklist = self.phase.contains("hecklist") || self.phase.contains("CHECKLIST");
        is_checklist && (self.above.says_gate || words_of(&self.phase).any(|word| word == "GATE"))
    }

    /// A `Verify` line belongs to the innermost task around it.
    fn check(&mut self, line: &Line<'_>, words: &[u8]) {
        let Some(task) = self.open.last() else { return };
        let at = words.iter().position(u8::is_ascii_alphanumeric).unwrap_or(words.len());
        let (signs, rest) = words.split_at(at);
        // In a quote or behind a picture as well.
        let is_begin = matches!(signs, [] | [.., b'-' | b'*' | b'_' | b'>' | b' ']);
        let is_key = |start: &[u8]| is_begin && start.eq_ignore_ascii_case(b"verify");
        let Some((_, rest)) = rest.split_at_checked(6).filter(|(start, _)| is_key(start)) else {
            return;
        };
        let is_colon =
            |at: &usize| rest[*at] == b':' || rest[*at..].starts_with("\u{ff1a}".as_bytes());
        let Some(end) = memchr::memchr2(b':', 0xef, rest).filter(is_colon) else { return };
        let letters = rest[..end].iter().filter(|sign| !matches!(sign, b'*' | b'_' | b' '));
        let more = || letters.clone().map(u8::to_ascii_lowercase);
        if ["", "with", "command", "commands"].iter().any(|known| more().eq(known.bytes())) {
            self.tasks[*task].checks.push(line.start..line.start + line.text.len());
        }
    }

    /// Leaves the tasks that a line behind a blank one is not indented into.
    fn leave_after_blank(&mut self, line: &Line<'_>) {
        if self.above.is_blank {
            self.leave(line.column, line.start);
        }
    }

    /// Leaves the tasks that do not reach to this column.
    fn leave(&mut self, column: usize, at: usize) {
        let inside = self.open.iter().take_while(|task| self.tasks[**task].column < column).count();
        self.close(inside, at);
    }

    /// Closes the open tasks except the `outer` outermost.
    fn close(&mut self, outer: usize, at: usize) {
        while self.open.len() > outer
            && let Some(task) = self.open.pop()
        {
            let task = &mut self.tasks[task];
            task.end = at;
            task.block.end = task.block.end.min(at);
        }
    }

    /// Notes a line that looks like a task.
    fn note(&mut self, number: usize, line: &Line<'_>) {
        let end = line.start + line.text.len();
        let below = self.whole.as_deref().and_then(|whole| whole.as_bytes().get(end..));
        // A line or a table may explain the marks in place of a list: the legend then ends at the next blank line.
        if line.kind != Kind::Item && memchr::memchr(b'[', line.words()).is_some() {
            self.above.legend.as_mut().into_iter().for_each(|marks| marks.push('\n'));
        }
        let is_told = || line.column > 0 && boxes::told_in(&text_of(line.text)).is_some();
        let front =
            || (number <= self.front && is_told()).then_some((AsideKind::State, true, true));
        let seen = boxes::seen_in(line, below.unwrap_or_default()).or_else(front);
        let Some((kind, is_sure, is_open)) = seen else { return };
        if kind == AsideKind::State {
            return self.state(number, line, (is_sure, is_open));
        }
        let is_legend =
            !line.is_hidden() && (self.above.legend.is_some() || is_legend(&text_of(line.words())));
        // Marks in code are explained, not used.
        let is_open = is_open && !(is_legend && kind == AsideKind::Code);
        let kind = if is_legend { AsideKind::Legend } else { kind };
        self.unread.push(Aside::new(kind, number, line.text, is_open));
    }

    /// Notes what may be the state of a task, but not in a legend.
    fn state(&mut self, number: usize, line: &Line<'_>, (is_sure, is_open): (bool, bool)) {
        let words = line.words();
        if self.above.legend.is_some() || is_legend(&text_of(words)) {
            return;
        }
        let is_in_brackets = words.strip_prefix(b"**").unwrap_or(words).starts_with(b"[");
        let is_odd = is_in_brackets && line.kind == Kind::Item;
        let kind = if is_odd { AsideKind::Odd } else { AsideKind::State };
        let aside = Aside::new(kind, number, line.text, is_open);
        match line.kind {
            _ if is_sure => self.states.push((None, aside)),
            _ if is_odd => self.states.push((Some(self.section), aside)),
            Kind::Text | Kind::Code if is_in_brackets => {}
            _ => self.parts.push((self.part.0, self.part.1, aside)),
        }
    }

    /// Leaves headings of this level and deeper ones: boxes below a heading tell the state of the part.
    fn leave_headings(&mut self, level: usize) {
        while let Some((_, above, aside)) = self.parts.pop_if(|(inner, ..)| *inner >= level) {
            self.unread.extend(Some(aside).filter(|_| above == self.tasks.len()));
        }
    }
}

/// The ids in use. Ids of nearly every list ascend: as long as they do, none can repeat and none is looked up.
#[derive(Default)]
struct Ids {
    /// Uses of each name in capitals; empty until the first lookup.
    taken: BTreeMap<String, usize>,
    /// A name came again in brackets, as in `[P0] T001`: such a name is no id where an id stands behind it.
    has_labels: bool,
}

impl Ids {
    /// The task's own id, or its first words; a repeated name gets a number.
    fn unused(&mut self, found: &TaskText<'_>, said: &str, tasks: &[Task]) -> String {
        let id = match found.id {
            Some(id) => id.to_owned(),
            None => format!("@{}", short(found.title)),
        };
        if self.taken.is_empty() {
            if tasks.last().is_none_or(|last| comes_before(last.id.as_bytes(), id.as_bytes())) {
                return id;
            }
            self.taken.extend(tasks.iter().map(|task| (task.id.to_ascii_uppercase(), 1)));
        }
        let copies = self.taken.entry(id.to_ascii_uppercase()).or_default();
        *copies += 1;
        if *copies == 1 {
            return id;
        }
        self.has_labels |= found.is_in_brackets(said);
        // No id in a list has a `~`.
        format!("{id}~{copies}")
    }
}

/// The first words of a title, with dashes between them: readable, and typed without quotes.
fn short(title: &str) -> String {
    let mut short = String::new();
    for word in title.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let room = SHORT.saturating_sub(short.chars().count() + 1);
        if !short.is_empty() {
            if word.chars().count() > room {
                break;
            }
            short.push('-');
        }
        short.extend(word.chars().take(SHORT).flat_map(char::to_lowercase));
    }
    if short.is_empty() { "task".to_owned() } else { short }
}

/// Orders ids without letter case, numbers by their length first: `T999` comes before `T1000`.
fn comes_before(one: &[u8], other: &[u8]) -> bool {
    let pairs = one.iter().zip(other);
    let same = pairs.take_while(|(one, other)| one == other).count();
    let key = |id: &[u8]| {
        let rest = &id[same..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (digits, rest.first().map(u8::to_ascii_uppercase))
    };
    key(one) < key(other)
}

/// The number in a heading such as `Phase 2: Foundational`.
pub(super) fn phase_of(heading: &str) -> Option<&str> {
    let (word, rest) = heading.split_at_checked(5)?;
    let rest = rest.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    (word.eq_ignore_ascii_case("phase") && digits > 0).then(|| &rest[..digits])
}

/// `**Checkpoint**: …` between two groups of tasks.
fn is_checkpoint(line: &[u8]) -> bool {
    let text = line.strip_prefix(b"**").unwrap_or(line);
    text.len() >= 10 && text[..10].eq_ignore_ascii_case(b"checkpoint")
}
