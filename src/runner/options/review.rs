//! The review of a runner's loop.

use anyhow::{Context, Result, bail};

use crate::engine::Check;
use crate::runner::harness::{HarnessChoice, harness};
use crate::settings::{Chosen, Origin, READERS, table};

/// The review behind the checks; an error tells what is wrong with it. Unless something says how, the project's own
/// settings decide, else the working agent program reviews.
pub fn review(
    settings: &Chosen,
    of_every_loop: Option<&Check>,
    harness: &HarnessChoice,
) -> Result<Option<Check>> {
    let mut how = settings.0.iter().filter(|made| made.setting.name.starts_with("review-"));
    if !settings.review().unwrap_or(of_every_loop.is_some()) {
        // A file may say how a review is made, if one is asked for.
        if let Some(how) = how.find(|made| made.origin == Origin::CommandLine) {
            bail!("{} does nothing without a review\nadd --review", how.named());
        }
        return Ok(None);
    }
    let when = settings.review_when();
    let says_when_alone = how.all(|made| made.setting == &table::review_when);
    let review = match of_every_loop {
        Some(review) if says_when_alone => {
            let when = when.unwrap_or_else(|| review.when());
            return Ok(Some(review.clone().made(when)));
        }
        _ => Check::review(
            reader(settings, harness)?,
            &settings.review_model().unwrap_or_default(),
            settings.review_token_budget(),
            settings.review_timeout().as_secs(),
        ),
    };
    Ok(Some(review.made(when.unwrap_or_default())))
}

/// The agent program has to be able to only read.
fn reader(settings: &Chosen, works: &HarnessChoice) -> Result<&'static str> {
    let named = settings.review_harness().map(|name| HarnessChoice::of(&name));
    let reader = harness(named.as_ref().unwrap_or(works)).ok();
    let reader = reader.filter(|program| program.can_only_read());
    reader.map(|program| program.name()).with_context(|| {
        format!(
            "the agent program of this loop cannot be held to reading, so it reviews nothing\nname another one with --review-harness: {}",
            READERS.join(", ")
        )
    })
}
