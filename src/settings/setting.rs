//! What is known of a setting, and where settings can be made.

use super::kind::SettingKind;

/// The heading of the flags that say which change is meant.
pub const CHANGE: &str = "Which change";
/// The heading of the flags that say what ends a loop otherwise.
pub const LIMITS: &str = "What ends it otherwise";

/// A setting.
#[derive(Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its flag without the dashes. In a file `_` may stand for `-`.
    pub name: &'static str,
    /// What it can be.
    pub kind: SettingKind,
    /// What holds where nothing is set, empty for nothing.
    pub default: &'static str,
    /// Whether it may be given more than once.
    pub is_list: bool,
    /// What a file that came with a repository may say of it.
    pub rule: Rule,
    /// Where it may be set.
    pub places: u8,
    /// What a flag is said to take.
    pub value_name: &'static str,
    /// The heading of its help.
    pub heading: &'static str,
    /// What it is for.
    pub help: &'static str,
}

/// `ralph.toml`, and the flags of `spool ralph`.
pub const RUNNER: u8 = 1;
/// `.claude/ralph-speckit.local.md`.
pub const YAML: u8 = 2;
/// A check in that file.
pub const CHECK: u8 = 4;
/// How the review is made, in that file.
pub const REVIEW: u8 = 8;
/// `/speckit:implement`, and `spool start`.
pub const IMPLEMENT: u8 = 16;
/// `/speckit:ralph-loop`.
pub const LOOP: u8 = 32;

/// What the project's own file may say: it comes with a cloned repository, so it is the word of the one who wrote that, not of
/// the person at this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Anything: it starts nothing, allows nothing and lifts no limit.
    Free,
    /// Only a lower number, where 0 is no limit: a looser one does not count before the person trusts it.
    Limit,
    /// The same, where 0 is the lowest.
    AtMost,
    /// Only a higher number.
    AtLeast,
    /// Only this word, without the person's trust.
    Word(&'static str),
    /// Only what the person trusts: it says which programs run.
    Program,
    /// Nothing: it is about this machine.
    Never,
}
