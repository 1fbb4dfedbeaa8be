//! Whether an agent's words promise that the work is done, for every driver.
//!
//! The marker itself is exact (spec 002). What is in code, in quotation marks or in a sentence that
//! denies it talks about the promise and does not make it.

use serde::{Deserialize, Serialize};

use super::markdown;

/// Which marker in the agent's final text counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromiseMatch {
    /// One outside of code, quotation and denial.
    #[default]
    // What older programs wrote into a record.
    #[serde(alias = "own-line")]
    Anywhere,
    /// Any.
    Exact,
}

/// What an agent's words say of the promise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Promise {
    /// Nothing.
    #[default]
    Missing,
    /// The marker is there, but quoted or denied.
    Mentioned,
    /// The promise is made.
    Kept,
}

/// Words that deny what follows them in their clause.
const DENIALS: &str =
    "not cannot never nor neither without instead rather refuse withhold withholding would";
/// Words that make what follows them in their sentence depend on something.
const CONDITIONS: &str = "before until till unless if once when whether";
/// Words that deny wherever they stand in the sentence.
const DENY_ALL: &str = "yet premature";
/// How words begin that speak of making the promise.
const OF_SAYING: &str = "writ wrote output print emit say said claim promis declar mark";
/// How words begin that speak of the work as a whole.
const OF_DONE: &str = "done finish complet ready";
/// Words with which another clause begins.
const CLAUSES: &str = "and but so because";
/// How words begin that speak of what only a person may approve.
const APPROVALS: &str =
    "deploy publish releas pay purchas buy delet destroy credential password token secret";
/// What stands for the promise in its sentence.
const HERE: &str = "0promise0";
/// The least that a reason has, in bytes of letters.
const LEAST_REASON: usize = 9;
/// How many markers of one line are looked at, the last ones.
const MOST_MARKERS: usize = 16;
/// Pairs of marks between which a text is quoted.
const QUOTES: &[(char, char)] = &[
    ('"', '"'),
    ('\'', '\''),
    ('“', '”'),
    ('‘', '’'),
    ('„', '“'),
    ('«', '»'),
    ('»', '«'),
    ('`', '`'),
];
/// A line that closes every code fence that is still open; where none is, it hides nothing.
const CLOSING: &str = "\n````````````````````````````````\n~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~";

/// Returns the marker that keeps the promise of this token.
pub fn marker(token: &str) -> String {
    format!("<promise>{token}</promise>")
}

/// Returns what a text says of the promise of this token; none and an empty one are never kept.
pub fn promise(token: Option<&str>, promise_match: PromiseMatch, text: &str) -> Promise {
    // An empty promise is in every text; none is asked for then.
    let Some(token) = token.filter(|token| !token.is_empty()) else {
        return Promise::Missing;
    };
    let marker = marker(token);
    if !text.contains(&marker) {
        return Promise::Missing;
    }
    let is_kept = promise_match == PromiseMatch::Exact
        || [text, in_fence(text)]
            .iter()
            .any(|text| visible_lines(text).any(|line| is_made(text, line, &marker)));
    if is_kept { Promise::Kept } else { Promise::Mentioned }
}

/// Returns whether a text has a line that is the signal and nothing else but blanks around it, outside of code.
pub fn stands_alone(text: &str, signal: &str) -> bool {
    text.contains(signal)
        && visible_lines(text).any(|(start, end)| text[start..end].trim() == signal)
}

/// Returns what the agent says of tasks with this tag, each in a line of its own, outside of code: `<no-change>ID: why</no-change>`.
/// What is no reason is left out.
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

/// Returns whether a text can be a reason: two words or more, whose letters are nine bytes or more in UTF-8; one word is
/// enough where a letter of it has three bytes: scripts without blanks between words have such letters.
pub fn is_reason(text: &str) -> bool {
    // Letters that nobody sees are none.
    let is_seen = |it: &char| {
        it.is_alphanumeric() && !matches!(it, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}')
    };
    let words = text.split_whitespace().filter(|word| word.chars().any(|it| is_seen(&it)));
    let letters: Vec<char> = text.chars().filter(is_seen).collect();
    let size: usize = letters.iter().map(|it| it.len_utf8()).sum();
    let is_one = letters.iter().all(|it| Some(it) == letters.first());
    size >= LEAST_REASON
        && !is_one
        && (words.count() > 1 || letters.iter().any(|it| it.len_utf8() > 2))
}

