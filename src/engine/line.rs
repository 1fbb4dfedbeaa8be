//! One line of a task list: the box, the id, the marks and the description.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A piece of a text that it shares with others: a list of thousands of tasks is copied once, and not twice a task.
#[derive(Clone)]
pub struct Piece {
    whole: Arc<str>,
    place: Range<usize>,
}

impl Piece {
    /// Returns what stands at this place of a text.
    pub fn of(whole: &Arc<str>, place: Range<usize>) -> Self {
        Self { whole: Arc::clone(whole), place }
    }
}

impl From<&str> for Piece {
    fn from(text: &str) -> Self {
        Self { whole: text.into(), place: 0..text.len() }
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
        **self == **other
    }
}

impl Eq for Piece {}

impl fmt::Debug for Piece {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, out)
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self)
    }
}

/// The box that a task line begins with.
pub struct TaskBox {
    /// The character between the brackets.
    mark: u8,
    /// Where that character is, in bytes from the start of the line.
    pub mark_at: usize,
    /// Where the description after the box begins, in bytes from the start of the line.
    pub text_at: usize,
}

impl TaskBox {
    /// Returns the box on a line, `None` when it has none.
    pub fn read(line: &[u8]) -> Option<Self> {
        let indent = line.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
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
        let mark_at = indent + 1 + gap + 1;
        Some(Self { mark: *mark, mark_at, text_at: mark_at + 2 })
    }

    /// Returns whether it is ticked.
    pub fn is_ticked(&self) -> bool {
        matches!(self.mark, b'x' | b'X')
    }
}

/// What the description of a task says.
pub struct TaskText<'a> {
    /// Its id, `None` where it has none of its own.
    pub id: Option<&'a str>,
    /// The description after the id and the marks.
    pub title: &'a str,
    /// `[P]`.
    pub parallel: bool,
    /// `[VERIFY]` before the description.
    pub verify: bool,
    /// `[FIX T003]`.
    pub fixes: Option<&'a str>,
}

impl<'a> TaskText<'a> {
    /// Returns what is said after a box, without the blanks around it; `None` for nothing, or a `CHK…` item.
    pub fn read(text: &'a str) -> Option<Self> {
        if text.is_empty() || is_checklist_item(text) {
            return None;
        }
        let mut task = Self { id: None, title: "", parallel: false, verify: false, fixes: None };
        let mut rest = text;
        if let Some((id, after)) = take_id(rest) {
            task.id = Some(id);
            rest = after;
        }
        rest = task.take_marks(rest);
        if task.id.is_none()
            && let Some((id, after)) = take_id(rest)
        {
            task.id = Some(id);
            rest = task.take_marks(after);
        }
        task.title = rest;
        Some(task)
    }

    /// Takes the marks in brackets that stand before the description.
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

/// The same text without blanks in front, which are mostly one space or none.
fn trimmed_start(text: &str) -> &str {
    let rest = text.strip_prefix(' ').unwrap_or(text);
    match rest.as_bytes().first() {
        Some(b'!'..=b'~') => rest,
        _ => rest.trim_start(),
    }
}

/// The text in these bytes. Whole text is checked in one go; only broken text is gone through
/// letter by letter, which is ten times dearer.
pub(super) fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// `[text] rest` as `(text, rest)`.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('[')?;
    // A mark is a few bytes long.
    let end = text.bytes().position(|byte| byte == b']')?;
    let (mark, rest) = (&text[..end], &text[end + 1..]);
    // `[label](target)` is a link, not a mark.
    (!rest.starts_with('(')).then_some((mark, rest))
}

fn is_story(mark: &str) -> bool {
    mark.strip_prefix("US").is_some_and(|digits| all_digits(digits.as_bytes()))
}

fn is_checklist_item(text: &str) -> bool {
    if !matches!(text.as_bytes().first(), Some(b'C' | b'*' | b'`' | b'[')) {
        return false;
    }
    let text = text.trim_start_matches(['*', '`', '[']);
    let digits = text.strip_prefix("CHK").unwrap_or_default();
    digits.starts_with(|first: char| first.is_ascii_digit())
}

/// Takes `T001`, `1.2`, `T001:`, `**T001**`, `[T001]` or `1.` from the front of a description.
fn take_id(text: &str) -> Option<(&str, &str)> {
    if let Some(end) = plain_id(text.as_bytes()) {
        return Some(text.split_at(end));
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let bare = word.trim_start_matches(['*', '`', '[', '_']);
    let id = bare.trim_end_matches(['*', '`', ']', '_', ':', '.', ')', ',']);
    // `3 retries` is prose; `3.` and `3)` number a task.
    let marked = id.len() < bare.len();
    (is_id(id) || (marked && all_digits(id.as_bytes()))).then_some((id, rest))
}

/// The length of an id as nearly every list has it, a capital letter with digits and a space after them;
/// `None` for any other form.
fn plain_id(text: &[u8]) -> Option<usize> {
    if !text.first()?.is_ascii_uppercase() {
        return None;
    }
    let digits = text[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0 && text.get(1 + digits) == Some(&b' ')).then_some(1 + digits)
}

/// Returns whether a word is a task id: `T001`, `T001a`, `T-1`, `FIX-12`, `1.2.3`, `T003.F1`.
pub fn is_id(word: &str) -> bool {
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
        1 if rest.split(|byte| *byte == b'.').all(all_digits) => true,
        1..=8 => rest.strip_prefix(b"-").is_some_and(all_digits),
        _ => false,
    }
}

fn all_digits(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit)
}
