//! Boxes anywhere in the words of a line: an open box outside of a task is reported.

use std::borrow::Cow;

use memchr::memmem;

use super::aside::AsideKind;
use super::line::{TaskBox, TaskText, starts_blank, text_of};
use super::markdown::{Kind, Line};

/// Bytes before a box that decide what the box is.
const NEAR: usize = 40;
/// Signs of work that is not done.
const PICTURES: &str = "\u{d7}\u{231b}\u{23ed}\u{23f3}\u{23f8}\u{25b6}\u{25cc}\u{25d0}\u{25d1}\u{25d2}\u{25d3}\u{25d4}\u{25d5}\u{26ab}\u{26d4}\u{2716}\u{2717}\u{2718}\u{274c}\u{2b55}\u{1f3d7}\u{1f504}\u{1f518}\u{1f51c}\u{1f534}\u{1f535}\u{1f6a7}\u{1f6ab}\u{1f7e0}\u{1f7e1}\u{1f7e5}\u{1f7e7}\u{1f7e8}";
/// What a page draws as such a sign, or as a square.
const CODES: &str = ":x: :construction: :hourglass: :hourglass_flowing_sand: :arrows_counterclockwise: :soon: :no_entry: :no_entry_sign: :heavy_multiplication_x: :red_circle: :large_blue_circle: :yellow_circle: :orange_circle: :o: :white_circle: :black_circle: :white_large_square: :white_medium_square: :white_small_square: :white_square_button: :black_large_square: :black_square_button: $\\square$ $\\Box$ &square; &squ;";
/// Words of such work; those in capitals here count in capitals alone.
const OPEN: &str = "todo|to do|to-do|in progress|in-progress|in_progress|not started|not done|pending|incomplete|unfinished|blocked|on hold|wip|tbd|fixme|DOING|LATER|NOW|NEXT|STARTED|WAIT|WAITING|OPEN|HOLD|\u{672a}|\u{672a}\u{5b8c}\u{6210}|\u{672a}\u{5b8c}\u{4e86}|\u{672a}\u{5f00}\u{59cb}|\u{672a}\u{7740}\u{624b}|\u{672a}\u{5bfe}\u{5fdc}|\u{5f85}\u{529e}|\u{5f85}\u{8fa6}|\u{8fdb}\u{884c}\u{4e2d}|\u{9032}\u{884c}\u{4e2d}|\u{4f5c}\u{696d}\u{4e2d}";
/// Words of work that nobody waits for.
const DONE: &str = "done|ok|closed|complete|completed|finished|fixed|merged|resolved|cancelled|canceled|dropped|skipped|wontfix|n/a|erledigt|fertig|hecho|fait|\u{5b8c}\u{6210}|\u{5df2}\u{5b8c}\u{6210}|\u{5b8c}\u{4e86}|\u{6e08}|\u{6e08}\u{307f}|\u{433}\u{43e}\u{442}\u{43e}\u{432}\u{43e}";
/// Keys whose value is such words, or an empty box.
const STATES: &str = "status|state|done|estado|statut|stato|\u{72b6}\u{6001}|\u{72c0}\u{614b}|\u{441}\u{442}\u{430}\u{442}\u{443}\u{441}";
/// Blanks and wide marks around a state, and the sign that has a letter drawn.
const AROUND: &str = " \u{2013}\u{2014}\u{3010}\u{3011}\u{ff08}\u{ff09}\u{ff0c}\u{ff1a}\u{fe0f}";
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
    let inner = in_code(words);
    let kind = if inner.is_some() { Kind::Code } else { line.kind };
    let words = &*without_code(inner.unwrap_or(words).trim_ascii_end());
    let mut boxes = all(words).filter(|(at, found)| is_box(words, *at, found));
    let (at, first) = boxes.next()?;
    let is_open = !first.is_ticked() || boxes.any(|(_, found)| !found.is_ticked());
    Some((kind_of(kind, words, at, &first), is_open))
}

/// The words from a box that is alone in code, in front of a task.
fn in_code(words: &[u8]) -> Option<&[u8]> {
    let first = words.iter().position(|byte| !b"|* ".contains(byte))?;
    let inner = words[first..].strip_prefix(b"`")?;
    let behind = &inner[TaskBox::any(inner)?.text_at..];
    let is_task = matches!(behind, [b'`', b' ', next, ..] if !b"-=\xe2".contains(next));
    (is_task && !inner.starts_with(b"[]") && memmem::find(behind, b"`[").is_none()).then_some(inner)
}

