//! The lines of a Markdown text, each with what CommonMark makes of it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::line::{TaskBox, TaskText, text_of};

/// The no-break space. CommonMark takes a no-break space for a letter; people see a blank.
pub const NO_BREAK: &[u8] = "\u{a0}".as_bytes();
/// From how many columns of indent on a line is code.
const CODE: usize = 4;
/// The most items that are inside of each other: what is deeper is part of the last one.
const DEEPEST: usize = 64;

/// One line without its line break.
pub struct Line<'a> {
    /// Where it starts, in bytes from the start of the text.
    pub start: usize,
    /// Its bytes.
    pub text: &'a [u8],
    /// What CommonMark makes of it.
    pub kind: Kind,
    /// How far it is indented, in columns.
    pub column: usize,
    /// Where its words begin, behind bullets and hashes, in bytes from the start of the line.
    pub words_at: usize,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing but blanks.
    Blank,
    /// Words of a paragraph, at whatever indent.
    Text,
    /// The first line of a list item.
    Item,
    /// A heading of this level.
    Heading(usize),
    /// A line across the page.
    Rule,
    /// A line of a quote.
    Quote,
    /// Indented code.
    Code,
    /// In a code fence, a comment, HTML that keeps its text as it is, or front matter. Its words are those from the closing mark on.
    Hidden,
}

impl<'a> Line<'a> {
    /// What it says.
    pub fn words(&self) -> &'a [u8] {
        self.text.get(self.words_at..).unwrap_or_default()
    }

    /// The box that its words begin with.
    pub fn task_box(&self) -> Option<TaskBox> {
        TaskBox::read(self.words())
    }

    /// Its words, without that box.
    pub fn title(&self) -> Cow<'a, str> {
        let text_at = self.task_box().map_or(0, |found| found.text_at);
        text_of(self.words()[text_at..].trim_ascii())
    }

    fn hide(&mut self) {
        (self.kind, self.words_at) = (Kind::Hidden, self.text.len());
    }

    /// Whether it is read by nobody who looks at the page.
    pub fn is_hidden(&self) -> bool {
        self.kind == Kind::Hidden
    }
}

/// Returns the lines of a text. A code fence or comment that is never closed hides nothing: a slip must not make open tasks
/// invisible. One that is opened inside a list item ends with the item.
pub fn lines(text: &[u8]) -> Vec<Line<'_>> {
    lines_with(text, &mut Unclosed::default())
}

fn lines_with<'a>(text: &'a [u8], unclosed: &mut Unclosed) -> Vec<Line<'a>> {
    let (mut lines, mut page) = (split(text), Page::default());
    let mut at = front_matter(&lines);
    lines[..at].iter_mut().for_each(Line::hide);
    while at < lines.len() {
        let (above, below) = lines.split_at_mut(at);
        let opened = page.read(above.last_mut(), &mut below[0]);
        at += 1;
        let Some(opened) = opened else { continue };
        let content = page.items.last().map_or(0, |item| item.content);
        let Some((end, place)) = unclosed.end_of(&opened, below, content) else { continue };
        let behind = below[end].words_at + place;
        // A bullet in front of it is an item all the same.
        let first = usize::from(below[0].kind == Kind::Item);
        below[first..=end].iter_mut().for_each(Line::hide);
        below[end].words_at = behind;
        at += end;
    }
    lines
}

/// The lines of a text with their indents; a byte order mark in front belongs to none of them.
fn split(text: &[u8]) -> Vec<Line<'_>> {
    let mut lines = Vec::with_capacity(text.len() / 64 + 1);
    let mut start = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    for end in memchr::memchr2_iter(b'\n', b'\r', text).chain([text.len()]) {
        // The second half of a line break of Windows.
        if end < start {
            continue;
        }
        let line = &text[start..end];
        let (column, words_at) = behind_blanks(line, 0, 0);
        let kind = if words_at == line.len() { Kind::Blank } else { Kind::Text };
        lines.push(Line { start, text: line, kind, column, words_at });
        start = end + 1 + usize::from(text[end..].starts_with(b"\r\n"));
    }
    lines
}

