//! Standard input, read as it comes and never waited for longer than wanted.
//!
//! This system cannot say of every kind of input whether there is something to read: a thread reads it and hands it on.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};

use crate::world::Deadline;

/// How much is read at once, in bytes.
const PIECE: usize = 64 << 10;
/// How many pieces are read ahead.
const AHEAD: usize = 4;

/// Standard input.
pub struct StandardInput {
    pieces: Receiver<io::Result<Vec<u8>>>,
    /// What was handed on and not yet read; an empty piece is the end.
    next: Option<io::Result<Vec<u8>>>,
}

impl StandardInput {
    /// Returns the one of this process.
    pub fn of_this_process() -> Self {
        let (hand_on, pieces) = sync_channel(AHEAD);
        let reader = move || {
            let mut stdin = io::stdin();
            loop {
                let mut piece = vec![0; PIECE];
                let read = stdin.read(&mut piece).map(|count| {
                    piece.truncate(count);
                    piece
                });
                let is_last = match &read {
                    Ok(piece) => piece.is_empty(),
                    Err(error) => error.kind() != io::ErrorKind::Interrupted,
                };
                if hand_on.send(read).is_err() || is_last {
                    return;
                }
            }
        };
        // Without a thread there is nothing to read.
        let _ = std::thread::Builder::new().spawn(reader);
        Self { pieces, next: None }
    }

    /// Waits until there is something to read or the caller has closed its end; `false` at the limit.
    pub fn is_readable(&mut self, deadline: Deadline) -> bool {
        if self.next.is_none() {
            self.next = match self.pieces.recv_timeout(deadline.left()) {
                Ok(piece) => Some(piece),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => Some(Ok(Vec::new())),
            };
        }
        self.next.is_some()
    }

    /// Adds what there is to read, at most `most` bytes of it, and returns how much that was: 0 at the end. Waits where
    /// there is nothing.
    pub fn read(&mut self, most: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let next = self.next.take().or_else(|| self.pieces.recv().ok());
        let mut piece = next.unwrap_or_else(|| Ok(Vec::new()))?;
        let count = piece.len().min(most);
        bytes.extend_from_slice(&piece[..count]);
        if piece.is_empty() || count < piece.len() {
            piece.drain(..count);
            self.next = Some(Ok(piece));
        }
        Ok(count)
    }
}
