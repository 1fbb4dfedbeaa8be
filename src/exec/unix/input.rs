//! The unwritten part of a program's standard input: the program takes it at its own pace.

use std::io::{self, PipeReader, PipeWriter, Write};

/// The most unread input, in bytes.
const MOST_WAITING: usize = 256 << 20;

#[derive(Debug)]
pub struct PendingInput {
    pub pipe: PipeWriter,
    bytes: Vec<u8>,
    written: usize,
    /// More may come.
    pub stays: bool,
}

impl PendingInput {
    /// Also returns the program's end of the pipe.
    pub fn of(bytes: Vec<u8>) -> io::Result<(Self, PipeReader)> {
        let (reader, pipe) = io::pipe()?;
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok((Self { pipe, bytes, written: 0, stays: false }, reader))
    }

    /// Writes whatever the program takes now. `None` when all is written and no more comes, or the program closed its
    /// input.
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

    pub fn is_waiting(&self) -> bool {
        self.written < self.bytes.len()
    }

    /// `None` where the program has stopped reading. More may come if the input `stays`.
    pub fn add(mut self, bytes: &[u8], stays: bool) -> Option<Self> {
        let waiting = self.bytes.len() - self.written;
        if waiting + bytes.len() > MOST_WAITING {
            return None;
        }
        self.bytes.extend_from_slice(bytes);
        self.stays = stays;
        self.go_on()
    }
}