/// How many lines of a text are front matter: what stands between two lines of dashes and begins with a name, where all at the
/// margin are names and items without a box, and no box has a task's id. A blank line or a heading is of the page.
fn front_matter(lines: &[Line<'_>]) -> usize {
    let is_mark = |line: &Line<'_>| line.text.trim_ascii_end() == b"---";
    let is_name = |line: &Line<'_>| {
        let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
        let letters = line.text.iter().take_while(|byte| is_letter(byte)).count();
        letters > 0 && line.text.get(letters) == Some(&b':')
    };
    let is_data = |line: &Line<'_>| {
        let is_item = line.text.starts_with(b"- ") && !is_task(line.text);
        let is_part = line.column > 0 || is_item || is_name(line);
        line.kind != Kind::Blank && is_part && !has_id(line.words())
    };
    let end = 1 + lines[1..].iter().take_while(|line| is_data(line)).count();
    let is_begun = is_mark(&lines[0]) && lines.get(1).is_some_and(is_name);
    if is_begun && lines.get(end).is_some_and(is_mark) { end + 1 } else { 0 }
}

/// The column and the place behind the blanks from a column and a place on; a tab extends to the next multiple of four.
fn behind_blanks(line: &[u8], mut column: usize, mut at: usize) -> (usize, usize) {
    while let Some(blank) = line.get(at) {
        match blank {
            b' ' => column += 1,
            b'\t' => column = (column / 4 + 1) * 4,
            _ if line[at..].starts_with(NO_BREAK) => {
                column += 1;
                at += 1;
            }
            _ => break,
        }
        at += 1;
    }
    (column, at)
}

/// What is known of the page above a line.
#[derive(Default)]
struct Page {
    /// The list items that are open, each inside of the one before.
    items: Vec<Item>,
    /// Whether the line above is of a paragraph, which the next one may continue.
    is_paragraph: bool,
}

struct Item {
    /// The column of its bullet.
    column: usize,
    /// The column from which on a line belongs to it.
    content: usize,
}

impl Page {
    /// Reads the next line, and returns what it opens that may hide lines.
    fn read(&mut self, above: Option<&mut Line<'_>>, line: &mut Line<'_>) -> Option<Hiding> {
        if line.kind == Kind::Blank {
            // No words stand behind a blank line in an item that has none before it.
            if above.is_some_and(|above| above.kind == Kind::Item && above.words().is_empty()) {
                self.items.pop();
            }
            self.is_paragraph = false;
            return None;
        }
        // As nearly all lines of a list are.
        if line.text.starts_with(b"- [") {
            self.items.clear();
            self.items.push(Item { column: 0, content: 2 });
            (line.kind, line.words_at, self.is_paragraph) = (Kind::Item, 2, true);
            return None;
        }
        let inside = self.items.iter().take_while(|item| item.content <= line.column).count();
        let outer = inside.checked_sub(1).map_or(0, |last| self.items[last].content);
        // To people a task is a task also where a paragraph could go on, and beside an item that is indented as far.
        let is_beside = self.items.get(inside).is_some_and(|item| item.column <= line.column);
        let is_task = (self.is_paragraph || is_beside) && is_task(line.words());
        // What is indented so far is code, or continues a paragraph.
        if line.column >= outer + CODE && !is_task {
            if !self.is_paragraph {
                self.items.truncate(inside);
                line.kind = Kind::Code;
            }
            return None;
        }
        let continues = self.is_paragraph && inside == self.items.len();
        if continues && let Some(level) = underline(line.words()) {
            if let Some(above) = above.filter(|above| above.kind == Kind::Text) {
                above.kind = Kind::Heading(level);
            }
            (line.kind, self.is_paragraph) = (Kind::Rule, false);
            return None;
        }
        let behind_bullets = self.bullets(line, inside, continues && !is_task);
        let is_item = behind_bullets.is_some();
        let kind = behind_bullets.unwrap_or_else(|| kind_of(line.words()));
        let opened = Hiding::opened_by(line.words()).filter(|_| kind == Kind::Text);
        let begins = kind != Kind::Text || opened.is_some();
        if !is_item && (begins || !self.is_paragraph) {
            self.items.truncate(inside);
        }
        self.is_paragraph = !begins && !line.words().is_empty();
        line.kind = if is_item { Kind::Item } else { kind };
        if let Kind::Heading(level) = kind {
            line.kind = kind;
            line.words_at = behind_blanks(line.text, 0, line.words_at + level).1;
        }
        opened
    }

