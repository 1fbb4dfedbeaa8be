//! The record of a loop as it begins.

use std::path::Path;

use crate::store::loops::{Claim, Record};
use crate::store::names::{ArmedBy, LoopKind};
use crate::store::read;

/// A record for a claim with an empty ledger; what the transcript holds by now is not its own.
pub fn new_record(claim: &Claim, session: &str, by: &ArmedBy, transcript: Option<&Path>) -> Record {
    let length = transcript.map_or(0, length_of);
    Record {
        kind: LoopKind::Feature,
        session: session.to_owned(),
        about: claim.about.clone(),
        folder: claim.folder.clone(),
        armed_at: claim.armed_at,
        armed_by: by.clone(),
        transcript_from: length,
        transcript_read: length,
        transcript: path_of(transcript),
        commits_read: claim.commits_from.unwrap_or_default(),
        commits_line: claim.commits_line,
        ..Record::default()
    }
}

/// A transcript's path as a record keeps it, empty for none.
pub fn path_of(transcript: Option<&Path>) -> String {
    transcript.and_then(Path::to_str).unwrap_or_default().to_owned()
}

/// How long a transcript is, in bytes, 0 when there is none.
pub fn length_of(transcript: &Path) -> u64 {
    read::open(transcript).map(|(_, meta)| meta.len()).unwrap_or_default()
}
