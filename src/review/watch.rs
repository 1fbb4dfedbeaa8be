//! Watches a reader: its lines go to their reader, and the limits of a review end the run.

use crate::runner::allowance::Allowance;
use crate::runner::harness::{OutputReader, Stream};
use crate::runner::process::{Control, Watcher};
use crate::runner::signals::Signals;

/// Why a review ended early, besides its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// More tokens or money than allowed.
    Tokens,
    /// More output than allowed.
    Output,
    Signal(i32),
}

pub struct ReviewWatch<'a> {
    pub reader: &'a mut dyn OutputReader,
    /// Signals to this process.
    pub signals: &'a Signals,
    /// The allowed tokens and money.
    pub allowance: Allowance<'a>,
    /// Allowed bytes of output.
    pub output: u64,
    /// Bytes of output so far.
    pub printed: u64,
    pub halt: Option<Halt>,
}

impl Watcher for ReviewWatch<'_> {
    fn printed(&mut self, bytes: usize) -> Control {
        self.printed = self.printed.saturating_add(bytes as u64);
        if self.printed > self.output {
            self.halt = self.halt.or(Some(Halt::Output));
            return Control::End;
        }
        Control::GoOn
    }

    fn line(&mut self, stream: Stream, line: &[u8]) -> Control {
        let mut watch = Control::GoOn;
        let mut heard = |event| watch = watch.then(Control::of(&event));
        self.reader.line(stream, line, &mut heard);
        if self.allowance.is_passed_after_line(self.reader.so_far()) {
            self.halt = self.halt.or(Some(Halt::Tokens));
        }
        if self.halt.is_some() { watch.then(Control::End) } else { watch }
    }

    fn moment(&mut self) -> Control {
        if let Some(signal) = self.signals.asked() {
            self.halt = self.halt.or(Some(Halt::Signal(signal)));
        }
        match self.halt {
            Some(_) if self.signals.hurry() => Control::Kill,
            Some(_) => Control::End,
            None => Control::GoOn,
        }
    }
}