    /// Enters the list items that a line begins, and returns what stands behind their bullets; `None` where there are none.
    fn bullets(&mut self, line: &mut Line<'_>, inside: usize, interrupts: bool) -> Option<Kind> {
        let (text, mut at, mut column, mut mark) = (line.text, line.words_at, line.column, 0);
        // Behind a bullet of the same mark is no rule, else the whole were one.
        while let Some(length) = bullet_length(&text[at..])
            && (text[at] == mark || !is_rule(&text[at..]))
        {
            let (behind, words_at) = behind_blanks(text, column + length, at + length);
            let is_empty = words_at == text.len();
            let is_one = length == 1 || text[at..at + length - 1] == *b"1";
            if mark == 0 {
                // In the middle of a paragraph a number is as a rule no item.
                if interrupts && (is_empty || !is_one) {
                    return None;
                }
                self.items.truncate(inside);
            }
            mark = text[at];
            let blanks = behind - column - length;
            let content = column + length + if is_empty || blanks > CODE { 1 } else { blanks };
            if self.items.len() < DEEPEST {
                self.items.push(Item { column, content });
            }
            (line.words_at, at, column) = (words_at, words_at, behind);
            if blanks > CODE && !is_task(line.words()) {
                return Some(Kind::Code);
            }
        }
        (mark > 0).then(|| kind_of(line.words()))
    }
}

/// The level of the heading that a line with these words makes of the paragraph above.
fn underline(words: &[u8]) -> Option<usize> {
    let words = words.trim_ascii_end();
    let level = b"=-".iter().position(|mark| words.iter().all(|byte| byte == mark))?;
    Some(level + 1)
}

/// Whether these words are a bullet with a box behind it.
fn is_task(words: &[u8]) -> bool {
    bullet_length(words)
        .is_some_and(|length| TaskBox::read(words[length..].trim_ascii_start()).is_some())
}

/// Whether these words are a task with an id.
fn has_id(words: &[u8]) -> bool {
    let behind = &words[bullet_length(words).unwrap_or_default()..].trim_ascii_start();
    let found = TaskBox::read(behind);
    let said = found.map(|found| text_of(behind[found.text_at..].trim_ascii()));
    said.is_some_and(|said| TaskText::read(&said).id.is_some())
}

/// What a line is that begins with these words, and is no item.
fn kind_of(words: &[u8]) -> Kind {
    if !matches!(words.first(), Some(b'#' | b'>' | b'-' | b'*' | b'_')) {
        return Kind::Text;
    }
    let level = words.iter().take_while(|byte| **byte == b'#').count();
    if (1..=6).contains(&level) && matches!(words.get(level), None | Some(b' ' | b'\t')) {
        Kind::Heading(level)
    } else if words.starts_with(b">") {
        Kind::Quote
    } else if is_rule(words) {
        Kind::Rule
    } else {
        Kind::Text
    }
}

/// `---`, `***` or `___` alone on a line, blanks between them or not.
fn is_rule(words: &[u8]) -> bool {
    let Some(mark) = words.first().filter(|mark| b"-*_".contains(mark)) else { return false };
    words.iter().all(|byte| byte == mark || b" \t".contains(byte))
        && memchr::memchr_iter(*mark, words).count() >= 3
}

/// The length of the bullet or number that a text starts with, `None` when it starts with something else.
fn bullet_length(text: &[u8]) -> Option<usize> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let length = match text.get(digits)? {
        b'-' | b'*' | b'+' if digits == 0 => 1,
        b'.' | b')' if (1..=9).contains(&digits) => digits + 1,
        _ => return None,
    };
    (text.len() == length || b" \t".contains(&text[length]) || text[length..].starts_with(NO_BREAK))
        .then_some(length)
}

/// A line and a place in its words, or such a place and a length.
type EndPlace = (usize, usize);

/// Up to where an end was looked for, and the ends that were too short.
type Searched = (usize, Vec<EndPlace>);

