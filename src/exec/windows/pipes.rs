//! The pipes to a running program: threads read them as it comes, and write as it takes.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use crate::exec::{Outputs, Source};

/// How much is read at once, in bytes.
const PIECE: usize = 16 << 10;
/// How many pieces are read ahead.
const AHEAD: usize = 16;
/// How many pieces of an ended program are read: more than a pipe holds.
const MOST_READS: usize = 256;
/// How long the last piece of an ended program is waited for.
const LAST: Duration = Duration::from_millis(200);

/// The ends that the program gets.
pub struct Writers {
    /// Its standard output.
    pub output: PipeWriter,
    /// Its standard error.
    pub errors: PipeWriter,
}

/// What comes out of a program.
pub struct Pipes {
    pieces: Receiver<(Source, Vec<u8>)>,
}

impl Pipes {
    /// Returns the pipes for these outputs; an error when the system gives none.
    pub fn of(outputs: Outputs) -> io::Result<(Self, Writers)> {
        let (hand_on, pieces) = sync_channel(AHEAD);
        let (output, output_writer) = io::pipe()?;
        listen(Source::Output, output, hand_on.clone())?;
        let errors_writer = if outputs == Outputs::Together {
            output_writer.try_clone()?
        } else {
            let (errors, errors_writer) = io::pipe()?;
            listen(Source::Errors, errors, hand_on)?;
            errors_writer
        };
        Ok((Self { pieces }, Writers { output: output_writer, errors: errors_writer }))
    }

    /// Waits until something comes, for `patience` at most, and hands it on.
    pub fn turn(&mut self, patience: Duration, take: &mut dyn FnMut(Source, &[u8])) -> bool {
        let piece = self.pieces.recv_timeout(patience);
        if let Ok((source, piece)) = &piece {
            take(*source, piece);
        }
        piece.is_ok()
    }

    /// Hands on what an ended program has left; what one that escaped still writes is not waited for.
    pub fn take_the_rest(&mut self, take: &mut dyn FnMut(Source, &[u8])) {
        for _ in 0..MOST_READS {
            if !self.turn(LAST, take) {
                return;
            }
        }
    }
}

fn listen(
    source: Source,
    mut pipe: PipeReader,
    hand_on: SyncSender<(Source, Vec<u8>)>,
) -> io::Result<()> {
    let reader = move || {
        let mut piece = vec![0; PIECE];
        loop {
            match pipe.read(&mut piece) {
                Ok(0) => return,
                Ok(count) => {
                    if hand_on.send((source, piece[..count].to_vec())).is_err() {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    };
    std::thread::Builder::new().spawn(reader).map(drop)
}

/// Returns the end from which a program reads these bytes, `None` for nothing.
pub fn feed(bytes: Vec<u8>) -> io::Result<Option<PipeReader>> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let (reader, mut pipe) = io::pipe()?;
    // A program that has closed its standard input wants no more of it.
    std::thread::Builder::new().spawn(move || drop(pipe.write_all(&bytes)))?;
    Ok(Some(reader))
}
