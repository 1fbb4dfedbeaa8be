//! Decides for every driver whether an agent's words promise that the work is done.
//!
//! The marker is exact (spec 002). Code, quotation marks and a denying sentence talk about the promise and do not make
//! it.

use serde::{Deserialize, Serialize};

use super::markdown::{self, Kind};

/// The marker that counts in the agent's final text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromiseMatch {
    /// A marker outside of code, quotation and denial.
    #[default]
    // Older programs wrote this into a record.
    #[serde(alias = "own-line")]
    Anywhere,
    /// Any marker.
    Exact,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Promise {
    #[default]
    Missing,
    /// The marker is there, but quoted or denied.
    Mentioned,
    Kept,
}

/// Words by meaning: each line has the name of a list, then its words.
const WORDS: &str = include_str!("promise.words");
macro_rules! lists { ($($name:ident)*) => { $(const $name: &str = list(stringify!($name));)* } }
lists! { NOT NO NOTHING IF REFUSE IS FILLER SAY DONE OPEN AND FIRST DEED DEED_THERE PLACE MAY MAY_TO BETWEEN CODE CREDENTIAL GIVE BEHIND
KEY SPEND PLEASE ANSWER }
/// Bytes that are read on either side of the promise.
const NEAR: usize = 4_000;
/// Stands for the promise in its sentence.
const HERE: &str = "0promise0";
/// Marks around a text.
const MARKUP: &[char] = &[' ', '*', '_', '~', '`', '#', '>', '"', '(', ')', '“', '”', '👉'];
/// Lines with answers below a question, and words of one answer.
const MOST_ANSWERS: usize = 9;
const MOST_WORDS: usize = 15;
/// Bytes of letters in a reason.
const LEAST_REASON: usize = 9;
/// Markers of one line that are looked at, and lines with a marker, from the end.
const MOST_MARKERS: usize = 16;
/// Pairs of marks around quoted or struck text at any distance, and pairs right beside it.
const AROUND: [&str; 8] =
    ["<code> </code>", "\" \"", "“ ”", "„ “", "« »", "~~ ~~", "<s> </s>", "<del> </del>"];
const BESIDE: [&str; 3] = ["' '", "‘ ’", "» «"];
/// Closes every code fence that is still open, so that an open fence hides what follows.
const CLOSING: &str = "\n````````````````````````````````\n~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~";

pub fn marker(token: &str) -> String {
    format!("<promise>{token}</promise>")
}

/// No token, or an empty one, is never kept.
pub fn promise(token: Option<&str>, promise_match: PromiseMatch, text: &str) -> Promise {
    // Every text would have an empty promise.
    let Some(token) = token.filter(|token| !token.is_empty()) else { return Promise::Missing };
    let marker = marker(token);
    if !text.contains(&marker) {
        return Promise::Missing;
    }
    let is_kept = promise_match == PromiseMatch::Exact
        || [text, in_fence(text)].iter().any(|text| {
            let lines = visible_lines(text).rev();
            let lines = lines.filter(|(start, end)| text[*start..*end].contains(&marker));
            lines.take(MOST_MARKERS).any(|line| is_made(text, line, &marker))
        });
    if is_kept { Promise::Kept } else { Promise::Mentioned }
}

/// A line outside of code is the signal, with nothing else but blanks.
pub fn stands_alone(text: &str, signal: &str) -> bool {
    text.contains(signal)
        && visible_lines(text).any(|(start, end)| text[start..end].trim() == signal)
}

/// The agent's words on tasks, one task a line, outside of code: `<no-change>ID: why</no-change>`. Lines without a real
/// reason are skipped.
pub fn said_of_tasks(text: &str, tag: &str) -> Vec<(String, String)> {
    let (opening, closing) = (["<", tag, ">"].concat(), ["</", tag, ">"].concat());
    if !text.contains(&opening) {
        return Vec::new();
    }
    let said = visible_lines(text).filter_map(|(start, end)| {
        let line = text[start..end].trim();
        let inner = line.strip_prefix(&*opening)?.strip_suffix(&*closing)?;
        let (id, why) = inner.split_once(':')?;
        Some((id.trim().to_owned(), why.trim().to_owned()))
    });
    said.filter(|(id, why)| !id.is_empty() && is_reason(why)).collect()
}