/// True if a hidden line begins with an open box, behind bullets of any kind.
pub fn begins_open(line: &[u8]) -> bool {
    let first = line.iter().position(|byte| !b" \t-+*>|#.)0123456789".contains(byte));
    let found = first.and_then(|first| TaskBox::any(&line[first..]));
    found.is_some_and(|found| found.is_blank || found.mark.is_ascii_punctuation())
}

/// What a line without a box tells of a task: whether it does so wherever it stands, and whether the work may be open.
/// `[in progress] Test it`, `[~](T002)`, `| 1/3 |`, `TODO: test it`, `Test it ⏳`.
pub fn state_in(line: &Line<'_>) -> Option<(bool, bool)> {
    let text = text_of(line.words());
    if line.kind == Kind::Quote || !may_tell(&text) {
        return None;
    }
    let mut places = memchr::memchr3_iter(b':', b'$', b'&', text.as_bytes());
    let code = |at: usize| CODES.split(' ').find(|code| text[at..].starts_with(code));
    let drawn = places.find_map(code).map(|code| text.replace(code, "\u{23f3}"));
    let text = drawn.as_deref().unwrap_or(&text);
    let is_open = || {
        (is_row(text.as_bytes()) && text.split('|').any(is_open_cell))
            || value_in(text).is_some_and(tells)
            || is_open_line(line.kind, text)
    };
    match in_brackets(text) {
        Some((true, is_open)) => Some((true, is_open)),
        _ if is_open() => Some((!matches!(line.kind, Kind::Heading(_)), true)),
        _ if open_value(text) => Some((false, true)),
        told => told,
    }
}

/// A look at a few bytes: most lines tell nothing.
fn may_tell(text: &str) -> bool {
    let words = text.as_bytes();
    let inner = text.trim_matches([' ', '"', '\'', '(', ')', '*', ',', '.', '_', '`']);
    let is_plain = matches!(inner.as_bytes(), [first, next, .., last]
        if first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric()
            && !next.is_ascii_uppercase() && !last.is_ascii_uppercase());
    let is_key = |at: usize| words[..at].windows(3).any(|part| part == b"tat");
    let is_wide = |at: usize| words.get(at + 1).is_some_and(|next| *next > 0x83);
    !is_plain
        || memchr::memchr(b'|', words).is_some()
        || memchr::memchr(b':', words).is_some_and(is_key)
        || memchr::memchr2_iter(0xe2, 0xf0, words).any(is_wide)
}

/// What stands behind a key of a state, or in brackets at the end.
fn value_in(text: &str) -> Option<&str> {
    let sign = memchr::memchr3(b':', 0xe2, 0xef, text.as_bytes()).unwrap_or(0);
    let key = text[..sign].trim_end_matches(is_around).rsplit(is_around).next();
    let in_brackets = || text.strip_suffix(']')?.rfind('[');
    let at = key.filter(|key| is_of(STATES, key)).map(|_| sign).or_else(in_brackets);
    at.map(|at| &text[at..])
}

/// A value says in small letters or figures that work is open: `**Status**: pending`.
pub fn open_value(text: &str) -> bool {
    let value = value_in(text).map(|value| value.trim_matches(is_around));
    value.is_some_and(|value| is_of(OPEN, value) || is_share(value))
}

fn is_open_cell(cell: &str) -> bool {
    let (cell, bare) = (cell.trim(), cell.trim_matches(is_around));
    let inner = cell.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or_default();
    let is_word = |letter: char| letter.is_alphabetic() || " -_".contains(letter);
    matches!(cell, "~" | "?" | "!" | ">")
        || tells(cell)
        || is_share(bare)
        || (is_loud(bare) && is_of(OPEN, bare))
        || (inner.len() > 1 && inner.chars().all(is_word) && !is_of(DONE, inner))
}

/// A part of a whole.
fn is_share(words: &str) -> bool {
    let share = words.strip_suffix("tasks").unwrap_or(words);
    let share = share.split_once('/').or_else(|| Some((share.strip_suffix('%')?, "100")));
    let [done, all] =
        share.map_or([None; 2], |(done, all)| [done, all].map(|part| part.trim().parse().ok()));
    done.is_some_and(|_: u32| done < all)
}

