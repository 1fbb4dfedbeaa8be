//! One line of a task list: the box, the id, the marks and the description.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use memchr::arch::all::is_equal;

use super::aside::AsideKind;

/// A piece of a shared text: a list of thousands of tasks is copied once, not twice a task.
#[derive(Clone, Debug, Default)]
pub struct Piece {
    whole: Arc<str>,
    place: Range<usize>,
}

impl Piece {
    pub fn of(whole: &Arc<str>, place: Range<usize>) -> Self {
        Self { whole: Arc::clone(whole), place }
    }
}

impl Deref for Piece {
    type Target = str;

    fn deref(&self) -> &str {
        self.whole.get(self.place.clone()).unwrap_or_default()
    }
}

impl PartialEq for Piece {
    fn eq(&self, other: &Self) -> bool {
        // The system's comparison takes a byte at a time.
        is_equal(self.as_bytes(), other.as_bytes())
    }
}

impl Eq for Piece {}

impl fmt::Display for Piece {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self)
    }
}

#[derive(Default)]
pub struct TaskBox {
    /// The mark between the brackets; a blank for none.
    pub mark: char,
    /// Bytes from the bracket to the mark.
    pub mark_at: usize,
    /// Bytes from the bracket to the description.
    pub text_at: usize,
    /// A star behind the box marks an optional task, as in Kiro's lists.
    pub is_optional: bool,
    /// The box holds a blank: people see an open box anywhere. Empty brackets may be a value.
    pub is_blank: bool,
    /// No pair of brackets around at most one mark, or rendered as a link.
    pub is_odd: bool,
}

impl TaskBox {
    /// The box of a task at the start of these words.
    pub fn read(words: &[u8]) -> Option<Self> {
        // The usual box needs no more.
        if let [b'[', mark @ (b' ' | b'x' | b'X'), b']', b' ', ..] = words {
            let mark = char::from(*mark);
            return Some(Self { mark, mark_at: 1, text_at: 3, ..Self::default() });
        }
        words.strip_prefix(b"[").and_then(|_| Self::any(words)).filter(|found| !found.is_odd)
    }

    /// Anything at the start of these words that looks like a box.
    pub fn any(words: &[u8]) -> Option<Self> {
        let Some(inner) = words.strip_prefix(b"[") else { return Self::drawn(words) };
        // Blanks in a row count as one.
        let (mut length, mut was_blank) = (0, true);
        let end = inner.iter().position(|byte| {
            let is_blank = BLANKS.contains(byte);
            length += usize::from(!(is_blank && was_blank));
            was_blank = is_blank;
            *byte == b']' || length > LONGEST_MARK
        });
        let end = end.filter(|end| inner[*end] == b']')?;
        let behind = &inner[end + 1..];
        let written = text_of(&inner[..end]);
        // Perhaps a blank of another encoding.
        let is_unknown = matches!(written, Cow::Owned(_));
        // The bracket may be escaped.
        let written = written.strip_suffix('\\').unwrap_or(&written);
        let bare = written.trim();
        let bare = if bare.starts_with('&') && bare.ends_with(';') { "" } else { bare };
        let mut letters = bare.trim_end_matches(DRAWN).chars();
        let mark = letters.next().unwrap_or(' ');
        let has_more = letters.next().is_some();
        // `[US1]`, `[1/2]` and `[see below]` are words; `[x?]` is two marks.
        let is_word =
            |letter: char| letter == '[' || (letter.is_alphanumeric() && !is_tick(letter));
        let star = if behind.starts_with(b"\\*") { 2 } else { behind.starts_with(b"*").into() };
        let is_free = starts_blank(&behind[star..]);
        let is_link = !is_free && (b"([".contains(&behind[0]) || is_target(behind));
        let is_blank = is_unknown || (bare.is_empty() && !written.is_empty());
        let is_text = is_link
            || (has_more && bare.contains(is_word))
            || (!is_free && mark.is_alphanumeric() && !is_tick(mark));
        if is_text && !is_blank {
            return None;
        }
        let blanks = if bare.is_empty() { 0 } else { written.len() - written.trim_start().len() };
        Some(Self {
            mark: if has_more { '?' } else { mark },
            mark_at: 1 + blanks,
            text_at: end + 2 + if is_free { star } else { 0 },
            is_optional: is_free && star > 0,
            is_blank,
            is_odd: has_more || is_link || is_unknown,
        })
    }

