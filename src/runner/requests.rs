//! A person's requests to a running loop from another terminal: stop, pause, resume.
//!
//! A request is a file in the state folder. The runner looks whether the file is there, and opens it only then.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::state::holder;
use crate::store::read;
use crate::store::write::{
    Flush, LEFT_ALONE, is_full, open_or_create, remove_all_leftovers, remove_if_there,
    write_private,
};
use crate::world::{self, WallTime};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunnerRequest {
    Stop,
    /// No further iteration begins until a [`Self::Resume`].
    Pause,
    Resume,
}

/// The requests to one change's loop.
#[derive(Clone, Debug)]
pub struct Requests {
    folder: PathBuf,
}

/// The content of a request's file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct RequestFile {
    /// The process of the runner that is meant; 0 for any runner.
    runner: u32,
    at: WallTime,
}

const STOP: &str = "stop";
const PAUSE: &str = "pause";

impl Requests {
    pub fn of(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Writes a request for the runner that works on the change now.
    pub fn ask(&self, request: RunnerRequest) -> io::Result<()> {
        match request {
            RunnerRequest::Stop => self.write(STOP),
            RunnerRequest::Pause => self.write(PAUSE),
            RunnerRequest::Resume => remove_if_there(&self.folder.join(PAUSE)),
        }
    }

    /// The request to this process, a stop before a pause. Without a request this costs two looks at names.
    pub fn pending(&self) -> Option<RunnerRequest> {
        if self.asked(STOP).is_some() {
            return Some(RunnerRequest::Stop);
        }
        self.asked(PAUSE).map(|_| RunnerRequest::Pause)
    }

    /// The time of the request to pause this process.
    pub fn paused(&self) -> Option<WallTime> {
        self.asked(PAUSE)
    }

    /// The time of a request to pause, for whichever process.
    pub fn pause_asked(&self) -> Option<WallTime> {
        read_asked(&self.folder.join(PAUSE)).map(|asked| asked.at)
    }

    /// Removes an obeyed request to stop.
    pub fn clear_stop(&self) {
        // A leftover does no harm: a new runner forgets it.
        let _ = remove_if_there(&self.folder.join(STOP));
    }

    /// Removes requests to a runner that is gone.
    pub(super) fn forget_all(&self) {
        self.clear_stop();
        let _ = remove_if_there(&self.folder.join(PAUSE));
    }

    fn write(&self, name: &str) -> io::Result<()> {
        let runner = holder(&self.folder)?.unwrap_or_default().pid;
        remove_all_leftovers(&self.folder, LEFT_ALONE);
        let bytes = serde_json::to_vec(&RequestFile { runner, at: world::now() })?;
        let path = self.folder.join(name);
        match write_private(&path, &bytes, Flush::ToSystem) {
            // The file's name alone asks, too, and a full disk has room for a name.
            Err(error) if is_full(&error) => {
                open_or_create(&path, File::options().write(true).truncate(true)).map(|_| ())
            }
            done => done,
        }
    }

    /// The time of the request; `None` for one to an earlier runner.
    fn asked(&self, name: &str) -> Option<WallTime> {
        let asked = read_asked(&self.folder.join(name))?;
        let meant = asked.runner == 0 || asked.runner == std::process::id();
        meant.then_some(asked.at)
    }
}

/// A file that somebody made by hand is meant for any runner.
fn read_asked(path: &Path) -> Option<RequestFile> {
    if !path.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        return None;
    }
    let content = read::read(path, 4096).ok()?;
    let asked: RequestFile = serde_json::from_slice(&content.bytes).unwrap_or_default();
    let at = if asked.at.is_known() { asked.at } else { content.changed_at };
    Some(RequestFile { at, ..asked })
}
