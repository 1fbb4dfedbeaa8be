//! What still has to go into a program's standard input: written as it takes it, never waited for.

use std::io::{self, PipeReader, PipeWriter, Write};

/// The most that waits for a program to read it, in bytes.
const MOST_WAITING: usize = 256 << 20;

/// What still has to go into a program's standard input.
#[derive(Debug)]
pub struct PendingInput {
    /// The end that stays here.
    pub pipe: PipeWriter,
    bytes: Vec<u8>,
    written: usize,
    /// Whether more may come.
    pub stays: bool,
}

impl PendingInput {
    /// Returns what is to go into a program, nothing of it written yet, and the end that the program reads from.
    pub fn of(bytes: Vec<u8>) -> io::Result<(Self, PipeReader)> {
        let (reader, pipe) = io::pipe()?;
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok((Self { pipe, bytes, written: 0, stays: false }, reader))
    }

    /// Writes what the program takes now and returns what is left to do, `None` for nothing: all is
    /// written and no more comes, or it has closed its standard input.
    pub fn go_on(mut self) -> Option<Self> {
        while self.written < self.bytes.len() {
            match self.pipe.write(&self.bytes[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Some(self),
                Err(_) => return None,
            }
        }
        if !self.stays {
            return None;
        }
        (self.bytes, self.written) = (Vec::new(), 0);
        Some(self)
    }

    /// Takes in that no more comes.
    pub fn close(mut self) -> Option<Self> {
        self.stays = false;
        self.go_on()
    }

    /// Returns whether something waits for the program to read it.
    pub fn is_waiting(&self) -> bool {
        self.written < self.bytes.len()
    }

    /// Takes in more; `None` where the program has stopped reading.
    pub fn add(mut self, bytes: &[u8]) -> Option<Self> {
        let waiting = self.bytes.len() - self.written;
        if waiting + bytes.len() > MOST_WAITING {
            return None;
        }
        self.bytes.extend_from_slice(bytes);
        self.go_on()
    }
}