/// A reason has two words or more, with nine bytes of letters or more in UTF-8. One word is enough with a letter of
/// three bytes: such scripts have no blanks between words.
pub fn is_reason(text: &str) -> bool {
    // Invisible letters do not count.
    let is_seen = |sign: &char| {
        sign.is_alphanumeric() && !matches!(sign, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}')
    };
    let words = text.split_whitespace().filter(|word| word.chars().any(|letter| is_seen(&letter)));
    let letters: Vec<char> = text.chars().filter(is_seen).collect();
    let size: usize = letters.iter().map(|letter| letter.len_utf8()).sum();
    let is_one = letters.iter().all(|letter| Some(letter) == letters.first());
    size >= LEAST_REASON
        && !is_one
        && (words.count() > 1 || letters.iter().any(|letter| letter.len_utf8() > 2))
}

/// The question at the end of a text that asks a person for an approval. Possible answers may stand below.
pub fn asks_approval(text: &str) -> Option<&str> {
    let lines = text.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    for line in lines.take(MOST_ANSWERS) {
        let asked = line.rfind('?').filter(|at| is_answer(&line[at + 1..]));
        let said = line[..asked.unwrap_or(line.len())].trim_end_matches(MARKUP);
        let question = tail(last_sentence(said.trim_end_matches(['.', '!', ':'])));
        // `Shall I?` asks about the sentence before.
        let is_short = question.split_whitespace().count() < 5;
        let before = || said.split(question).next().unwrap_or_default().trim_end();
        let needs = |text: &str| needs_person(last_sentence(text.trim_end_matches(['.', '!'])));
        let is_request = || words_of(question).iter().any(|word| is_one_of(PLEASE, word));
        if (asked.is_some() || is_request()) && (needs(question) || is_short && needs(before())) {
            return Some(question.trim_start_matches(MARKUP));
        }
        if asked.is_some() || !is_answer(line) {
            return None;
        }
    }
    None
}

/// One of the answers to a question, or a request for one.
fn is_answer(text: &str) -> bool {
    let text = text.trim_matches(MARKUP);
    let is_listed = text.starts_with(['-', '•', '['])
        || text.get(1..2).is_some_and(|sign| ".):".contains(sign));
    let words = words_of(head(text));
    is_listed
        || words.len() < 3
        || words.len() < MOST_WORDS && words.iter().any(|word| is_one_of(ANSWER, word))
}

fn words_of(text: &str) -> Vec<String> {
    let words =
        text.split(|letter: char| !letter.is_alphanumeric() && letter != '$' && letter != '€');
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// The words of a list; an unknown name does not compile.
const fn list(name: &str) -> &'static str {
    let (all, name) = (WORDS.as_bytes(), name.as_bytes());
    let (mut start, mut at, mut same) = (0, 0, 0);
    while all[at] != b' ' || same < name.len() || at - start > same {
        if all[at] == b'\n' {
            (start, same) = (at + 1, 0);
        } else if same < name.len() && at - start == same && all[at] == name[same] {
            same += 1;
        }
        at += 1;
    }
    let mut end = at;
    while all[end] != b'\n' {
        end += 1;
    }
    match str::from_utf8(all.split_at(end).0.split_at(at + 1).1) {
        Ok(words) => words,
        Err(_) => "",
    }
}