/// Returns the question at the end of a text that asks a person for an approval, `None` where there is none.
pub fn asks_approval(text: &str) -> Option<&str> {
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    let question = last.strip_suffix('?').map(last_sentence)?.trim();
    let words = question.to_lowercase();
    let mut words = words.split(|letter: char| !letter.is_alphanumeric());
    let is_about = |word: &str| APPROVALS.split(' ').any(|begins| word.starts_with(begins));
    words.any(is_about).then_some(question)
}

/// Returns what the agent says that a person must do: the last `<blocked>…</blocked>` at the beginning of a
/// line, outside of code.
pub fn blocked(text: &str) -> Option<&str> {
    const OPENING: &str = "<blocked>";
    if !text.contains(OPENING) {
        return None;
    }
    let starts = visible_lines(text).filter_map(|(start, end)| {
        let line = &text[start..end];
        let blanks = line.len() - line.trim_start().len();
        line[blanks..].starts_with(OPENING).then_some(start + blanks + OPENING.len())
    });
    // One that is never closed asks for nothing.
    let needs = starts.filter_map(|start| Some(text[start..].split_once("</blocked>")?.0.trim()));
    needs.filter(|need| !need.is_empty()).last()
}

/// The lines outside of code fences and comments, each from its start to its end in bytes.
fn visible_lines(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let closed = format!("{text}{CLOSING}");
    let all: Vec<(usize, usize)> = markdown::lines(closed.as_bytes())
        .iter()
        .filter(|line| !line.is_hidden() && line.start <= text.len())
        .map(|line| (line.start, (line.start + line.text.len()).min(text.len())))
        .collect();
    all.into_iter()
}

/// Whether the marker is in this line and is meant.
fn is_made(text: &str, (start, end): (usize, usize), marker: &str) -> bool {
    let line = &text[start..end];
    if line.trim_start().starts_with('>') {
        return false;
    }
    line.rmatch_indices(marker).take(MOST_MARKERS).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + marker.len()..]);
        !is_in_code(before, after)
            && !is_quoted(before, after)
            && !is_denied(text, start, end, before, after)
    })
}

/// What a text says that is one code fence and nothing else: there is nothing for which it could be quoted.
fn in_fence(text: &str) -> &str {
    let inner = text.trim().strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let inner = inner.filter(|inner| !inner.contains("```")).and_then(|it| it.split_once('\n'));
    inner.map_or("", |(_, inner)| inner)
}

/// Whether a piece of a line is between two equal runs of backticks.
fn is_in_code(before: &str, after: &str) -> bool {
    let mut open = None;
    for run in runs(before) {
        open = match open {
            None => Some(run),
            Some(length) if length == run => None,
            still => still,
        };
    }
    // A run that is never closed is text, and what is after it may be code again: that is left to the reader.
    open.is_some_and(|length| runs(after).any(|run| run == length))
}

fn runs(text: &str) -> impl Iterator<Item = usize> {
    text.split(|letter| letter != '`').map(str::len).filter(|length| *length > 0)
}

fn is_quoted(before: &str, after: &str) -> bool {
    let around = (before.chars().next_back(), after.chars().next());
    let (Some(left), Some(right)) = around else { return false };
    QUOTES.contains(&(left, right))
}