    /// A square as a letter or as its HTML number, or other brackets around at most one mark.
    fn drawn(words: &[u8]) -> Option<Self> {
        let near = words.len().min(LONGEST_MARK);
        let text = words[..near].utf8_chunks().next()?.valid();
        let mut letters = text.chars();
        let mark = letters.next()?;
        let pair = PAIRS[0].chars().position(|open| open == mark);
        if let Some(close) = pair.and_then(|pair| PAIRS[1].chars().nth(pair)) {
            let (inner, behind) = letters.as_str().split_once(close)?;
            let bare = inner.trim().trim_end_matches(DRAWN);
            // `{}` is a value nearly everywhere, `「」` two quotation marks, and `<b>` a tag.
            let is_tag = mark == '<' && bare.is_empty() == inner.is_empty();
            let is_blank = bare.is_empty() && (mark == '(' || !inner.is_empty());
            let mark = if bare.is_empty() { ' ' } else { bare.parse().ok()? };
            let text_at = text.len() - behind.len();
            let found = Self { mark, text_at, is_blank, is_odd: true, ..Self::default() };
            return (!is_tag && (!mark.is_alphanumeric() || found.is_ticked())).then_some(found);
        }
        let (mark, text_at) = if let Some(rest) = text.strip_prefix("&#") {
            let (number, _) = rest.split_once(';')?;
            let hex = number.strip_prefix(['x', 'X']).map(|hex| u32::from_str_radix(hex, 16));
            let mark = char::from_u32(hex.unwrap_or_else(|| number.parse()).ok()?)?;
            (mark, "&#;".len() + number.len())
        } else {
            (mark, mark.len_utf8())
        };
        let is_blank = !is_tick(mark);
        let found = Self { mark, text_at, is_blank, is_odd: true, ..Self::default() };
        SQUARES.contains(mark).then_some(found)
    }

    pub fn is_ticked(&self) -> bool {
        is_tick(self.mark)
    }
}

/// Bytes of a link's target.
const LONGEST_TARGET: usize = 2_000;
/// Bytes read between the brackets.
const LONGEST_MARK: usize = 40;
/// The bytes of a blank, a tab, a no-break space and a wide blank.
const BLANKS: &[u8] = b" \t\xc2\xa0\xe3\x80";
/// Drawn boxes; a wide bracket begins one.
const SQUARES: &str = "\u{2395}\u{25ab}\u{25cb}\u{25ef}\u{26aa}\u{2610}\u{2611}\u{2612}\u{25a1}\u{25a2}\u{25fb}\u{25fd}\u{274f}\u{2750}\u{2751}\u{2752}\u{2b1a}\u{2b1b}\u{2b1c}\u{1f532}\u{1f533}\u{1f5f9}\u{f06f}\u{f071}\u{f0a8}\u{ff3b}";
/// Brackets that make a box around a blank, a mark or nothing.
const PAIRS: [&str; 2] = [
    "({<\u{ff08}\u{ff5b}\u{300c}\u{300e}\u{3010}\u{3014}\u{3016}\u{3018}\u{301a}\u{2045}\u{27e6}\u{27e8}",
    ")}>\u{ff09}\u{ff5d}\u{300d}\u{300f}\u{3011}\u{3015}\u{3017}\u{3019}\u{301b}\u{2046}\u{27e7}\u{27e9}",
];
/// Variation selectors: they choose how a letter is drawn.
const DRAWN: [char; 2] = ['\u{fe0e}', '\u{fe0f}'];

/// An x, or a check mark of any kind. A cross may mean a failure.
fn is_tick(mark: char) -> bool {
    mark != ' ' && "xX\u{221a}\u{2611}\u{2705}\u{2713}\u{2714}\u{1f5f8}\u{1f5f9}".contains(mark)
}

/// A colon and one word behind it: the target of a link.
fn is_target(text: &[u8]) -> bool {
    text.strip_prefix(b":")
        .is_some_and(|words| words.len() <= LONGEST_TARGET && !words.trim_ascii().contains(&b' '))
}

