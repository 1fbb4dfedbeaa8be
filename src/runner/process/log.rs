//! The log of one run: both outputs, with keys masked, up to a bound.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Seek, Write};

use crate::mask::Masker;
use crate::store::write::is_full;
use crate::text::counted;

/// Bytes of a run's beginning.
pub const BEGINNING: u64 = 64 << 20;
/// Bytes of a run's end behind a full beginning.
pub const END: usize = 1 << 20;

/// The log of one run: the first 64 MiB as they come, and at the end the last MiB.
#[derive(Debug)]
pub struct Log<'a> {
    file: &'a mut File,
    room: u64,
    left_out: u64,
    end: VecDeque<u8>,
    /// The error after which nothing is written, and the bytes lost since.
    trouble: Option<(io::Error, u64)>,
    masker: Masker,
}

impl<'a> Log<'a> {
    /// Writes from the file's position on.
    pub fn new(file: &'a mut File) -> Self {
        Self {
            file,
            room: BEGINNING,
            left_out: 0,
            end: VecDeque::new(),
            trouble: None,
            masker: Masker::default(),
        }
    }

    /// Masks keys. A log that cannot be written does not stop a run.
    pub fn take(&mut self, piece: &[u8]) {
        let piece = self.masker.take(piece);
        self.keep(&piece);
    }

    fn keep(&mut self, piece: &[u8]) {
        let now = piece.len().min(usize::try_from(self.room).unwrap_or(usize::MAX));
        let (now, later) = piece.split_at(now);
        if !now.is_empty() {
            self.room -= now.len() as u64;
            self.write(now);
        }
        if later.is_empty() {
            return;
        }
        let later = if later.len() > END {
            let (skipped, last) = later.split_at(later.len() - END);
            self.left_out += skipped.len() as u64;
            last
        } else {
            later
        };
        let over = (self.end.len() + later.len()).saturating_sub(END);
        self.left_out += over as u64;
        self.end.drain(..over);
        self.end.extend(later);
    }

    /// Writes the end of a long log behind a line with the gap's size. Returns what is lost, in words.
    pub fn finish(mut self) -> Option<String> {
        let held = self.masker.finish();
        self.keep(&held);
        if self.left_out > 0 {
            let note = format!("\n[spool: {} bytes of output are left out here]\n", self.left_out);
            self.write(note.as_bytes());
        }
        let end = std::mem::take(&mut self.end);
        let (first, second) = end.as_slices();
        self.write(first);
        self.write(second);
        let (error, lost) = self.trouble?;
        let why = if is_full(&error) { "the disk was full".to_owned() } else { error.to_string() };
        let lost = counted(lost, "byte");
        // The disk may have room again.
        let _ = write!(self.file, "\n[spool: {lost} of output are missing here: {why}]\n");
        Some(format!("{lost} of output are missing: {why}"))
    }

    fn write(&mut self, piece: &[u8]) {
        let bytes = piece.len() as u64;
        if let Some((_, lost)) = &mut self.trouble {
            *lost += bytes;
            return;
        }
        let before = self.file.stream_position().unwrap_or_default();
        if let Err(error) = self.file.write_all(piece) {
            let after = self.file.stream_position().unwrap_or(before);
            self.trouble = Some((error, bytes.saturating_sub(after.saturating_sub(before))));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use super::*;

    fn written(pieces: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
        let mut file = tempfile::tempfile().unwrap();
        let mut log = Log::new(&mut file);
        for piece in pieces {
            log.take(&piece);
        }
        assert_eq!(log.finish(), None);
        let mut written = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut written).unwrap();
        written
    }

    #[test]
    fn fitting_bytes_stay_as_written() {
        assert_eq!(written([b"a\xff\n".to_vec(), b"b".to_vec()].into_iter()), b"a\xff\nb");
    }

    #[test]
    fn long_log_keeps_both_ends() {
        let mebibytes = 70_u8;
        let written = written((0..mebibytes).map(|letter| vec![letter; 1 << 20]));
        let (beginning, rest) = written.split_at(64 << 20);
        assert!(beginning.chunks(1 << 20).zip(0_u8..).all(|(piece, letter)| piece[0] == letter));
        let note = format!("\n[spool: {} bytes of output are left out here]\n", 5 << 20);
        let (said, end) = rest.split_at(note.len());
        assert_eq!(String::from_utf8_lossy(said), note);
        assert_eq!(end.len(), END);
        assert!(end.iter().all(|letter| *letter == mebibytes - 1));
    }
}
