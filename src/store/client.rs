//! The process of a session's client, as it was seen when the session armed a loop or came back to one: whether it
//! lives says whether the session does.

use std::io;

use serde::{Deserialize, Serialize};

use super::loops::{Loops, is_session_id};
use super::notes::{load_whole, save};
use super::read::below;
use crate::world::WallTime;

/// The name of the file in the session's folder.
const CLIENT: &str = "client.json";

/// The process of a session's client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientProcess {
    /// Its id.
    pub id: u32,
    /// When it was started, as the system counts; 0 where it does not say.
    pub start: u64,
    /// Where its id means something.
    pub space: String,
    /// When it was seen.
    pub at: WallTime,
}

impl Loops {
    /// Returns the process of a session's client, `None` where nobody has seen it.
    pub fn client(&self, session: &str) -> Option<ClientProcess> {
        let path = is_session_id(session).then(|| below(self.folder(), &[session, CLIENT]))?;
        load_whole(&path).ok().flatten()
    }

    /// Notes the process of a session's client; `None` takes back what was noted.
    pub fn note_client(&self, session: &str, client: Option<&ClientProcess>) -> io::Result<()> {
        let path = below(self.folder(), &[session, CLIENT]);
        match client {
            Some(client) => save(&path, client),
            None => std::fs::remove_file(path),
        }
    }
}
