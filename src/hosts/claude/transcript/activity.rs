//! The main agent's tool calls and tokens, and a person's input meanwhile, from the end of a transcript.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use memchr::memmem::{self, Finder};
use memchr::{arch::all::is_equal, memchr, memchr_iter, memrchr};

use super::line::lines_with;
use super::queue::Queue;
use super::tail::TAIL;
use crate::engine::{TokenTotals, hash_of};
use crate::hosts::scan::Scan;
use crate::hosts::transcript::{Activity, TranscriptPart};
use crate::store::loops::LastMessage;
use crate::store::read;

/// Bytes in memory while calls are counted; a longer line takes more.
const WINDOW: usize = 256 << 10;
/// No stop counts more calls, unless it needs to, so that a stop stays cheap.
const MOST_CALLS: u64 = 30;
/// Messages whose lines may alternate: tools run side by side.
const SIDE_BY_SIDE: usize = 8;
/// A line tells its owner within this many bytes of its start.
const HEAD: usize = 1 << 10;
/// A message's usage stands within this many bytes of a line's end: mostly, nearly always, always.
const FEET: [usize; 3] = [512, 2 << 10, usize::MAX];

/// The calls and tokens in the last MiB of a part; `None` without a readable transcript.
///
/// A file shorter than the part's start is a new one, which is read from its beginning. An incomplete last line waits
/// for the next stop.
pub fn since(path: &Path, part: TranscriptPart) -> Option<Activity> {
    let TranscriptPart { from, last, needed, let_go, taken_up } = part;
    let (mut file, meta) = read::open(path).ok()?;
    let end = meta.len();
    let from = if from > end { 0 } else { from };
    let start = from.max(end.saturating_sub(TAIL));
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut source = BufReader::with_capacity(WINDOW, file.take(end - start));
    let mut seen = Seen::after(start, last);
    seen.most_calls = needed.max(MOST_CALLS);
    seen.looks_at_results = needed > 0;
    [seen.let_go, seen.taken_up] =
        [let_go, taken_up].map(|place| if place > end { 0 } else { place });
    // The beginning of a line whose end is not read yet.
    let mut begun = Vec::new();
    loop {
        let got = match source.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            got => got.ok()?,
        };
        if got.is_empty() {
            seen.take_last_line(&begun);
            break;
        }
        let whole = memrchr(b'\n', got).map_or(0, |end| end + 1);
        let mut first = 0;
        if !begun.is_empty() && whole > 0 {
            first = memchr(b'\n', got).map_or(0, |end| end + 1);
            begun.extend_from_slice(&got[..first]);
            seen.take_lines(&begun);
            begun.clear();
        }
        seen.take_lines(&got[first..whole]);
        begun.extend_from_slice(&got[whole..]);
        let used = got.len();
        source.consume(used);
    }
    let known = seen.calls > 0 || start == from;
    Some(Activity {
        count: known.then_some(seen.calls),
        failed: seen.failed,
        more: start > from || seen.has_enough(),
        tokens: seen.tokens,
        last: seen.messages[0],
        read_up_to: seen.end,
        typed_ahead: seen.queue.left(),
    })
}

/// The count so far, and where.
struct Seen {
    calls: u64,
    failed: u64,
    looks_at_results: bool,
    most_calls: u64,
    tokens: TokenTotals,
    /// The latest messages, newest first.
    messages: [LastMessage; SIDE_BY_SIDE],
    end: u64,
    role: Name<8>,
    id: Name<6>,
    aside: Name<14>,
    usage: Finder<'static>,
    queue: Queue,
    let_go: u64,
    taken_up: u64,
}

