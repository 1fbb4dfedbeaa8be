//! The lines of a Markdown text, each with what CommonMark makes of it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use memchr::memmem;

use super::line::{TaskBox, text_of};

/// The no-break space. CommonMark takes a no-break space for a letter; people see a blank.
pub const NO_BREAK: &[u8] = "\u{a0}".as_bytes();
/// From how many columns of indent on a line is code.
const CODE: usize = 4;

/// One line without its line break.
pub struct Line<'a> {
    /// Where it starts, in bytes from the start of the text.
    pub start: usize,
    /// Its bytes.
    pub text: &'a [u8],
    pub kind: Kind,
    /// How far it is indented, in columns.
    pub column: usize,
    /// Where its words begin, behind bullets and hashes, in bytes from the start of the line.
    pub words_at: usize,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Blank,
    /// Words of a paragraph, at whatever indent.
    Text,
    /// The first line of a list item.
    Item,
    /// A heading of this level.
    Heading(usize),
    /// A line across the page.
    Rule,
    Quote,
    /// Indented code.
    Code,
    /// In a code fence, in a comment, or in front matter.
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

    /// Whether it is read by nobody who looks at the page.
    pub fn is_hidden(&self) -> bool {
        self.kind == Kind::Hidden
    }
}

/// Returns the lines of a text. A code fence or comment that is never closed hides nothing: a slip must not make open tasks
/// invisible. One that is opened inside a list item ends with the item.
pub fn lines(text: &[u8]) -> Vec<Line<'_>> {
    let mut lines = split(text);
    let may_hide = memchr::memchr3(b'`', b'~', b'<', text).is_some();
    let (mut page, mut unclosed) = (Page::default(), Unclosed::default());
    let mut at = front_matter(&lines);
    lines[..at].iter_mut().for_each(|line| line.kind = Kind::Hidden);
    while at < lines.len() {
        let was_paragraph = page.is_paragraph;
        page.read(&mut lines[at]);
        if was_paragraph && underline(&mut lines, at) {
            page.is_paragraph = false;
        }
        let Some(opened) = may_hide.then(|| Hiding::begun_by(&lines[at])).flatten() else {
            at += 1;
            continue;
        };
        if unclosed.covers(&opened, at) {
            page.is_paragraph = true;
            at += 1;
            continue;
        }
        let content = page.items.last().map_or(0, |item| item.content);
        let is_in = |line: &Line<'_>| line.column >= content || line.kind == Kind::Blank;
        let own = usize::from(matches!(opened, Hiding::Fence(..)));
        let end = (at + own..lines.len()).find(|other| {
            (*other > at && !is_in(&lines[*other])) || opened.is_closed_by(&lines[*other], content)
        });
        if let Some(end) = end.filter(|end| *end == at || is_in(&lines[*end])) {
            // A bullet in front of it is an item all the same.
            let first = at + usize::from(lines[at].kind == Kind::Item);
            lines[first..=end].iter_mut().for_each(|line| line.kind = Kind::Hidden);
            at = end + 1;
        } else {
            unclosed.remember(&opened, end.unwrap_or(lines.len()));
            page.is_paragraph = true;
            at += 1;
        }
    }
    lines
}

