//! What models cost: a table that a person gives, and what a run cost by it or by the agent program's own word.

use std::fmt;

use super::harness::{AgentReport, Missing, TokenUsage};
use super::tokens::TokenCount;
use crate::forms::spent::Amount;
use crate::settings::price;

/// What a model costs, in millionths of a dollar for a million tokens of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// The model, or the beginning of its name.
    pub model: String,
    /// Tokens sent.
    pub input: u64,
    /// Tokens received.
    pub output: u64,
    /// Tokens read from a cache.
    pub cache_read: u64,
    /// Tokens written to a cache.
    pub cache_write: u64,
}

/// The prices of several models, empty where a person has given none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriceTable(pub Vec<Price>);

impl Price {
    /// Returns the price that a setting takes, such as `claude-opus=5/25/0.50/6.25`.
    pub fn of(text: &str) -> Option<Self> {
        let (model, [input, output, cache_read, cache_write]) = price(text)?;
        Some(Self { model, input, output, cache_read, cache_write })
    }

    fn paid(&self, usage: TokenUsage) -> u64 {
        let part = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let all = part(usage.input, self.input)
            + part(usage.output, self.output)
            + part(usage.cache_read, self.cache_read)
            + part(usage.cache_write, self.cache_write);
        u64::try_from(all.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for Price {
    /// Writes it as `--prices` takes it, each price with all six digits behind the point.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, input, output, cache_read, cache_write } = self;
        let dollars = |micros: &u64| format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
        let [input, output, cache_read, cache_write] =
            [input, output, cache_read, cache_write].map(dollars);
        write!(out, "{model}={input}/{output}/{cache_read}/{cache_write}")
    }
}

impl PriceTable {
    /// Returns what these tokens of a model cost, in millionths of a dollar; `None` where there is no price at all.
    ///
    /// The longest name that the model's begins with decides. A model that no name fits, and one that is not known, costs as
    /// much as the dearest: a limit is reached too early rather than too late.
    pub fn cost(&self, model: Option<&str>, usage: TokenUsage) -> Option<u64> {
        let model = model.unwrap_or_default();
        // Some programs put the provider before the name.
        let name = model.rsplit('/').next().unwrap_or_default();
        let fits = |price: &&Price| [model, name].iter().any(|it| it.starts_with(&price.model));
        let fitting = self.0.iter().filter(fits).max_by_key(|price| price.model.len());
        match fitting {
            Some(price) => Some(price.paid(usage)),
            None => self.0.iter().map(|price| price.paid(usage)).max(),
        }
    }

    /// Returns what a run cost: by the agent program's own word, otherwise by this table; `None` where neither says it.
    /// `passed_at` is what was used when a limit was passed.
    pub fn of_run(
        &self,
        report: &AgentReport,
        counted: &TokenCount,
        passed_at: Option<TokenUsage>,
    ) -> Option<Amount> {
        if let (Some(cost), Missing::Nothing) = (report.cost, report.missing) {
            return Some(Amount { value: cost, ..Amount::default() });
        }
        let model = report.model.as_deref();
        let used = counted.usage.into_iter().chain(passed_at);
        let by_table = used.filter_map(|usage| self.cost(model, usage)).max();
        // What it said is only a part then.
        if let Some(cost) = report.cost.map(|cost| cost.max(by_table.unwrap_or(0))) {
            return Some(Amount { value: cost, estimated: true, partial: false });
        }
        let cost = by_table;
        let nothing = counted.tokens == 0 && !counted.unknown;
        let cost = cost.or(nothing.then_some(0))?;
        Some(Amount { value: cost, estimated: cost > 0, partial: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_written_as_it_is_read() {
        for words in ["claude-opus=5/25/0.50/6.25", "anthropic/x=0.000001/1000000", "a=b=0/0"] {
            let price = Price::of(words).unwrap();
            assert_eq!(Price::of(&price.to_string()), Some(price), "{words}");
        }
    }

    fn price(model: &str, input: u64) -> Price {
        Price { model: model.to_owned(), input, output: 5 * input, ..Price::default() }
    }

    #[test]
    fn the_longest_name_decides_and_what_is_not_in_the_table_costs_as_much_as_the_dearest() {
        let table = PriceTable(vec![
            price("claude", 1_000_000),
            price("claude-opus", 5_000_000),
            price("gpt", 2_000_000),
        ]);
        let usage = TokenUsage { input: 1_000_000, output: 100_000, ..TokenUsage::default() };
        for (model, dollars) in [
            (Some("claude-haiku-4-5"), 1.5),
            (Some("claude-opus-4-8-20260901"), 7.5),
            (Some("openai/gpt-6"), 3.0),
            (Some("mistral"), 7.5),
            (None, 7.5),
        ] {
            let micros = table.cost(model, usage).unwrap();
            assert!((micros as f64 / 1e6 - dollars).abs() < 1e-9, "{model:?} {micros}");
        }
        assert_eq!(PriceTable::default().cost(Some("claude"), usage), None);
    }

    #[test]
    fn the_programs_own_word_goes_before_the_table_and_a_part_of_a_cent_is_not_lost() {
        let table = PriceTable(vec![Price { cache_read: 1, ..price("m", 1) }]);
        let usage = TokenUsage { cache_read: 1, ..TokenUsage::default() };
        let counted = TokenCount { tokens: 1, usage: Some(usage), ..TokenCount::default() };
        let own = AgentReport { cost: Some(7), ..AgentReport::default() };
        let said = table.of_run(&own, &counted, None);
        assert_eq!(said, Some(Amount { value: 7, ..Amount::default() }));
        let silent = AgentReport::default();
        let estimate = table.of_run(&silent, &counted, None);
        assert_eq!(estimate, Some(Amount { value: 1, estimated: true, partial: false }));
        assert_eq!(PriceTable::default().of_run(&silent, &counted, None), None);
        let unknown = TokenCount { unknown: true, ..TokenCount::default() };
        assert_eq!(table.of_run(&silent, &unknown, None), None);
        assert_eq!(table.of_run(&silent, &TokenCount::default(), None), Some(Amount::default()));
    }
}