fn is_one_of(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// The question is about something that cannot be undone, or asks for what only a person has.
fn needs_person(question: &str) -> bool {
    let words = words_of(tail(question));
    let at = |place: usize| words.get(place).map_or("", String::as_str);
    let any = |words: &[String], list: &str| words.iter().any(|word| is_one_of(list, word));
    let is_yours = ["what", "where", "please"].contains(&at(0))
        || words.iter().any(|word| word.starts_with("you"));
    let is_meant = |place: usize| {
        let (before, behind) = (&words[..place], &words[place + 1..]);
        let head = before.iter().rposition(|word| !is_one_of(BETWEEN, word));
        let is_asked = head.is_none_or(|head| match at(head) {
            "to" => any(&before[head.saturating_sub(1)..head], MAY_TO),
            word => is_one_of(MAY, word),
        });
        let of_code = any(&behind[..behind.len().min(4)], CODE);
        let is_deed = is_one_of(DEED, at(place)) && !of_code;
        let is_deed_there = is_one_of(DEED_THERE, at(place)) && any(behind, PLACE);
        let is_key = at(place) == "key" && place > 0 && is_one_of(KEY, at(place - 1));
        let ends = behind.first().is_none_or(|next| is_one_of(BEHIND, next));
        let is_given = ends && is_yours && any(before, GIVE);
        is_asked && (is_deed || is_deed_there)
            || is_given && (is_key || is_one_of(CREDENTIAL, at(place)))
    };
    let is_money = words.iter().any(|word| word.starts_with(['$', '€']) && word.len() > 1);
    !["why", "how", "did"].contains(&at(0))
        && ((0..words.len()).any(is_meant) || is_money && any(&words, SPEND))
}

/// What a person must do, in the agent's words: the last `<blocked>…</blocked>` at the beginning of a line, but for
/// markup, outside of code. Within a line, words may be about the tag.
pub fn blocked(text: &str) -> Option<&str> {
    // An unclosed tag asks for nothing.
    let last = text.rfind("</blocked>")?;
    let starts = visible_lines(text).filter_map(|(start, end)| {
        let line = text[start..end].trim_start_matches(|sign| " \t*_-+#.0123456789".contains(sign));
        line.strip_prefix("<blocked>").map(|need| end - need.len())
    });
    let needs = starts.filter(|start| *start < last).map(|start| &text[start..]);
    let mut needs = needs.filter_map(|need| Some(need.split_once("</blocked>")?.0.trim()));
    needs.rfind(|need| !need.is_empty())
}

/// The lines outside of code, quotation, comments and open boxes: start and end of each in bytes.
fn visible_lines(text: &str) -> impl DoubleEndedIterator<Item = (usize, usize)> {
    let closed = format!("{text}{CLOSING}");
    let mut is_open = false;
    let mut is_said = |line: &markdown::Line<'_>| {
        is_open = match line.task_box() {
            Some(task) => !task.mark.eq_ignore_ascii_case(&'x'),
            None => is_open && line.kind == Kind::Text && line.column > 0,
        };
        !is_open && !matches!(line.kind, Kind::Hidden | Kind::Code | Kind::Quote)
    };
    let all: Vec<(usize, usize)> = markdown::lines(closed.as_bytes())
        .iter()
        .filter(|line| is_said(line) && line.start <= text.len())
        .map(|line| (line.start, (line.start + line.text.len()).min(text.len())))
        .collect();
    all.into_iter()
}

/// The marker is in this line and is meant.
fn is_made(text: &str, (start, end): (usize, usize), marker: &str) -> bool {
    let line = &text[start..end];
    line.rmatch_indices(marker).take(MOST_MARKERS).any(|(at, _)| {
        let (before, after) = (tail(&line[..at]), head(&line[at + marker.len()..]));
        !is_in_code(before, after)
            && !is_quoted(before, after)
            && !is_denied(text, start, end, before, after)
    })
}

/// The content of a text that is one code fence and nothing else. A quotation would have words around it.
fn in_fence(text: &str) -> &str {
    let inner = text.trim().strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let inner = inner.filter(|inner| !inner.contains("```")).and_then(|text| text.split_once('\n'));
    inner.map_or("", |(_, inner)| inner)
}

