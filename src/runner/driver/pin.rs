//! What a person who starts `spool ralph` arms: the Verify commands that `spool task` may run for its agents.

use crate::engine::tasks::Task;
use crate::evidence::task_list::{self, TASKS};
use crate::runner::target::Change;
use crate::session::pinned;
use crate::store::loops::VerifyCommands;
use crate::store::names::ArmedBy;
use crate::store::pins::{Pin, PinKey, Pins};
use crate::system::names;
use crate::world::{self, WallTime};

/// The pin of a run; dropped, it is taken away.
pub(super) struct RunPin<'a> {
    change: &'a Change,
    armed_at: WallTime,
    /// The commands that it holds; none where they could not be kept.
    pub(super) commands: VerifyCommands,
}

/// Pins the Verify commands of a change's list and returns the lines that show them, or that they cannot be
/// kept; `None` for a change that has none.
pub(super) fn pin(change: &Change) -> Option<(RunPin<'_>, String)> {
    let file = task_list::read(&change.folder).ok()?;
    let command = |task: &Task| Some((task.id.clone(), task.verify_command(&file.bytes)?));
    let commands: VerifyCommands = file.list.tasks.iter().filter_map(command).collect();
    if commands.is_empty() {
        return None;
    }
    let folder = change.folder.strip_prefix(&change.root).unwrap_or(&change.folder);
    let pin = Pin {
        about: change.id.clone(),
        armed_at: world::now(),
        armed_by: ArmedBy::Runner,
        process: std::process::id(),
        list: format!("{}/{TASKS}", names::with_slashes(folder)),
        ..Pin::default()
    };
    let kept = Pins::of(&change.root)
        .and_then(|pins| pins.write(PinKey::Change(&change.id), &pin, &commands));
    let is_kept = kept.is_ok();
    let words = match kept {
        Ok(()) => pinned::shown(&[], "", &commands, &pin.list).trim_end().to_owned(),
        Err(error) => format!("`spool task` runs no Verify command: {error}"),
    };
    let commands = if is_kept { commands } else { VerifyCommands::new() };
    Some((RunPin { change, armed_at: pin.armed_at, commands }, words))
}

impl Drop for RunPin<'_> {
    fn drop(&mut self) {
        // A pin whose runner is gone counts for nothing.
        let _ = Pins::of(&self.change.root)
            .and_then(|pins| pins.close(PinKey::Change(&self.change.id), self.armed_at));
    }
}
