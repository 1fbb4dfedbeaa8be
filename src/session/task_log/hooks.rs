//! `spool task hook`: the agent says that it ran an extension hook, for transcripts that do not show that.

use super::Books;
use crate::refusal::Refusal;
use crate::store::due::name_of;
use crate::store::names::JournalEvent;
use crate::text;

impl Books<'_> {
    /// Notes a command that an extension demands before or after the work. `true`: it was noted before.
    pub fn hook(&mut self, command: &str) -> Result<bool, Refusal> {
        let pin = self.view.standing.pin();
        let hooks = pin.map(|pin| pin.hooks.clone()).unwrap_or_default();
        let name = name_of(command);
        let asked = pin.map(|pin| name_of(&pin.converge)) == Some(name.clone());
        if asked && let Some(already) = self.converge(&name)? {
            return Ok(already);
        }
        let is_after = hooks.after.contains(&name);
        if !is_after && !hooks.before.contains(&name) {
            let known: Vec<&str> =
                hooks.before.iter().chain(&hooks.after).map(String::as_str).collect();
            if asked {
                let what = format!("`/{name}` counts only when the loop has asked for it");
                return Err(Refusal::new(
                    what,
                    "end your turn when every box is ticked: you are told when",
                ));
            }
            let next = match (text::nearest(&name, known.iter().copied()), known.is_empty()) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, false) => format!("there are: {}", known.join(", ")),
                (None, true) => "this loop was armed without one".to_owned(),
            };
            let name = text::title(&name, 80);
            return Err(Refusal::new(format!("no extension hook `{name}` is asked for"), next));
        }
        let open = self.view.part(&self.list).open().count();
        if self.view.record.is_none() {
            let what = format!("no session works on feature `{}`", self.view.feature.name);
            return Err(Refusal::NoLoop(what));
        }
        let mut waits = false;
        let noted = self.change_record(|record| {
            let now = hooks.note(&mut record.hooks_ran, &name, open == 0);
            waits = is_after && !record.hooks_ran.after.contains(&name);
            now.then_some(())
        });
        match (noted?, waits) {
            (Some(()), _) => {
                self.note(&JournalEvent::Hook, &format!("/{name} has run, by the agent's word"))?;
                Ok(false)
            }
            (None, true) if open > 0 => {
                let tasks = text::counted(open as u64, "task");
                let what = format!("`/{name}` runs after the last task, and {tasks} left to do");
                Err(Refusal::new(what, "do the tasks first, then run it"))
            }
            (None, _) => Ok(true),
        }
    }

    /// Notes the converge command that the loop waits for; `None` if the loop does not wait for it.
    fn converge(&mut self, name: &str) -> Result<Option<bool>, Refusal> {
        let mut already = None;
        let ran = self.change_record(|record| {
            record.ledger.converging.asked.as_ref()?;
            let before = std::mem::replace(&mut record.converge_ran, true);
            already = Some(before);
            (!before).then_some(())
        })?;
        if ran.is_some() {
            self.note(&JournalEvent::Hook, &format!("/{name} has run, by the agent's word"))?;
        }
        Ok(already)
    }
}
