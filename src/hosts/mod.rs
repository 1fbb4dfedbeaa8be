//! The agent programs that start the hook. Each has a room for its events, answers and files.

mod answer;
pub mod claude;
mod event;
pub(crate) mod json;
mod scan;
pub mod transcript;

pub use answer::AnswerForm;
pub(crate) use answer::{ContinueForm, HookAnswer};
pub use event::{EventKind, HookEvent, Host, HostName, LateEvent};

/// A hook whose arguments name no host was started by the first.
static HOSTS: &[&dyn Host] = &[&claude::ClaudeCode];

/// How a hook was started.
pub(crate) struct StartedBy {
    pub host: &'static dyn Host,
    /// Empty where the arguments name none.
    pub event: String,
    pub form: AnswerForm,
}

/// Reads the arguments `[HOST] [EVENT]`.
pub(crate) fn started_by(mut arguments: impl Iterator<Item = String>) -> StartedBy {
    let first = arguments.next().unwrap_or_default();
    match HOSTS.iter().copied().find(|host| host.name() == first) {
        Some(host) => StartedBy {
            host,
            event: arguments.next().unwrap_or_default(),
            form: AnswerForm::Plugin,
        },
        None => StartedBy { host: HOSTS[0], event: first, form: AnswerForm::Contract },
    }
}

pub(crate) fn transcript_at(path: &str) -> impl transcript::Transcript {
    claude::transcript::ClaudeTranscript::at(path.into())
}

#[cfg(test)]
mod tests {
    use super::{AnswerForm, started_by};

    #[test]
    fn arguments_name_the_host() {
        for (arguments, event, form) in [
            ("", "", AnswerForm::Contract),
            ("Stop", "Stop", AnswerForm::Contract),
            ("claude Stop", "Stop", AnswerForm::Plugin),
            ("claude", "", AnswerForm::Plugin),
            ("other Stop", "other", AnswerForm::Contract),
        ] {
            let found = started_by(arguments.split_whitespace().map(str::to_owned));
            assert_eq!(found.host.name(), "claude", "{arguments}");
            assert_eq!((found.event.as_str(), found.form), (event, form), "{arguments}");
        }
    }
}
