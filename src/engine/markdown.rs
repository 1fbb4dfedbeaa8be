//! The lines of a Markdown text as CommonMark reads them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::line::{TaskBox, TaskText, text_of};

/// A letter to CommonMark, a blank to people.
pub const NO_BREAK: &[u8] = "\u{a0}".as_bytes();
/// Columns of indent that make a line code.
const CODE: usize = 4;
/// The deepest nesting of list items; deeper lines are part of the last item.
const DEEPEST: usize = 64;

/// A line without its line break.
pub struct Line<'a> {
    /// Bytes from the start of the text.
    pub start: usize,
    pub text: &'a [u8],
    pub kind: Kind,
    /// Columns of indent.
    pub column: usize,
    /// Bytes from the start of the line to the words, behind bullets and hashes.
    pub words_at: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Blank,
    /// A paragraph, at any indent.
    Text,
    /// The first line of a list item.
    Item,
    /// A heading of this level.
    Heading(usize),
    /// A line across the page.
    Rule,
    Quote,
    Code,
    /// In a code fence, a comment, HTML with literal text, or front matter. The words begin at the closing mark.
    Hidden,
}

impl<'a> Line<'a> {
    pub fn words(&self) -> &'a [u8] {
        self.text.get(self.words_at..).unwrap_or_default()
    }

    /// The box at the start of the words.
    pub fn task_box(&self) -> Option<TaskBox> {
        TaskBox::read(self.words())
    }

    /// The words without a box.
    pub fn title(&self) -> Cow<'a, str> {
        let text_at = self.task_box().map_or(0, |found| found.text_at);
        text_of(self.words()[text_at..].trim_ascii())
    }

    fn hide(&mut self) {
        (self.kind, self.words_at) = (Kind::Hidden, self.text.len());
    }

    /// A rendered page does not show the line.
    pub fn is_hidden(&self) -> bool {
        self.kind == Kind::Hidden
    }
}

/// An unclosed code fence or comment hides nothing: a typo must not hide open tasks. A fence or comment inside a list
/// item ends with the item.
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
        // A bullet in front of the fence is an item all the same.
        let first = usize::from(below[0].kind == Kind::Item);
        below[first..=end].iter_mut().for_each(Line::hide);
        below[end].words_at = behind;
        at += end;
    }
    lines
}

