//! The blocks of a list, held against `pulldown-cmark`: 2,000 generated lists, 100,000 in a thorough run.
//!
//! Where the reader differs on purpose, `as_people_read` rewrites the list for the parser, each reason once. What remains is
//! a task that CommonMark takes for code or for words of a paragraph: behind the first of them both may differ.

use std::cell::Cell;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use ralph_speckit::engine::edit::tick;
use ralph_speckit::engine::markdown::{self, Kind};
use ralph_speckit::engine::tasks::TaskList;

use crate::support::amounts::few_or_all;

/// Indents, bullets and words of which a line is made.
const INDENTS: &[&str] =
    &["", "", "", "", " ", "  ", "  ", "   ", "    ", "     ", "      ", "        ", "\t", " \t"];
const BULLETS: &[&str] = &[
    "- ", "- ", "- ", "* ", "+ ", "1. ", "2. ", "3) ", "10. ", "-\t", "1.\t", "-   ", "-      ",
    "- - ", "* 1. ",
];
const WORDS: &[&str] = &["[ ] a", "[ ] a", "[x] a", "a", "a", "", "# a", "***", "---", "===", "+"];
const BLOCKS: &[&str] = &[
    "",
    "",
    "",
    "",
    "  ",
    "a",
    "a",
    "[ ] a",
    "| a | [ ] |",
    "|---|---|",
    "# a",
    "====",
    "--",
    "---",
    "* * *",
    "- - -",
    "-",
    "*",
    "1.",
    "```",
    "```",
    "```sh",
    "````",
    "~~~",
    "`a`",
    "```a```",
    "- ```",
    "1. ~~~",
    "<!--",
    "<!--",
    "-->",
    "<!-- a -->",
    "- <!-- a",
    "<!-- a --> - [ ] b",
    "a --> - [ ] b",
    "<pre>",
    "</pre>",
    "a <!-- b",
];
const QUOTES: &[&str] = &["> a", "> - [ ] a", ">", "> ```", ">     a", "- > a", "> # a"];
const TAGS: &[&str] = &["<div>", "</div>", "<details>", "<b>", "- <div>", "a <br>"];

fn line(has_quotes: bool, has_tags: bool) -> impl Strategy<Value = String> {
    let mut blocks = BLOCKS.to_vec();
    blocks.extend(QUOTES.iter().filter(|_| has_quotes).chain(TAGS.iter().filter(|_| has_tags)));
    let item = (select(INDENTS), select(BULLETS), select(WORDS))
        .prop_map(|(indent, bullet, words)| [indent, bullet, words].concat());
    let block =
        (select(INDENTS), select(blocks)).prop_map(|(indent, block)| [indent, block].concat());
    prop_oneof![item, block]
}

fn list() -> impl Strategy<Value = String> {
    let forms =
        prop_oneof![3 => Just((false, false)), 1 => Just((true, false)), 1 => Just((false, true))];
    forms
        .prop_flat_map(|(has_quotes, has_tags)| vec(line(has_quotes, has_tags), 1..12))
        .prop_map(|lines| lines.join("\n") + "\n")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Item,
    /// In a fence, a comment or the like, from its first line to its last.
    Hidden,
    Other,
}

