//! Boxes anywhere in the words of a line: an open box outside of a task is reported.

use std::borrow::Cow;

use memchr::memmem;

use super::aside::AsideKind;
use super::line::{TaskBox, TaskText, starts_blank, text_of};
use super::markdown::{Kind, Line};

/// Bytes before a box that decide what the box is.
const NEAR: usize = 40;
/// Signs of work that is not done.
const PICTURES: &str = "\u{231b}\u{23ed}\u{23f3}\u{23f8}\u{25b6}\u{25cc}\u{25d0}\u{25d1}\u{25d2}\u{25d3}\u{25d4}\u{25d5}\u{26ab}\u{26d4}\u{2716}\u{2717}\u{2718}\u{274c}\u{2b55}\u{1f3d7}\u{1f504}\u{1f518}\u{1f51c}\u{1f534}\u{1f535}\u{1f6a7}\u{1f6ab}\u{1f7e0}\u{1f7e1}\u{1f7e5}\u{1f7e7}\u{1f7e8}";
/// What a page draws as such a sign, or as a square.
const CODES: &str = ":x: :construction: :hourglass: :hourglass_flowing_sand: :arrows_counterclockwise: :soon: :no_entry: :no_entry_sign: :heavy_multiplication_x: :red_circle: :large_blue_circle: :yellow_circle: :orange_circle: :o: :white_circle: :black_circle: :white_large_square: :white_medium_square: :white_small_square: :white_square_button: :black_large_square: :black_square_button: $\\square$ $\\Box$ &square; &squ;";
/// Words of open work. What is in capitals here counts only in capitals.
const OPEN: &str = "todo|to do|to-do|in progress|in-progress|in_progress|not started|not done|pending|incomplete|unfinished|blocked|on hold|wip|tbd|fixme|DOING|LATER|NOW|NEXT|STARTED|WAIT|WAITING|OPEN|HOLD|\u{672a}|\u{672a}\u{5b8c}\u{6210}|\u{672a}\u{5b8c}\u{4e86}|\u{672a}\u{5f00}\u{59cb}|\u{672a}\u{7740}\u{624b}|\u{672a}\u{5bfe}\u{5fdc}|\u{5f85}\u{529e}|\u{5f85}\u{8fa6}|\u{8fdb}\u{884c}\u{4e2d}|\u{9032}\u{884c}\u{4e2d}|\u{4f5c}\u{696d}\u{4e2d}";
/// Words of work that nobody waits for.
const DONE: &str = "done|ok|closed|complete|completed|finished|fixed|merged|resolved|cancelled|canceled|dropped|skipped|wontfix|n/a|erledigt|fertig|hecho|fait|\u{5b8c}\u{6210}|\u{5df2}\u{5b8c}\u{6210}|\u{5b8c}\u{4e86}|\u{6e08}|\u{6e08}\u{307f}|\u{433}\u{43e}\u{442}\u{43e}\u{432}\u{43e}";
/// Keys whose value is such words, or an empty box.
const STATES: &str = "status|state|done|estado|statut|stato|\u{72b6}\u{6001}|\u{72c0}\u{614b}|\u{441}\u{442}\u{430}\u{442}\u{443}\u{441}";
/// Blanks and wide marks around a state, and the sign that has a letter drawn.
const AROUND: &str = " \u{2013}\u{2014}\u{3010}\u{3011}\u{ff08}\u{ff09}\u{ff0c}\u{ff1a}\u{fe0f}";
/// Bytes of the longest words of open work, and signs around them.
const LONGEST_STATE: usize = 16;
/// Bytes of an HTML tag on the lines below its first one.
const LONGEST_TAG: usize = 1_000;

