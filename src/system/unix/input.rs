//! Standard input, with a limit on each wait.

use std::io::{self, BufRead, StdinLock};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::world::Deadline;

pub struct StandardInput(StdinLock<'static>);

impl StandardInput {
    pub fn of_this_process() -> Self {
        Self(io::stdin().lock())
    }

    /// Waits for input or its end; `false` at the limit.
    pub fn is_readable(&mut self, deadline: Deadline) -> bool {
        loop {
            let mut wanted = [PollFd::new(&self.0, PollFlags::IN)];
            let left = deadline.left();
            let limit = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(0),
                tv_nsec: left.subsec_nanos().into(),
            };
            match poll(&mut wanted, Some(&limit)) {
                Err(Errno::INTR) if !deadline.is_over() => {}
                ready => return ready.is_ok_and(|count| count > 0),
            }
        }
    }

    /// Adds at most `most` bytes and returns their number: 0 at the end. Waits for input.
    pub fn read(&mut self, most: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let read = self.0.fill_buf()?;
        let count = read.len().min(most);
        bytes.extend_from_slice(&read[..count]);
        self.0.consume(count);
        Ok(count)
    }
}
