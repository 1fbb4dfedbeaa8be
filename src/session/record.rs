//! A new record of a loop.

use std::path::Path;

use crate::store::loops::Record;
use crate::store::names::{ArmedBy, LoopKind};
use crate::store::pins::Pin;
use crate::store::read;

/// A record for a pin with an empty ledger; what the transcript holds by now is not its own.
pub fn new_record(pin: &Pin, session: &str, by: &ArmedBy, transcript: Option<&Path>) -> Record {
    let length = transcript.map_or(0, length_of);
    Record {
        kind: LoopKind::Feature,
        session: session.to_owned(),
        about: pin.about.clone(),
        folder: pin.feature_folder().to_owned(),
        armed_at: pin.armed_at,
        armed_by: by.clone(),
        transcript_from: length,
        transcript_read: length,
        transcript: path_of(transcript),
        commits_read: pin.commits_from.unwrap_or_default(),
        commits_line: pin.commits_line,
        ..Record::default()
    }
}

/// Empty for none.
pub fn path_of(transcript: Option<&Path>) -> String {
    transcript.and_then(Path::to_str).unwrap_or_default().to_owned()
}

/// In bytes; 0 for a missing file.
pub fn length_of(transcript: &Path) -> u64 {
    read::open(transcript).map(|(_, meta)| meta.len()).unwrap_or_default()
}