/// Makes a heading of the line above, where that is a paragraph of its own and this line underlines it.
fn underline(lines: &mut [Line<'_>], at: usize) -> bool {
    let [.., above, line] = &mut lines[..=at] else { return false };
    let words = line.words().trim_ascii_end();
    let level = match words.first() {
        Some(b'=') => 1,
        Some(b'-') => 2,
        _ => return false,
    };
    let is_line = words.iter().all(|byte| *byte == words[0]) && line.column < CODE;
    if !is_line || above.kind != Kind::Text || above.column != line.column {
        return false;
    }
    (above.kind, line.kind) = (Kind::Heading(level), Kind::Rule);
    true
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

/// How many lines of a text are front matter: what stands between two lines of dashes, begins with a name and has no list at its
/// margin.
fn front_matter(lines: &[Line<'_>]) -> usize {
    let is_mark = |line: &Line<'_>| line.text.trim_ascii_end() == b"---";
    let names = |line: &Line<'_>| {
        let letters = line
            .text
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte));
        line.text.first().is_some_and(u8::is_ascii_alphabetic)
            && line.text.get(letters.count()) == Some(&b':')
    };
    let [first, second, ..] = lines else { return 0 };
    if !is_mark(first) || !names(second) {
        return 0;
    }
    let Some(end) = lines[1..].iter().position(is_mark).map(|end| end + 1) else { return 0 };
    let is_list = |line: &Line<'_>| line.text.starts_with(b"- [") || line.text.starts_with(b"* ");
    if lines[1..end].iter().any(is_list) { 0 } else { end + 1 }
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
    /// Reads the next line.
    fn read(&mut self, line: &mut Line<'_>) {
        if line.kind == Kind::Blank {
            self.is_paragraph = false;
            return;
        }
        // As nearly all lines of a list are.
        if line.text.starts_with(b"- [") {
            self.items.clear();
            self.items.push(Item { column: 0, content: 2 });
            (line.kind, line.words_at, self.is_paragraph) = (Kind::Item, 2, true);
            return;
        }
        let inside = self.items.iter().take_while(|item| item.content <= line.column).count();
        let outer = inside.checked_sub(1).map_or(0, |last| self.items[last].content);
        // To people a task is a task also where a paragraph could go on, and beside an item that is indented as far.
        let is_beside = self.items.get(inside).is_some_and(|item| item.column <= line.column);
        let is_task = (self.is_paragraph || is_beside) && is_task(line.words());
        // What is indented so far is code, or continues a paragraph.
        if line.column >= outer + CODE && !is_task {
            if !self.is_paragraph {
                self.items.retain(|item| item.column < line.column);
                line.kind = Kind::Code;
            }
            return;
        }
        let interrupts = self.is_paragraph && inside == self.items.len() && !is_task;
        let kind = kind_of(line.words());
        if kind == Kind::Text && self.bullets(line, inside, interrupts) {
            let inner = kind_of(line.words());
            self.is_paragraph = inner == Kind::Text
                && !line.words().is_empty()
                && Hiding::opened_by(line.words()).is_none();
            if let Kind::Heading(level) = inner {
                line.kind = inner;
                line.words_at = behind_blanks(line.text, 0, line.words_at + level).1;
            } else {
                line.kind = Kind::Item;
            }
            return;
        }
        let opens = kind != Kind::Text || Hiding::opened_by(line.words()).is_some();
        if opens || !self.is_paragraph {
            self.items.truncate(inside);
        }
        self.is_paragraph = !opens;
        line.kind = kind;
        if let Kind::Heading(level) = kind {
            line.words_at = behind_blanks(line.text, 0, line.words_at + level).1;
        }
    }

    /// Enters the list items that a line begins, and returns whether there are any.
    fn bullets(&mut self, line: &mut Line<'_>, inside: usize, interrupts: bool) -> bool {
        let (text, mut at, mut column, mut is_first) =
            (line.text, line.words_at, line.column, true);
        while let Some(length) = bullet_length(&text[at..]) {
            let (behind, words_at) = behind_blanks(text, column + length, at + length);
            let is_empty = words_at == text.len();
            let is_one = length == 1 || text[at..at + length - 1] == *b"1";
            // In the middle of a paragraph a number is as a rule no item.
            if is_first && interrupts && (is_empty || !is_one) {
                return false;
            }
            if is_first {
                self.items.truncate(inside);
            }
            is_first = false;
            let blanks = behind - column - length;
            let content = column + length + if is_empty || blanks > CODE { 1 } else { blanks };
            self.items.push(Item { column, content });
            (line.words_at, at, column) = (words_at, words_at, behind);
        }
        !is_first
    }
}

/// Whether these words are a bullet with a box behind it.
fn is_task(words: &[u8]) -> bool {
    bullet_length(words)
        .is_some_and(|length| TaskBox::read(words[length..].trim_ascii_start()).is_some())
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

/// Up to which line a fence or comment is known to stay open: the same search is never made twice.
#[derive(Default)]
struct Unclosed {
    until: BTreeMap<(u8, usize), usize>,
}

impl Unclosed {
    fn covers(&self, opened: &Hiding, at: usize) -> bool {
        let (mark, length) = opened.kind();
        // What would close a longer fence would have closed a shorter one too.
        self.until.range((mark, 0)..=(mark, length)).any(|(_, until)| at < *until)
    }

    fn remember(&mut self, opened: &Hiding, until: usize) {
        let known = self.until.entry(opened.kind()).or_default();
        *known = until.max(*known);
    }
}

enum Hiding {
    Comment,
    /// Its mark, and how many of them.
    Fence(u8, usize),
}

impl Hiding {
    fn begun_by(line: &Line<'_>) -> Option<Self> {
        matches!(line.kind, Kind::Text | Kind::Item)
            .then(|| Self::opened_by(line.words()))
            .flatten()
    }

    fn opened_by(words: &[u8]) -> Option<Self> {
        if words.starts_with(b"<!--") {
            return Some(Self::Comment);
        }
        let mark = *words.first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let length = words.iter().take_while(|byte| **byte == mark).count();
        // Three backticks and more on one line are inline code, not the start of a fence.
        let is_inline = mark == b'`' && words[length..].contains(&b'`');
        (length >= 3 && !is_inline).then_some(Self::Fence(mark, length))
    }

    fn kind(&self) -> (u8, usize) {
        match self {
            Self::Comment => (b'<', 0),
            Self::Fence(mark, length) => (*mark, *length),
        }
    }

    fn is_closed_by(&self, line: &Line<'_>, content: usize) -> bool {
        match self {
            Self::Comment => memmem::find(line.text, b"-->").is_some(),
            Self::Fence(mark, length) => {
                let text = line.text.trim_ascii();
                text.len() >= *length
                    && text.iter().all(|byte| byte == mark)
                    && line.column < content + CODE
            }
        }
    }
}
