//! Tokens that a run of an agent program used.

use serde_json::Value;

/// Tokens, each message counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Sent, without what came from a cache.
    pub input: u64,
    /// Received, thinking included.
    pub output: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// Written to a cache.
    pub cache_write: u64,
}

impl TokenUsage {
    /// Returns the usage of a program that counts what was read from a cache and written to one as sent, too.
    pub fn of_all_input(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Self {
        let input = input.saturating_sub(cache_read.saturating_add(cache_write));
        Self { input, output, cache_read, cache_write }
    }

    /// Returns the tokens of a turn in the form of the Agent Client Protocol, `None` where they are not there.
    ///
    /// A program may count what was read from a cache as sent, which its own sum shows.
    pub fn of_turn(usage: &Value) -> Option<Self> {
        let number = |name: &str| usage[name].as_u64().unwrap_or_default();
        usage["inputTokens"].as_u64()?;
        let (input, output) = (number("inputTokens"), number("outputTokens"));
        let (read, written) = (number("cachedReadTokens"), number("cachedWriteTokens"));
        let thought = number("thoughtTokens");
        let total = number("totalTokens");
        let output = if total == input.saturating_add(output) {
            output
        } else {
            output.saturating_add(thought)
        };
        if (read, written) != (0, 0) && total == input.saturating_add(output) {
            return Some(Self::of_all_input(input, output, read, written));
        }
        Some(Self { input, output, cache_read: read, cache_write: written })
    }

    /// Returns the tokens as Gemini CLI gives them beside the protocol, `None` where they are not there.
    pub fn of_quota(count: &Value) -> Option<Self> {
        let (input, output) = (count["input_tokens"].as_u64()?, count["output_tokens"].as_u64()?);
        Some(Self { input, output, ..Self::default() })
    }

    /// Returns the sum of all four.
    pub fn total(self) -> u64 {
        [self.output, self.cache_read, self.cache_write]
            .into_iter()
            .fold(self.input, u64::saturating_add)
    }

    /// Returns the sum of two counts.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
        }
    }

    /// Returns what of it was not in an earlier count.
    #[must_use]
    pub fn minus(self, earlier: Self) -> Self {
        Self {
            input: self.input.saturating_sub(earlier.input),
            output: self.output.saturating_sub(earlier.output),
            cache_read: self.cache_read.saturating_sub(earlier.cache_read),
            cache_write: self.cache_write.saturating_sub(earlier.cache_write),
        }
    }

    /// Returns the sum of all of them, `None` where there is none.
    pub fn sum(usages: impl IntoIterator<Item = Self>) -> Option<Self> {
        usages.into_iter().reduce(Self::plus)
    }

    /// Adds this to a sum, which may have nothing in it yet.
    pub fn add_to(self, sum: &mut Option<Self>) {
        *sum = Self::sum(sum.iter().copied().chain([self]));
    }
}