/// A byte order mark belongs to no line.
fn split(text: &[u8]) -> Vec<Line<'_>> {
    let mut lines = Vec::with_capacity(text.len() / 64 + 1);
    let mut start = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    for end in memchr::memchr2_iter(b'\n', b'\r', text).chain([text.len()]) {
        // The second half of a Windows line break.
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

/// The number of lines of front matter. Front matter stands between two lines of dashes and begins with a name. At the
/// margin stand only names, and items without a box. No box has a task's id, and no line is blank.
pub fn front_matter(lines: &[Line<'_>]) -> usize {
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

/// The column and the place behind the blanks; a tab extends to the next multiple of four.
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

/// The state that the lines above leave for the next one.
#[derive(Default)]
struct Page {
    /// Open list items, each inside of the one before.
    items: Vec<Item>,
    /// The line above is in a paragraph, which the next line may continue.
    is_paragraph: bool,
}

struct Item {
    /// The column of the bullet.
    column: usize,
    /// The first column of the item's content.
    content: usize,
}

impl Page {
    /// Reads the next line; the result may hide the lines behind it.
    fn read(&mut self, above: Option<&mut Line<'_>>, line: &mut Line<'_>) -> Option<Hiding> {
        if line.kind == Kind::Blank {
            // An empty item ends at a blank line.
            if above.is_some_and(|above| above.kind == Kind::Item && above.words().is_empty()) {
                self.items.pop();
            }
            self.is_paragraph = false;
            return None;
        }
        // The usual line of a list needs no more.
        if line.text.starts_with(b"- [") {
            self.items.clear();
            self.items.push(Item { column: 0, content: 2 });
            (line.kind, line.words_at, self.is_paragraph) = (Kind::Item, 2, true);
            return None;
        }
        let inside = self.items.iter().take_while(|item| item.content <= line.column).count();
        let outer = inside.checked_sub(1).map_or(0, |last| self.items[last].content);
        // People see a task also where CommonMark would continue a paragraph, and beside an item with the same indent.
        let is_beside = self.items.get(inside).is_some_and(|item| item.column <= line.column);
        let words = line.words();
        let is_task = || (self.is_paragraph || is_beside) && is_task(words);
        // A line with this indent is code, or continues a paragraph.
        if line.column >= outer + CODE && !is_task() {
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
        let behind_bullets = self.bullets(line, inside, continues && !is_task());
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
            // A number may stand in front of a box.
            let number = bullet_length(line.words()).filter(|_| self::is_task(line.words()));
            line.words_at = behind_blanks(line.text, 0, line.words_at + number.unwrap_or(0)).1;
        }
        opened
    }

    /// Enters the list items that begin on a line. The result is the kind of the words behind the bullets; `None`
    /// without a bullet.
    fn bullets(&mut self, line: &mut Line<'_>, inside: usize, interrupts: bool) -> Option<Kind> {
        let (text, mut at, mut column, mut mark) = (line.text, line.words_at, line.column, 0);
        // Equal marks behind a bullet are no rule: the whole line would be one.
        while let Some(length) = bullet_length(&text[at..])
            && (text[at] == mark || !is_rule(&text[at..]))
        {
            let (behind, words_at) = behind_blanks(text, column + length, at + length);
            let is_empty = words_at == text.len();
            let is_one = length == 1 || text[at..at + length - 1] == *b"1";
            if mark == 0 {
                // In the middle of a paragraph a number is seldom an item.
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

/// The level of the heading that an underline makes of the paragraph above.
fn underline(words: &[u8]) -> Option<usize> {
    let words = words.trim_ascii_end();
    let level = b"=-".iter().position(|mark| words.iter().all(|byte| byte == mark))?;
    Some(level + 1)
}

/// A bullet with a box behind it.
fn is_task(words: &[u8]) -> bool {
    bullet_length(words)
        .is_some_and(|length| TaskBox::read(words[length..].trim_ascii_start()).is_some())
}

/// The words are a task with an id.
fn has_id(words: &[u8]) -> bool {
    let behind = &words[bullet_length(words).unwrap_or_default()..].trim_ascii_start();
    let found = TaskBox::read(behind);
    let said = found.map(|found| text_of(behind[found.text_at..].trim_ascii()));
    said.is_some_and(|said| TaskText::read(&said).id.is_some())
}

/// The kind of a line that is no item.
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

/// `---`, `***` or `___` alone on a line, with or without blanks between them.
fn is_rule(words: &[u8]) -> bool {
    let Some(mark @ (b'-' | b'*' | b'_')) = words.first() else { return false };
    let is_of_rule = |byte: &u8| byte == mark || matches!(byte, b' ' | b'\t');
    words.last().is_some_and(is_of_rule)
        && words.iter().all(is_of_rule)
        && memchr::memchr_iter(*mark, words).count() >= 3
}

/// The length of the bullet or number at the start of a text.
fn bullet_length(text: &[u8]) -> Option<usize> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let length = match text.get(digits)? {
        b'-' | b'*' | b'+' if digits == 0 => 1,
        b'.' | b')' if (1..=9).contains(&digits) => digits + 1,
        _ => return None,
    };
    (matches!(text.get(length), None | Some(b' ' | b'\t')) || text[length..].starts_with(NO_BREAK))
        .then_some(length)
}

/// A line and a place in its words, or a place and a length.
type EndPlace = (usize, usize);

/// The end of a search in vain, and the marks that were too short.
type Searched = (usize, Vec<EndPlace>);

/// Failed searches for the end of a fence or comment: no search is made twice.
#[derive(Default)]
struct Unclosed {
    /// By closing mark and item: how far the search went, and the marks that were too short, each longer than all
    /// behind it.
    known: BTreeMap<(&'static [u8], usize), Searched>,
}

impl Unclosed {
    /// Finds the mark that closes what the first line opens: its line, and its place in the words.
    ///
    /// `None`: the text or the item with this content column ends first, or a fence with a name opens, so the first was
    /// never closed. A closing mark outside the item counts if it begins its line.
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
            let words = line.words();
            let again = Hiding::opened_by(words).filter(|again| again.end == end && at > 0);
            let marks = again.map_or(0, |again| again.length);
            let opens = marks >= length.max(1) && words.trim_ascii_end().len() > marks;
            let found = opened.closed_by(line, item).filter(|(place, _)| is_in || *place == 0);
            if let Some((place, marks)) = found {
                if marks >= length {
                    return Some((at, place));
                }
                let longer = short.iter().rposition(|(_, length)| *length > marks);
                short.truncate(longer.map_or(0, |last| last + 1));
                short.push((line.start, marks));
            }
            if opens || !is_in {
                until = line.start;
                break;
            }
        }
        self.known.insert((end, item), (until, short));
        None
    }
}

/// A fence or HTML that hides lines.
struct Hiding {
    /// The closing mark.
    end: &'static [u8],
    /// Number of marks in a row; 0 for HTML.
    length: usize,
}

/// Openings and ends of fences, and of HTML that is not read as Markdown.
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

    /// The place and length of a closing mark.
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

/// Letter case is ignored.
fn has_at(words: &[u8], at: usize, mark: &[u8]) -> bool {
    words.get(at..at + mark.len()).is_some_and(|found| found.eq_ignore_ascii_case(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vain searches for the end of a fence, with each of so many items inside of the one before.
    fn searches(depth: usize) -> usize {
        let text: String = (0..depth).map(|level| "  ".repeat(level) + "- ```x\n").collect();
        let mut unclosed = Unclosed::default();
        lines_with(text.as_bytes(), &mut unclosed);
        unclosed.known.len()
    }

    #[test]
    fn deep_list_costs_no_more_searches() {
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
        // Fences longer than the end hide nothing; the first other one hides all behind it.
        let closed = text + &"`".repeat(200) + "\n" + &"`".repeat(10) + "\na\n";
        assert_eq!(hidden(&closed, &mut Unclosed::default()), 2 * 198 + 1);
    }
}
