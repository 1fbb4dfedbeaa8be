//! The interface of an agent program that starts the hook.

use super::answer::{AnswerForm, HookAnswer};
use super::event::{HookEvent, LateEvent};

/// An agent program that starts the hook.
pub trait Host: Sync {
    /// The hook's first argument for this host.
    fn name(&self) -> &'static str;

    /// `None` for an incomplete event.
    fn read(&self, bytes: &[u8]) -> Option<HookEvent>;

    /// The facts on an event that was not delivered in time. `event` is the name from the hook's arguments.
    fn late(&self, event: &str) -> LateEvent;

    /// One line in the host's own format; `None` for silence.
    fn render(&self, answer: &HookAnswer, form: AnswerForm) -> Option<String>;
}
