//! A claim: which session drives a feature. A closed one is a tombstone that only arming lifts.

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

/// Which session drives a feature.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Claim {
    /// Version of this file's form.
    pub version: u32,
    /// The session, or `None` when it was armed from a terminal: the first one that stops takes it.
    pub session: Option<String>,
    /// The feature.
    pub about: String,
    /// Its folder, relative to the project.
    pub folder: String,
    /// When it was armed.
    pub armed_at: WallTime,
    /// How it was armed; the pin of what a person armed may be somewhere else.
    #[serde(skip_serializing_if = "is_default")]
    pub armed_by: ArmedBy,
    /// How long the repository's log of its head was then, in bytes; `None` where nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commits_from: Option<u64>,
    /// The hash of the last line that this log had then; 0 for none, and where nobody looked.
    #[serde(skip_serializing_if = "is_default")]
    pub commits_line: u64,
    /// The name of the terminal reason, or `None` while the loop lives.
    pub closed: Option<EndName>,
    /// Why it ended, in plain words.
    pub words: String,
    /// The terminal reason of an end outside of a stop: where it did not reach the session's record, the next
    /// stop writes it there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<TerminalReason>,
    /// Fields of another version, kept.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

read_fields!(Claim {
    version, session, about, folder, armed_at, armed_by, commits_from, commits_line, closed, words, reason,
} kept more);

/// A session that stopped and was allowed to, because the loop of the feature is another session's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LetGo {
    /// The session that stopped.
    pub session: String,
    /// The feature.
    pub about: String,
    /// The session that drives it.
    pub owner: String,
    /// When it was allowed to stop for the first time.
    pub at: WallTime,
}

read_fields!(LetGo { session, about, owner, at });

/// The path of the claim on a feature below the folder of the loops; an error when the name cannot
/// name a file.
pub(super) fn claim_path(loops: &Path, feature: &str) -> io::Result<PathBuf> {
    // Names come out of files, too: only one that names nothing but a file is taken.
    if Path::new(feature).file_name() != Some(feature.as_ref()) {
        return Err(io::Error::other("the feature's name cannot name a file"));
    }
    Ok(below(loops, &["claims", &[feature, ".json"].concat()]))
}

/// The claim on a feature as it is noted, `None` where there is none; an error for one that cannot be opened.
pub(super) fn noted_claim(loops: &Path, feature: &str) -> io::Result<Option<Claim>> {
    // A name that cannot name a file has no claim.
    claim_path(loops, feature).map_or(Ok(None), |path| load_whole(&path))
}

/// The claim on a feature, as its open pin has it.
pub(super) fn read_claim(loops: &Path, feature: &str) -> io::Result<Option<Claim>> {
    noted_claim(loops, feature).map(|noted| as_armed(loops, feature, noted))
}

/// The claim on a feature as its open pin has it, whatever the note in the project says; the note alone
/// where no person armed the loop.
pub(super) fn as_armed(loops: &Path, feature: &str, noted: Option<Claim>) -> Option<Claim> {
    let root = loops.ancestors().nth(2).unwrap_or(loops);
    if !Pins::has(root, PinKey::Feature(feature)) {
        return noted;
    }
    let PinState::Armed(pin) = PinState::of_feature(root, feature) else { return noted };
    Some(Claim::held(noted, &pin))
}

impl Claim {
    /// The claim on the loop of an open pin; what only the note knows stays.
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

    /// Whether the loop lives in another session than this one.
    pub fn is_of_other(&self, session: &str) -> bool {
        self.closed.is_none() && self.session.as_ref().is_some_and(|owner| owner != session)
    }
}
