//! The part of `spool status` about a live loop's arming.

use std::fmt::Write;
use std::path::Path;

use crate::engine::Converging;
use crate::feature::settings::{SETTINGS, Settings};
use crate::notice::NOTICE_LIMIT;
use crate::session::messages::shortfall::hooks_in_words;
use crate::store::loops::{Asked, Record};
use crate::store::pins::PinState;
use crate::text;
use crate::world::WallTime;

/// When the loop was armed and by whom, which commands run, which hooks have not run, and what has changed since; each
/// line with a line break. `armed_at` is the time in the notes.
pub fn lines(
    root: &Path,
    standing: &PinState,
    record: Option<&Record>,
    armed_at: WallTime,
) -> String {
    let armed_at = standing.pin().map_or(armed_at, |pin| pin.armed_at);
    let ago = || format!("{} ago, ", text::age(armed_at.age()));
    let when = if armed_at.is_known() { ago() } else { String::new() };
    let mut text = format!("  Armed: {when}by ");
    let pin = match standing {
        PinState::Armed(pin) => pin,
        PinState::Nobody => return text + "nobody; no check and no Verify command is run for it\n",
        PinState::Lost(why) | PinState::Unknown(why) => {
            let why = text::line(why);
            return format!("{text}whom is unknown, so no command is run for it: {why}\n");
        }
    };
    let _ = writeln!(text, "{}", text::line(pin.armed_by.as_str()));
    text.push_str(&pin.asked.as_deref().map(Asked::status_lines).unwrap_or_default());
    for check in &pin.checks {
        let run = text::title(&check.run, 300);
        let _ = writeln!(text, "  Check: {run} ({})", check.terms());
    }
    if pin.verify > 0 {
        let what = text::counted(pin.verify as u64, "task");
        let list = text::line(&pin.list);
        let _ = writeln!(
            text,
            "  Verify commands of {what}, from {list} (`spool status --json` has them)"
        );
    }
    if !pin.notify.is_empty() {
        let (run, limit) = (text::title(pin.notify.trim(), 300), NOTICE_LIMIT.as_secs());
        let _ = writeln!(text, "  Notice: {run} (when it ends or needs you, within {limit} s)");
    }
    if !pin.protect.is_empty() {
        let _ = writeln!(text, "  Protected: {}", text::title(&pin.protect.join(", "), 300));
    }
    let due = pin.hooks.left(&record.map(|record| record.hooks_ran.clone()).unwrap_or_default());
    if !due.is_empty() {
        let _ = writeln!(text, "  Extension hooks still to run: {}", hooks_in_words(&due));
    }
    if !pin.converge.is_empty() {
        let ran = record.map(|record| record.ledger.converging).unwrap_or_default();
        let (command, most) = (&pin.converge, Converging::MOST);
        let passed = if ran.passed { ", and found nothing missing" } else { "" };
        let ran = format!("ran {} of {most} times{passed}", ran.rounds);
        let _ = writeln!(text, "  Converge: /{command} before the end, {ran}");
    }
    let digest = Settings::read(root).map_or_else(|error| error.digest, |found| found.digest);
    if digest != pin.settings.hash {
        let _ = writeln!(
            text,
            "  Settings: {SETTINGS} changed since the loop was armed; what was armed then still holds"
        );
    }
    text
}
