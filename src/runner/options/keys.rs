//! The names of all settings: a flag of `spool ralph` and a key of its TOML files are one thing.
//!
//! Only `trusted-projects` is no flag; on the command line, `--trust-project` stands for it.

/// A setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The flag without its dashes.
    pub name: &'static str,
    /// What a file may give it.
    pub form: Form,
    /// Whether the project's file may set it.
    pub project: FromProject,
}

/// What a value of a setting looks like in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A text.
    Text,
    /// A whole number.
    Number,
    /// A number or a text such as `"1h30m"`.
    Time,
    /// `true` or `false`.
    Switch,
    /// A text, or a list of texts.
    List,
}

/// Whether the project's own file may set something: it comes with a cloned repository, so it is the
/// word of whoever wrote that, not of the person at this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FromProject {
    /// Yes: it starts nothing, allows nothing and lifts no limit.
    Free,
    /// Only to tighten what holds without it: a looser one does not count before the person trusts it.
    Limit,
    /// Only what the person trusts: it says which programs run, what they may change, or when the loop is done.
    Trusted,
    /// Never: it is about this machine.
    Never,
}

const fn key(name: &'static str, form: Form, project: FromProject) -> Key {
    Key { name, form, project }
}

/// Every setting, in the order of the help.
pub const KEYS: [Key; 31] = [
    key("change", Form::Text, FromProject::Free),
    key("module", Form::Text, FromProject::Free),
    key("prompt-file", Form::Text, FromProject::Free),
    key("no-interactive", Form::Switch, FromProject::Free),
    key("trusted-projects", Form::List, FromProject::Never),
    key("harness", Form::Text, FromProject::Trusted),
    key("harness-command", Form::Text, FromProject::Never),
    key("model", Form::Text, FromProject::Free),
    key("allow-all", Form::Switch, FromProject::Never),
    key("continue-session", Form::Switch, FromProject::Free),
    key("commit", Form::Switch, FromProject::Trusted),
    key("strict", Form::Switch, FromProject::Limit),
    key("done", Form::Text, FromProject::Trusted),
    key("completion-promise", Form::Text, FromProject::Trusted),
    key("promise-match", Form::Text, FromProject::Trusted),
    key("check", Form::List, FromProject::Trusted),
    key("check-timeout", Form::Time, FromProject::Limit),
    key("min-iterations", Form::Number, FromProject::Limit),
    key("max-iterations", Form::Number, FromProject::Limit),
    key("stall-threshold", Form::Number, FromProject::Limit),
    key("no-progress", Form::Number, FromProject::Limit),
    key("max-failures", Form::Number, FromProject::Limit),
    key("iteration-timeout", Form::Time, FromProject::Limit),
    key("idle-timeout", Form::Time, FromProject::Limit),
    key("max-runtime", Form::Time, FromProject::Limit),
    key("token-budget", Form::Number, FromProject::Limit),
    key("grace", Form::Time, FromProject::Limit),
    key("retry-pause", Form::Time, FromProject::Limit),
    key("verbose", Form::Switch, FromProject::Free),
    key("quiet", Form::Switch, FromProject::Free),
    key("json", Form::Switch, FromProject::Free),
];

/// Returns the setting of this name, written with `-` or with `_`.
pub fn find(name: &str) -> Option<&'static Key> {
    let name = name.replace('_', "-");
    KEYS.iter().find(|key| key.name == name)
}