/// Why a line looks like a task and is none; whether it does so in any place; whether it may be open work.
/// `None` for most lines. An HTML tag may end in `below`, the text behind the line.
pub fn seen_in(line: &Line<'_>, below: &[u8]) -> Option<(AsideKind, bool, bool)> {
    let words = line.words();
    let has_signs = has_signs(words);
    if has_signs && let Some((kind, is_open)) = box_in(line, below) {
        return Some((kind, true, is_open));
    }
    if line.is_hidden() && begins_open(line.text) {
        return Some((AsideKind::Hidden, true, false));
    }
    // A row or a picture.
    let may_show = || {
        let mut wide = memchr::memchr2_iter(0xe2, 0xf0, words);
        memchr::memchr(b'|', words).is_some() || wide.any(|at| words.get(at + 1) > Some(&0x83))
    };
    let may_tell = may_tell(words) || (has_signs && may_show());
    let (is_sure, is_open) = (may_tell && line.kind != Kind::Quote).then(|| state_in(line))??;
    Some((AsideKind::State, is_sure, is_open))
}

fn box_in(line: &Line<'_>, below: &[u8]) -> Option<(AsideKind, bool)> {
    let words = line.words();
    if let Some(is_open) = open_in_html(words, below) {
        return Some((AsideKind::Code, is_open || open_in(words).is_some()));
    }
    all(words).next()?;
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

/// True if a hidden line begins with an open box, behind bullets of any kind and the beginning of a comment.
fn begins_open(line: &[u8]) -> bool {
    let first = line.iter().position(|byte| !b" \t-+*<!>|#.)0123456789".contains(byte));
    let found = first.and_then(|first| TaskBox::any(&line[first..]));
    found.is_some_and(|found| found.is_blank || found.mark.is_ascii_punctuation())
}

/// `[in progress] Test it`, `[~](T002)`, `| 1/3 |`, `TODO: test it`, `Test it ⏳`.
fn state_in(line: &Line<'_>) -> Option<(bool, bool)> {
    let plain = text_of(line.words());
    // A link is one word, and a dash sets apart.
    let text = plain.replace("](", "_").replace(" - ", ": ");
    let drawn = CODES.split(' ').find(|code| text.contains(code));
    let text = drawn.map_or(text.clone(), |code| text.replace(code, "\u{23f3}"));
    let told = if is_row(text.as_bytes()) {
        text.split('|').filter_map(|cell| told_in_cell(cell.trim())).max()
    } else {
        told_in_line(line.kind, &text)
    };
    let told = told.map(|is_sure| (is_sure, true));
    let bracketed = in_brackets(&plain);
    bracketed.filter(|(has_id, _)| *has_id).or(told).or(bracketed)
}

/// A look at a few bytes: most lines tell nothing.
fn may_tell(words: &[u8]) -> bool {
    let is_loud = |words: &[u8]| {
        let first = words.iter().position(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii());
        first.is_none_or(|at| {
            matches!(words[at..], [b'A'..=b'Z' | 0x80.., b'A'..=b'Z' | 0x80.., ..])
        })
    };
    // Words of open work end with these letters, near what sets them apart.
    let is_mark = |byte: &u8| byte.is_ascii_punctuation() || *byte == b' ';
    let end = words.iter().rposition(|byte| !is_mark(byte)).map_or(0, |last| last + 1);
    let near = &words[end.saturating_sub(LONGEST_STATE)..end];
    let may_be_last =
        matches!(near, [.., b'd'..=b'g' | b'o' | b'p' | b's' | b'A'..=b'Z' | b'%' | 0x80..])
            && near.iter().any(|byte| matches!(byte, b'[' | b'(' | b':' | b'-' | 0x80..));
    may_be_last
        || matches!(words, [b'[' | b':' | b'&' | b'$', ..] | [b'*', b'*', b'[', ..])
        || matches!(words, [.., b':' | b']' | b')'])
        || is_loud(words)
        || memchr::memchr(b':', words).is_some_and(|at| is_loud(&words[at..]))
}

/// As [`told_in`]. Pictures may adorn what is no task. Nothing but words of open work is the title of an empty column,
/// or a legend.
fn told_in_line(kind: Kind, text: &str) -> Option<bool> {
    let is_before = |letter| is_picture(letter) || is_around(letter);
    let is_adorning = |letter| is_before(letter) && !"\u{231b}\u{23f3}\u{1f504}".contains(letter);
    let (task, is_heading) = (TaskText::read(text), matches!(kind, Kind::Heading(_)));
    if matches!(open_at(text.trim_matches(is_before)), Some((_, ""))) {
        return None;
    }
    let has_number = task.id.is_some() || (is_heading && text.contains(char::is_numeric));
    let told = if kind == Kind::Item || has_number {
        told_in(text).max(told_in(task.title))
    } else if is_heading || text.starts_with("**") {
        told_in(text.trim_start_matches(is_adorning))
    } else {
        told_in(text.trim_start_matches(is_adorning).trim_end_matches(is_before))
    };
    // The value behind a state key, such as `Status:`, is asked by itself.
    let (key, value) = text.split_once(is_sign).unwrap_or_default();
    let key = key.trim_end_matches(is_around).rsplit(is_around).next()?;
    let in_cell = || told_in_cell(value.trim_matches(|sign| " *_".contains(sign))).map(|_| false);
    let told = told.max(told_in(value).or_else(in_cell).filter(|_| is_of(STATES, key)));
    told.map(|is_sure| is_sure && !is_heading)
}

fn told_in_cell(cell: &str) -> Option<bool> {
    let inner = cell.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or_default();
    let is_word = |letter: char| letter.is_alphabetic() || " -_".contains(letter);
    let is_odd = inner.len() > 1 && inner.chars().all(is_word) && !is_of(DONE, inner);
    let is_share = is_share(cell.trim_matches(is_around)) == Some(true);
    (is_odd || is_share || matches!(cell, "~" | "?")).then_some(true).or_else(|| told_in(cell))
}

/// `Some` if a text tells of open work, `true` if for sure. It begins or ends with a picture, begins with words of open work in
/// capitals or brackets, or ends with such words and no others behind a bracket, a colon, a dash or a picture.
pub fn told_in(text: &str) -> Option<bool> {
    let (first, end) = (text.trim_start_matches(is_around), text.trim_end_matches(is_around));
    let at = end.rfind(is_sign).unwrap_or(0);
    let last = end[at..].trim_start_matches(|sign| is_sign(sign) || is_around(sign));
    let is_apart = text.trim_start_matches('*').starts_with(is_sign);
    match (open_at(first), open_at(last)) {
        _ if first.starts_with(is_picture) || end.ends_with(is_picture) => Some(true),
        (Some((loud, rest)), _) if loud || (is_apart && rest.starts_with(is_sign)) => Some(true),
        (_, Some((loud, ""))) => Some(loud || end[at..].starts_with(is_picture)),
        _ if at > 0 && !text.ends_with([')', ']']) => None,
        _ => is_share(last)?.then_some(false),
    }
}

/// Whether words of open work at the start of a text are in capitals, and the text behind them. `NEXT.js` and `WAIT_TIME`
/// are names.
fn open_at(text: &str) -> Option<(bool, &str)> {
    OPEN.split('|').find_map(|known| {
        let (words, rest) = text.split_at_checked(known.len())?;
        let next = rest.trim_start_matches(['.', '_', '-', '/']);
        let is_loud = !words.contains(char::is_lowercase);
        let is_same = known.eq_ignore_ascii_case(words)
            && (is_loud || known.contains(char::is_lowercase))
            && !next.starts_with(char::is_alphanumeric);
        is_same.then_some((is_loud, rest))
    })
}

/// Whether words are a part of a whole.
fn is_share(words: &str) -> Option<bool> {
    let share = words.strip_suffix("tasks").unwrap_or(words);
    let (done, all) = share.split_once('/').or_else(|| Some((share.strip_suffix('%')?, "100")))?;
    let [done, all] = [done, all].map(|part| part.trim().parse::<u32>().ok());
    Some(done? < all?)
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
    let is_named =
        behind.starts_with(['(', '[']) || state.bytes().any(|byte| byte.is_ascii_digit());
    let is_name = is_named && state.contains(char::is_alphabetic);
    let has_id = !is_name && TaskText::read(behind.trim_ascii()).id.is_some();
    ((1..=NEAR).contains(&state.len())
        && (has_id || (behind.len() > 1 && starts_blank(behind.as_bytes()))))
    .then(|| (has_id, !is_of(DONE, state.trim())))
}

/// `list` is parted by `|`; letter case does not matter.
fn is_of(list: &str, words: &str) -> bool {
    list.split('|').any(|known| known.eq_ignore_ascii_case(words))
}

fn is_picture(letter: char) -> bool {
    !letter.is_ascii() && PICTURES.contains(letter)
}

/// Brackets, colons, dashes and pictures: what parts a state from other words.
fn is_sign(letter: char) -> bool {
    "[](){}:\u{2013}\u{2014}\u{3010}\u{3011}\u{ff08}\u{ff09}\u{ff0c}\u{ff1a}".contains(letter)
        || is_picture(letter)
}

/// Blanks, brackets and marks around a state.
fn is_around(letter: char) -> bool {
    (letter.is_ascii_punctuation() && !"%<".contains(letter)) || AROUND.contains(letter)
}

/// The place of an open box in the words of a task; empty brackets there are words, not a box.
pub fn open_in(words: &[u8]) -> Option<usize> {
    if !has_signs(words) {
        return None;
    }
    let words = &*without_code(words);
    let mut boxes = all(words).filter(|(at, found)| is_box(words, *at, found));
    let open = boxes.find(|(at, found)| !found.is_ticked() && !words[*at..].starts_with(b"[]"));
    open.map(|(at, _)| at)
}

/// A byte of the line may begin a box, a tag, a cell or a picture.
fn has_signs(words: &[u8]) -> bool {
    // Without a branch for each byte, several bytes are compared at once.
    let is_sign = |byte: &u8| b"[({<&|".iter().fold(*byte > 0x7f, |any, sign| any || byte == sign);
    words.iter().fold(false, |found, byte| found | is_sign(byte))
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
    let is_sign =
        |(_, byte): &(usize, &u8)| matches!(byte, b'[' | b'&' | b'(' | b'{' | b'<' | 0xe2..);
    // A function call has nothing between its brackets.
    let is_call = |at: usize| {
        matches!(words[at], b'(' | b'{' | b'<') && at > 0 && !b" |*_".contains(&words[at - 1])
    };
    let places = words.iter().enumerate().filter(is_sign).map(|(at, _)| at);
    places.filter(move |at| !is_call(*at)).filter_map(|at| Some((at, TaskBox::any(&words[at..])?)))
}

/// True if a person sees a box here: brackets around a blank, a tick or a sign, but not `note[*]` or the value in
/// `needs: []`.
fn is_box(words: &[u8], at: usize, found: &TaskBox) -> bool {
    let before = text_of(&words[at.saturating_sub(NEAR)..at]);
    let is_in_word = before.ends_with(|letter: char| letter.is_ascii_alphanumeric());
    let front = before.trim_end_matches(['*', '_', ' ']);
    let is_state = || STATES.split('|').any(|key| before.to_lowercase().contains(key));
    let is_value =
        words[at..].starts_with(b"[]") && front.ends_with([':', '=', '(', ',']) && !is_state();
    let is_mark = found.is_ticked() || !found.mark.is_alphanumeric();
    // `(?)` is a remark, but not in a cell or right behind a bullet, an id or a key.
    let is_remark = || {
        let is_pair = words[at] != b'[' && found.text_at > found.mark.len_utf8();
        is_pair
            && !front.ends_with(['|', ':', '\u{ff1a}'])
            && TaskText::read(front).title.contains(char::is_alphanumeric)
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
