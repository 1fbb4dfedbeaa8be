//! What the ticks of a feature's loop are judged by: what a person armed, and what was kept then where no edit of the agent gets.

use std::cell::LazyCell;
use std::io;

use crate::evidence::task_list::TASKS;
use crate::feature::project::{Feature, Project};
use crate::judge::{ArmedTerms, JudgedPlace, TickJudge};
use crate::session::pinned;
use crate::store::pins::{Pin, PinKey, PinState, Pins};
use crate::store::receipts::Receipts;

/// Why no tick can be judged.
#[derive(Debug)]
pub enum Unjudged {
    /// Nothing can be kept outside of the project: every tick counts.
    Nowhere(io::Error),
    /// What a person armed cannot be read at the moment, and why: no tick counts until it can.
    Unreadable(String),
}

/// The path of a feature's list, relative to the project.
pub fn list_of(feature: &Feature) -> String {
    [&feature.relative, "/", TASKS].concat()
}

/// What the ticks of a feature are judged by under what a person armed, `None` where no person did; an error where
/// nothing can be kept outside of the project.
pub fn judge_of(project: &Project, feature: &Feature, pin: Option<&Pin>) -> io::Result<TickJudge> {
    let (root, list) = (&project.root, list_of(feature));
    let receipts = Receipts::of(root, &feature.name, &list)?;
    let (folder, list_at) = (root.clone(), list.clone());
    let place = JudgedPlace { folder, list, list_at, ..JudgedPlace::default() };
    let Some(pin) = pin else { return Ok(TickJudge::of(place, ArmedTerms::default(), receipts)) };
    let (root, name) = (root.clone(), feature.name.clone());
    let its = Pin { armed_at: pin.armed_at, verify: pin.verify, ..Pin::default() };
    let is_of_run = pin.process != 0;
    let verify = LazyCell::new(Box::new(move || {
        let whose = if is_of_run { PinKey::Change(&name) } else { PinKey::Feature(&name) };
        Pins::of(&root).and_then(|pins| pins.verify(whose, &its)).unwrap_or_default()
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

/// The same under what holds for the feature now: what a person armed in a session, or a runner at work.
pub fn standing(project: &Project, feature: &Feature) -> Result<TickJudge, Unjudged> {
    let standing = pinned::standing_of_feature(&project.root, &feature.name);
    if let (PinState::Unknown(why) | PinState::Lost(why), Ok(_)) =
        (&standing, Pins::of(&project.root))
    {
        return Err(Unjudged::Unreadable(why.clone()));
    }
    let of_runner = || pinned::pin_of_runner(project, feature);
    let pin = standing.pin().cloned().or_else(of_runner);
    judge_of(project, feature, pin.as_ref()).map_err(Unjudged::Nowhere)
}
