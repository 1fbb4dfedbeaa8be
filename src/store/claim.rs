//! A claim says which session drives a feature. A closed claim is a tombstone: only arming lifts it.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};

use super::names::{ArmedBy, EndName};
use super::notes::load_whole;
use super::pins::{Pin, PinKey, PinState, Pins};
use super::read::below;
use crate::engine::TerminalReason;
use crate::engine::fields::{is_default, read_fields};
use crate::world::WallTime;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Claim {
    /// Version of this file's form.
    pub version: u32,
    /// `None` if the loop was armed in a terminal: the first session that stops takes the loop.
    pub session: Option<String>,
    pub about: String,
    /// The feature's folder, relative to the project.
    pub folder: String,
    pub armed_at: WallTime,
    /// The pin of a person's arming may say something else, and then counts.
    #[serde(skip_serializing_if = "is_default")]
    pub armed_by: ArmedBy,
    /// Bytes of the repository's log of its head at arming; `None` if nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commits_from: Option<u64>,
    /// Hash of the last line of that log; 0 for none, or if nobody looked.
    #[serde(skip_serializing_if = "is_default")]
    pub commits_line: u64,
    /// `None` while the loop lives.
    pub closed: Option<EndName>,
    /// Why the loop ended, in plain words.
    pub words: String,
    /// Set for an end outside of a stop. The next stop writes it into the session's record, if it is not there yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<TerminalReason>,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

read_fields!(Claim {
    version, session, about, folder, armed_at, armed_by, commits_from, commits_line, closed, words, reason,
} kept more);

/// A session that was let go at a stop, because another session drives the feature.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LetGo {
    pub session: String,
    pub about: String,
    /// The session that drives the feature.
    pub owner: String,
    /// The first time.
    pub at: WallTime,
}

read_fields!(LetGo { session, about, owner, at });

/// An error if the feature's name cannot name a file.
pub(super) fn claim_path(loops: &Path, feature: &str) -> io::Result<PathBuf> {
    // Names come out of files, too: only a plain file name is taken.
    if Path::new(feature).file_name() != Some(feature.as_ref()) {
        return Err(io::Error::other("the feature's name cannot name a file"));
    }
    Ok(below(loops, &["claims", &[feature, ".json"].concat()]))
}

/// The claim by the note in the project, `None` for none; an error if the note cannot be opened.
pub(super) fn noted_claim(loops: &Path, feature: &str) -> io::Result<Option<Claim>> {
    claim_path(loops, feature).map_or(Ok(None), |path| load_whole(&path))
}

/// The claim, corrected by the open pin.
pub(super) fn read_claim(loops: &Path, feature: &str) -> io::Result<Option<Claim>> {
    noted_claim(loops, feature).map(|noted| as_armed(loops, feature, noted))
}

/// Corrects the note in the project by the open pin. Without a pin, no person armed the loop, and the note alone
/// counts.
pub(super) fn as_armed(loops: &Path, feature: &str, noted: Option<Claim>) -> Option<Claim> {
    let root = loops.ancestors().nth(2).unwrap_or(loops);
    if !Pins::has(root, PinKey::Feature(feature)) {
        return noted;
    }
    let PinState::Armed(pin) = PinState::of_feature(root, feature) else { return noted };
    Some(Claim::held(noted, &pin))
}

impl Claim {
    /// The claim by an open pin, with the fields that only the note has.
    pub fn held(noted: Option<Self>, pin: &Pin) -> Self {
        Self {
            session: Some(pin.session.clone()).filter(|session| !session.is_empty()),
            about: pin.about.clone(),
            folder: pin.feature_folder().to_owned(),
            armed_at: pin.armed_at,
            armed_by: pin.armed_by.clone(),
            closed: None,
            reason: None,
            words: String::new(),
            ..noted.unwrap_or_default()
        }
    }

    /// The loop lives, in another session.
    pub fn is_of_other(&self, session: &str) -> bool {
        self.closed.is_none() && self.session.as_ref().is_some_and(|owner| owner != session)
    }
}
