//! All settings, each written once: name, kind, default, places and help. The project's settings, `ralph.toml`, flags
//! and slash commands are read by this table.

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
