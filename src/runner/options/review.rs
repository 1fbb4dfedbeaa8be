//! The review that a loop of the runner asks for.

use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::settings::{RunnerSettings, Set};
use crate::engine::Check;
use crate::feature::settings::READERS;
use crate::runner::harness::{HarnessChoice, harness};
use crate::text;

/// The longest that a review may take.
const LONGEST: Duration = Duration::from_hours(24);

/// Returns the review that follows the checks, `None` where none is wanted; an error names what is wrong with it. Without
/// anything that says how, it is the one of the project's own settings, else it is made by the agent program that works.
pub fn review(
    settings: &RunnerSettings,
    of_every_loop: Option<&Check>,
    harness: &HarnessChoice,
) -> Result<Option<Check>> {
    let wanted = settings.review.as_ref().map_or(of_every_loop.is_some(), |it| it.value);
    let made = settings.made();
    let how = made.iter().filter(|it| it.name.starts_with("review-"));
    let how = how.max_by_key(|it| it.name != "review-when");
    let when = settings.review_when.as_ref().map(|it| it.value);
    if !wanted {
        // A file may say how a review is made where one is asked for.
        if let Some(how) = how.filter(|it| it.origin == super::settings::Origin::CommandLine) {
            bail!("{} does nothing without a review\nadd --review", how.named());
        }
        return Ok(None);
    }
    let says_when_alone = how.is_none_or(|it| it.name == "review-when");
    if let (Some(review), true) = (of_every_loop, says_when_alone) {
        let review = review.clone();
        return Ok(Some(match when {
            Some(when) => review.made(when),
            None => review,
        }));
    }
    let reader = settings.review_harness.as_ref().map_or(harness, |it| &it.value);
    let name = reader_name(reader)?;
    let model = settings.review_model.as_ref();
    let model = model.map(|Set { value, .. }| value.0.as_str()).unwrap_or_default();
    if !model.is_empty() && !Check::is_model(model) {
        let model = text::title(model, 80);
        bail!(
            "`{model}` cannot be the model of a review: it has to be one word\nname another one with --review-model"
        );
    }
    let limit = settings.review_timeout.as_ref();
    let limit = limit.map_or(Duration::from_secs(Check::REVIEW_LIMIT), |it| it.value.0);
    if limit < Duration::from_secs(1) || limit > LONGEST {
        bail!("`review-timeout` is from 1 second to 24 hours");
    }
    let tokens = settings.review_token_budget.as_ref().map_or(0, |it| it.value.0);
    let review = Check::review(name, model, tokens, limit.as_secs());
    Ok(Some(review.made(when.unwrap_or_default())))
}

/// The name of an agent program that can be held to reading.
fn reader_name(reader: &HarnessChoice) -> Result<&'static str> {
    let reader = harness(reader).ok().filter(|program| program.can_only_read());
    reader.map(|program| program.name()).with_context(|| {
        format!(
            "the agent program of this loop cannot be held to reading, so it reviews nothing\nname another one with --review-harness: {}",
            READERS.join(", ")
        )
    })
}
