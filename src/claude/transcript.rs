//! The end of a transcript: tool calls and the agent's own words, from a bounded tail.
//!
//! A transcript lags behind its session, has lines of any length and some that are no JSON.
//! Only the main thread's own lines are taken; a line that is no JSON is plain text.

use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use memchr::{memchr, memmem, memrchr};
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::json::read_json;
use crate::store::read;

/// The tail that is normally read, in bytes.
const TAIL: u64 = 1 << 20;
/// The tail that is read when the normal one has fewer than [`FEW_LINES`] lines.
const LONG_TAIL: u64 = 4 << 20;
/// Lines in which a completion signal is looked for (spec 003, FR-6).
const LINES: usize = 500;
/// Lines that are looked at whatever their length (spec 003, FR-6).
const FEW_LINES: usize = 20;

/// The last part of a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    bytes: Vec<u8>,
    /// Where the tail begins in the file.
    start: u64,
    /// Whether what was asked for begins before the tail.
    cut: bool,
    /// How long the file was.
    pub length: u64,
}

impl Tail {
    /// Returns the tail that lies behind `from`, whole lines only, at most 1 MiB of it; `None` when
    /// there is no transcript to read.
    ///
    /// A file shorter than `from` is another one: it is read from its start.
    pub fn read(path: &Path, from: u64) -> Option<Self> {
        Self::read_at_most(path, from, TAIL)
    }

    /// Returns a tail with at least the last 20 lines, as long as 4 MiB hold them.
    pub fn read_for_signal(path: &Path, from: u64) -> Option<Self> {
        let tail = Self::read(path, from)?;
        let few = memchr::memchr_iter(b'\n', &tail.bytes).take(FEW_LINES).count() < FEW_LINES;
        if few && tail.cut {
            return Self::read_at_most(path, from, LONG_TAIL);
        }
        Some(tail)
    }

    fn read_at_most(path: &Path, from: u64, most: u64) -> Option<Self> {
        let (mut file, meta) = read::open(path).ok()?;
        let length = meta.len();
        let from = if from > length { 0 } else { from };
        let start = from.max(length.saturating_sub(most));
        let mut bytes = read_between(&mut file, start, length)?;
        // A tail that begins in the middle of a line leaves that line out.
        if start > from {
            let cut = memchr(b'\n', &bytes).map_or(bytes.len(), |end| end + 1);
            bytes.drain(..cut);
            return Some(Self { start: start + cut as u64, bytes, length, cut: true });
        }
        Some(Self { bytes, start, length, cut: false })
    }

    /// Returns up to where whole lines were read, in bytes from the start of the file.
    pub fn read_up_to(&self) -> u64 {
        let whole = memrchr(b'\n', &self.bytes).map_or(0, |end| end + 1);
        self.start + whole as u64
    }

    /// Returns how many tools the main thread called in this tail; `None` when it shows none but
    /// something before it was left out, such as a large tool result and the call that it answers.
    pub fn tool_calls(&self) -> Option<u64> {
        let lines = lines_with(&self.bytes, br#""tool_use""#);
        let messages = lines.filter_map(|line| Line::read(line)?.spoken());
        let calls = messages.map(|message| message.content.tool_calls()).sum();
        (calls > 0 || !self.cut).then_some(calls)
    }

    /// Returns whether what was asked for begins before the tail.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Returns the agent's last text in the last 500 lines, `None` when it wrote none there.
    pub fn last_text(&self) -> Option<String> {
        let lines = self.bytes.rsplit(|byte| *byte == b'\n').take(LINES);
        let texts = lines.filter(|line| memmem::find(line, br#""text""#).is_some());
        let mut spoken = texts.filter_map(|line| Line::read(line)?.spoken()?.content.last_text());
        spoken.next()
    }

    /// Returns whether the agent itself wrote `signal` alone on a line, in the last 500 lines.
    pub fn says(&self, signal: &str) -> bool {
        let body = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        let start = memchr::memrchr_iter(b'\n', body).nth(LINES - 1).map_or(0, |end| end + 1);
        lines_with(&body[start..], signal.as_bytes()).any(|line| match Line::read(line) {
            Some(line) => line.spoken().is_some_and(|message| message.content.says(signal)),
            // A broken JSON line is nobody's words; a line that is no JSON at all is plain text.
            None => line.trim_ascii() == signal.as_bytes(),
        })
    }
}

/// Returns whether a text has a line that is the signal and nothing else but blanks around it.
pub fn stands_alone(text: &str, signal: &str) -> bool {
    text.lines().any(|line| line.trim() == signal)
}

/// The lines that contain the needle; the others are never looked at.
fn lines_with<'a>(bytes: &'a [u8], needle: &[u8]) -> impl Iterator<Item = &'a [u8]> {
    let finder = memmem::Finder::new(needle).into_owned();
    let mut at = 0;
    std::iter::from_fn(move || {
        let hit = at + finder.find(bytes.get(at..)?)?;
        let start = memrchr(b'\n', &bytes[..hit]).map_or(0, |end| end + 1);
        let end = memchr(b'\n', &bytes[hit..]).map_or(bytes.len(), |end| hit + end);
        at = end + 1;
        Some(&bytes[start..end])
    })
}

fn read_between(file: &mut File, start: u64, end: u64) -> Option<Vec<u8>> {
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::with_capacity((end - start) as usize);
    file.take(end - start).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(rename = "isSidechain", default)]
    sidechain: Option<bool>,
    #[serde(rename = "isMeta", default)]
    meta: Option<bool>,
    #[serde(default)]
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Content,
}

/// The blocks of a message; other forms than a list of blocks or a text hold nothing.
#[derive(Default)]
struct Content(Vec<Block>);

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    text: Option<String>,
}

impl Line {
    fn read(line: &[u8]) -> Option<Self> {
        read_json(line)
    }

    /// What the main thread's agent said in this line.
    fn spoken(self) -> Option<Message> {
        let own = self.kind.as_deref() == Some("assistant")
            && self.sidechain != Some(true)
            && self.meta != Some(true);
        self.message.filter(|_| own)
    }
}

impl Content {
    fn tool_calls(&self) -> u64 {
        self.0.iter().filter(|block| block.kind.as_deref() == Some("tool_use")).count() as u64
    }

    fn last_text(self) -> Option<String> {
        self.0.into_iter().rev().find_map(|block| block.text)
    }

    fn says(&self, signal: &str) -> bool {
        let mut texts = self.0.iter().filter_map(|block| block.text.as_deref());
        texts.any(|text| stands_alone(text, signal))
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(ContentVisitor)
    }
}

/// Reads a list of blocks or one text without building a tree of what is not asked for.
struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a list of content blocks or a text")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Content, E> {
        let block = Block { kind: Some("text".to_owned()), text: Some(text.to_owned()) };
        Ok(Content(vec![block]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Content, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = items.next_element()? {
            blocks.push(block);
        }
        Ok(Content(blocks))
    }
}
