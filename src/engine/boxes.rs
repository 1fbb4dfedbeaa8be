//! Boxes anywhere in the words of a line: an open box outside of a task is reported.

use std::borrow::Cow;

use memchr::memmem;

use super::aside::AsideKind;
use super::line::{TaskBox, TaskText, starts_blank, text_of};
use super::markdown::{Kind, Line};

/// Bytes before a box that decide what the box is.
const NEAR: usize = 40;
/// Signs of work that is not done.
const PICTURES: &str = "\u{d7}\u{231b}\u{23f3}\u{23f8}\u{25d0}\u{25d1}\u{25d2}\u{25d3}\u{25d4}\u{25d5}\u{26d4}\u{2716}\u{2717}\u{2718}\u{274c}\u{2b55}\u{1f3d7}\u{1f504}\u{1f518}\u{1f51c}\u{1f534}\u{1f535}\u{1f6a7}\u{1f6ab}\u{1f7e0}\u{1f7e1}\u{1f7e5}\u{1f7e7}\u{1f7e8}";
/// Words of such work in front of others.
const WORDS: &str = "TODO DOING LATER NOW NEXT STARTED IN-PROGRESS WAIT WAITING PENDING BLOCKED WIP TBD FIXME $\\square$ $\\Box$";
/// Keys whose value may be an empty box.
const STATES: [&str; 3] = ["status", "state", "done"];
/// Bytes of an HTML tag on the lines below its first one.
const LONGEST_TAG: usize = 1_000;

/// Why a line that is no task looks like one, and whether a box in the line is open; `None` without a box. An HTML tag
/// may end in `below`, the text behind the line.
pub fn seen_in(line: &Line<'_>, below: &[u8]) -> Option<(AsideKind, bool)> {
    let words = line.words();
    if let Some(is_open) = open_in_html(words, below) {
        return Some((AsideKind::Code, is_open || open_in(words).is_some()));
    }
    if !may_have_box(words) || all(words).next().is_none() {
        return None;
    }
    let words = &*without_code(words.trim_ascii_end());
    let mut boxes = all(words).filter(|(at, found)| is_box(words, *at, found));
    let (at, first) = boxes.next()?;
    let is_open = !first.is_ticked() || boxes.any(|(_, found)| !found.is_ticked());
    Some((kind_of(line.kind, words, at, &first), is_open))
}

/// True if a hidden line begins with an open box, behind bullets of any kind.
pub fn begins_open(line: &[u8]) -> bool {
    let first = line.iter().position(|byte| !b" \t-+*>|#.)0123456789".contains(byte));
    let found = first.and_then(|first| TaskBox::any(&line[first..]));
    found.is_some_and(|found| found.is_blank || found.mark.is_ascii_punctuation())
}

/// What may tell a task's state, at the beginning or in a cell of a table: brackets, a picture, a word in capitals, such
/// as `[in progress] Test it`, `[~](T002)`, `| 1/3 |`. `false`: it depends on the boxes below the same heading.
pub fn state_in(line: &Line<'_>) -> Option<bool> {
    let words = line.words();
    let mut cells = words.split(|byte| *byte == b'|').map(<[u8]>::trim_ascii);
    if is_row(words) && cells.any(|cell| is_state(&text_of(cell))) {
        return Some(true);
    }
    let bare = words.strip_prefix(b"**").unwrap_or(words);
    let Some(inner) = bare.strip_prefix(b"[") else {
        let text = text_of(bare);
        let is_heading = matches!(line.kind, Kind::Heading(_));
        // `🚧 In progress` may be the title of an empty column.
        let is_shown = (line.kind == Kind::Item && text.starts_with(is_picture))
            || (is_heading && has_picture(&text) && text.contains(char::is_numeric));
        return (is_shown || says_open(&text)).then_some(!is_heading);
    };
    let Some(end) = memchr::memchr(b']', inner) else {
        // The other bracket stands on the next line, or was forgotten.
        return starts_blank(inner).then_some(true);
    };
    let (state, behind) = (&inner[..end], &inner[end + 1..]);
    let behind = behind.strip_prefix(b"**").unwrap_or(behind);
    // `[US1] T002` names two things, and `[Docs](T002)` is a link.
    let is_link = behind.starts_with(b"(") || behind.starts_with(b"[");
    let has_letter = state.iter().any(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii());
    let is_name = has_letter && (is_link || state.iter().any(u8::is_ascii_digit));
    let has_id = !is_name && TaskText::read(&text_of(behind.trim_ascii())).id.is_some();
    ((1..=NEAR).contains(&end) && (has_id || (behind.len() > 1 && starts_blank(behind))))
        .then_some(has_id)
}

fn has_picture(text: &str) -> bool {
    !text.is_ascii() && text.contains(is_picture)
}

fn is_picture(letter: char) -> bool {
    !letter.is_ascii() && PICTURES.contains(letter)
}

