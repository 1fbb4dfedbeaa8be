//! How much a test tries: `RALPH_TEST_THOROUGH=1` has it try all, as the nightly run does; otherwise it tries a sample.

use ralph_speckit::world;

/// `few`, or `all` in a thorough run.
pub fn few_or_all<T>(few: T, all: T) -> T {
    if world::variable("RALPH_TEST_THOROUGH").is_some() { all } else { few }
}
