//! The agent's word that it has carried out an extension hook of spec-kit: where the transcript does not show it.

use super::{Books, Done, PATIENCE};
use crate::refusal::Refusal;
use crate::session::pinned;
use crate::store::due::name_of;
use crate::store::loops::Loops;
use crate::store::names::JournalEvent;
use crate::text;

impl Books<'_> {
    /// Notes that the agent has carried out a command that an extension of spec-kit demands before or after the work.
    pub fn hook(&mut self, command: &str) -> Result<Done, Refusal> {
        let root = &self.project.root;
        let standing = pinned::standing_of_feature(root, &self.feature.name);
        let hooks = standing.pin().map(|pin| pin.hooks.clone()).unwrap_or_default();
        let name = name_of(command);
        let asked = standing.pin().map(|pin| name_of(&pin.converge)) == Some(name.clone());
        if asked && let Some(done) = self.converge(&name)? {
            return Ok(done);
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
        let open = self.list.open().count();
        let record = self.record().ok_or_else(|| {
            Refusal::NoLoop(format!("no session works on feature `{}`", self.feature.name))
        })?;
        let noted = || {
            let folder = Loops::of(root).session_within(&record.session, PATIENCE)?;
            let Some(mut record) = folder.record()?.filter(|it| it.about == self.feature.name)
            else {
                return Ok((false, false));
            };
            let now = hooks.note(&mut record.hooks_ran, &name, open == 0);
            if now {
                folder.save(&record)?;
            }
            Ok((now, is_after && !record.hooks_ran.after.contains(&name)))
        };
        match noted().map_err(|error: std::io::Error| Refusal::from(error))? {
            (true, _) => {
                self.note(&JournalEvent::Hook, &format!("/{name} has run, by the agent's word"))?;
                Ok(Done::Now)
            }
            (false, true) if open > 0 => Err(Refusal::new(
                format!(
                    "`/{name}` runs after the last task, and {} left to do",
                    text::counted(open as u64, "task")
                ),
                "do the tasks first, then run it",
            )),
            (false, _) => Ok(Done::Before),
        }
    }

    /// Notes that the agent has carried out the converge command, for which the loop waits; `None` where it does not.
    fn converge(&mut self, name: &str) -> Result<Option<Done>, Refusal> {
        let Some(record) = self.record() else { return Ok(None) };
        let noted = || {
            let folder = Loops::of(&self.project.root).session_within(&record.session, PATIENCE)?;
            let mine = folder.record()?.filter(|it| it.about == self.feature.name);
            let asked = mine.filter(|it| it.ledger.converging.asked.is_some());
            let Some(mut record) = asked else { return Ok(None) };
            if record.converge_ran {
                return Ok(Some(Done::Before));
            }
            record.converge_ran = true;
            folder.save(&record)?;
            Ok(Some(Done::Now))
        };
        let done = noted().map_err(|error: std::io::Error| Refusal::from(error))?;
        if matches!(done, Some(Done::Now)) {
            self.note(&JournalEvent::Hook, &format!("/{name} has run, by the agent's word"))?;
        }
        Ok(done)
    }
}
