//! The log of one run: both outputs, with keys masked, up to a bound.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};

use memchr::memchr;

use crate::mask::Masker;
use crate::store::write::is_full;
use crate::text::counted;

/// Bytes of a run's beginning.
pub const BEGINNING: u64 = 64 << 20;
/// Bytes of a run's end behind a full beginning.
pub const END: usize = 1 << 20;

/// Bytes that wait in memory while the disk is full.
const WAITING: usize = 4 << 20;

/// The log of one run: the first 64 MiB as they come, and at the end the last MiB. While the disk is full, up to 4 MiB
/// wait in memory.
#[derive(Debug)]
pub struct Log<'a> {
    file: &'a mut File,
    room: u64,
    left_out: u64,
    end: VecDeque<u8>,
    /// A lasting error, after which nothing is written.
    trouble: Option<io::Error>,
    /// Output that waits for room on the disk.
    waiting: Vec<u8>,
    /// Bytes lost behind `waiting`.
    missing: u64,
    /// Bytes lost in all.
    all_missing: u64,
    masker: Masker,
}

#[derive(Debug, Default)]
pub struct LogRest {
    /// The end, for which the disk had no room.
    pub waiting: Vec<u8>,
    /// What is lost, in words.
    pub lost: Option<String>,
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
            waiting: Vec::new(),
            missing: 0,
            all_missing: 0,
            masker: Masker::default(),
        }
    }

    /// Masks keys. A full disk does not stop a run.
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

    /// Writes the end of a long log behind a line with the gap's size. Returns what is not in the file.
    pub fn finish(mut self) -> LogRest {
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
        let gap = self.gap();
        self.waiting.extend_from_slice(&gap);
        let why = match &self.trouble {
            Some(error) => error.to_string(),
            None => "the disk was full".to_owned(),
        };
        let lost = self.all_missing;
        LogRest {
            waiting: self.waiting,
            lost: (lost > 0)
                .then(|| format!("{} of output are missing: {why}", counted(lost, "byte"))),
        }
    }

    /// Writes waiting output and this piece as far as the disk has room. What exceeds the waiting room is lost.
    fn write(&mut self, piece: &[u8]) {
        let mut piece = piece;
        self.write_waiting();
        if self.missing > 0 && self.waiting.is_empty() {
            // The log continues with a whole line.
            let line_end = memchr(b'\n', piece);
            let (skipped, rest) = piece.split_at(line_end.map_or(piece.len(), |end| end + 1));
            self.lose(skipped.len());
            piece = rest;
            if line_end.is_some() {
                self.waiting = self.gap();
                self.write_waiting();
            }
        }
        if self.trouble.is_none() && self.missing == 0 && self.waiting.is_empty() {
            let (written, result) = some_written(self.file, piece);
            piece = &piece[written..];
            self.note(result);
        }
        let room = match (&self.trouble, self.missing) {
            (None, 0) => WAITING.saturating_sub(self.waiting.len()).min(piece.len()),
            _ => 0,
        };
        self.waiting.extend_from_slice(&piece[..room]);
        self.lose(piece.len() - room);
    }

    fn write_waiting(&mut self) {
        if self.trouble.is_none() {
            let result = write_some(self.file, &mut self.waiting);
            self.note(result);
        }
    }

    /// A full disk may have room later; any other error lasts.
    fn note(&mut self, result: io::Result<()>) {
        if let Err(error) = result
            && !is_full(&error)
        {
            self.lose(self.waiting.len());
            self.waiting.clear();
            self.trouble = Some(error);
        }
    }

    fn lose(&mut self, bytes: usize) {
        self.missing += bytes as u64;
        self.all_missing += bytes as u64;
    }

    /// A line for the lost bytes; empty if there are none.
    fn gap(&mut self) -> Vec<u8> {
        match std::mem::take(&mut self.missing) {
            missing if missing > 0 && self.trouble.is_none() => format!(
                "\n[spool: {missing} bytes of output are missing here, the disk was full]\n"
            )
            .into(),
            _ => Vec::new(),
        }
    }
}

/// Removes written bytes from `bytes`; an error keeps the rest.
pub fn write_some(file: &mut File, bytes: &mut Vec<u8>) -> io::Result<()> {
    let (written, result) = some_written(file, bytes);
    bytes.drain(..written);
    result
}

/// The number of bytes that were written, and the error that stopped the rest.
fn some_written(file: &mut File, bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut written = 0;
    while written < bytes.len() {
        match file.write(&bytes[written..]) {
            Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (written, Err(error)),
        }
    }
    (written, Ok(()))
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
        let rest = log.finish();
        assert!(rest.waiting.is_empty() && rest.lost.is_none(), "{rest:?}");
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