/// What the parser sees in each line, or a list that says to the parser what people mean with this one.
fn seen(text: &str) -> Result<Vec<Seen>, String> {
    let line_of = |at: usize| text[..at].matches('\n').count();
    let mut seen = vec![Seen::Other; text.lines().count()];
    let mut code = None;
    for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        let block = &text[range.clone()];
        // A blank line may stand before a bullet.
        let start = range.start + block.len() - block.trim_start().len();
        let known = [("<!--", "-->"), ("<pre", "</pre>")];
        let (end, is_closed) = match event {
            Event::Start(Tag::Item) => {
                seen[line_of(start)] = Seen::Item;
                continue;
            }
            // A quote is one line to us: its boxes are named, and no task stands in one.
            Event::Start(Tag::BlockQuote(_)) => return Err(reworded(text, start, "# a")),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                let marks = block.len() - block.trim_start_matches(&block[..1]).len();
                if block.lines().skip(1).any(|line| names_a_fence(line, &block[..marks])) {
                    return Err(reworded(text, start, "# a"));
                }
                code = Some(range.start + block.find('\n').unwrap_or(block.len()));
                continue;
            }
            Event::Text(_) if code.is_some() => {
                code = Some(range.end);
                continue;
            }
            Event::End(TagEnd::CodeBlock) if code.is_some() => {
                // Behind its first line and its code there is nothing but the mark that closes it.
                let behind = &text[code.take().unwrap_or_default()..range.end];
                let marks = block.trim_start();
                let end = marks.len() - marks.trim_start_matches(&marks[..1]).len();
                (&marks[..end], !behind.trim().is_empty())
            }
            Event::Start(Tag::HtmlBlock) => {
                let mut known = known.into_iter();
                let Some((_, end)) = known.find(|(mark, _)| text[start..].starts_with(mark)) else {
                    // Markdown between tags is read as people mean it, blank lines around it or not.
                    return Err(reworded(text, start, "a"));
                };
                (end, block.contains(end))
            }
            _ => continue,
        };
        if !is_closed {
            let behind = &text[range.end..];
            let next = range.end + behind.len() - behind.trim_start().len();
            let line = text[next..].lines().next().unwrap_or_default();
            // What stands outside of the item closes a fence in the item where that is all that the line does.
            let is_end = line.starts_with(end)
                && (!end.starts_with(['`', '~'])
                    || line.trim_end().trim_start_matches(&end[..1]).is_empty());
            if is_end && blanks_before(text, next) < blanks_before(text, start) {
                let blanks = " ".repeat(blanks_before(text, start) - blanks_before(text, next));
                return Err([&text[..next], &blanks, &text[next..]].concat());
            }
            // What is never closed hides nothing.
            return Err(reworded(text, start, "# a"));
        }
        for line in &mut seen[line_of(start)..=line_of(range.end - 1)] {
            if *line == Seen::Other {
                *line = Seen::Hidden;
            }
        }
    }
    Ok(seen)
}

/// A fence with a name opens here, so that the fence above was never closed.
fn names_a_fence(line: &str, marks: &str) -> bool {
    let name =
        line.trim_start().strip_prefix(marks).map(|name| name.trim_start_matches(&marks[..1]));
    let is_code = |name: &str| marks.starts_with('`') && name.contains('`');
    name.is_some_and(|name| !is_code(name) && !name.trim().is_empty())
}

/// The same text with these words from a place to the end of the line.
fn reworded(text: &str, at: usize, words: &str) -> String {
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    [&text[..at], words, &text[end..]].concat()
}

/// In which column a place is.
fn blanks_before(text: &str, at: usize) -> usize {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
    line.chars()
        .fold(0, |column, letter| if letter == '\t' { (column / 4 + 1) * 4 } else { column + 1 })
}

/// What the parser sees in the lines of a list where our reasons are said in its own words.
fn as_people_read(text: &str) -> Vec<Seen> {
    let mut text = text.to_owned();
    loop {
        match seen(&text) {
            Ok(seen) => return seen,
            Err(better) => text = better,
        }
    }
}

fn ours(text: &str) -> Vec<Seen> {
    let lines = markdown::lines(text.as_bytes());
    let seen = |line: &markdown::Line<'_>| {
        let front = String::from_utf8_lossy(&line.text[..line.words_at]);
        let front = front.trim();
        match line.kind {
            Kind::Item => Seen::Item,
            Kind::Heading(_) if front.contains('#') && !front.starts_with('#') => Seen::Item,
            Kind::Hidden => Seen::Hidden,
            _ => Seen::Other,
        }
    };
    lines.iter().take(text.lines().count()).map(seen).collect()
}

/// Whether a line is bullets with a box behind them.
fn is_task(line: &str) -> bool {
    let words = line
        .trim_start_matches(|letter: char| " \t-*+.)".contains(letter) || letter.is_ascii_digit());
    words.len() < line.trim_start().len() && words.starts_with('[')
}

