//! The form of an answer that sends the agent back: a block, which every client understands, or more context, which is
//! not shown as a problem but ends the turn in an older client.

use super::context::StopContext;
use crate::engine::Verdict;
use crate::hosts::{AnswerForm, ContinueForm};
use crate::settings::ContinueWith;

/// The form of the answer for this verdict. More context is used only if the client is known to continue a turn then,
/// or if a person says so.
pub fn form(context: &StopContext<'_>, verdict: &Verdict) -> ContinueForm {
    let event = context.event;
    if event.form == AnswerForm::Contract || !matches!(verdict, Verdict::Continue(_)) {
        return ContinueForm::Block;
    }
    let takes_context = event.takes_context.and_then(|known| known(&event.session));
    let takes = match context.settings.chosen.continue_with() {
        ContinueWith::Auto => takes_context == Some(true),
        ContinueWith::Block => false,
        // A version that is known to be older ends the turn, whatever the settings say.
        ContinueWith::Context => takes_context != Some(false),
    };
    if takes { ContinueForm::Context } else { ContinueForm::Block }
}
