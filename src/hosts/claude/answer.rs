//! The JSON that Claude Code reads from a hook's standard output.

use serde_json::{Map, Value, json};

use super::event::{COMMAND, SESSION, STOP};
use crate::hosts::answer::{AnswerForm, Effect, HookAnswer};
use crate::text;

/// One line of JSON; `None` for silence.
pub fn render(answer: &HookAnswer, form: AnswerForm) -> Option<String> {
    let mut output = Map::new();
    let mut block = |reason: &str| {
        output.insert("decision".to_owned(), "block".into());
        output.insert("reason".to_owned(), reason.into());
    };
    match &answer.effect {
        Effect::Allow => {}
        Effect::Continue(text) if form == AnswerForm::Plugin => context(&mut output, STOP, text),
        Effect::Block(reason) | Effect::Continue(reason) => block(&text::prose(reason)),
        Effect::AnswerCommand(text) => block(&text::block(text)),
        Effect::CommandContext(text) => context(&mut output, COMMAND, text),
        Effect::SessionContext(text) => context(&mut output, SESSION, text),
    }
    let message = answer.message_in(form);
    if !message.is_empty() {
        output.insert("systemMessage".to_owned(), text::block(&message).into());
    }
    let alert = answer.alert.as_ref().filter(|alert| alert.rings && form == AnswerForm::Plugin);
    if let Some(alert) = alert {
        output.insert("terminalSequence".to_owned(), sequence(&alert.notice.words).into());
    }
    (!output.is_empty()).then(|| Value::Object(output).to_string())
}

/// A notification (OSC 9, which no terminal shows twice) and a bell: each terminal uses the one that it knows.
fn sequence(words: &str) -> String {
    let line = text::title(words.lines().next().unwrap_or_default(), 200);
    ["\x1b]9;", text::OURS, &line, "\x07\x07"].concat()
}

fn context(output: &mut Map<String, Value>, event: &str, context: &str) {
    let context = json!({"hookEventName": event, "additionalContext": text::prose(context)});
    output.insert("hookSpecificOutput".to_owned(), context);
}