/// A word in front of others, or the value of a key, says that work is not done: `TODO: test it`, `**Status**: ⏳`.
fn says_open(text: &str) -> bool {
    let is_sign = |letter: char| matches!(letter, ' ' | '*' | '_' | ':');
    let mut words = text.split(is_sign).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let is_key = STATES.iter().any(|key| first.eq_ignore_ascii_case(key));
    let is_open = |second: &str| second.starts_with(is_picture) || is_open_word(second);
    (is_key || is_open_word(first)) && words.next().is_some_and(|second| !is_key || is_open(second))
}

fn is_open_word(word: &str) -> bool {
    let is_capital = |second: &u8| second.is_ascii_uppercase() || *second == b'\\';
    word.as_bytes().get(1).is_some_and(is_capital) && WORDS.split(' ').any(|known| known == word)
}

/// A cell holds a state of work that is not done: words in brackets, a share, a sign.
fn is_state(cell: &str) -> bool {
    let inner = cell.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let share = inner.unwrap_or(cell);
    let share = share.split_once('/').or_else(|| Some((share.strip_suffix('%')?, "100")));
    let [done, all] =
        share.map_or([None; 2], |(done, all)| [done, all].map(|part| part.trim().parse().ok()));
    let is_part = done.is_some_and(|_: u32| done < all);
    let is_word = |letter: char| letter.is_alphabetic() || " -_".contains(letter);
    is_part
        || inner.is_some_and(|inner| inner.len() > 1 && inner.chars().all(is_word))
        || matches!(cell, "~" | "?" | "!" | ">")
        || cell.starts_with(is_picture)
        || is_open_word(cell)
        || says_open(cell)
}

/// The place of an open box in the words of a task; empty brackets there are words, not a box.
pub fn open_in(words: &[u8]) -> Option<usize> {
    if !may_have_box(words) {
        return None;
    }
    let words = &*without_code(words);
    let mut boxes = all(words).filter(|(at, found)| is_box(words, *at, found));
    let open = boxes.find(|(at, found)| !found.is_ticked() && !words[*at..].starts_with(b"[]"));
    open.map(|(at, _)| at)
}

/// A byte of the line may begin a box.
fn may_have_box(words: &[u8]) -> bool {
    memchr::memchr3(b'[', b'(', b'{', words).is_some()
        || memchr::memchr(b'&', words).is_some()
        || !words.is_ascii()
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
        b'(' | b'{' => *at == 0 || b" |*_".contains(&words[at - 1]),
        _ => false,
    };
    let places = (0..words.len()).filter(may_begin);
    places.filter_map(|at| Some((at, TaskBox::any(&words[at..])?)))
}

/// True if a person sees a box here: brackets around a blank, a tick or a sign, but not `note[*]` or the value in
/// `needs: []`.
fn is_box(words: &[u8], at: usize, found: &TaskBox) -> bool {
    let before = &words[at.saturating_sub(NEAR)..at];
    let is_in_word = before.last().is_some_and(u8::is_ascii_alphanumeric);
    let sign = before.iter().rfind(|byte| !b"*_ ".contains(byte));
    let is_state = || STATES.iter().any(|key| text_of(before).to_lowercase().contains(key));
    let is_value = words[at..].starts_with(b"[]")
        && sign.is_some_and(|sign| b":=(,".contains(sign))
        && !is_state();
    let is_mark = found.is_ticked() || !found.mark.is_alphanumeric();
    // `(?)` behind words is a remark.
    let is_remark = || {
        let is_pair = words[at] != b'[' && found.text_at > found.mark.len_utf8();
        is_pair && sign.is_some_and(|sign| *sign != b'|')
    };
    found.is_blank || (is_mark && !is_in_word && !is_value && !is_remark())
}

fn is_row(words: &[u8]) -> bool {
    let first = memchr::memchr(b'|', words);
    first.is_some_and(|at| at == 0 || memmem::find(words, b" | ").is_some())
}

fn kind_of(kind: Kind, words: &[u8], at: usize, found: &TaskBox) -> AsideKind {
    let before = words[..at].trim_ascii_end();
    let is_bullet = |byte: &u8| !byte.is_ascii() || b"-+*0123456789.)(\\ ".contains(byte);
    match kind {
        _ if before.ends_with(b"\\") => AsideKind::Escaped,
        Kind::Code => AsideKind::Code,
        _ if words.starts_with(b">") => AsideKind::Quote,
        _ if is_row(words) => AsideKind::Table,
        _ if before.ends_with(b"~~") => AsideKind::Struck,
        _ if found.is_odd => AsideKind::Odd,
        _ if !before.ends_with(b"**") && before.iter().all(is_bullet) => AsideKind::Bullet,
        _ => AsideKind::Later,
    }
}

/// Overwrites code and comments, without moving any byte.
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
