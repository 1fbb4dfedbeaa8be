//! Builds the judge of a feature's ticks from the person's pin and the contents stored at arming, out of the agent's
//! reach.

use std::cell::LazyCell;
use std::io;

use crate::evidence::task_list::TASKS;
use crate::feature::project::{Feature, Project};
use crate::judge::{ArmedTerms, JudgedPlace, TickJudge};
use crate::store::pins::{Pin, Pins};
use crate::store::receipts::Receipts;

#[derive(Debug)]
pub enum Unjudged {
    /// Nothing can be kept outside of the project: every tick counts.
    Nowhere(io::Error),
    /// The arming cannot be read now, with the reason: no tick counts until it can.
    Unreadable(String),
}

/// Relative to the project.
pub fn list_of(feature: &Feature) -> String {
    [&feature.relative, "/", TASKS].concat()
}

/// The receipts of a feature: what is seen of the work when a task is ticked. An error if nothing can be kept outside of
/// the project.
pub fn receipts_of(project: &Project, feature: &Feature) -> io::Result<Receipts> {
    Receipts::of(&project.root, &feature.name, &list_of(feature))
}

/// The judge under this pin, without one under default terms. An error if nothing can be kept outside of the project.
pub fn judge_of(project: &Project, feature: &Feature, pin: Option<&Pin>) -> io::Result<TickJudge> {
    let (root, list) = (&project.root, list_of(feature));
    let receipts = receipts_of(project, feature)?;
    let (folder, list_at) = (root.clone(), list.clone());
    let place = JudgedPlace { folder, list, list_at, ..JudgedPlace::default() };
    let Some(pin) = pin else { return Ok(TickJudge::of(place, ArmedTerms::default(), receipts)) };
    let (root, about) = (root.clone(), feature.name.clone());
    let Pin { process, armed_at, verify, .. } = *pin;
    let armed = Pin { about, armed_at, process, verify, ..Pin::default() };
    let verify = LazyCell::new(Box::new(move || {
        Pins::of(&root).and_then(|pins| pins.verify(armed.key(), &armed)).unwrap_or_default()
    }) as Box<_>);
    let armed = ArmedTerms {
        at: pin.armed_at,
        least: pin.proof,
        protect: pin.protect.clone(),
        checks: ArmedTerms::commands_of(&pin.checks),
        verify,
    };
    Ok(TickJudge::of(place, armed, receipts))
}