pub(super) fn starts_blank(text: &[u8]) -> bool {
    text.first().is_none_or(u8::is_ascii_whitespace) || text.starts_with("\u{a0}".as_bytes())
}

/// The description of a task.
#[derive(Default)]
pub struct TaskText<'a> {
    /// The reason why the task is no work.
    pub aside: Option<AsideKind>,
    /// `None` without an id of its own.
    pub id: Option<&'a str>,
    /// The words after the id and the marks.
    pub title: &'a str,
    /// `[P]`.
    pub parallel: bool,
    /// `[VERIFY]` before the description.
    pub verify: bool,
    /// `[FIX T003]`.
    pub fixes: Option<&'a str>,
}

impl<'a> TaskText<'a> {
    /// `text` stands behind the box, without blanks around it.
    pub fn read(text: &'a str) -> Self {
        let mut task = Self::default();
        if let Some(end) = plain_id(text.as_bytes()) {
            let (id, rest) = text.split_at(end);
            task.id = Some(id);
            task.title = task.take_marks(rest);
            task.aside = is_struck(task.title).then_some(AsideKind::Struck);
            return task;
        }
        let text = text.trim_start_matches('\u{200b}');
        let struck = text.strip_prefix("~~").filter(|rest| rest.contains("~~"));
        // An emoji in front is no word.
        let drawn = text
            .split_once(' ')
            .filter(|(first, _)| !first.is_ascii() && !first.contains(char::is_alphanumeric));
        let named = struck.or(text.strip_prefix("Task ")).or(drawn.map(|(_, rest)| rest));
        let named = named.filter(|rest| struck.is_some() || take_id(rest).is_some());
        let mut rest = task.take_marks(named.unwrap_or(text));
        if let Some((id, after)) = take_id(rest) {
            task.id = Some(id);
            rest = task.take_marks(after);
        }
        task.title = rest;
        task.aside = if struck.is_none() && is_placeholder(text) {
            Some(AsideKind::Placeholder)
        } else {
            (struck.is_some() || is_struck(rest)).then_some(AsideKind::Struck)
        };
        task
    }

    pub fn is_in_brackets(&self, said: &str) -> bool {
        self.id.is_some_and(|id| said.contains(&format!("[{id}]")))
    }

    /// The same task by the id behind its own one, if there is any.
    pub fn behind_label(self) -> Self {
        let inner = Self::read(self.title);
        let parallel = self.parallel || inner.parallel;
        if inner.id.is_some() { Self { parallel, ..inner } } else { self }
    }

    /// Takes the marks in brackets before the description.
    fn take_marks(&mut self, text: &'a str) -> &'a str {
        let mut rest = trimmed_start(text);
        while let Some((mark, after)) = bracketed(rest) {
            match mark {
                "P" => self.parallel = true,
                "VERIFY" => self.verify = true,
                _ if mark.starts_with("FIX ") => self.fixes = Some(mark["FIX ".len()..].trim()),
                _ if is_story(mark) => {}
                _ => break,
            }
            rest = trimmed_start(after);
        }
        rest
    }
}

/// Behind an id, words in the place of those struck through are a task.
fn is_struck(text: &str) -> bool {
    let last = text.strip_prefix("~~").and_then(|rest| rest.rsplit_once("~~"));
    last.is_some_and(|(_, rest)| !rest.trim_start().starts_with(char::is_alphanumeric))
}

/// Fast for the usual case: one space or none in front.
fn trimmed_start(text: &str) -> &str {
    let rest = text.strip_prefix(' ').unwrap_or(text);
    match rest.as_bytes().first() {
        Some(b'!'..=b'~') => rest,
        _ => rest.trim_start(),
    }
}

/// Checks whole text in one go: a text with invalid UTF-8 costs ten times as much.
pub fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// `[text] rest` as `(text, rest)`.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('[')?;
    // A mark is short: a plain loop is enough.
    let end = text.bytes().position(|byte| byte == b']')?;
    let (mark, rest) = (&text[..end], &text[end + 1..]);
    // `[label](target)` is a link, not a mark.
    (!rest.starts_with('(')).then_some((mark, rest))
}