/// The piece between `before` and `after` is between two equal runs of backticks.
fn is_in_code(before: &str, after: &str) -> bool {
    let mut open = None;
    for run in runs(before) {
        open = match open {
            None => Some(run),
            Some(length) if length == run => None,
            still => still,
        };
    }
    // A run that is never closed is text. Code could begin again behind it, which this function ignores.
    open.is_some_and(|length| runs(after).any(|run| run == length))
}

fn runs(text: &str) -> impl Iterator<Item = usize> {
    text.split(|letter| letter != '`').map(str::len).filter(|length| *length > 0)
}

fn is_quoted(before: &str, after: &str) -> bool {
    let is_open = |(open, close): (&str, &str)| {
        let is_odd = before.matches(open).count() % 2 == 1;
        let is_last = open != close && before.rfind(open) > before.rfind(close);
        (is_last || open == close && is_odd) && after.contains(close)
    };
    let is_beside =
        |(open, close)| before.ends_with::<&str>(open) && after.starts_with::<&str>(close);
    let pairs = |all: &'static [&str]| all.iter().filter_map(|pair| pair.split_once(' '));
    pairs(&AROUND).any(is_open) || pairs(&BESIDE).any(is_beside)
}

/// The sentence around the marker denies it, asks about it, or makes it depend on something.
fn is_denied(text: &str, start: usize, end: usize, before: &str, after: &str) -> bool {
    let mut sentence = last_sentence(before).to_owned();
    if sentence.len() == before.len() {
        // The sentence began on the line before, unless that line is an item or a paragraph of its own. A sentence
        // continues behind a colon.
        let above = text[..start].trim_end();
        let line = tail(above.rsplit('\n').next().unwrap_or_default());
        let is_next = text[above.len()..start].matches('\n').count() == 1;
        let is_item = before.is_empty() && line.starts_with(['-', '*', '+', '#', '|']);
        if line.ends_with(':') || (is_next && !is_item) {
            sentence = [last_sentence(line), " ", &sentence].concat();
        }
    }
    let said = after.trim_start_matches([' ', '*', '_']);
    let begins_anew = said.starts_with(char::is_uppercase) && !said.starts_with("I ");
    let rest = if begins_anew { "" } else { first_sentence(after) };
    let line_after = text[end..].trim_start_matches('\r').strip_prefix('\n').unwrap_or_default();
    // A new sentence begins with a capital letter, a list or a heading; a small letter continues the old one.
    let goes_on =
        rest.len() == after.len() && line_after.trim_start().starts_with(char::is_lowercase);
    let more = if goes_on {
        first_sentence(head(line_after)).lines().next().unwrap_or_default()
    } else {
        ""
    };
    after[rest.len()..].starts_with('?')
        || denies(&[&sentence, " ", HERE, " ", rest, " ", more].concat())
}

/// The last word before a place, without fillers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Other,
    /// Denies what follows, or makes it depend on something.
    Turn,
    /// Speaks of saying something.
    Saying,
    /// Calls something open.
    Open,
}

