//! The log of one run: its output from both streams without what looks like a key, with an upper bound.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};

use crate::mask::Masker;

/// The most of a run's beginning that is written, in bytes.
pub const BEGINNING: u64 = 64 << 20;
/// The most of a run's end that is written when the beginning is full, in bytes.
pub const END: usize = 1 << 20;

/// The log of one run. After the first 64 MiB only the last MiB is written, when the run has ended.
#[derive(Debug)]
pub struct Log<'a> {
    file: &'a mut File,
    room: u64,
    left_out: u64,
    end: VecDeque<u8>,
    trouble: Option<io::Error>,
    masker: Masker,
}

impl<'a> Log<'a> {
    /// Returns a log that goes into `file`, at its position.
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

    /// Takes in what came, without what looks like a key. A disk that is full does not stop a run.
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

    /// Writes the end of what was too long, with a line that says how much is missing before it, and
    /// returns the first error that kept something out of the file.
    pub fn finish(mut self) -> io::Result<()> {
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
        self.trouble.map_or(Ok(()), Err)
    }

    fn write(&mut self, piece: &[u8]) {
        if self.trouble.is_none() {
            self.trouble = self.file.write_all(piece).err();
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
        log.finish().unwrap();
        let mut written = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut written).unwrap();
        written
    }

    #[test]
    fn what_fits_is_written_as_it_came() {
        assert_eq!(written([b"a\xff\n".to_vec(), b"b".to_vec()].into_iter()), b"a\xff\nb");
    }

    #[test]
    fn of_what_is_too_long_the_beginning_and_the_end_are_kept_and_a_line_says_so() {
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