fn is_story(mark: &str) -> bool {
    mark.strip_prefix("US").is_some_and(|digits| all_digits(digits.as_bytes()))
}

/// Takes `T001`, `1.2`, `T001:`, `**T001**`, `[T001]` or `1.` from the front of a description.
fn take_id(text: &str) -> Option<(&str, &str)> {
    if let Some(end) = plain_id(text.as_bytes()) {
        return Some(text.split_at(end));
    }
    let end = text.find(|letter: char| letter.is_whitespace() || letter == WIDE_COLON);
    let (word, rest) = text.split_at(end.unwrap_or(text.len()));
    let bare = word.trim_start_matches(['*', '`', '[', '_', '(']);
    // The id may be a link.
    let bare = bare
        .split_once("](")
        .filter(|_| bare.ends_with(')'))
        .map_or(bare, |(id, _)| &bare[..=id.len()]);
    let id =
        bare.trim_end_matches(['*', '`', ']', '_', ':', '.', ')', ',']).trim_start_matches('#');
    // `3 retries` is prose; `3.`, `3)` and `#3` number a task. In a shell `#` begins a comment.
    (is_id(id) || (id.len() < bare.len() && all_digits(id.as_bytes())))
        .then_some((id, rest.trim_start_matches(WIDE_COLON)))
}

/// The colon of Chinese and Japanese; no blank follows.
const WIDE_COLON: char = '\u{ff1a}';

/// The length of an id of the usual form: a capital letter, digits, then a space.
fn plain_id(text: &[u8]) -> Option<usize> {
    if !text.first()?.is_ascii_uppercase() {
        return None;
    }
    let digits = text[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0 && text.get(1 + digits) == Some(&b' ')).then_some(1 + digits)
}

/// A task id has letters and digits with points and dashes between them: `T001`, `1.2.3`, `4b.1`, `WP01`,
/// `T026-REMEDIAL`. A bare number is no id, and neither is a word without a digit.
pub fn is_id(word: &str) -> bool {
    let name = word.as_bytes();
    let is_of_id = |byte: &u8| byte.is_ascii_alphanumeric() || b".-_".contains(byte);
    name.len() <= LONGEST_ID
        && name.first().is_some_and(u8::is_ascii_alphanumeric)
        && name.iter().any(u8::is_ascii_digit)
        && name.iter().all(is_of_id)
        && !all_digits(name)
}

/// In bytes.
const LONGEST_ID: usize = 32;

/// Text that explains how to write a task, or that was never filled in: `T###`, `TXXX`, `[ID]`, `<id>`, `{{ID}}`,
/// `[First step]`, `...`.
fn is_placeholder(text: &str) -> bool {
    let words = text.trim_matches(['*', '`', '_']);
    let is_within = |text: &str| {
        [('[', ']'), ('<', '>')].into_iter().any(|(open, close)| {
            text.starts_with(open) && text.ends_with(close) && text.matches(open).count() == 1
        })
    };
    let word = words.split_ascii_whitespace().next().unwrap_or_default().trim_end_matches(':');
    let bare = word.trim_matches(['*', '`', '_', '[', ']', '<', '>', ':']);
    let mut names = ["id", "taskid", "task-id", "task_id"].into_iter();
    let front = bare.trim_end_matches(['#', 'X']);
    let is_front = |byte: u8| byte.is_ascii_uppercase() || b"-0".contains(&byte);
    is_within(words.trim_start_matches(['N', 'X', '#', '.', ')', ' ']))
        || words.starts_with("{{")
        || matches!(words, "..." | "\u{2026}")
        || (is_within(word) && names.any(|name| bare.eq_ignore_ascii_case(name)))
        || (bare.len() > front.len() + 1 && !front.is_empty() && front.bytes().all(is_front))
}

fn all_digits(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit)
}

/// The first code in backticks, without blanks around it, between the text before and behind it.
pub(super) fn code_in(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_at(text.find('`')?);
    let length = rest.len() - rest.trim_start_matches('`').len();
    let (ticks, rest) = rest.split_at(length);
    let (code, behind) = rest.split_once(ticks)?;
    Some((before, code.trim(), behind)).filter(|(_, code, _)| !code.is_empty())
}
