//! Tokens of an agent program.

use std::collections::BTreeMap;

use serde_json::Value;

/// How many messages are known by their ids; repetitions stand close together.
const MESSAGES: usize = 100_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Sent, without tokens from a cache.
    pub input: u64,
    /// Received, with thoughts.
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl TokenUsage {
    /// For programs whose input includes tokens that were read from or written to a cache.
    pub fn of_all_input(self) -> Self {
        let cached = self.cache_read.saturating_add(self.cache_write);
        Self { input: self.input.saturating_sub(cached), ..self }
    }

    /// As [`Self::of_in`], for programs as in [`Self::of_all_input`].
    pub fn of_all_in(usage: &Value, names: [&str; 4]) -> Self {
        Self::of_in(usage, names).of_all_input()
    }

    /// `names` are the fields for sent, received, cache read and cache written.
    pub fn of_in(usage: &Value, names: [&str; 4]) -> Self {
        let [input, output, cache_read, cache_write] = names.map(|name| number(usage, name));
        Self { input, output, cache_read, cache_write }
    }

    /// A turn's usage in the Agent Client Protocol.
    ///
    /// Some programs count cached tokens as sent, which their total shows.
    pub fn of_turn(usage: &Value) -> Option<Self> {
        usage["inputTokens"].as_u64()?;
        let names = ["inputTokens", "outputTokens", "cachedReadTokens", "cachedWriteTokens"];
        let mut used = Self::of_in(usage, names);
        let total = number(usage, "totalTokens");
        if total != used.input.saturating_add(used.output) {
            used.output = used.output.saturating_add(number(usage, "thoughtTokens"));
        }
        let is_all = total == used.input.saturating_add(used.output);
        Some(if is_all { used.of_all_input() } else { used })
    }

    /// Gemini CLI's own field beside the protocol.
    pub fn of_quota(count: &Value) -> Option<Self> {
        let (input, output) = (count["input_tokens"].as_u64()?, count["output_tokens"].as_u64()?);
        Some(Self { input, output, ..Self::default() })
    }

    pub fn total(self) -> u64 {
        [self.output, self.cache_read, self.cache_write]
            .into_iter()
            .fold(self.input, u64::saturating_add)
    }

    pub fn plus(self, other: Self) -> Self {
        self.by_kind(other, u64::saturating_add)
    }

    pub fn minus(self, earlier: Self) -> Self {
        self.by_kind(earlier, u64::saturating_sub)
    }

    /// The higher figure of each kind: a count that was reported once stands, whatever follows.
    pub fn at_least(self, other: Self) -> Self {
        self.by_kind(other, u64::max)
    }

    fn by_kind(self, other: Self, join: fn(u64, u64) -> u64) -> Self {
        Self {
            input: join(self.input, other.input),
            output: join(self.output, other.output),
            cache_read: join(self.cache_read, other.cache_read),
            cache_write: join(self.cache_write, other.cache_write),
        }
    }

    /// `None` for no usages.
    pub fn sum(usages: impl IntoIterator<Item = Self>) -> Option<Self> {
        usages.into_iter().reduce(Self::plus)
    }

    pub fn add_to(self, sum: &mut Option<Self>) {
        *sum = Self::sum(sum.iter().copied().chain([self]));
    }
}

fn number(usage: &Value, name: &str) -> u64 {
    usage[name].as_u64().unwrap_or(0)
}

/// Usage by message id. A later line of a message may raise its figures, never lower them.
#[derive(Clone, Debug, Default)]
pub struct MessageUsage {
    known: BTreeMap<String, TokenUsage>,
    sum: Option<TokenUsage>,
}

impl MessageUsage {
    pub fn add(&mut self, id: &str, usage: TokenUsage) {
        if self.known.len() >= MESSAGES && !self.known.contains_key(id) {
            // Their tokens stay in the sum.
            self.known.clear();
        }
        let before = self.known.get(id).copied().unwrap_or_default();
        let now = before.at_least(usage);
        now.minus(before).add_to(&mut self.sum);
        self.known.insert(id.to_owned(), now);
    }

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
    fn later_message_line_only_grows() {
        let mut messages = MessageUsage::default();
        assert_eq!(messages.sum(), None);
        for (id, usage) in [("a", used(100, 1)), ("b", used(10, 0)), ("a", used(0, 40))] {
            messages.add(id, usage);
        }
        assert_eq!(messages.sum(), Some(used(110, 40)));
    }

    #[test]
    fn unlimited_messages_count() {
        let mut messages = MessageUsage::default();
        for number in 0..=MESSAGES {
            messages.add(&number.to_string(), used(1, 0));
        }
        assert_eq!(messages.sum().unwrap().total(), MESSAGES as u64 + 1);
    }
}
