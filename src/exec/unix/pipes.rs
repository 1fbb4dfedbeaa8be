//! The pipes to a running program: read as it comes, written as it takes, never waited for.

use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::input::PendingInput;
use crate::exec::{Outputs, Source};

/// How much is read at once, in bytes.
const PIECE: usize = 64 << 10;
/// How often the pipe of an ended program is read: more often than a pipe holds pieces.
const MOST_READS: usize = 64;

/// The ends that the program gets.
#[derive(Debug)]
pub struct Writers {
    /// Its standard output.
    pub output: PipeWriter,
    /// Its standard error.
    pub errors: PipeWriter,
}

/// The ends that stay here.
#[derive(Debug)]
pub struct Pipes {
    open: Vec<(Source, PipeReader)>,
    feed: Option<PendingInput>,
    piece: Vec<u8>,
}

impl Pipes {
    /// Returns the pipes for these outputs; an error when the system gives none.
    pub fn of(outputs: Outputs) -> io::Result<(Self, Option<Writers>)> {
        let pipes = |open| Self { open, feed: None, piece: vec![0; PIECE] };
        if outputs == Outputs::Inherited {
            return Ok((pipes(Vec::new()), None));
        }
        let (output, output_writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&output, true)?;
        let mut open = vec![(Source::Output, output)];
        let errors_writer = if outputs == Outputs::Together {
            output_writer.try_clone()?
        } else {
            let (errors, errors_writer) = io::pipe()?;
            rustix::io::ioctl_fionbio(&errors, true)?;
            open.push((Source::Errors, errors));
            errors_writer
        };
        Ok((pipes(open), Some(Writers { output: output_writer, errors: errors_writer })))
    }

    /// Takes what is to go into the program and returns the end that it reads from, `None` for nothing.
    pub fn feed(&mut self, bytes: Vec<u8>) -> io::Result<Option<PipeReader>> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let (input, reader) = PendingInput::of(bytes)?;
        self.feed = Some(input);
        Ok(Some(reader))
    }

    /// The outputs that are still open.
    pub fn open(&self) -> impl Iterator<Item = &PipeReader> {
        self.open.iter().map(|(_, pipe)| pipe)
    }

    /// Waits until something happens, for `patience` at most, and reads and writes what can be; returns whether something
    /// happened to `other`. An output that is at its end hands on an empty piece.
    pub fn turn(
        &mut self,
        other: Option<BorrowedFd<'_>>,
        patience: Duration,
        take: &mut dyn FnMut(Source, &[u8]),
    ) -> bool {
        let patience = Timespec::try_from(patience).ok();
        let mut wanted: Vec<PollFd<'_>> =
            self.open.iter().map(|(_, pipe)| PollFd::new(pipe, PollFlags::IN)).collect();
        wanted.extend(self.feed.iter().map(|feed| PollFd::new(&feed.pipe, PollFlags::OUT)));
        wanted.extend(other.map(|other| PollFd::from_borrowed_fd(other, PollFlags::IN)));
        // Being interrupted is something that happens.
        let polled = poll(&mut wanted, patience.as_ref()).is_ok();
        let other = other.and(wanted.pop()).is_some_and(|other| !other.revents().is_empty());
        drop(wanted);
        self.read_once(take);
        self.feed = self.feed.take().and_then(PendingInput::go_on);
        polled && other
    }

    /// Reads what an ended program has left; what one that escaped still writes is not
    /// waited for.
    pub fn take_the_rest(&mut self, take: &mut dyn FnMut(Source, &[u8])) {
        for _ in 0..MOST_READS {
            if !self.read_once(take) {
                return;
            }
        }
    }

    /// Reads one piece of each output; returns whether there was any.
    fn read_once(&mut self, take: &mut dyn FnMut(Source, &[u8])) -> bool {
        let (mut any, piece) = (false, &mut self.piece);
        self.open.retain_mut(|(source, pipe)| match pipe.read(piece) {
            Ok(0) => {
                take(*source, &[]);
                false
            }
            Ok(count) => {
                any = true;
                take(*source, &piece[..count]);
                true
            }
            Err(error) => {
                matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
            }
        });
        any
    }
}
