//! The process of a session's client, seen when the session armed a loop or came back to one. While the process lives,
//! the session does.

use std::io;

use super::loops::{Loops, is_session_id};
use super::read::{self, below};
use super::write::{Flush, write_private};
use crate::world::WallTime;

/// In the session's folder.
const CLIENT: &str = "client";
/// Beside it: the transcript's length at the moment in which a client took the session up.
const TAKEN_UP: &str = "taken-up";
/// Bytes read of each.
const MOST: u64 = 4 << 10;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientProcess {
    pub id: u32,
    /// The start time as the system counts; 0 if unknown.
    pub start: u64,
    /// The time of the look.
    pub at: WallTime,
    /// The machine, and on Linux its space of process ids: elsewhere the id means another process.
    pub space: String,
}

impl Loops {
    /// `None` if the client was never seen.
    pub fn client(&self, session: &str) -> Option<ClientProcess> {
        let path = is_session_id(session).then(|| below(self.folder(), &[session, CLIENT]))?;
        let text = String::from_utf8(read::read(&path, MOST).ok()?.bytes).ok()?;
        let mut words = text.trim_end().splitn(4, ' ');
        let mut number = || words.next()?.parse::<u64>().ok();
        let (id, start) = (u32::try_from(number()?).ok()?, number()?);
        let at = WallTime::from_millis(number()?);
        Some(ClientProcess { id, start, at, space: words.next()?.to_owned() })
    }

    /// `None` removes the note.
    pub fn note_client(&self, session: &str, client: Option<&ClientProcess>) -> io::Result<()> {
        let path = below(self.folder(), &[session, CLIENT]);
        let Some(ClientProcess { id, start, at, space }) = client else {
            return std::fs::remove_file(path);
        };
        let line = format!("{id} {start} {at} {space}\n");
        write_private(&path, line.as_bytes(), Flush::ToSystem)
    }

    /// The transcript's length when a client last took up a session with a loop; 0 for never.
    pub fn taken_up_at(&self, session: &str) -> u64 {
        let path = is_session_id(session).then(|| below(self.folder(), &[session, TAKEN_UP]));
        let file = path.and_then(|path| read::read(&path, MOST).ok());
        let text = file.and_then(|file| String::from_utf8(file.bytes).ok());
        text.and_then(|text| text.trim_end().parse().ok()).unwrap_or(0)
    }

    pub fn note_taken_up(&self, session: &str, length: u64) -> io::Result<()> {
        let path = below(self.folder(), &[session, TAKEN_UP]);
        write_private(&path, format!("{length}\n").as_bytes(), Flush::ToSystem)
    }
}