impl Seen {
    fn after(start: u64, last: LastMessage) -> Self {
        let mut messages = [LastMessage::default(); SIDE_BY_SIDE];
        messages[0] = last;
        Self {
            calls: 0,
            failed: 0,
            looks_at_results: false,
            most_calls: MOST_CALLS,
            tokens: TokenTotals::default(),
            messages,
            end: start,
            role: Name::new(br#""role":""#),
            id: Name::new(br#""id":""#),
            aside: Name::new(br#""isSidechain":"#),
            usage: Finder::new(br#""usage":{"#),
            queue: Queue::default(),
            let_go: 0,
            taken_up: 0,
        }
    }

    /// A tail may begin in the middle of a line, which is no JSON and does not count.
    fn take_lines(&mut self, lines: &[u8]) {
        if self.looks_at_results {
            // A result names its call, `"tool_use_id"`.
            for line in lines_with(lines, br#""tool_use"#) {
                let calls = tool_calls_in(line).unwrap_or(0);
                // The results of the last calls still count.
                if calls > 0 && self.has_enough() {
                    break;
                }
                self.calls += calls;
                self.failed += failed_calls_in(line);
            }
        } else if !self.has_enough() {
            for line in lines_with(lines, br#""tool_use""#) {
                self.calls += tool_calls_in(line).unwrap_or(0);
                if self.has_enough() {
                    break;
                }
            }
        }
        self.take_costs(lines);
        self.end += lines.len() as u64;
    }

    fn has_enough(&self) -> bool {
        self.calls.saturating_sub(self.failed) >= self.most_calls
    }

    /// The text behind the last line break is a line if it is whole.
    fn take_last_line(&mut self, line: &[u8]) {
        if let Some(calls) = tool_calls_in(line) {
            self.calls += calls;
            if self.looks_at_results {
                self.failed += failed_calls_in(line);
            }
            self.take_costs(line);
            self.end += line.len() as u64;
        }
    }

    /// Adds the usage of the messages in these lines. Each line of a message has the usage of all of it, and the last
    /// line is right.
    ///
    /// A line's owner and usage are found as bytes: a quote within a string always has a backslash.
    fn take_costs(&mut self, lines: &[u8]) {
        let mut open: Option<(&[u8], &[u8])> = None;
        let mut start = 0;
        for end in memchr_iter(b'\n', lines).chain([lines.len()]) {
            let line = &lines[start..end];
            let place = self.end + start as u64;
            if place >= self.taken_up {
                self.queue.take(line, place < self.let_go);
            }
            start = end + 1;
            let Some(message) = self.message_of(line) else { continue };
            if let Some((other, last)) = open.filter(|(other, _)| !is_equal(other, message)) {
                self.take_cost(other, last);
            }
            open = Some((message, line));
        }
        if let Some((message, last)) = open {
            self.take_cost(message, last);
        }
    }

    /// The message id of an agent's line, perhaps empty; `None` for other lines.
    fn message_of<'a>(&mut self, line: &'a [u8]) -> Option<&'a [u8]> {
        let head = &line[..line.len().min(HEAD)];
        let role = self.role.after(head)?;
        head[role..].starts_with(b"assistant\"").then_some(())?;
        let Some(id) = self.id.after(head) else { return Some(b"") };
        let end = memchr(b'"', &head[id..])?;
        Some(&head[id..id + end])
    }

    fn take_cost(&mut self, message: &[u8], line: &[u8]) {
        let head = &line[..line.len().min(HEAD / 2)];
        if self.aside.after(head).is_some_and(|at| head[at..].starts_with(b"true")) {
            return;
        }
        // A tool's input may contain the same name, but in front of the message's own.
        let feet = FEET.iter().map(|foot| line.len().saturating_sub(*foot));
        let at = feet
            .into_iter()
            .find_map(|foot| self.usage.find_iter(&line[foot..]).last().map(|at| foot + at));
        let Some(at) = at else { return };
        let cost = &line[at + self.usage.needle().len() - 1..];
        if let Some(cost) = tokens_in(cost) {
            self.take(if message.is_empty() { 0 } else { hash_of(message) }, cost);
        }
    }

    fn take(&mut self, message: u64, cost: TokenTotals) {
        let known = self.messages.iter().position(|known| known.id == message);
        let known = known.filter(|_| message != 0).unwrap_or_else(|| {
            self.messages.rotate_right(1);
            self.messages[0] = LastMessage { id: message, tokens: TokenTotals::default() };
            0
        });
        let known = &mut self.messages[known];
        self.tokens = self.tokens.plus(cost.minus(known.tokens));
        known.tokens = cost;
    }
}

/// A member's name at one of two places in nearly every line: one in the agent's lines, one in tools' lines. The
/// constant length makes the comparison a few instructions.
struct Name<const LENGTH: usize> {
    written: &'static [u8; LENGTH],
    finder: Finder<'static>,
    usual: [usize; 2],
}

impl<const LENGTH: usize> Name<LENGTH> {
    fn new(name: &'static [u8; LENGTH]) -> Self {
        Self { written: name, finder: Finder::new(name), usual: [0; 2] }
    }

    /// The place of the value behind the name.
    fn after(&mut self, text: &[u8]) -> Option<usize> {
        let is_at = |place: usize| {
            text.get(place..).and_then(|text| text.first_chunk()) == Some(self.written)
        };
        if !is_at(self.usual[0]) {
            self.usual.swap(0, 1);
            if !is_at(self.usual[0]) {
                self.usual[0] = self.finder.find(text)?;
            }
        }
        Some(self.usual[0] + LENGTH)
    }
}

/// The counts of a `usage` object.
fn tokens_in(usage: &[u8]) -> Option<TokenTotals> {
    let mut tokens = TokenTotals::default();
    let mut found = 0;
    let end = Scan::new(usage).members(|name, value| {
        let number = match name {
            b"input_tokens"
            | b"cache_creation_input_tokens"
            | b"cache_read_input_tokens"
            | b"output_tokens" => value.number()?,
            _ => return value.skip(),
        };
        tokens.all = tokens.all.saturating_add(number);
        if name == b"output_tokens" {
            tokens.written = number;
        }
        found += 1;
        // Details of the same four counts follow.
        (found < 4).then_some(())
    });
    if end.is_none() && found < 4 {
        return None;
    }
    Some(tokens)
}

/// The main agent's tool calls in a line; `None` for anything but a whole JSON object.
fn tool_calls_in(line: &[u8]) -> Option<u64> {
    let (mut by_agent, mut aside, mut calls) = (false, false, 0);
    let mut scan = Scan::new(line);
    scan.members(|name, value| {
        match name {
            b"type" => by_agent = value.text()? == b"assistant",
            b"isSidechain" | b"isMeta" => aside |= value.is_true()?,
            b"message" => value.members(|name, value| match name {
                b"content" => value.items(|block| {
                    block.members(|name, value| match name {
                        b"type" => {
                            calls += u64::from(value.text()? == b"tool_use");
                            Some(())
                        }
                        _ => value.skip(),
                    })
                }),
                _ => value.skip(),
            })?,
            _ => value.skip()?,
        }
        Some(())
    })?;
    scan.is_at_end().then_some(if by_agent && !aside { calls } else { 0 })
}

/// Results in a line that report a denied or failed tool of the main agent.
fn failed_calls_in(line: &[u8]) -> u64 {
    if memmem::find(line, br#""is_error""#).is_none() {
        return 0;
    }
    let (mut from_tools, mut aside, mut failed) = (false, false, 0);
    let mut scan = Scan::new(line);
    let whole = scan.members(|name, value| {
        match name {
            b"type" => from_tools = value.text()? == b"user",
            b"isSidechain" => aside |= value.is_true()?,
            b"message" => value.members(|name, value| match name {
                b"content" => value.items(|block| {
                    let (mut is_result, mut is_error) = (false, false);
                    block.members(|name, value| {
                        match name {
                            b"type" => is_result = value.text()? == b"tool_result",
                            b"is_error" => is_error = value.is_true()?,
                            _ => value.skip()?,
                        }
                        Some(())
                    })?;
                    failed += u64::from(is_result && is_error);
                    Some(())
                }),
                _ => value.skip(),
            })?,
            _ => value.skip()?,
        }
        Some(())
    });
    if whole.is_some() && from_tools && !aside { failed } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    const CALL: &str = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"now"},{"type":"tool_use","name":"Bash","input":{"command":"echo \"{\\\"type\\\":\\\"tool_use\\\"}\""}}]}}"#;

    /// What is counted of a transcript: the calls, and how many bytes at its end are left.
    fn counted(text: &str) -> (u64, usize) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        std::fs::write(&path, text).unwrap();
        let calls = since(&path, TranscriptPart::default()).unwrap();
        (calls.count.unwrap(), text.len() - calls.read_up_to as usize)
    }

    #[test]
    fn main_thread_calls_count() {
        assert_eq!(counted(&format!("{CALL}\n{CALL}\n")), (2, 0));
        let with_blanks = CALL.replace("\":", "\" : ");
        assert_eq!(counted(&format!("{with_blanks}\n")), (1, 0));
        for other in [
            CALL.replace(r#""assistant""#, r#""user""#),
            CALL.replace(r#"{"type":"assistant","#, r#"{"type":"assistant","isSidechain":true,"#),
            CALL.replace("}]}}", r#"}]},"isMeta":true}"#),
            CALL.replace("content", "other"),
            CALL.replace("tool_use\",", "\",\"kind\":\"tool_use\","),
            CALL.replace("}]}}", "}]}"),
            format!("x{CALL}"),
        ] {
            assert_eq!(counted(&format!("{other}\n")), (0, 0), "{other}");
        }
    }

    #[test]
    fn last_line_counts_once_whole() {
        assert_eq!(counted(CALL), (1, 0));
        assert_eq!(counted(&format!("{CALL}\n{}", &CALL[..100])), (1, 100));
    }

    #[test]
    fn long_lines_are_seen_whole() {
        let long = CALL.replace("now", &"a \\\"long\\\" story ".repeat(20_000));
        assert!(long.len() > WINDOW);
        assert_eq!(counted(&format!("{CALL}\n{long}\n{CALL}\n{long}")), (4, 0));
        let many = format!("{CALL}\n").repeat(1400);
        let (most, left) = counted(&format!("{many}{}", &CALL[..100]));
        assert_eq!((most, left), (MOST_CALLS, 100), "it stays cheap");
    }

    #[test]
    fn needed_calls_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        std::fs::write(&path, format!("{CALL}\n").repeat(700)).unwrap();
        for (needed, seen) in [(0, MOST_CALLS), (200, 200), (1000, 700)] {
            let calls =
                since(&path, TranscriptPart { needed, ..TranscriptPart::default() }).unwrap();
            assert_eq!((calls.count, calls.more), (Some(seen), seen < 700));
        }
    }

    #[test]
    fn d9_failed_calls_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        let failed = r#"{"type":"user","isSidechain":false,"message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"is_error\":true","is_error":true}]}}"#;
        let fine = failed.replace("\"is_error\":true}", "\"is_error\":false}");
        let aside = failed.replace("false,\"message", "true,\"message");
        let text = format!("{CALL}\n{failed}\n{CALL}\n{fine}\n{CALL}\n{aside}\n{CALL}\n{failed}");
        std::fs::write(&path, text).unwrap();
        let calls =
            |needed| since(&path, TranscriptPart { needed, ..TranscriptPart::default() }).unwrap();
        assert_eq!((calls(1).count, calls(1).failed), (Some(4), 2));
        assert_eq!((calls(0).count, calls(0).failed), (Some(4), 0));
        // However many have failed, those that have not are found.
        let text = format!("{CALL}\n{failed}\n").repeat(50) + &format!("{CALL}\n{fine}\n");
        std::fs::write(&path, text).unwrap();
        assert_eq!((calls(1).count, calls(1).failed), (Some(51), 50));
    }

    #[test]
    fn shrunken_transcript_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        let mut text = format!("{CALL}\n{}\n", "x".repeat(TAIL as usize));
        let _ = writeln!(text, "{CALL}");
        std::fs::write(&path, &text).unwrap();
        let all = Activity {
            count: Some(1),
            more: true,
            read_up_to: text.len() as u64,
            ..Activity::default()
        };
        let since =
            |from| super::since(&path, TranscriptPart { from, ..TranscriptPart::default() });
        assert_eq!(since(0), Some(all.clone()));
        assert_eq!(since(text.len() as u64 + 1), Some(all.clone()));
        let none = Activity { count: Some(0), more: false, ..all };
        assert_eq!(since(text.len() as u64), Some(none));
        assert_eq!(super::since(folder.path(), TranscriptPart::default()), None);
    }

    /// A line of a message, with what Claude Code writes of its tokens.
    fn line_of(message: &str, input: u64, output: u64) -> String {
        format!(
            r#"{{"type":"assistant","isSidechain":false,"message":{{"id":"{message}","type":"message","role":"assistant","content":[{{"type":"text","text":"x","usage":{{"input_tokens":9}}}}],"usage":{{"input_tokens":{input},"cache_creation_input_tokens":20,"cache_read_input_tokens":300,"output_tokens":{output},"cache_creation":{{"ephemeral_1h_input_tokens":7}},"output_tokens_details":{{"thinking_tokens":5}}}}}}}}"#
        ) + "\n"
    }

    #[test]
    fn message_costs_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        let first = [line_of("a", 1, 2), line_of("a", 1, 5), line_of("b", 3, 4)].concat();
        let aside = line_of("c", 7, 7).replace("false", "true");
        let none = line_of("d", 7, 7).replace("assistant", "user");
        let second = [line_of("a", 1, 6), line_of("b", 3, 8), aside, none].concat();
        std::fs::write(&path, &first).unwrap();
        let calls = since(&path, TranscriptPart::default()).unwrap();
        assert_eq!(calls.tokens, TokenTotals { all: 326 + 327, written: 5 + 4 });
        // The rest of a message that was not all there: only the difference is new.
        std::fs::write(&path, [first, line_of("b", 3, 6)].concat()).unwrap();
        let more = since(
            &path,
            TranscriptPart {
                from: calls.read_up_to,
                last: calls.last,
                ..TranscriptPart::default()
            },
        )
        .unwrap();
        assert_eq!(more.tokens, TokenTotals { all: 2, written: 2 });
        std::fs::write(&path, [line_of("b", 3, 6), second].concat()).unwrap();
        let all = since(&path, TranscriptPart::default()).unwrap();
        assert_eq!(all.tokens, TokenTotals { all: 327 + 331, written: 6 + 8 });
        assert_eq!(all.count, Some(0));
    }

    #[test]
    fn words_behind_many_calls_are_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        let many = format!("{CALL}\n").repeat(3 * MOST_CALLS as usize);
        let typed = r#"{"type":"queue-operation","operation":"enqueue","content":"/cancel"}"#;
        let quoted = CALL.replace("now", r#"{\"type\":\"queue-operation\"}"#);
        std::fs::write(&path, format!("{many}{quoted}\n{many}{typed}\n{many}")).unwrap();
        let calls = since(&path, TranscriptPart::default()).unwrap();
        assert_eq!(calls.typed_ahead, ["/cancel"]);
        assert_eq!(calls.read_up_to, std::fs::metadata(&path).unwrap().len());
    }
}
