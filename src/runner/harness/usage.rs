//! Tokens that a run of an agent program used.

use std::collections::BTreeMap;

use serde_json::Value;

/// The most messages that are known by their ids; repetitions stand close together.
const MESSAGES: usize = 100_000;

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

    /// Returns the same, read from an object by the names of what is sent, received, read from a cache and written to one.
    pub fn of_all_in(usage: &Value, names: [&str; 4]) -> Self {
        let [input, output, read, written] = names.map(|name| usage[name].as_u64().unwrap_or(0));
        Self::of_all_input(input, output, read, written)
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

    /// Returns the higher figure of each kind: what was reported once was used, whatever is said of it later.
    #[must_use]
    pub fn at_least(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
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

/// What messages used by their ids, each counted once: a later line of a message may have more of it, and never less.
#[derive(Clone, Debug, Default)]
pub struct MessageUsage {
    known: BTreeMap<String, TokenUsage>,
    sum: Option<TokenUsage>,
}

impl MessageUsage {
    /// Takes in what a message used, as one of its lines has it.
    pub fn add(&mut self, id: &str, usage: TokenUsage) {
        if self.known.len() >= MESSAGES && !self.known.contains_key(id) {
            // What they used stays in the sum.
            self.known.clear();
        }
        let before = self.known.get(id).copied().unwrap_or_default();
        let now = before.at_least(usage);
        now.minus(before).add_to(&mut self.sum);
        self.known.insert(id.to_owned(), now);
    }

    /// Returns what all of them used, `None` where there was none.
    pub fn sum(&self) -> Option<TokenUsage> {
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(input: u64, output: u64) -> TokenUsage {
        TokenUsage { input, output, ..TokenUsage::default() }
    }

    #[test]
    fn a_later_line_of_a_message_has_more_of_it_and_never_less() {
        let mut messages = MessageUsage::default();
        assert_eq!(messages.sum(), None);
        for (id, usage) in [("a", used(100, 1)), ("b", used(10, 0)), ("a", used(0, 40))] {
            messages.add(id, usage);
        }
        assert_eq!(messages.sum(), Some(used(110, 40)));
    }

    #[test]
    fn more_messages_than_are_known_by_their_ids_count_as_well() {
        let mut messages = MessageUsage::default();
        for number in 0..=MESSAGES {
            messages.add(&number.to_string(), used(1, 0));
        }
        assert_eq!(messages.sum().unwrap().total(), MESSAGES as u64 + 1);
    }
}
