//! The hook's answers, independent of the host.

use crate::notice::PersonNotice;
use crate::text;

/// The form of answer that the hook's caller understands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerForm {
    /// The contract of spec 003, for a hook whose arguments name no host.
    #[default]
    Contract,
    /// All that the host shows, for our plugin's hook, whose arguments name its host.
    Plugin,
}

/// How an answer continues a turn that the agent wants to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContinueForm {
    /// The end is blocked with a reason. Every version of every host understands that.
    #[default]
    Block,
    /// The agent gets more context and continues; newer hosts show no error then.
    Context,
}

#[derive(Debug, Default)]
pub struct HookAnswer {
    pub effect: Effect,
    /// For the person; may be empty.
    pub message: String,
    /// Also for the person, but only in [`AnswerForm::Plugin`]: spec 003 wants silence there.
    pub plugin_message: String,
    /// For a person who looks elsewhere.
    pub alert: Option<Alert>,
    /// Each line starts with `[ralph-speckit]`.
    pub log: Vec<String>,
}

/// A message for a person who looks elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    pub notice: PersonNotice,
    /// The terminal rings.
    pub rings: bool,
}

/// The answer's effect on the agent's plan.
#[derive(Debug, Default)]
pub enum Effect {
    #[default]
    Allow,
    /// The agent goes back to work, for this reason.
    Block(String),
    /// As [`Self::Block`], in a host that continues a turn without blocking its end.
    Continue(String),
    /// The command ends before the agent reads it, and the person reads this.
    AnswerCommand(String),
    /// The agent gets this with its command.
    CommandContext(String),
    /// The agent gets this as its session continues.
    SessionContext(String),
}

impl HookAnswer {
    pub fn silent() -> Self {
        Self::default()
    }

    /// `reason` is for the model, `message` for the person.
    pub fn block(reason: &str, message: &str) -> Self {
        Self::with(Effect::Block(reason.to_owned())).also_notify(message)
    }

    /// Only an answer that blocks has another form.
    pub fn in_form(mut self, form: ContinueForm) -> Self {
        if let (ContinueForm::Context, Effect::Block(reason)) = (form, &mut self.effect) {
            self.effect = Effect::Continue(std::mem::take(reason));
        }
        self
    }

    pub fn notify(message: &str) -> Self {
        Self::default().also_notify(message)
    }

    /// Stops the command before it costs a token.
    pub fn stop_command(text: &str) -> Self {
        Self::with(Effect::AnswerCommand(text.to_owned()))
    }

    /// `context` is for the agent, `message` for the person.
    pub fn command_context(context: String, message: &str) -> Self {
        Self::with(Effect::CommandContext(context)).also_notify(message)
    }

    pub fn session_context(context: String) -> Self {
        Self::with(Effect::SessionContext(context))
    }

    fn with(effect: Effect) -> Self {
        Self { effect, ..Self::default() }
    }

    /// Adds a paragraph for the person.
    pub fn also_notify(mut self, message: &str) -> Self {
        if !self.message.is_empty() && !message.is_empty() {
            self.message.push('\n');
        }
        self.message.push_str(message);
        self
    }

    /// Adds a paragraph for the person, but not in the contract's form.
    pub fn also_in_plugin(mut self, message: &str) -> Self {
        if !self.plugin_message.is_empty() {
            self.plugin_message.push('\n');
        }
        self.plugin_message.push_str(message);
        self
    }

    /// Also reaches a person who looks elsewhere. The terminal rings if the answer shows something.
    pub fn alert(mut self, about: &str, reason: &str, words: &str) -> Self {
        let rings = !self.message_in(AnswerForm::Plugin).is_empty();
        self.alert = Some(Alert { notice: PersonNotice::of(about, reason, words), rings });
        self
    }

    /// All paragraphs for the person, a line each.
    pub fn message_in(&self, form: AnswerForm) -> String {
        let also = if form == AnswerForm::Plugin { self.plugin_message.as_str() } else { "" };
        let parts = [self.message.as_str(), also];
        parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("\n")
    }

    pub fn log(mut self, line: &str) -> Self {
        // A file name must not control the terminal.
        self.log.push(format!("[ralph-speckit] {}", text::line(line)));
        self
    }
}