/// Whether the clause around the marker denies it, or the sentence makes it depend on something.
fn is_denied(text: &str, start: usize, end: usize, before: &str, after: &str) -> bool {
    let own_line = before.trim().is_empty() && after.trim().is_empty();
    let mut sentence = last_sentence(before).to_owned();
    if last_sentence(before).len() == before.len() {
        // It began on the line before, unless that ends a sentence or a paragraph.
        let line_before = text[..start].trim_end_matches(['\n', '\r']);
        let is_next = start - line_before.len() <= 2 && start > 0;
        let line_before = line_before.rsplit('\n').next().filter(|_| is_next).unwrap_or_default();
        sentence = format!("{} {sentence}", last_sentence(line_before));
    }
    let begins_anew =
        sentence.trim().is_empty() && after.trim_start().starts_with(char::is_uppercase);
    let rest = if begins_anew { "" } else { first_sentence(after) };
    sentence = [&sentence, " ", HERE, " ", rest].concat();
    if own_line || rest.len() == after.len() {
        let line_after =
            text[end..].trim_start_matches('\r').strip_prefix('\n').unwrap_or_default();
        let line_after = line_after.lines().next().unwrap_or_default();
        // A new sentence begins with a capital letter, a list or a heading; a small letter continues it.
        if line_after.trim_start().starts_with(char::is_lowercase) {
            sentence.push(' ');
            sentence.push_str(first_sentence(line_after));
        }
    }
    denies(&sentence)
}

/// Whether a sentence denies the promise in it: next to it, or by what is said of saying it, or of the work.
fn denies(sentence: &str) -> bool {
    let sentence = sentence.to_lowercase().replace('’', "'");
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '\'';
    let (mut denied, mut depends, mut last_turns) = (false, false, false);
    let mut last = "";
    for piece in sentence.split_inclusive(|letter| !is_letter(letter)) {
        let word = piece.trim_end_matches(|letter| !is_letter(letter));
        let is_in = |words: &str| words.split(' ').any(|known| known == word);
        let begins = |words: &str| words.split(' ').any(|known| word.starts_with(known));
        if !word.is_empty() {
            let is_denial = is_in(DENIALS) || word.ends_with("n't");
            let turns = is_denial || is_in(CONDITIONS);
            if is_in(DENY_ALL)
                || (last == HERE && turns)
                || (word == HERE && last_turns)
                || ((denied || depends) && begins(OF_SAYING))
                || (denied && begins(OF_DONE))
            {
                return true;
            }
            let is_anew = word == HERE || is_in(CLAUSES) || is_in(CONDITIONS);
            denied = is_denial || denied && !is_anew;
            depends |= turns && !is_denial;
            (last, last_turns) = (word, turns);
        }
        denied &= !piece.ends_with([',', '—', '–']);
    }
    false
}

/// What is after the last end of a sentence.
fn last_sentence(text: &str) -> &str {
    let mut ends = text.char_indices().filter(|(at, letter)| {
        let next = text[at + letter.len_utf8()..].chars().next();
        ".!?:;".contains(*letter)
            && next.is_none_or(|next| next.is_whitespace() || "*_)\"”".contains(next))
    });
    ends.next_back().map_or(text, |(at, letter)| &text[at + letter.len_utf8()..])
}

