//! The tasks of a list that a feature's live loop is about, and how a new task joins them.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use crate::engine::tasks::TaskList;
use crate::feature::project::{Feature, Project, printable};
use crate::feature::snapshot::armed_list;
use crate::refusal::Refusal;
use crate::session::pinned;
use crate::store::loops::{Asked, Loops, PATIENCE};
use crate::store::pins::{Pin, PinKey, Pins};

/// The request for the feature's live loop, beyond the feature itself.
pub fn asked(project: &Project, feature: &Feature) -> Option<Asked> {
    let standing = pinned::standing_of_feature(&project.root, &feature.name);
    let record = Loops::of(&project.root).of_feature(&feature.name);
    standing.asked(record.filter(|record| record.ledger.is_live()).as_ref()).cloned()
}

pub fn within<'a>(
    list: &'a TaskList,
    feature: &Feature,
    asked: Option<&Asked>,
) -> Cow<'a, TaskList> {
    match asked.filter(|asked| asked.optional || !asked.tasks.is_empty()) {
        Some(asked) => Cow::Owned(asked.part_of(list.clone(), |at| armed_list(feature, at))),
        None => Cow::Borrowed(list),
    }
}

/// Adds a new task to those that the live loop is about. The caller has the feature's lock.
///
/// `after` is the task before the new one, and one of those tasks.
pub fn join(project: &Project, feature: &Feature, id: &str, after: &str) -> Result<(), Refusal> {
    let Some(mut asked) = asked(project, feature) else { return Ok(()) };
    if asked.tasks.is_empty() || asked.tasks.iter().any(|known| known == id) {
        return Ok(());
    }
    asked.tasks.push(id.to_owned());
    let asked = Some(Box::new(asked));
    let (root, loops) = (&project.root, Loops::of(&project.root));
    if let Some(pin) = pinned::standing_of_feature(root, &feature.name).pin() {
        let (pins, whose) = (Pins::of(root)?, PinKey::Feature(&feature.name));
        let armed_at = pin.armed_at;
        let written = pins.change(whose, |pin| {
            Some(Pin { asked, ..pin.filter(|pin| pin.armed_at == armed_at)? })
        });
        return written.map_err(|error| cannot_join(after, &pins.path(whose), &error));
    }
    let session = loops.live_pin(&feature.name).map(|pin| pin.session).unwrap_or_default();
    let folder = loops.session_within(&session, PATIENCE)?;
    if let Some(mut record) = folder.record()? {
        record.asked = asked;
        folder.save(&record)?;
    }
    Ok(())
}

/// Refuses to add a task if the pin cannot be written, as in a sandbox. The pin names the loop's tasks, outside the
/// project.
fn cannot_join(after: &str, path: &Path, error: &io::Error) -> Refusal {
    let after = printable(after);
    let what = format!(
        "nothing was added: after {after} it would be one of the named tasks that this loop is about, and `{}`, which says which these are, cannot be written: {error}",
        path.display()
    );
    let next = format!(
        "do it as a part of {after}, or put it after a task that was not named; in a sandbox, a person runs the same `spool task add` in a terminal, or lets the sandbox write that folder"
    );
    Refusal::new(what, next)
}
