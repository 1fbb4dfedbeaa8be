//! A setting's properties, and the places for settings.

use super::kind::SettingKind;

/// A heading of flags.
pub const CHANGE: &str = "Which change";
/// A heading of flags.
pub const LIMITS: &str = "What ends it otherwise";

#[derive(Debug, PartialEq, Eq)]
pub struct Setting {
    /// The flag without dashes. In a file, `_` may stand for `-`.
    pub name: &'static str,
    pub kind: SettingKind,
    /// Empty for none.
    pub default: &'static str,
    /// The setting may be given more than once.
    pub is_list: bool,
    /// What a repository's own file may say.
    pub rule: Rule,
    /// A sum of [`RUNNER`] and the others.
    pub places: u8,
    /// The placeholder in a flag's help; empty for a setting without a flag.
    pub value_name: &'static str,
    pub heading: &'static str,
    pub help: &'static str,
}

/// `ralph.toml`, and the flags of `spool ralph`.
pub const RUNNER: u8 = 1;
/// `.claude/ralph-speckit.local.md`.
pub const YAML: u8 = 2;
/// A check in that file.
pub const CHECK: u8 = 4;
/// The review in that file.
pub const REVIEW: u8 = 8;
/// `/speckit:implement`, and `spool start`.
pub const IMPLEMENT: u8 = 16;
/// `/speckit:ralph-loop`.
pub const LOOP: u8 = 32;

/// What the project's own file may say. A cloned repository brings that file, so its author speaks there, not the
/// person at this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Anything: the setting starts nothing, allows nothing and lifts no limit.
    Free,
    /// Only a lower number, where 0 is no limit. A looser one needs the person's trust.
    Limit,
    /// Only a lower number, where 0 is the lowest.
    AtMost,
    /// Only a higher number.
    AtLeast,
    /// Only this word, without the person's trust.
    Word(&'static str),
    /// Only what the person trusts, because the setting chooses programs.
    Program,
    /// Nothing: the setting is about this machine.
    Never,
}
