//! An iteration as programs read it.

use super::Story;
use crate::forms::plain::words;
use crate::forms::story::{CommitMessage, FileLines, StoryForm};
use crate::runner::git::ChangedLines;

impl From<&Story> for StoryForm {
    fn from(story: &Story) -> Self {
        let message = |commit: &String| CommitMessage {
            commit: commit.clone(),
            message: story.subjects.get(commit).cloned(),
        };
        Self {
            change: story.change.clone(),
            harness: words(&story.harness),
            iteration: (&story.past).into(),
            prompt: story.prompt.as_ref().map(|(_, text)| text.clone()),
            steps: story.steps.clone(),
            steps_left_out: story.left_out.into(),
            log_problem: words(&story.log_problem),
            changed_lines: story.lines.values().map(FileLines::from).collect(),
            messages: story.past.iteration.commits.iter().map(message).collect(),
        }
    }
}

impl From<&ChangedLines> for FileLines {
    fn from(lines: &ChangedLines) -> Self {
        Self {
            file: lines.path.display().to_string(),
            added: lines.added.map(Into::into),
            removed: lines.removed.map(Into::into),
        }
    }
}
