//! The summary of a change's last run, kept to be read again.

use std::io;
use std::path::Path;

use anstream::adapter::strip_str;
use serde_json::{Value, json};

use crate::forms::Versioned;
use crate::forms::events::{EventForm, RunnerEvent};
use crate::mask::masked_text;
use crate::store::read::{self, Problem};
use crate::store::write::{Flush, write_private};
use crate::text;

/// Its file in the state folder.
pub const KEPT: &str = "summary.json";
/// Bytes read of the file.
const MOST: u64 = 4 << 20;
/// Lines that are shown.
const LINES: usize = 24;

#[derive(Clone, Debug)]
pub struct KeptSummary {
    /// The start of the run, as in its state.
    pub run_started_at: String,
    /// The last line of `spool ralph --json` for the run.
    pub event: Value,
}

/// Keeps the end's words about the run that was started at this time.
pub fn keep(folder: &Path, run: &str, event: &RunnerEvent, words: &str) -> io::Result<()> {
    let words = masked_text(&strip_str(words).to_string()).into_owned();
    let event = Versioned::of(EventForm::now(event.clone(), words));
    let kept = json!({ "run_started_at": run, "event": event });
    write_private(&folder.join(KEPT), masked_text(&kept.to_string()).as_bytes(), Flush::ToSystem)
}

impl KeptSummary {
    /// The summary of the last run that ended; `None` for none. An error if it cannot be read.
    pub fn of(folder: &Path) -> Result<Option<Self>, Problem> {
        let bytes = match read::read(&folder.join(KEPT), MOST) {
            Ok(found) => found.bytes,
            Err(Problem::Missing) => return Ok(None),
            Err(problem) => return Err(problem),
        };
        let mut kept: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let run_started_at = kept["run_started_at"].as_str().unwrap_or_default().to_owned();
        let event = kept["event"].take();
        Ok(event.is_object().then_some(Self { run_started_at, event }))
    }

    /// At most 24 lines for a person.
    pub fn text(&self) -> String {
        let words = text::block(self.event["words"].as_str().unwrap_or_default()).into_owned();
        let lines: Vec<&str> = words.lines().collect();
        let mut shown: Vec<String> = lines.iter().copied().take(LINES).map(str::to_owned).collect();
        if lines.len() > LINES {
            shown.truncate(LINES - 1);
            shown.push(format!("       … and {} more lines: add --json", lines.len() + 1 - LINES));
        }
        shown.join("\n") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_summary_fits_24_lines() {
        let folder = tempfile::tempdir().unwrap();
        assert!(KeptSummary::of(folder.path()).unwrap().is_none());
        let words = "\u{1b}[32mralph: done\u{1b}[0m\n       a \u{7}line\n".to_owned();
        let long = format!("{words}{}", "       more\n".repeat(40));
        keep(folder.path(), "now", &RunnerEvent::Paused, &long).unwrap();
        let kept = KeptSummary::of(folder.path()).unwrap().unwrap();
        let text = kept.text();
        assert_eq!((kept.run_started_at.as_str(), text.lines().count()), ("now", 24), "{text}");
        assert!(text.starts_with("ralph: done\n       a line\n"), "{text:?}");
        assert!(text.ends_with("\n       … and 19 more lines: add --json\n"), "{text}");
        std::fs::write(folder.path().join(KEPT), "[torn").unwrap();
        assert!(KeptSummary::of(folder.path()).unwrap().is_none());
    }
}
