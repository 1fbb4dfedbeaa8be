//! Every setting, written once: its name, what it can be, its default, who may set it, and its help. The settings file of a
//! project, `ralph.toml`, the flags of `spool` and what is typed behind a slash command are read by this table.

mod chosen;
#[cfg(feature = "cli")]
mod flags;
mod from_text;
mod kind;
mod lookup;
mod setting;
pub mod table;

pub use chosen::{Chosen, Made, Origin};
#[cfg(feature = "cli")]
pub use flags::{Flags, parser};
pub use from_text::ContinueWith;
pub use kind::{ACP, HARNESSES, READERS, SettingKind, is_hidden, price, time_in_words};
pub use setting::{CHANGE, CHECK, IMPLEMENT, LIMITS, LOOP, REVIEW, RUNNER, Rule, Setting, YAML};
