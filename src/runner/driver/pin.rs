//! What a person arms by starting `spool ralph`: the Verify commands that `spool task` may run for the agents, and the
//! rule for ticks.

use std::io;

use super::left::LeftRun;
use super::parts::Driver;
use crate::engine::Check;
use crate::engine::proof::LeastProof;
use crate::engine::tasks::Task;
use crate::evidence::task_list::{self, TASKS};
use crate::feature::project::{Feature, Project};
use crate::feature::requirements::specification;
use crate::judge::LOOK;
use crate::runner::options::Options;
use crate::runner::state::EarlierLoop;
use crate::runner::target::{Change, ChangeKind};
use crate::session::arm::feature::keep_specification;
use crate::session::pinned;
use crate::session::proof::{judge_of, list_of};
use crate::store::loops::VerifyCommands;
use crate::store::names::ArmedBy;
use crate::store::pins::{Pin, PinKey, Pins};
use crate::store::receipts::{Receipts, armed_specification};
use crate::system::names;
use crate::world::{self, WallTime};

/// The pin of a run; removed on drop.
pub(super) struct RunPin<'a> {
    change: &'a Change,
    /// The beginning of the run, or of the run that it continues.
    pub(super) armed_at: WallTime,
    /// Empty if they could not be kept.
    pub(super) commands: VerifyCommands,
    /// The time of arming for `spool task done`, if that can judge by the run's rule.
    pub(super) judged_since: Option<WallTime>,
    /// Lines that show the commands, or say that they cannot be kept; empty for none.
    pub(super) words: String,
}

/// Pins the Verify commands of a change's list, and for a feature the least proof of its tasks. `None` where there is
/// nothing to pin. A continued run pins what it began with.
pub(super) fn pin<'a>(
    change: &'a Change,
    options: &Options,
    left: Option<&LeftRun>,
) -> Option<RunPin<'a>> {
    let proof = options.settings.proof();
    let now = task_list::read(&change.folder).ok()?;
    let file = left.map_or(&now, |left| &*left.list);
    let command = |task: &Task| Some((task.id.clone(), task.verify_command(&file.bytes)?));
    let list = file.list.clone().with_optional(options.include_optional);
    let commands: VerifyCommands = list.tasks.iter().filter_map(command).collect();
    // Only a feature has `spool task`.
    let judges = proof == LeastProof::Files && change.kind == ChangeKind::SpecKit;
    if commands.is_empty() && !judges {
        return None;
    }
    let folder = change.folder.strip_prefix(&change.root).unwrap_or(&change.folder);
    let feature = Feature {
        name: change.id.clone(),
        folder: change.folder.clone(),
        relative: names::with_slashes(folder),
    };
    let armed_at = left.map_or_else(world::now, |left| left.run.began_at);
    let pin = Pin {
        about: change.id.clone(),
        armed_at,
        armed_by: ArmedBy::Runner,
        process: std::process::id(),
        list: format!("{}/{TASKS}", feature.relative),
        proof: if judges { proof } else { LeastProof::Word },
        protect: options.protect.clone(),
        checks: options.checks.clone(),
        verify: commands.len(),
        ..Pin::default()
    };
    let kept = Pins::of(&change.root)
        .and_then(|pins| pins.write(PinKey::Change(&change.id), &pin, &commands));
    // The look takes the commands from the pin: it includes the files that they run even where git ignores them.
    let contents = judges.then(|| match left {
        Some(_) => Ok(has_contents(change, &feature, &pin)),
        None => keep_contents(change, &feature, &pin, &file.bytes),
    });
    let mut words = match &kept {
        Ok(()) => pinned::shown(&[], "", &commands, &pin.list),
        Err(error) => format!("`spool task` runs no Verify command: {error}\n"),
    };
    let is_judged = contents.unwrap_or(Ok(false)).unwrap_or_else(|why| {
        words.push_str(&why);
        false
    });
    let judged_since = Some(armed_at).filter(|_| is_judged && kept.is_ok());
    let commands = if kept.is_ok() { commands } else { VerifyCommands::new() };
    let words = words.trim_end().to_owned();
    Some(RunPin { change, armed_at, commands, judged_since, words })
}

/// Keeps the contents for `spool task done`. `false` where a session's loop is armed on the same feature: that loop's
/// rule holds. The error's words tell why nothing can be kept.
fn keep_contents(
    change: &Change,
    feature: &Feature,
    pin: &Pin,
    list: &[u8],
) -> Result<bool, String> {
    if pinned::standing_of_feature(&change.root, &feature.name).pin().is_some() {
        return Ok(false);
    }
    let project = Project { root: change.root.clone() };
    let kept = judge_of(&project, feature, Some(pin)).and_then(|judge| judge.arm(list, LOOK));
    let not_seen = || io::Error::other("not all files could be looked at");
    kept.and_then(|files| files.ok_or_else(not_seen)).map(|_| true).map_err(|error| {
        format!(
            "`spool task done` cannot see what changes, and only the runner judges its ticks: {error}"
        )
    })
}

/// `spool task done` can judge by contents kept at arming: those of the continued run still exist.
fn has_contents(change: &Change, feature: &Feature, pin: &Pin) -> bool {
    let receipts = Receipts::of(&change.root, &feature.name, &list_of(feature));
    let is_kept = receipts.is_ok_and(|kept| kept.armed_list(pin.armed_at.millis()).is_some());
    is_kept && pinned::standing_of_feature(&change.root, &feature.name).pin().is_none()
}

impl Driver<'_> {
    /// Keeps the specification that a review judges; a continued loop keeps the one that it began with.
    pub(super) fn pin_specification(&self) {
        let (root, name) = (&self.plan.change.root, &self.plan.change.id);
        let goes_on = self.files.earlier != EarlierLoop::None;
        if !self.plan.options.checks.iter().any(Check::is_review)
            || goes_on && armed_specification(root, name).is_some()
        {
            return;
        }
        let kept = specification(&self.plan.change.folder, "")
            .and_then(|(bytes, _)| keep_specification(root, name, &bytes));
        kept.unwrap_or_else(|why| self.console.screen.warn(&why));
    }
}

impl Drop for RunPin<'_> {
    fn drop(&mut self) {
        // A pin whose runner is gone counts for nothing.
        let _ = Pins::of(&self.change.root)
            .and_then(|pins| pins.close(PinKey::Change(&self.change.id), self.armed_at));
    }
}
