//! The form of an answer that sends the agent back: a block, which every client understands, or more context, which is
//! not shown as a problem but ends the turn in an older client.

use super::context::StopContext;
use crate::engine::Verdict;
use crate::hosts::{AnswerForm, ContinueForm, KnownClient};
use crate::settings::ContinueWith;
use crate::store::loops::ContextAnswers;

/// Chooses the form, and notes in `answers` what the stop shows about the answer before.
///
/// More context is for a client that is known to continue then, or if a person says so. A client that was seen to end a
/// turn gets blocks from then on.
/// seen to end one gets blocks from then on.
pub fn form(
    context: &StopContext<'_>,
    answers: &mut ContextAnswers,
    verdict: &Verdict,
) -> ContinueForm {
    let event = context.event;
    if event.form == AnswerForm::Contract {
        return ContinueForm::Block;
    }
    let client = event.client.map(|known| known(&event.session)).unwrap_or_default();
    choose(client, context.settings.chosen.continue_with(), event.reentered, answers, verdict)
}

fn choose(
    client: KnownClient,
    setting: ContinueWith,
    reentered: bool,
    answers: &mut ContextAnswers,
    verdict: &Verdict,
) -> ContinueForm {
    if answers.client != client.version {
        // Another version resumed the session: nobody knows what it does.
        *answers = ContextAnswers { client: client.version, ..ContextAnswers::default() };
    }
    if std::mem::take(&mut answers.asked) {
        answers.works |= reentered;
        answers.failed |= !answers.works;
    }
    let takes = match setting {
        ContinueWith::Auto => client.takes_context,
        ContinueWith::Block => false,
        // A version that is known to be older ends the turn, whatever the settings say.
        ContinueWith::Context => client.takes_context || client.version == 0,
    };
    if !takes || answers.failed || !matches!(verdict, Verdict::Continue(_)) {
        return ContinueForm::Block;
    }
    answers.asked = true;
    ContinueForm::Context
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: KnownClient = KnownClient { version: 330, takes_context: true };
    const OLD: KnownClient = KnownClient { version: 143, takes_context: false };
    const UNKNOWN: KnownClient = KnownClient { version: 0, takes_context: false };

    fn goes_on(
        client: KnownClient,
        setting: ContinueWith,
        reentered: bool,
        answers: &mut ContextAnswers,
    ) -> ContinueForm {
        choose(client, setting, reentered, answers, &Verdict::Continue(Vec::new()))
    }

    #[test]
    fn known_clients_get_more_context() {
        use ContinueForm::{Block, Context};
        for (client, setting, form) in [
            (NEW, ContinueWith::Auto, Context),
            (NEW, ContinueWith::Block, Block),
            (NEW, ContinueWith::Context, Context),
            (OLD, ContinueWith::Auto, Block),
            (OLD, ContinueWith::Context, Block),
            (UNKNOWN, ContinueWith::Auto, Block),
            (UNKNOWN, ContinueWith::Context, Context),
        ] {
            let mut answers = ContextAnswers::default();
            assert_eq!(
                goes_on(client, setting, false, &mut answers),
                form,
                "{client:?} {setting:?}"
            );
            assert_eq!(answers.asked, form == Context);
        }
    }

    #[test]
    fn ended_turn_was_the_last_answered() {
        let mut answers = ContextAnswers::default();
        assert_eq!(goes_on(NEW, ContinueWith::Auto, false, &mut answers), ContinueForm::Context);
        for _ in 0..3 {
            assert_eq!(
                goes_on(NEW, ContinueWith::Context, true, &mut answers),
                ContinueForm::Context
            );
        }
        // It was seen to work: a person has typed a prompt.
        assert_eq!(goes_on(NEW, ContinueWith::Auto, false, &mut answers), ContinueForm::Context);

        let mut answers = ContextAnswers::default();
        assert_eq!(goes_on(NEW, ContinueWith::Auto, true, &mut answers), ContinueForm::Context);
        for reentered in [false, true, false] {
            let form = goes_on(NEW, ContinueWith::Context, reentered, &mut answers);
            assert_eq!((form, answers.failed), (ContinueForm::Block, true));
        }
    }

    #[test]
    fn wait_proves_no_answer() {
        let mut answers = ContextAnswers::default();
        goes_on(NEW, ContinueWith::Auto, false, &mut answers);
        let form = choose(NEW, ContinueWith::Auto, true, &mut answers, &Verdict::Wait(Vec::new()));
        assert_eq!((form, answers.asked, answers.works), (ContinueForm::Block, false, true));
    }

    #[test]
    fn other_version_proves_itself() {
        let mut answers = ContextAnswers::default();
        goes_on(NEW, ContinueWith::Auto, false, &mut answers);
        goes_on(NEW, ContinueWith::Auto, true, &mut answers);
        assert_eq!(goes_on(OLD, ContinueWith::Auto, false, &mut answers), ContinueForm::Block);
        assert_eq!(answers, ContextAnswers { client: 143, ..ContextAnswers::default() });
    }
}
