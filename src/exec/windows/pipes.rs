//! The pipes of a running program: threads read and write them.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use crate::exec::{Outputs, Source};

/// The most bytes of one read.
const PIECE: usize = 16 << 10;
const AHEAD: usize = 16;
/// How many pieces of an ended program are read: a pipe never holds more.
const MOST_READS: usize = 256;
/// How long the last piece of an ended program may take.
const LAST: Duration = Duration::from_millis(200);

/// The program's ends.
pub struct Writers {
    pub output: PipeWriter,
    pub errors: PipeWriter,
}

/// Our ends.
pub struct Pipes {
    pieces: Receiver<(Source, Vec<u8>)>,
}

impl Pipes {
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

    /// Waits for one piece, at most `patience`, and hands it on.
    pub fn turn(&mut self, patience: Duration, take: &mut dyn FnMut(Source, &[u8])) -> bool {
        let piece = self.pieces.recv_timeout(patience);
        if let Ok((source, piece)) = &piece {
            take(*source, piece);
        }
        piece.is_ok()
    }

    /// Hands on the rest of an ended program's output, without waiting for descendants that still write.
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

/// The program's end of a pipe with these bytes; `None` for empty input.
pub fn feed(bytes: Vec<u8>) -> io::Result<Option<PipeReader>> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let (reader, mut pipe) = io::pipe()?;
    // A program may close its standard input early.
    std::thread::Builder::new().spawn(move || drop(pipe.write_all(&bytes)))?;
    Ok(Some(reader))
}
