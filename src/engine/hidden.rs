//! The lines of a Markdown text, and which of them stand in a code fence or an HTML comment.

use std::collections::BTreeMap;

use memchr::memmem;

/// One line without its line break.
pub struct TextLine<'a> {
    /// Where it starts, in bytes from the start of the text.
    pub start: usize,
    /// Its bytes; a carriage return at the end is left out.
    pub text: &'a [u8],
}

/// Returns the lines of a text; a byte order mark in front belongs to none of them.
pub fn split_lines(text: &[u8]) -> Vec<TextLine<'_>> {
    let mut lines = Vec::with_capacity(text.len() / 64 + 1);
    let mut start = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    for end in memchr::memchr_iter(b'\n', text).chain([text.len()]) {
        let line = &text[start..end];
        lines.push(TextLine { start, text: line.strip_suffix(b"\r").unwrap_or(line) });
        start = end + 1;
    }
    lines
}

/// Returns whether a text has anything that opens a code fence or an HTML comment; as a rule a task list has not.
pub fn may_hide(text: &[u8]) -> bool {
    ["```", "~~~", "<!--"].iter().any(|mark| memmem::find(text, mark.as_bytes()).is_some())
}

/// Returns which lines stand in a code fence or an HTML comment.
///
/// One that is never closed hides nothing: a slip must not make open tasks invisible. One that is
/// opened inside a list item ends with the item, as Markdown has it, so that a fence forgotten in
/// one task does not swallow the next ones.
pub fn hidden_lines(lines: &[TextLine<'_>]) -> Vec<bool> {
    let mut hidden = vec![false; lines.len()];
    let mut items: Vec<usize> = Vec::new();
    let mut unclosed = Unclosed::default();
    let mut at = 0;
    while at < lines.len() {
        let content = enter(&mut items, lines[at].text);
        let opened = hiding_start(content).filter(|opened| !unclosed.covers(opened, at));
        let Some(opened) = opened else {
            at += 1;
            continue;
        };
        let limit = items.last().copied();
        let beyond =
            |line: usize| line > at && limit.is_some_and(|item| ends_item(&lines[line], item));
        let end = (at..lines.len())
            .find(|line| beyond(*line) || opened.is_closed_by(lines[*line].text, *line == at));
        if let Some(end) = end.filter(|line| !beyond(*line)) {
            hidden[at..=end].fill(true);
            at = end + 1;
        } else {
            unclosed.remember(&opened, end.unwrap_or(lines.len()));
            at += 1;
        }
    }
    hidden
}

/// Leaves the list items that a line does not belong to, enters those that it starts, and returns
/// what is after their bullets and numbers.
fn enter<'a>(items: &mut Vec<usize>, line: &'a [u8]) -> &'a [u8] {
    let mut rest = line.trim_ascii_start();
    let starts_item = matches!(rest.first(), Some(b'-' | b'*' | b'+' | b'0'..=b'9'));
    if rest.is_empty() || (items.is_empty() && !starts_item) {
        return rest;
    }
    let mut column = column_of(line);
    while items.last().is_some_and(|item| *item >= column) {
        items.pop();
    }
    while let Some(length) = bullet_length(rest) {
        let after = &rest[length..];
        let content = after.trim_ascii_start();
        items.push(column);
        column += length + (after.len() - content.len());
        rest = content;
    }
    rest
}

/// The length of the bullet or number that a line starts with, `None` when it starts with something else.
fn bullet_length(text: &[u8]) -> Option<usize> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let length = match text.get(digits)? {
        b'-' | b'*' | b'+' if digits == 0 => 1,
        b'.' | b')' if (1..=9).contains(&digits) => digits + 1,
        _ => return None,
    };
    text.get(length).is_none_or(u8::is_ascii_whitespace).then_some(length)
}

/// How far a line is indented, in columns; a tab extends to the next multiple of four.
pub fn column_of(line: &[u8]) -> usize {
    let blanks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t'));
    blanks.fold(0, |column, byte| if *byte == b'\t' { (column / 4 + 1) * 4 } else { column + 1 })
}

/// Whether a line is indented no further than the bullet of an item, so that the item ends.
fn ends_item(line: &TextLine<'_>, item: usize) -> bool {
    !line.text.trim_ascii().is_empty() && column_of(line.text) <= item
}

/// What is known not to be closed before a certain line: nothing is looked for twice.
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
    Fence(u8, usize),
}

fn hiding_start(text: &[u8]) -> Option<Hiding> {
    if text.starts_with(b"<!--") {
        return Some(Hiding::Comment);
    }
    let mark = *text.first().filter(|mark| matches!(mark, b'`' | b'~'))?;
    let length = text.iter().take_while(|byte| **byte == mark).count();
    // Three backticks and more on one line are inline code, not the start of a fence.
    let inline = mark == b'`' && text[length..].contains(&b'`');
    (length >= 3 && !inline).then_some(Hiding::Fence(mark, length))
}

impl Hiding {
    fn kind(&self) -> (u8, usize) {
        match self {
            Self::Comment => (b'<', 0),
            Self::Fence(mark, length) => (*mark, *length),
        }
    }

    fn is_closed_by(&self, line: &[u8], own_line: bool) -> bool {
        match self {
            Self::Comment => memchr::memmem::find(line, b"-->").is_some(),
            Self::Fence(mark, length) => {
                let text = line.trim_ascii();
                !own_line && text.len() >= *length && text.iter().all(|byte| byte == mark)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that are left when the hidden ones are taken out.
    fn visible(text: &str) -> Vec<&str> {
        let lines = split_lines(text.as_bytes());
        let hidden = hidden_lines(&lines);
        text.lines().zip(hidden).filter(|(_, hidden)| !hidden).map(|(line, _)| line).collect()
    }

    #[test]
    fn fences_hide_up_to_one_of_their_own_kind_and_length() {
        assert_eq!(visible("a\n```\nb\n~~~\n```\nc"), ["a", "c"]);
        assert_eq!(visible("~~~~ rust\nb\n~~~\n~~~~~\nc"), ["c"]);
        assert_eq!(visible("```a```\nb\n```\nc\n```"), ["```a```", "b"]);
    }

    #[test]
    fn a_comment_hides_whole_lines() {
        assert_eq!(visible("<!-- a -->\nb\n  <!--\nc\nd --> e\nf"), ["b", "f"]);
    }

    #[test]
    fn what_is_never_closed_hides_nothing() {
        assert_eq!(visible("a\n```\nb\n<!--\nc"), ["a", "```", "b", "<!--", "c"]);
    }

    #[test]
    fn a_fence_in_a_list_item_ends_with_the_item() {
        let text = "- one\n  ```sh\n  run\n- two\n- three\n  ```sh\n  run\n  ```\n- four";
        assert_eq!(visible(text), ["- one", "  ```sh", "  run", "- two", "- three", "- four"]);
        let text = "- one\n  - ```sh\n    run\n    ```\n- two\n  ```\n  run\n  ```\n- three";
        assert_eq!(visible(text), ["- one", "- two", "- three"]);
        assert_eq!(visible("1. one\n\n   ```\n\n   run\n   ```\n2. two"), ["1. one", "", "2. two"]);
    }

    #[test]
    fn a_fence_outside_of_all_items_holds_lines_of_any_indent() {
        assert_eq!(
            visible("- one\n\nText\n  ```\n- two\n  ```\n- three"),
            ["- one", "", "Text", "- three"]
        );
    }
}
