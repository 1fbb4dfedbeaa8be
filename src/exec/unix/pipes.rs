//! The pipes of a running program: neither reading nor writing ever waits.

use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::input::PendingInput;
use crate::exec::{Outputs, Source};

/// The most bytes of one read.
const PIECE: usize = 64 << 10;
/// How often an ended program's pipe is read: a pipe never holds more pieces.
const MOST_READS: usize = 64;

/// The program's ends.
#[derive(Debug)]
pub struct Writers {
    pub output: PipeWriter,
    pub errors: PipeWriter,
}

/// Our ends.
#[derive(Debug)]
pub struct Pipes {
    open: Vec<(Source, PipeReader)>,
    feed: Option<PendingInput>,
    piece: Vec<u8>,
}

impl Pipes {
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

    /// Gives the program this input by the returned end; `None` for empty input.
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

    /// Waits at most `patience` for an event, then reads and writes without waiting. Returns whether `other` had one.
    /// An empty piece marks the end of an output.
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
        // An interruption counts as an event.
        let polled = poll(&mut wanted, patience.as_ref()).is_ok();
        let other = other.and(wanted.pop()).is_some_and(|other| !other.revents().is_empty());
        drop(wanted);
        self.read_once(take);
        self.feed = self.feed.take().and_then(PendingInput::go_on);
        polled && other
    }

    /// Reads the rest of an ended program's output, without waiting for descendants that still write.
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
