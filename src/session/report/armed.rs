//! The part of `spool status` about a live loop's arming.

use std::fmt::Write;
use std::path::Path;

use crate::engine::scope::in_runs;
use crate::engine::{Check, Converging};
use crate::feature::settings::{SETTINGS, Settings};
use crate::forms::loops::{ConvergeForm, LoopForm};
use crate::forms::plain::JsonTime;
use crate::notice::NOTICE_LIMIT;
use crate::session::messages::shortfall::hooks_in_words;
use crate::store::due::ExtensionHooks;
use crate::store::loops::Asked;
use crate::store::pins::PinState;
use crate::text::{self, rows, title};

/// When the loop was armed and by whom, which commands run, which hooks (`due`) have not run, and what has changed since;
/// each line with a line break.
pub fn lines(root: &Path, standing: &PinState, form: &LoopForm, due: &ExtensionHooks) -> String {
    let noted_at = form.armed_at.map(JsonTime::wall).unwrap_or_default();
    let armed_at = standing.pin().map_or(noted_at, |pin| pin.armed_at);
    let ago = || format!("{} ago, ", text::age(armed_at.age()));
    let when = if armed_at.is_known() { ago() } else { String::new() };
    let by = match standing {
        PinState::Armed(pin) => text::line(pin.armed_by.as_str()).into_owned(),
        PinState::Nobody => "nobody; no check and no Verify command is run for it".to_owned(),
        PinState::Lost(why) | PinState::Unknown(why) => {
            format!("whom is unknown, so no command is run for it: {}", text::line(why))
        }
    };
    let mut text = String::new();
    rows(&mut text, "Armed", [format!("{when}by {by}")]);
    let Some(pin) = standing.pin() else { return text };
    if let Some(Asked { tasks, words, optional, open_checklists, .. }) = pin.asked.as_deref() {
        rows(&mut text, "Only these tasks", [title(&in_runs(tasks), 300)]);
        rows(&mut text, "Words for the agent", [title(words, 300)]);
        rows(&mut text, "Optional tasks", optional.then_some("they count"));
        let open = "open when it was armed, as a person decided";
        rows(&mut text, "Checklists", open_checklists.then_some(open));
    }
    let check = |check: &Check| format!("{} ({})", title(&check.run, 300), check.terms());
    rows(&mut text, "Check", pin.checks.iter().map(check));
    if pin.verify > 0 {
        let what = text::counted(pin.verify as u64, "task");
        let list = text::line(&pin.list);
        let _ = writeln!(
            text,
            "  Verify commands of {what}, from {list} (`spool status --json` has them)"
        );
    }
    let (run, limit) = (title(pin.notify.trim(), 300), NOTICE_LIMIT.as_secs());
    let notice = format!("{run} (when it ends or needs you, within {limit} s)");
    rows(&mut text, "Notice", Some(notice).filter(|_| !pin.notify.is_empty()));
    rows(&mut text, "Protected", [title(&pin.protect.join(", "), 300)]);
    rows(&mut text, "Extension hooks still to run", [hooks_in_words(due)]);
    let converge = form.converge.as_ref().map(|ConvergeForm { command, rounds, passed }| {
        let passed = if *passed { ", and found nothing missing" } else { "" };
        format!("/{command} before the end, ran {rounds} of {} times{passed}", Converging::MOST)
    });
    rows(&mut text, "Converge", converge);
    let digest = Settings::read(root).map_or_else(|error| error.digest, |found| found.digest);
    if digest != pin.settings.hash {
        let _ = writeln!(
            text,
            "  Settings: {SETTINGS} changed since the loop was armed; what was armed then still holds"
        );
    }
    text
}
