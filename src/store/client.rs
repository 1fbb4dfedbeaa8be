//! The process of a session's client, as it was seen when the session armed a loop or came back to one: whether it
//! lives says whether the session does.

use std::io;

use super::loops::{Loops, is_session_id};
use super::read::{self, below};
use super::write::{Flush, write_private};
use crate::world::WallTime;

/// The name of the file in the session's folder.
const CLIENT: &str = "client";
/// The name of the file beside it that says how long the transcript was when a client took the session up.
const TAKEN_UP: &str = "taken-up";
/// The most that is read of each, in bytes.
const MOST: u64 = 4 << 10;

/// The process of a session's client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientProcess {
    /// Its id.
    pub id: u32,
    /// When it was started, as the system counts; 0 where it does not say.
    pub start: u64,
    /// When it was seen.
    pub at: WallTime,
    /// Where its id means something.
    pub space: String,
}

impl Loops {
    /// The process of a session's client, `None` where nobody has seen it.
    pub fn client(&self, session: &str) -> Option<ClientProcess> {
        let path = is_session_id(session).then(|| below(self.folder(), &[session, CLIENT]))?;
        let text = String::from_utf8(read::read(&path, MOST).ok()?.bytes).ok()?;
        let mut words = text.trim_end().splitn(4, ' ');
        let mut number = || words.next()?.parse::<u64>().ok();
        let (id, start) = (u32::try_from(number()?).ok()?, number()?);
        let at = WallTime::from_millis(number()?);
        Some(ClientProcess { id, start, at, space: words.next()?.to_owned() })
    }

    /// Notes the process of a session's client; `None` takes back what was noted.
    pub fn note_client(&self, session: &str, client: Option<&ClientProcess>) -> io::Result<()> {
        let path = below(self.folder(), &[session, CLIENT]);
        let Some(ClientProcess { id, start, at, space }) = client else {
            return std::fs::remove_file(path);
        };
        let line = format!("{id} {start} {at} {space}\n");
        write_private(&path, line.as_bytes(), Flush::ToSystem)
    }

    /// How long the transcript was when a client last took up a session that had a loop, 0 where none has.
    pub fn taken_up_at(&self, session: &str) -> u64 {
        let path = is_session_id(session).then(|| below(self.folder(), &[session, TAKEN_UP]));
        let file = path.and_then(|path| read::read(&path, MOST).ok());
        let text = file.and_then(|file| String::from_utf8(file.bytes).ok());
        text.and_then(|text| text.trim_end().parse().ok()).unwrap_or(0)
    }

    /// Notes how long the transcript is now that a client takes the session up.
    pub fn note_taken_up(&self, session: &str, length: u64) -> io::Result<()> {
        let path = below(self.folder(), &[session, TAKEN_UP]);
        write_private(&path, format!("{length}\n").as_bytes(), Flush::ToSystem)
    }
}
