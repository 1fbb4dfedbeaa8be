//! The lines of a transcript: finding them, and the agent's words in one.

use std::fmt;

use memchr::{memchr, memmem, memrchr};
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

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
    message: Option<Message>,
}

#[derive(Deserialize)]
pub struct Message {
    #[serde(default)]
    pub content: SpokenBlocks,
}

/// The blocks of a message: a list of blocks or one text, else nothing.
#[derive(Default)]
pub struct SpokenBlocks(Vec<Block>);

#[derive(Deserialize)]
struct Block {
    text: Option<String>,
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

impl SpokenBlocks {
    pub fn last_text(self) -> Option<String> {
        self.0.into_iter().rev().find_map(|block| block.text)
    }

    /// A text has this signal alone on a line.
    pub fn says(&self, signal: &str) -> bool {
        let mut texts = self.0.iter().filter_map(|block| block.text.as_deref());
        texts.any(|text| stands_alone(text, signal))
    }
}

impl<'de> Deserialize<'de> for SpokenBlocks {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(BlocksVisitor)
    }
}

/// Builds no tree of unwanted members.
struct BlocksVisitor;

impl<'de> Visitor<'de> for BlocksVisitor {
    type Value = SpokenBlocks;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a list of content blocks or a text")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<SpokenBlocks, E> {
        let block = Block { text: Some(text.to_owned()) };
        Ok(SpokenBlocks(vec![block]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<SpokenBlocks, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = items.next_element()? {
            blocks.push(block);
        }
        Ok(SpokenBlocks(blocks))
    }
}
