//! What the hook needs to know of an agent program that starts it.

use super::answer::{AnswerForm, HookAnswer};
use super::event::{HookEvent, LateEvent};

/// An agent program that starts the hook.
pub trait Host: Sync {
    /// Returns the hook's first argument that names this host.
    fn name(&self) -> &'static str;

    /// Returns the event in these bytes, `None` when they hold no whole event.
    fn read(&self, bytes: &[u8]) -> Option<HookEvent>;

    /// Returns what is known of an event that was not handed over in time, by the name that the hook was started for.
    fn late(&self, event: &str) -> LateEvent;

    /// Returns an answer as this host understands it, on one line; `None` for silence.
    fn render(&self, answer: &HookAnswer, form: AnswerForm) -> Option<String>;
}