/// A line says that work is open. `🚧 In progress` may be the title of an empty column, or of a page.
fn is_open_line(kind: Kind, text: &str) -> bool {
    let task = TaskText::read(text);
    let is_before = |letter| is_picture(letter) || is_around(letter);
    match kind {
        Kind::Heading(3..) if text.starts_with(['\u{231b}', '\u{23f3}', '\u{1f504}']) => {
            !is_of(OPEN, text.trim_matches(is_before))
        }
        Kind::Heading(_) if text.contains(char::is_numeric) && text.contains(is_picture) => true,
        _ if kind == Kind::Item || task.id.is_some() => tells(text) || tells(task.title),
        Kind::Text | Kind::Code if !text.starts_with("**") => tells(&text.replace(is_picture, "")),
        _ => tells(text.trim_start_matches(is_before)),
    }
}

/// A text begins or ends with a picture, or with words of open work: in front of others (`TODO(ann): test it`), or
/// alone behind a bracket, a colon, a dash or a picture (`Test it (PENDING)`, `🔄 In Progress`).
fn tells(text: &str) -> bool {
    let inner = text.trim_start_matches(is_around);
    let bare = text.trim_end_matches(is_around);
    let is_marked = text.trim_start_matches('*').starts_with(['[', '\u{3010}', '\u{ff08}']);
    // `NEXT.js` and `WAIT_TIME` are names, and `[TODO](a.md)` is a link.
    let is_name = |rest: &str| match rest.as_bytes() {
        [b'.' | b'_', next, ..] => next.is_ascii_alphabetic(),
        rest => rest.starts_with(b"]("),
    };
    let is_behind = |rest: &str| !is_name(rest) && rest.contains(char::is_alphanumeric);
    let mut first = inner.match_indices(is_around).take(3).map(|(at, _)| inner.split_at(at));
    let last = bare.rmatch_indices(is_around).take(3).map(|(at, sign)| at + sign.len());
    inner.starts_with(is_picture)
        || bare.trim_end_matches('\u{d7}').ends_with(is_picture)
        || first.any(|(words, rest)| {
            (is_marked || is_loud(words)) && is_of(OPEN, words) && is_behind(rest)
        })
        || last.map(|at| bare.split_at(at)).any(|(rest, words)| {
            let rest = rest.trim_end_matches(['*', '_', '`', ' ']);
            let is_apart = rest.ends_with(['[', '(', ':', '-', '\u{2013}', '\u{2014}']);
            ((is_apart && is_loud(words)) || rest.ends_with(is_picture)) && is_of(OPEN, words)
        })
}

/// Words in brackets in front of others: whether an id stands right behind, and whether the work may be open.
fn in_brackets(text: &str) -> Option<(bool, bool)> {
    let inner = text.strip_prefix("**").unwrap_or(text).strip_prefix('[')?;
    let Some((state, behind)) = inner.split_once(']') else {
        // The other bracket stands on the next line, or was forgotten.
        return starts_blank(inner.as_bytes()).then_some((true, true));
    };
    let behind = behind.strip_prefix("**").unwrap_or(behind);
    // `[US1] T002` names two things, and `[Docs](T002)` is a link.
    let is_link = behind.starts_with(['(', '[']);
    let is_name = state.contains(char::is_alphabetic)
        && (is_link || state.contains(|letter: char| letter.is_ascii_digit()));
    let has_id = !is_name && TaskText::read(behind.trim_ascii()).id.is_some();
    ((1..=NEAR).contains(&state.len())
        && (has_id || (behind.len() > 1 && starts_blank(behind.as_bytes()))))
    .then(|| (has_id, !is_of(DONE, state.trim())))
}

/// A list has these words. Those that it has in capitals are so everywhere.
fn is_of(list: &str, words: &str) -> bool {
    let is_same = |known: &str| known.contains(char::is_lowercase) || is_loud(words);
    list.split('|').any(|known| known.eq_ignore_ascii_case(words) && is_same(known))
}

fn is_loud(words: &str) -> bool {
    !words.contains(char::is_lowercase)
}

fn is_picture(letter: char) -> bool {
    !letter.is_ascii() && PICTURES.contains(letter)
}

/// Blanks, brackets and marks around a state.
fn is_around(letter: char) -> bool {
    (letter.is_ascii_punctuation() && !"%<".contains(letter)) || AROUND.contains(letter)
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
    words.starts_with(b"<")
        || memchr::memchr3(b'[', b'(', b'{', words).is_some()
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
        b'(' | b'{' | b'<' => *at == 0 || b" |*_".contains(&words[at - 1]),
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
    let is_state = || STATES.split('|').any(|key| text_of(before).to_lowercase().contains(key));
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
