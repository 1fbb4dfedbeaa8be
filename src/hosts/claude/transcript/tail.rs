//! The agent's own words at the end of a transcript.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use memchr::{memchr, memchr_iter, memmem};

use super::line::{TranscriptLine, lines_with};
use crate::store::read;

/// The usual length of a tail, in bytes.
pub const TAIL: u64 = 1 << 20;
/// The length of a tail that would otherwise have fewer than [`FEW_LINES`] lines.
const LONG_TAIL: u64 = 4 << 20;
/// How many lines may hold a completion signal (spec 003, FR-6).
const LINES: usize = 500;
/// How many lines are read whatever their length (spec 003, FR-6).
const FEW_LINES: usize = 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptTail {
    bytes: Vec<u8>,
    /// The wanted part begins before the tail.
    cut: bool,
}

impl TranscriptTail {
    /// Whole lines after `from`, at most 1 MiB; `None` without a readable transcript.
    ///
    /// A file shorter than `from` is a new one, which is read from its beginning.
    pub fn read(path: &Path, from: u64) -> Option<Self> {
        Self::read_at_most(path, from, TAIL)
    }

    /// At least the last 20 lines, if 4 MiB hold them.
    pub fn read_for_signal(path: &Path, from: u64) -> Option<Self> {
        let tail = Self::read(path, from)?;
        let few = memchr_iter(b'\n', &tail.bytes).take(FEW_LINES).count() < FEW_LINES;
        if few && tail.cut {
            drop(tail);
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
            return Some(Self { bytes, cut: true });
        }
        Some(Self { bytes, cut: false })
    }

    pub fn lines_with<'a>(&'a self, needle: &[u8]) -> impl Iterator<Item = &'a [u8]> {
        lines_with(&self.bytes, needle)
    }

    /// The agent's last text in the last 500 lines.
    pub fn last_text(&self) -> Option<String> {
        self.find_text(|line| TranscriptLine::read(line)?.spoken()?.last_text())
    }

    /// The agent itself wrote `signal` alone on one of the last 500 lines.
    pub fn says(&self, signal: &str) -> bool {
        let body = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        let start = memchr::memrchr_iter(b'\n', body).nth(LINES - 1).map_or(0, |end| end + 1);
        lines_with(&body[start..], signal.as_bytes()).any(|line| match TranscriptLine::read(line) {
            Some(line) => line.spoken().is_some_and(|message| message.says(signal)),
            // A broken JSON line has no words; a line that is no JSON is plain text.
            None => line.trim_ascii() == signal.as_bytes(),
        })
    }

    /// Asks `read` for each line with a text, newest first, within the last 500 lines.
    pub fn find_text<T>(&self, read: impl FnMut(&[u8]) -> Option<T>) -> Option<T> {
        let lines = self.bytes.rsplit(|byte| *byte == b'\n').take(LINES);
        let mut texts = lines.filter(|line| memmem::find(line, br#""text""#).is_some());
        texts.find_map(read)
    }
}

fn read_between(file: &mut File, start: u64, end: u64) -> Option<Vec<u8>> {
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::with_capacity((end - start) as usize);
    file.take(end - start).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
#[path = "tail_tests.rs"]
mod tail_tests;
