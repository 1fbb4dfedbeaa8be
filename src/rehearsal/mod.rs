//! Rehearsals: the real agent programs, Claude Code first, in a scratch home, answered by a scripted model on this machine, with no account and no network.

pub mod asked;
pub mod client;
mod group;
mod http;
pub mod model;
pub mod reply;
pub mod run;
mod wire;

pub use asked::{Asked, Asker};
pub use client::Client;
pub use model::{Script, ScriptedModel};
pub use reply::{Reply, Usage};
pub use run::{ClientRun, Heard, heard};