/// What is before the first end of a sentence.
fn first_sentence(text: &str) -> &str {
    let end = text.char_indices().find(|(at, letter)| {
        let next = text[at + letter.len_utf8()..].chars().next();
        ".!?;".contains(*letter) && next.is_none_or(char::is_whitespace)
    });
    end.map_or(text, |(at, _)| &text[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKER: &str = "<promise>DONE</promise>";

    fn anywhere(text: &str) -> Promise {
        promise(Some("DONE"), PromiseMatch::Anywhere, text)
    }

    #[test]
    fn only_the_exact_marker_keeps_a_promise() {
        for text in [
            "<promise>DONE</promise>",
            "All is done. <promise>DONE</promise> Bye.",
            "All is done <promise>DONE</promise>",
            "All 14 tasks are done, and the tests pass: **<promise>DONE</promise>**",
            "I did not stop before it worked. <promise>DONE</promise> Not a test fails.",
            "It did not work at first.\n<promise>DONE</promise>",
            "- <promise>DONE</promise>\n- Nothing is left.",
            "```\ncargo test\n```\n<promise>DONE</promise>",
            "`cargo test` passes <promise>DONE</promise> with `--all`",
            "```\n<promise>DONE</promise>\n```",
            "A lone ` stands here. <promise>DONE</promise>",
        ] {
            assert_eq!(anywhere(text), Promise::Kept, "{text}");
        }
        for text in [
            "",
            "DONE",
            "<promise>done</promise>",
            "<promise> DONE </promise>",
            "<promise>\nDONE\n</promise>",
            "<Promise>DONE</Promise>",
            "<promise>DONE",
            "<promise>DONE!</promise>",
            "<promise>NOT DONE</promise>",
            "&lt;promise&gt;DONE&lt;/promise&gt;",
        ] {
            assert_eq!(anywhere(text), Promise::Missing, "{text}");
        }
    }

    #[test]
    fn d3_a_promise_that_is_denied_or_quoted_is_none() {
        for text in [
            "I will not write <promise>DONE</promise> yet.",
            "I won't write <promise>DONE</promise>",
            "I won’t write <promise>DONE</promise>",
            "Two tests fail, so <promise>DONE</promise> would be a lie.",
            "When the tests pass I will write <promise>DONE</promise>.",
            "<promise>DONE</promise> is what I may not say.",
            "<promise>DONE</promise>\nis what I may not say yet",
            "Three tasks are open, so I do not yet write\n<promise>DONE</promise>",
            "I cannot write: <promise>DONE</promise> before it works",
            "`<promise>DONE</promise>`",
            "The marker is `<promise>DONE</promise>`, and two tasks are open.",
            "The marker is ``<promise>DONE</promise>``.",
            "The marker is `the text <promise>DONE</promise> here`.",
            "The marker is \"<promise>DONE</promise>\".",
            "The marker is “<promise>DONE</promise>”.",
            "> Only when all is done, write <promise>DONE</promise>",
            "The marker:\n```\n<promise>DONE</promise>\n```",
            "```\n<promise>DONE</promise>\n```\nis the marker",
            "~~~text\n<promise>DONE</promise>\n~~~\nis the marker",
            "```\n<promise>DONE</promise>",
            "- what is asked for:\n  ```\n  <promise>DONE</promise>\n  ```",
            "<!--\n<promise>DONE</promise>\n-->",
        ] {
            assert_eq!(anywhere(text), Promise::Mentioned, "{text}");
        }
    }

    #[test]
    fn a_promise_that_is_made_beside_one_that_is_denied_counts() {
        let text = format!(
            "I said I would not write `{MARKER}` too early.\n\nNow all is done.\n\n{MARKER}\n"
        );
        assert_eq!(anywhere(&text), Promise::Kept);
    }

    #[test]
    fn e5_only_its_own_clause_denies_it() {
        for text in [
            "I did not leave anything open <promise>DONE</promise>",
            "The parser doesn't crash any more <promise>DONE</promise>",
            "When I ran the tests, all passed <promise>DONE</promise>",
            "I did not skip a test, and all is done <promise>DONE</promise>",
            "All is done without a warning <promise>DONE</promise>",
            "I never stopped until it was done <promise>DONE</promise>",
            "```\nAll 14 tests pass.\n<promise>DONE</promise>\n```",
        ] {
            assert_eq!(anywhere(text), Promise::Kept, "{text}");
        }
        for text in [
            "The work is not done <promise>DONE</promise>",
            "I haven't finished <promise>DONE</promise>",
            "Not yet <promise>DONE</promise>",
            "I am not going to claim <promise>DONE</promise>",
            "If all tests passed I could say <promise>DONE</promise>",
            "```\nI will not write <promise>DONE</promise>\n```",
        ] {
            assert_eq!(anywhere(text), Promise::Mentioned, "{text}");
        }
    }

    #[test]
    fn e5_exact_takes_the_marker_anywhere() {
        let exact = |text: &str| promise(Some("DONE"), PromiseMatch::Exact, text);
        for text in ["```\n<promise>DONE</promise>", "I will not write <promise>DONE</promise>"] {
            assert_eq!(
                (exact(text), anywhere(text)),
                (Promise::Kept, Promise::Mentioned),
                "{text}"
            );
        }
        assert_eq!(exact("<promise>done</promise>"), Promise::Missing);
        let old: PromiseMatch = serde_json::from_str("\"own-line\"").unwrap();
        assert_eq!(old, PromiseMatch::Anywhere);
    }

    #[test]
    fn an_empty_promise_is_never_kept() {
        assert_eq!(
            promise(Some(""), PromiseMatch::Anywhere, "<promise></promise>"),
            Promise::Missing
        );
        assert_eq!(promise(None, PromiseMatch::Anywhere, MARKER), Promise::Missing);
    }

    #[test]
    fn a_need_stands_at_the_beginning_of_a_line_and_outside_of_code() {
        assert_eq!(blocked("I stop.\n<blocked>set API_KEY</blocked>"), Some("set API_KEY"));
        assert_eq!(blocked("  <blocked>\nset it\n</blocked>\nBye."), Some("set it"));
        assert_eq!(blocked("<blocked>a</blocked>\n<blocked>b</blocked>"), Some("b"));
        for text in [
            "I do not say <blocked>x</blocked> yet",
            "<blocked></blocked>",
            "<blocked>never closed",
            "```\n<blocked>x</blocked>\n```",
            "`<blocked>x</blocked>`",
        ] {
            assert_eq!(blocked(text), None, "{text}");
        }
    }

    #[test]
    fn d3_the_signal_in_a_code_fence_is_quoted() {
        assert!(stands_alone("Done.\n\nALL_DONE", "ALL_DONE"));
        assert!(stands_alone(" ALL_DONE \nBye.", "ALL_DONE"));
        assert!(!stands_alone("```\nALL_DONE\n```", "ALL_DONE"));
        assert!(!stands_alone("not ALL_DONE", "ALL_DONE"));
    }

    #[test]
    fn many_markers_of_a_line_stay_cheap() {
        let many = format!("not {MARKER} ").repeat(20_000);
        assert_eq!(anywhere(&many), Promise::Mentioned);
    }

    #[test]
    fn no_text_breaks_the_reading() {
        let pieces = [
            "\n",
            "`",
            "```",
            "~~~",
            "> ",
            "é",
            "“",
            MARKER,
            "not",
            ". ",
            "<!--",
            "-->",
            "<blocked>",
            "\r",
            "\u{feff}",
            " ",
        ];
        let mut seed = 1_u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..12 {
                seed = seed
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                text.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
            }
            let _ = (anywhere(&text), blocked(&text), stands_alone(&text, MARKER));
        }
    }

    #[test]
    fn what_rightly_changes_nothing_is_said_in_a_line_of_its_own() {
        let said = |text: &str| said_of_tasks(text, "no-change");
        let one = |id: &str, why: &str| vec![(id.to_owned(), why.to_owned())];
        let line = "<no-change>T004: it is there: see src/a.rs</no-change>";
        assert_eq!(said(line), one("T004", "it is there: see src/a.rs"));
        assert_eq!(said(&format!("Done.\n  {line}  \n")), one("T004", "it is there: see src/a.rs"));
        for text in [
            "<no-change>T004: why</no-change>",
            "<no-change>T004: </no-change>",
            "<no-change>T004: n/a</no-change>",
            "<no-change>: it is there</no-change>",
            "<no-change>it is there</no-change>",
            "Write `<no-change>T004: it is there</no-change>`.",
            "```\n<no-change>T004: it is there</no-change>\n```",
            "<no-change>T004: it is there",
        ] {
            assert_eq!(said(text), [], "{text}");
        }
    }

    #[test]
    fn a_reason_is_more_than_a_word() {
        for text in [
            "already there",
            "it is there",
            "not needed",
            "see src/a.rs",
            "уже есть",
            "已经有了",
            "すでにある",
        ] {
            assert!(is_reason(text), "{text}");
        }
        for text in [
            "",
            " ",
            "x",
            "why",
            "done",
            "n/a",
            "unnecessary",
            "überflüssig",
            "ненужно",
            "готово",
            "- - - -",
            "...",
            "a b c",
            "xxxxx xxxxx",
            "\u{200b}\u{200b}\u{200b}\u{200b}",
            "\u{3164}\u{3164} \u{3164}\u{115f}",
            "\u{202e}\u{2066} x y",
        ] {
            assert!(!is_reason(text), "{text:?}");
        }
    }
}
