//! The place of a stop, and the loop that is judged there.

use std::collections::BTreeMap;

use crate::engine::{CheckResult, Pending, Waiting};
use crate::evidence::progress::LookMoment;
use crate::feature::project::{Project, printable};
use crate::feature::settings::{Settings, SettingsError};
use crate::hosts::{HookAnswer, HookEvent};
use crate::judge::ticks::Ticks;
use crate::session::messages::person;
use crate::store::loops::{Loops, Marks, Record, SessionFolder};
use crate::store::pins::PinState;
use crate::world::Deadline;

pub struct StopContext<'a> {
    pub project: &'a Project,
    pub settings: &'a Settings,
    /// The error in the settings, if any.
    pub broken: Option<&'a SettingsError>,
    pub loops: &'a Loops,
    pub event: &'a HookEvent,
    pub deadline: Deadline,
}

impl StopContext<'_> {
    pub fn moment(&self, record: &Record) -> LookMoment {
        LookMoment { seen_at: record.seen_at.max(record.armed_at), deadline: self.deadline }
    }
}

/// A session with its loop, whose folder is locked for a stop.
pub struct StopSession<'a> {
    pub context: &'a StopContext<'a>,
    pub folder: SessionFolder,
    pub record: Record,
    pub standing: PinState,
}

/// The run of checks at a stop.
pub struct ChecksRun {
    /// The judgement that waits for the results.
    pub pending: Pending,
    /// In the contract's order.
    pub results: Vec<CheckResult>,
    /// Milliseconds of each check, by its command.
    pub millis: BTreeMap<String, u64>,
    /// The iterations' times, as the look at the files left them.
    pub marks: Marks,
    /// Boxes ticked by hand.
    pub ticks: Ticks,
}

/// Lets the agent stop, and keeps the loop armed. The log says what the loop waits for.
pub fn waiting_answer(waiting: &[Waiting]) -> HookAnswer {
    match waiting {
        [Waiting::Unproven] => HookAnswer::silent()
            .log("Another hook had blocked the turn before this loop did: the agent may stop"),
        _ => HookAnswer::silent().log(&format!("Waiting: {}", waited_for(waiting))),
    }
}

/// The same with a message for the person, if there is one. In a plugin, a loop that will continue by itself says what
/// it waits for.
pub fn waiting_with_message(
    waiting: &[Waiting],
    message: Option<&str>,
    stop: &StopSession<'_>,
) -> HookAnswer {
    let answer = waiting_answer(waiting);
    let continues = |one: &Waiting| matches!(one, Waiting::Background(_) | Waiting::NoTasks);
    let about = printable(&stop.record.about);
    let words = || person::line("waiting: ", &[&about, &waited_for(waiting)]);
    match message {
        Some(message) => answer.also_notify(message),
        None if waiting.iter().any(|one| matches!(one, Waiting::Answer(_))) => {
            answer.also_notify(&words()).alert(&about, "approval", &words())
        }
        None if waiting.iter().all(continues) && !stop.context.settings.chosen.quiet() => {
            answer.also_in_plugin(&words())
        }
        None => answer,
    }
}

pub fn waited_for(waiting: &[Waiting]) -> String {
    let words = waiting.iter().map(|one| match one {
        Waiting::Approval => "a person's approval".to_owned(),
        Waiting::Answer(question) => format!("your answer: {question}?"),
        Waiting::Background(what) => format!("background {what}"),
        Waiting::Paused(why) => format!("the end of a pause ({why})"),
        Waiting::Typed(command) if command.is_empty() => "what you typed, which runs now".into(),
        Waiting::Typed(command) => format!("`{command}`, which was typed and runs now"),
        Waiting::UsageLimit(words) => words.clone(),
        Waiting::NoTasks => "tasks; there are none".to_owned(),
        Waiting::Unproven => "a turn of its own".to_owned(),
    });
    words.collect::<Vec<_>>().join(", ")
}