/// Where a fence or comment is known to stay open: the same search is never made twice.
#[derive(Default)]
struct Unclosed {
    /// For a closing mark in an item: up to where it was looked for, and the places of those that were too short, each of which is
    /// longer than all behind it.
    known: BTreeMap<(&'static [u8], usize), Searched>,
}

impl Unclosed {
    /// Returns the line that closes what the first of these opens, and where in its words; `None` where the text ends before,
    /// or the item from this column on. What stands outside of the item closes it where that is all it does.
    fn end_of(&mut self, opened: &Hiding, lines: &[Line<'_>], item: usize) -> Option<EndPlace> {
        let Hiding { end, length } = *opened;
        let start = lines[0].start;
        if let Some((_, short)) = self.known.get(&(end, item)).filter(|(until, _)| start < *until) {
            let longest = short.get(short.partition_point(|(at, _)| *at <= start));
            if longest.is_none_or(|(_, marks)| *marks < length) {
                return None;
            }
        }
        let (mut until, mut short) = (usize::MAX, Vec::<EndPlace>::new());
        for (at, line) in lines.iter().enumerate().skip(length.min(1)) {
            let is_in = at == 0 || line.column >= item || line.kind == Kind::Blank;
            let found = opened.closed_by(line, item).filter(|(place, _)| is_in || *place == 0);
            if let Some((place, marks)) = found {
                if marks >= length {
                    return Some((at, place));
                }
                short
                    .truncate(short.iter().rposition(|(_, it)| *it > marks).map_or(0, |it| it + 1));
                short.push((line.start, marks));
            }
            if !is_in {
                until = line.start;
                break;
            }
        }
        self.known.insert((end, item), (until, short));
        None
    }
}

/// What hides lines.
struct Hiding {
    /// The mark that closes it.
    end: &'static [u8],
    /// How many of them, 0 for HTML.
    length: usize,
}

/// What begins a fence, or HTML whose text is not read as Markdown, and what ends it.
const HIDING: &str =
    "``` `|~~~ ~|<!-- -->|<pre </pre>|<script </script>|<style </style>|<textarea </textarea>";

impl Hiding {
    fn opened_by(words: &[u8]) -> Option<Self> {
        words.first().filter(|first| b"`~<".contains(first))?;
        let begins = |start: &str| {
            let is_tag = start.ends_with(char::is_alphabetic);
            let is_end = |byte: &u8| !is_tag || b" \t>".contains(byte);
            has_at(words, 0, start.as_bytes()) && words.get(start.len()).is_none_or(is_end)
        };
        let mut pairs = HIDING.split('|').filter_map(|pair| pair.split_once(' '));
        let end = pairs.find(|(start, _)| begins(start))?.1.as_bytes();
        let length = words.iter().take_while(|byte| end == [**byte]).count();
        // Three backticks and more on one line are inline code, not the start of a fence.
        let is_inline = end == b"`" && words[length..].contains(&b'`');
        (!is_inline).then_some(Self { end, length })
    }

    /// Where in the words of a line a closing mark stands, and how long it is.
    fn closed_by(&self, line: &Line<'_>, item: usize) -> Option<EndPlace> {
        let words = line.words();
        if self.length == 0 {
            let mut places = memchr::memchr_iter(self.end[0], words);
            return places.find(|at| has_at(words, *at, self.end)).map(|at| (at, 0));
        }
        let marks = words.iter().take_while(|byte| self.end == [**byte]).count();
        let is_end = words[marks..].trim_ascii().is_empty() && line.column < item + CODE;
        (marks > 0 && is_end).then_some((0, marks))
    }
}

/// Whether a mark stands at this place, letter case ignored.
fn has_at(words: &[u8], at: usize, mark: &[u8]) -> bool {
    words.get(at..at + mark.len()).is_some_and(|it| it.eq_ignore_ascii_case(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often the end of a fence is looked for in vain where each of so many items is inside of the one before.
    fn searches(depth: usize) -> usize {
        let text: String = (0..depth).map(|level| "  ".repeat(level) + "- ```x\n").collect();
        let mut unclosed = Unclosed::default();
        lines_with(text.as_bytes(), &mut unclosed);
        unclosed.known.len()
    }

    #[test]
    fn a_deep_list_is_searched_no_oftener() {
        assert_eq!(searches(DEEPEST), DEEPEST);
        assert_eq!(searches(800), DEEPEST);
    }

    #[test]
    fn each_end_is_searched_once() {
        let text: String = (3..300).rev().map(|marks| "`".repeat(marks) + "x\n\n").collect();
        let mut unclosed = Unclosed::default();
        let hidden = |text: &str, unclosed: &mut Unclosed| {
            lines_with(text.as_bytes(), unclosed).iter().filter(|line| line.is_hidden()).count()
        };
        assert_eq!(hidden(&text, &mut unclosed), 0);
        assert_eq!(unclosed.known.len(), 1);
        // Of those that are too long for the end nothing is hidden, and all behind the first that is not.
        let closed = text + &"`".repeat(200) + "\n" + &"`".repeat(10) + "\na\n";
        assert_eq!(hidden(&closed, &mut Unclosed::default()), 2 * 198 + 1);
    }
}
