//! The agent's own words in the last part of a transcript.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use memchr::{memchr, memchr_iter, memmem};

use super::line::{TranscriptLine, lines_with};
use crate::store::read;

/// What is normally read at most, in bytes.
pub const TAIL: u64 = 1 << 20;
/// The tail that is read when the normal one has fewer than [`FEW_LINES`] lines.
const LONG_TAIL: u64 = 4 << 20;
/// Lines in which a completion signal is looked for (spec 003, FR-6).
const LINES: usize = 500;
/// Lines that are looked at whatever their length (spec 003, FR-6).
const FEW_LINES: usize = 20;

/// The last part of a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptTail {
    bytes: Vec<u8>,
    /// Whether what was asked for begins before the tail.
    cut: bool,
}

impl TranscriptTail {
    /// Returns the tail after `from`, whole lines only, at most 1 MiB of it; `None` when
    /// there is no transcript to read.
    ///
    /// A file shorter than `from` is another one: it is read from its start.
    pub fn read(path: &Path, from: u64) -> Option<Self> {
        Self::read_at_most(path, from, TAIL)
    }

    /// Returns a tail with at least the last 20 lines, as long as 4 MiB hold them.
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

    /// Returns its lines that contain the needle.
    pub fn lines_with<'a>(&'a self, needle: &[u8]) -> impl Iterator<Item = &'a [u8]> {
        lines_with(&self.bytes, needle)
    }

    /// Returns the agent's last text in the last 500 lines, `None` when it wrote none there.
    pub fn last_text(&self) -> Option<String> {
        self.find_text(|line| TranscriptLine::read(line)?.spoken()?.content.last_text())
    }

    /// Returns whether the agent itself wrote `signal` alone on a line, in the last 500 lines.
    pub fn says(&self, signal: &str) -> bool {
        let body = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        let start = memchr::memrchr_iter(b'\n', body).nth(LINES - 1).map_or(0, |end| end + 1);
        lines_with(&body[start..], signal.as_bytes()).any(|line| match TranscriptLine::read(line) {
            Some(line) => line.spoken().is_some_and(|message| message.content.says(signal)),
            // A broken JSON line counts as no words; a line that is no JSON at all is plain text.
            None => line.trim_ascii() == signal.as_bytes(),
        })
    }

    /// Returns what `read` finds in the last of the last 500 lines with a text in which it finds something.
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
