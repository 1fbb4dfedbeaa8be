//! Costs: a person's table of prices, a run's cost by that table or by the agent program's report, and an iteration's
//! allowance, compared with its use while it runs.

use std::fmt;
use std::time::Duration;

use super::harness::{AgentReport, Harness, Missing, SoFar, TokenUsage};
use super::tokens::TokenCount;
use crate::forms::spent::Amount;
use crate::settings::price;
use crate::world::{Deadline, Stopwatch, WallTime};

/// The shortest time between two looks at the agent program's own files.
const LOOK: Duration = Duration::from_millis(500);
/// The next look waits this many times the last one's duration, so that looking takes at most a twentieth of the time.
const REST: u32 = 20;

/// Millionths of a dollar for a million tokens of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// The model, or the beginning of its name.
    pub model: String,
    /// Sent, received, read from a cache, written to one.
    pub micros: [u64; 4],
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriceTable(pub Vec<Price>);

/// The rest of a loop's budgets; `None` for no limit.
#[derive(Clone, Copy, Debug)]
pub struct BudgetsLeft<'a> {
    pub tokens: Option<u64>,
    /// Millionths of a dollar.
    pub cost: Option<u64>,
    pub prices: &'a PriceTable,
    /// The requested model, until the agent program names another.
    pub model: Option<&'a str>,
}

/// The allowance of one iteration.
pub struct Allowance<'a> {
    left: BudgetsLeft<'a>,
    harness: &'a dyn Harness,
    began_at: WallTime,
    /// The tokens of this run in the agent program's own files.
    recorded: TokenUsage,
    next_look: Deadline,
    /// Output has come since the last look.
    has_news: bool,
    /// The tokens when the limit was passed.
    pub passed_at: Option<TokenUsage>,
}

impl Price {
    /// As in `claude-opus=5/25/0.50/6.25`.
    pub fn of(text: &str) -> Option<Self> {
        price(text).map(|(model, micros)| Self { model, micros })
    }

    fn paid(&self, usage: TokenUsage) -> u64 {
        let tokens = [usage.input, usage.output, usage.cache_read, usage.cache_write];
        let parts = tokens.into_iter().zip(self.micros);
        let all: u128 = parts.map(|(tokens, price)| u128::from(tokens) * u128::from(price)).sum();
        u64::try_from(all.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for Price {
    /// The format of `--prices`, with six decimals.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dollars = |micros: u64| format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
        write!(out, "{}={}", self.model, self.micros.map(dollars).join("/"))
    }
}

impl PriceTable {
    /// In millionths of a dollar; `None` without any price.
    ///
    /// The longest matching name decides. An unknown or unmatched model costs as much as the dearest: a limit is
    /// reached too early rather than too late.
    pub fn cost(&self, model: Option<&str>, usage: TokenUsage) -> Option<u64> {
        let model = model.unwrap_or_default();
        // Some programs put the provider in front.
        let name = model.rsplit('/').next().unwrap_or_default();
        let fits = |price: &&Price| [model, name].iter().any(|name| name.starts_with(&price.model));
        let fitting = self.0.iter().filter(fits).max_by_key(|price| price.model.len());
        match fitting {
            Some(price) => Some(price.paid(usage)),
            None => self.0.iter().map(|price| price.paid(usage)).max(),
        }
    }

    /// A run's cost by the agent program's report, else by this table. `passed_at` are the tokens when a limit was
    /// passed.
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
        // The report is only a part then.
        if let Some(cost) = report.cost.map(|cost| cost.max(by_table.unwrap_or(0))) {
            return Some(Amount { value: cost, estimated: true, partial: false });
        }
        let nothing = counted.tokens == 0 && !counted.unknown;
        let cost = by_table.or(nothing.then_some(0))?;
        Some(Amount { value: cost, estimated: cost > 0, partial: false })
    }
}

impl<'a> Allowance<'a> {
    pub fn new(left: BudgetsLeft<'a>, harness: &'a dyn Harness, began_at: WallTime) -> Self {
        Self {
            left,
            harness,
            began_at,
            recorded: TokenUsage::default(),
            next_look: Deadline::after(LOOK),
            has_news: false,
            passed_at: None,
        }
    }

    /// A limit is passed, after a line of output.
    pub fn is_passed_after_line(&mut self, so_far: SoFar<'_>) -> bool {
        self.has_news = true;
        self.is_passed(so_far)
    }

    /// A limit is passed. Looks from time to time into the agent program's own files: most programs report little
    /// before their end.
    pub fn is_passed_now(&mut self, so_far: SoFar<'_>) -> bool {
        if (self.left.tokens.is_some() || self.left.cost.is_some())
            && self.has_news
            && self.next_look.is_over()
            && let Some(session) = so_far.session
        {
            let clock = Stopwatch::start();
            let recorded = self.harness.session_tokens_now(session, self.began_at);
            // An agent may shorten its files, but used tokens stay used.
            if let Some(recorded) = recorded.filter(|now| now.total() > self.recorded.total()) {
                self.recorded = recorded;
            }
            self.next_look = Deadline::after(LOOK.max(clock.elapsed() * REST));
            self.has_news = false;
        }
        self.is_passed(so_far)
    }

    /// The known tokens so far.
    pub fn used(&self, so_far: SoFar<'_>) -> TokenUsage {
        if self.recorded.total() > so_far.usage.total() { self.recorded } else { so_far.usage }
    }

    /// In millionths of a dollar, and whether it is an estimate.
    pub fn cost(&self, so_far: SoFar<'_>) -> Option<(u64, bool)> {
        let BudgetsLeft { prices, model, .. } = self.left;
        let by_table = || prices.cost(so_far.model.or(model), self.used(so_far));
        match so_far.cost {
            Some(cost) if so_far.costs_more => Some((cost.max(by_table().unwrap_or(0)), true)),
            Some(cost) => Some((cost, false)),
            None => Some((by_table()?, true)),
        }
    }

    fn is_passed(&mut self, so_far: SoFar<'_>) -> bool {
        if self.passed_at.is_none() {
            let used = self.used(so_far);
            let BudgetsLeft { tokens, cost, .. } = self.left;
            let is_passed = tokens.is_some_and(|left| used.total() >= left)
                || cost
                    .is_some_and(|left| self.cost(so_far).is_some_and(|(costs, _)| costs >= left));
            self.passed_at = is_passed.then_some(used);
        }
        self.passed_at.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn price_writes_as_read() {
        for words in ["claude-opus=5/25/0.50/6.25", "anthropic/x=0.000001/1000000", "a=b=0/0"] {
            let price = Price::of(words).unwrap();
            assert_eq!(Price::of(&price.to_string()), Some(price), "{words}");
        }
    }

    fn price(model: &str, input: u64) -> Price {
        Price { model: model.to_owned(), micros: [input, 5 * input, 0, 0] }
    }

    #[test]
    fn longest_name_sets_the_price() {
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
    fn own_word_precedes_the_table() {
        let table = PriceTable(vec![Price { micros: [1, 5, 1, 0], ..price("m", 1) }]);
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
