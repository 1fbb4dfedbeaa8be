//! Standard input, with a limit on each wait.
//!
//! This system does not tell for every kind of input whether there is any, so a thread reads it.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};

use crate::world::Deadline;

/// The most bytes of one read.
const PIECE: usize = 64 << 10;
const AHEAD: usize = 4;

pub struct StandardInput {
    pieces: Receiver<io::Result<Vec<u8>>>,
    /// The next piece; an empty one is the end.
    next: Option<io::Result<Vec<u8>>>,
}

impl StandardInput {
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
        // Without a thread there is no input.
        let _ = std::thread::Builder::new().spawn(reader);
        Self { pieces, next: None }
    }

    /// Waits for input or its end; `false` at the limit.
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

    /// Adds at most `most` bytes and returns their number: 0 at the end. Waits for input.
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
