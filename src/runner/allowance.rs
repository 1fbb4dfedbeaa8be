//! An iteration's allowance, compared with its use while it runs.

use std::time::Duration;

use super::harness::{Harness, SoFar, TokenUsage};
use super::prices::PriceTable;
use crate::world::{Deadline, Stopwatch, WallTime};

/// The shortest time between two looks at the agent program's own files.
const LOOK: Duration = Duration::from_millis(500);
/// The next look waits this many times the last one's duration, so that looking takes at most a twentieth of the time.
const REST: u32 = 20;

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
