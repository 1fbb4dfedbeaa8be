//! Boxes anywhere in the words of a line: an open box outside of a task is reported.

use std::borrow::Cow;

use memchr::memmem;

use super::aside::AsideKind;
use super::line::{TaskBox, starts_blank};
use super::markdown::{Kind, Line};

/// Bytes before a box that decide whether the box stands first.
const NEAR: usize = 40;
/// Bytes of an HTML tag on the lines below its first one.
const LONGEST_TAG: usize = 1_000;

/// Why a line that is no task looks like one, and whether a box in the line is open; `None` without a box. An HTML tag
/// may end in `below`, the text behind the line.
pub fn seen_in(line: &Line<'_>, below: &[u8]) -> Option<(AsideKind, bool)> {
    let words = line.words();
    if let Some(is_open) = open_in_html(words, below) {
        return Some((AsideKind::Code, is_open || open_in(words).is_some()));
    }
    may_have_box(words)?;
    // The other bracket stands on the next line, or was forgotten.
    let is_broken = words.starts_with(b"[") && starts_blank(&words[1..]) && !words.contains(&b']');
    if is_broken && line.kind == Kind::Item {
        return Some((AsideKind::Odd, true));
    }
    all(words).next()?;
    let words = &*without_code(words.trim_ascii_end());
    let mut boxes = all(words).filter(|(at, found)| is_box(words, *at, found));
    let (at, first) = boxes.next()?;
    let is_open = !first.is_ticked() || boxes.any(|(_, found)| !found.is_ticked());
    Some((kind_of(line.kind, words, at, &first), is_open))
}

/// The place of an open box in the words of a task.
pub fn open_in(words: &[u8]) -> Option<usize> {
    may_have_box(words)?;
    all(&without_code(words)).find(|(_, found)| found.is_blank).map(|(at, _)| at)
}

/// The place of a byte that may begin a box.
fn may_have_box(words: &[u8]) -> Option<usize> {
    memchr::memchr3(b'[', 0xe2, 0xf0, words)
        .or_else(|| memchr::memchr3(b'(', 0xe3, 0xef, words))
        .or_else(|| memchr::memchr(b'&', words))
}

/// Looks for checkboxes in HTML: `true` if one is open, `None` without any.
fn open_in_html(words: &[u8], below: &[u8]) -> Option<bool> {
    let open = memchr::memrchr(b'<', words)?;
    let below = &below[..below.len().min(LONGEST_TAG)];
    let end = memchr::memchr(b'>', below).filter(|_| !words[open..].contains(&b'>')).unwrap_or(0);
    let words = [&without_code(words), &below[..end]].concat().to_ascii_lowercase();
    let words = String::from_utf8_lossy(&words);
    let tags = words.split("<input").skip(1).filter_map(|rest| rest.split('>').next());
    let is_checked = |tag: &str| {
        let mut names = tag.split([' ', '\t', '/', '\n', '\r']);
        names.any(|name| name.split('=').next() == Some("checked"))
    };
    let boxes = tags.filter(|tag| tag.contains("checkbox"));
    boxes.map(|tag| !is_checked(tag)).reduce(|one, other| one || other)
}

/// All candidates, each with its place.
fn all(words: &[u8]) -> impl Iterator<Item = (usize, TaskBox)> {
    let may_begin = |at: &usize| match words[*at] {
        b'[' | b'&' | 0xe2 | 0xe3 | 0xef | 0xf0 => true,
        // A function call has nothing between its brackets.
        b'(' => *at == 0 || !words[at - 1].is_ascii_alphanumeric(),
        _ => false,
    };
    let places = (0..words.len()).filter(may_begin);
    places.filter_map(|at| Some((at, TaskBox::any(&words[at..])?)))
}

/// A person sees a box here. A blank box is open everywhere. Another mark may be a word, as in `press [?]`, `note[*]`
/// or `needs: []`, unless the box is the first thing in a line, in a cell or behind a colon, or the last.
fn is_box(words: &[u8], at: usize, found: &TaskBox) -> bool {
    let before = words[..at].trim_ascii_end();
    let is_in_word = before.len() == at && before.last().is_some_and(u8::is_ascii_alphanumeric);
    let before = &before[before.len().saturating_sub(NEAR)..];
    let may_be_value = found.is_odd || words[at..].starts_with(b"[]");
    let ends: &[u8] = if may_be_value { b"|" } else { b"|:>*-" };
    let clause = before.rsplit(|byte| ends.contains(byte)).next().unwrap_or_default();
    // One letter may belong to an id, such as `T4`.
    let clause = String::from_utf8_lossy(clause);
    let is_first = clause.chars().filter(|letter| letter.is_alphabetic()).count() < 2;
    let mut behind = words[at + found.text_at..].trim_ascii_start().iter();
    let is_last = !may_be_value && behind.all(|byte| b"*_.|".contains(byte));
    found.is_blank
        || ((found.is_ticked() || !found.mark.is_alphanumeric())
            && !is_in_word
            && (is_first || is_last))
}

fn kind_of(kind: Kind, words: &[u8], at: usize, found: &TaskBox) -> AsideKind {
    let before = words[..at].trim_ascii_end();
    let is_bullet = |byte: &u8| !byte.is_ascii() || b"-+*0123456789.)(\\ ".contains(byte);
    match kind {
        _ if before.ends_with(b"\\") => AsideKind::Escaped,
        Kind::Code => AsideKind::Code,
        _ if words.starts_with(b">") => AsideKind::Quote,
        _ if words.starts_with(b"|") || memmem::find(words, b" | ").is_some() => AsideKind::Table,
        _ if before.ends_with(b"~~") => AsideKind::Struck,
        _ if found.is_odd => AsideKind::Odd,
        _ if !before.ends_with(b"**") && before.iter().all(is_bullet) => AsideKind::Bullet,
        _ => AsideKind::Later,
    }
}

/// Overwrites code and comments; every place stays the same.
fn without_code(words: &[u8]) -> Cow<'_, [u8]> {
    let mut text = Cow::Borrowed(words);
    if memchr::memchr2(b'`', b'<', words).is_none() {
        return text;
    }
    for (open, close) in [("<!--", "-->"), ("```", "```"), ("``", "``"), ("`", "`")] {
        let mut at = 0;
        while let Some(start) = memmem::find(&text[at..], open.as_bytes()) {
            let inner = at + start + open.len();
            let Some(length) = memmem::find(&text[inner..], close.as_bytes()) else { break };
            at = inner + length + close.len();
            text.to_mut()[inner - open.len()..at].fill(b'\'');
        }
    }
    text
}
