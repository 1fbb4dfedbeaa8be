//! What the hook answers, in the words of no host.

use crate::checks::PersonNotice;
use crate::text;

/// Which form of an answer the caller of the hook understands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerForm {
    /// The contract of spec 003, for a hook whose arguments name no host.
    #[default]
    Contract,
    /// All that the host shows, for the hook of our plugin, whose arguments name its host.
    Plugin,
}

/// How an answer continues a turn that the agent wants to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContinueForm {
    /// Its end is blocked, with a reason; every version of every host understands that.
    #[default]
    Block,
    /// The agent gets more context and continues; newer hosts show no problem then.
    Context,
}

/// A hook's whole answer.
#[derive(Debug, Default)]
pub struct HookAnswer {
    /// What becomes of what the agent was about to do.
    pub effect: Effect,
    /// What the person reads, empty for nothing.
    pub message: String,
    /// What the person reads besides where the form is [`AnswerForm::Plugin`]: spec 003 wants silence there.
    pub plugin_message: String,
    /// What the person is to hear of also when they look elsewhere, `None` for nothing.
    pub alert: Option<Alert>,
    /// Lines for the log; each starts with `[ralph-speckit]`.
    pub log: Vec<String>,
}

/// What a person is to hear of also when they look elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    /// What it tells.
    pub notice: PersonNotice,
    /// Whether the terminal rings for it.
    pub rings: bool,
}

/// What becomes of what the agent was about to do.
#[derive(Debug, Default)]
pub enum Effect {
    /// It happens.
    #[default]
    Allow,
    /// The agent is sent back to work, with this reason.
    Block(String),
    /// The same, where the host continues a turn without calling its end blocked.
    Continue(String),
    /// A command ends before the agent reads it, and the person reads this.
    AnswerCommand(String),
    /// The agent gets this with its command.
    CommandContext(String),
    /// The agent gets this as its session continues.
    SessionContext(String),
}

impl HookAnswer {
    /// Returns the answer that lets everything happen as without us.
    pub fn silent() -> Self {
        Self::default()
    }

    /// Returns the answer that sends the agent back: `reason` for the model, `message` for the person.
    pub fn block(reason: &str, message: &str) -> Self {
        Self::with(Effect::Block(reason.to_owned())).also_notify(message)
    }

    /// Returns the same answer; where it sends the agent back, it does so in this form.
    #[must_use]
    pub fn in_form(mut self, form: ContinueForm) -> Self {
        if let (ContinueForm::Context, Effect::Block(reason)) = (form, &mut self.effect) {
            self.effect = Effect::Continue(std::mem::take(reason));
        }
        self
    }

    /// Returns the answer that lets it happen, with a message to the person.
    pub fn notify(message: &str) -> Self {
        Self::default().also_notify(message)
    }

    /// Returns the answer that stops a command before a token is spent; the person reads the text.
    pub fn stop_command(text: &str) -> Self {
        Self::with(Effect::AnswerCommand(text.to_owned()))
    }

    /// Returns the answer that hands the agent a text with its command, and the person a line.
    pub fn command_context(context: String, message: &str) -> Self {
        Self::with(Effect::CommandContext(context)).also_notify(message)
    }

    /// Returns the answer that hands the agent a text as its session continues.
    pub fn session_context(context: String) -> Self {
        Self::with(Effect::SessionContext(context))
    }

    fn with(effect: Effect) -> Self {
        Self { effect, ..Self::default() }
    }

    /// Returns the same answer with one more paragraph for the person.
    #[must_use]
    pub fn also_notify(mut self, message: &str) -> Self {
        if !self.message.is_empty() && !message.is_empty() {
            self.message.push('\n');
        }
        self.message.push_str(message);
        self
    }

    /// Returns the same answer with a text for the person of a plugin; the contract stays silent.
    #[must_use]
    pub fn also_in_plugin(mut self, message: &str) -> Self {
        if !self.plugin_message.is_empty() {
            self.plugin_message.push('\n');
        }
        self.plugin_message.push_str(message);
        self
    }

    /// Returns the same answer as one that the person is to hear of in these words; the terminal rings where they are
    /// shown something.
    #[must_use]
    pub fn alert(mut self, about: &str, reason: &str, words: &str) -> Self {
        let rings = !self.message_in(AnswerForm::Plugin).is_empty();
        self.alert = Some(Alert { notice: PersonNotice::of(about, reason, words), rings });
        self
    }

    /// Returns all that the person reads in this form, a paragraph a line; empty for nothing.
    pub fn message_in(&self, form: AnswerForm) -> String {
        let also = if form == AnswerForm::Plugin { self.plugin_message.as_str() } else { "" };
        let parts = [self.message.as_str(), also];
        parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("\n")
    }

    /// Returns the same answer with one more line for the log.
    #[must_use]
    pub fn log(mut self, line: &str) -> Self {
        // A line from a file name must not draw on the terminal.
        self.log.push(format!("[ralph-speckit] {}", text::line(line)));
        self
    }
}
