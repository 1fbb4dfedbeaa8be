//! An iteration as programs read it.

use super::{Step, StepKind, Story};
use crate::forms::plain::{FORMS_VERSION, words};
use crate::forms::story::{
    CommitMessage, FileLines, IterationStep, OutcomeWord, StepWord, StoryForm,
};
use crate::runner::harness::CallOutcome;

impl From<&Story> for StoryForm {
    fn from(story: &Story) -> Self {
        let message = |commit: &String| CommitMessage {
            commit: commit.clone(),
            message: story.subjects.get(commit).cloned(),
        };
        Self {
            version: FORMS_VERSION,
            change: story.change.clone(),
            harness: words(&story.harness),
            iteration: (&story.past).into(),
            prompt: story.prompt.as_ref().map(|(_, text)| text.clone()),
            steps: story.steps.iter().map(IterationStep::from).collect(),
            steps_left_out: story.left_out.into(),
            log_problem: words(&story.log_problem),
            changed_lines: (story.lines.values())
                .map(|it| FileLines {
                    file: it.path.display().to_string(),
                    added: it.added.map(Into::into),
                    removed: it.removed.map(Into::into),
                })
                .collect(),
            messages: story.past.iteration.commits.iter().map(message).collect(),
        }
    }
}

impl From<&Step> for IterationStep {
    fn from(step: &Step) -> Self {
        let (kind, tool, outcome) = match &step.kind {
            StepKind::Said => (StepWord::Said, None, None),
            StepKind::Called { tool, outcome } => {
                (StepWord::Called, Some(tool.clone()), outcome.map(OutcomeWord::from))
            }
            StepKind::Trouble => (StepWord::Trouble, None, None),
        };
        Self { kind, tool, outcome, words: step.words.clone() }
    }
}

impl From<CallOutcome> for OutcomeWord {
    fn from(outcome: CallOutcome) -> Self {
        match outcome {
            CallOutcome::Done => Self::Done,
            CallOutcome::Failed => Self::Failed,
            CallOutcome::Denied => Self::Denied,
        }
    }
}
