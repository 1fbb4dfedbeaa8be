//! A scripted model on loopback: the real agent programs are driven against it with no account and no network.

mod asked;
mod http;
mod model;
mod reply;
mod wire;

pub use asked::{Asked, Asker, collect_text, feedback_in};
pub use model::{Script, ScriptedModel};
pub use reply::{Reply, Usage};