#[test]
fn blocks_are_those_of_commonmark() {
    let (same, tasks) = (Cell::new(0), Cell::new(0));
    let config = ProptestConfig {
        cases: few_or_all(2_000, 100_000),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(text in list())| {
        let (ours, theirs) = (ours(&text), as_people_read(&text));
        let first = (0..ours.len()).find(|at| ours[*at] != theirs[*at]);
        if let Some(at) = first {
            let line = text.lines().nth(at).unwrap();
            prop_assert!(ours[at] == Seen::Item && theirs[at] == Seen::Other && is_task(line), "{line}: {:?} {:?}\n{text}", ours[at], theirs[at]);
            tasks.set(tasks.get() + 1);
        } else {
            same.set(same.get() + 1);
        }
        let list = TaskList::parse(text.as_bytes());
        let counted = list.tasks.iter().chain(&list.left_out).map(|task| task.line);
        let told: Vec<_> = counted.chain(list.unread.iter().map(|unread| unread.line)).collect();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| line.contains("[ ]")) {
            prop_assert!(ours[at] == Seen::Hidden || told.contains(&(at + 1)), "silent: {line}\n{text}");
        }
        for task in list.open() {
            let ticked = tick(text.as_bytes(), task);
            let changed: Vec<_> = (0..text.len()).filter(|at| text.as_bytes()[*at] != ticked[*at]).collect();
            prop_assert_eq!((ticked.len(), changed), (text.len(), vec![task.mark_at]));
        }
    });
    assert!(same.get() > 4 * tasks.get() && tasks.get() > 0, "{} and {}", same.get(), tasks.get());
}

#[test]
fn boxes_in_odd_blocks_are_told() {
    for (text, open, named) in [
        // Between two lines across the page stands a list, not data.
        ("---\nStatus: open\n\n  - [ ] T1 a\n\n---\n", "T1", ""),
        ("---\nStatus: open\n## Tasks\n  - [ ] T1 a\n---\n", "T1", ""),
        ("---\nStatus: open\n+ [ ] T1 a\n---\n", "T1", ""),
        ("---\nStatus: open\n1. [ ] T1 a\n---\n", "T1", ""),
        ("---\n  - [ ] T1 a\n---\n", "T1", ""),
        ("---\ntags:\n- a\ntodo:\n  - [ ] sample\n---\n- [ ] T1 a\n", "T1", "hidden 5"),
        // Words behind the end of a comment are seen; an open box in it is told.
        ("<!-- a --> - [ ] T1 b\n", "", "later 1"),
        ("<!--\n- [ ] old\n--> - [ ] T1 b\n", "", "hidden 2 later 3"),
        ("<!-- - [ ] T1 a -->\n", "", "hidden 1"),
        ("<!--\n[ ] a -->\n", "", "hidden 2"),
        // What is indented so far goes on with the paragraph.
        ("words\n    ```\n- [ ] T1 a\n    ```\n", "T1", ""),
        ("words\n    <!--\n- [ ] T1 a\n    -->\n", "T1", ""),
        // The end of a fence stands outside of its item.
        (
            "- [ ] T1 a\n  ```\n  - [ ] no\n```\n- [ ] T2 b\n```\n- [ ] no\n```\n",
            "T1 T2",
            "hidden 3 hidden 7",
        ),
        ("1. [ ] T1 a\n   <!--\n   - [ ] no\n-->\n2. [ ] T2 b\n", "T1 T2", "hidden 3"),
        ("- a\n  <!--\n- [ ] T1 b -->\n", "T1", ""),
        ("<pre>\n- [ ] no\n</pre>\n- [ ] T1 a\n", "T1", "hidden 2"),
        ("<pre>\n- [ ] T1 a\n", "T1", ""),
        // Boxes of HTML.
        ("- <input type=\"checkbox\"> T1 a\n", "", "code 1"),
        ("<li><input disabled type=checkbox />T1 `a.py`</li>\n", "", "code 1"),
        ("Write `<input type=\"checkbox\">` into it\n", "", ""),
        ("- [ ] T1 Write <input type=\"checkbox\"> into it\n", "T1", ""),
    ] {
        let list = TaskList::parse(text.as_bytes());
        let ids: Vec<_> = list.open().map(|task| task.id.as_str()).collect();
        let beside: Vec<_> = list
            .asides()
            .iter()
            .map(|aside| format!("{:?} {}", aside.kind, aside.line).to_lowercase())
            .collect();
        assert_eq!((ids.join(" ").as_str(), beside.join(" ").as_str()), (open, named), "{text}");
    }
    let ticked = TaskList::parse(b"<input type=\"checkbox\" checked> T1 a\n");
    assert_eq!((ticked.asides().len(), ticked.uncounted()), (1, None));
}