/// A sentence denies the promise in it: right beside it, by a word about saying it, or by open work.
fn denies(sentence: &str) -> bool {
    let sentence = sentence.to_lowercase().replace('’', "'");
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '\'';
    let (mut denied, mut by_none, mut refused, mut depends) = (false, false, false, false);
    let (mut is_open, mut is_passive) = (false, false);
    // The clause is a condition so far, `None` before its first word; and the number of words behind the promise.
    let (mut condition, mut behind) = (None, None);
    let (mut beside, mut last, mut is_apart) = (Beside::Other, "", false);
    for piece in sentence.split_inclusive(|letter| !is_letter(letter)) {
        let word = piece.trim_end_matches(|letter| !is_letter(letter));
        let is_in = |words: &str| is_one_of(words, word);
        let begins = |words: &str| words.split(' ').any(|known| word.starts_with(known));
        if word == HERE {
            let is_denied = match beside {
                Beside::Turn => true,
                Beside::Saying => denied || refused || depends,
                Beside::Open => !denied && !depends,
                Beside::Other => false,
            };
            if is_denied || is_open || condition == Some(true) {
                return true;
            }
            (behind, denied, refused, beside) = (Some(0_u8), false, false, Beside::Other);
        } else if !word.is_empty() {
            let says_not = is_in(NOT) && last != "or" || word.ends_with("n't");
            let says_none = is_in(NO) || is_in(NOTHING);
            let depends_here = is_in(IF) && !["as", "at", "than"].contains(&last) || word == "soon";
            let turns = says_not || depends_here || is_in(NO) || is_in(REFUSE);
            let is_said = match behind {
                Some(0) if is_apart => depends_here || word == "yet",
                Some(0) => turns && !is_in(NO) || is_in(IS),
                Some(1) => word == "soon" || word == "yet" && beside == Beside::Turn,
                _ => false,
            };
            if is_said {
                return true;
            }
            if is_in(AND) || depends_here || (by_none && word == "i") {
                (denied, refused, is_passive) = (false, refused && depends_here, false);
            }
            is_passive |= ["is", "are", "was", "were", "be", "been"].contains(&word);
            denied ^= says_none || says_not && !["could", "would"].contains(&last);
            by_none = says_none || by_none && !says_not;
            (refused, depends) = (refused || is_in(REFUSE), depends || depends_here);
            condition = match condition {
                Some(true) if !is_apart || depends_here || word == "then" => Some(true),
                Some(false) if is_in(AND) => None,
                None if is_in(FIRST) => None,
                None => Some(depends_here),
                Some(_) => Some(false),
            };
            if begins(DONE) && !(by_none && (last == "be" || last == "to")) {
                (is_open, denied) = (denied, false);
            }
            beside = match beside {
                _ if turns && word != "once" => Beside::Turn,
                _ if begins(SAY) && !(is_passive && word.ends_with(['d', 'n'])) => Beside::Saying,
                _ if begins(OPEN) => Beside::Open,
                still if is_in(FILLER) => still,
                _ => Beside::Other,
            };
            behind = behind.map(|words| words + u8::from(word != "now" && words < 9));
        }
        if !word.is_empty() {
            (last, is_apart) = (word, false);
        }
        if piece.ends_with([',', '—', '–', ':', '(']) {
            is_apart = true;
            // Words before a colon apply to what follows.
            let is_of_it = piece.ends_with(':') && beside != Beside::Other;
            (denied, refused) = (denied && is_of_it, refused && is_of_it);
        }
    }
    behind.is_some() && (beside == Beside::Turn || beside == Beside::Saying && denied)
}

fn tail(text: &str) -> &str {
    &text[text.floor_char_boundary(text.len().saturating_sub(NEAR))..]
}

fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(NEAR)]
}

/// The text after the last end of a sentence.
fn last_sentence(text: &str) -> &str {
    let mut ends = text.char_indices().filter(|(at, letter)| {
        let next = text[at + letter.len_utf8()..].chars().next();
        ".!?;".contains(*letter)
            && next.is_none_or(|next| next.is_whitespace() || "*_)\"”".contains(next))
    });
    ends.next_back().map_or(text, |(at, letter)| &text[at + letter.len_utf8()..])
}

/// The text before the first end of a sentence.
fn first_sentence(text: &str) -> &str {
    let end = text.char_indices().find(|(at, letter)| {
        let next = text[at + letter.len_utf8()..].chars().next();
        ".!?;".contains(*letter) && next.is_none_or(char::is_whitespace)
    });
    end.map_or(text, |(at, _)| &text[..at])
}

#[cfg(test)]
mod tests;
