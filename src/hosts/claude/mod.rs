//! Claude Code: events, answers, slash commands and transcript. No other room knows them.

mod answer;
mod client;
pub mod commands;
pub mod event;
mod sessions;
pub mod transcript;

use super::answer::{AnswerForm, HookAnswer};
use super::event::{HookEvent, Host, LateEvent};

pub struct ClaudeCode;

impl Host for ClaudeCode {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn read(&self, bytes: &[u8]) -> Option<HookEvent> {
        event::ClaudeEvent::read(bytes).map(HookEvent::from)
    }

    fn late(&self, event: &str) -> LateEvent {
        event::late(event)
    }

    fn render(&self, answer: &HookAnswer, form: AnswerForm) -> Option<String> {
        answer::render(answer, form)
    }
}
