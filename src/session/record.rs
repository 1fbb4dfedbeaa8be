//! A new record of a loop.

use std::path::Path;

use crate::store::loops::{Claim, Record};
use crate::store::names::{ArmedBy, LoopKind};
use crate::store::read;

/// A record with an empty ledger for a claim; lines of the transcript so far are not of this loop.
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

/// Empty for none.
pub fn path_of(transcript: Option<&Path>) -> String {
    transcript.and_then(Path::to_str).unwrap_or_default().to_owned()
}

/// In bytes; 0 for a missing file.
pub fn length_of(transcript: &Path) -> u64 {
    read::open(transcript).map(|(_, meta)| meta.len()).unwrap_or_default()
}
