//! The lines of a transcript: finding them, and the agent's words in one.

use memchr::{memchr, memmem, memrchr};
use serde::Deserialize;
use serde_json::Value;

use crate::engine::promise::stands_alone;
use crate::hosts::json::read_json;

/// Lines with the needle. Other lines cost almost nothing.
pub fn lines_with<'a>(bytes: &'a [u8], needle: &[u8]) -> impl Iterator<Item = &'a [u8]> {
    let finder = memmem::Finder::new(needle).into_owned();
    let mut at = 0;
    std::iter::from_fn(move || {
        let hit = at + finder.find(bytes.get(at..)?)?;
        let start = memrchr(b'\n', &bytes[..hit]).map_or(0, |end| end + 1);
        let end = memchr(b'\n', &bytes[hit..]).map_or(bytes.len(), |end| hit + end);
        at = end + 1;
        Some(&bytes[start..end])
    })
}

#[derive(Deserialize)]
pub struct TranscriptLine {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(rename = "isSidechain")]
    sidechain: Option<bool>,
    #[serde(rename = "isMeta")]
    meta: Option<bool>,
    #[serde(default)]
    pub timestamp: Value,
    message: Option<Message>,
}

#[derive(Deserialize)]
pub struct Message {
    /// A list of blocks or one text, else nothing.
    #[serde(default)]
    content: Value,
}

impl TranscriptLine {
    /// `None` for anything but a JSON object.
    pub fn read(line: &[u8]) -> Option<Self> {
        read_json(line)
    }

    /// The main agent's words; `None` for a line of anybody else.
    pub fn spoken(self) -> Option<Message> {
        let own = self.kind.as_deref() == Some("assistant")
            && self.sidechain != Some(true)
            && self.meta != Some(true);
        self.message.filter(|_| own)
    }
}

impl Message {
    fn texts(&self) -> impl DoubleEndedIterator<Item = &str> {
        let blocks = self.content.as_array().map(Vec::as_slice).unwrap_or_default();
        self.content
            .as_str()
            .into_iter()
            .chain(blocks.iter().filter_map(|block| block["text"].as_str()))
    }

    pub fn last_text(&self) -> Option<String> {
        self.texts().next_back().map(str::to_owned)
    }

    /// A text has this signal alone on a line.
    pub fn says(&self, signal: &str) -> bool {
        self.texts().any(|text| stands_alone(text, signal))
    }
}
