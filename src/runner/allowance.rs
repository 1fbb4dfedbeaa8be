//! What an iteration may still use, held against what it has used while it runs.

use std::time::Duration;

use super::harness::{Harness, SoFar, TokenUsage};
use super::prices::PriceTable;
use crate::world::{Deadline, Stopwatch, WallTime};

/// The shortest time between two looks at what the agent program writes down about its session.
const LOOK: Duration = Duration::from_millis(500);
/// How many times as long as the last look took the next one waits: looking takes a twentieth of the time at most.
const REST: u32 = 20;

/// What is left of a loop's budgets, `None` where there is no limit.
#[derive(Clone, Copy, Debug)]
pub struct BudgetsLeft<'a> {
    /// Tokens.
    pub tokens: Option<u64>,
    /// Millionths of a dollar.
    pub cost: Option<u64>,
    /// What models cost.
    pub prices: &'a PriceTable,
    /// The model that is asked for, which counts until the agent program names the one that answers.
    pub model: Option<&'a str>,
}

/// What an iteration may still use.
pub struct Allowance<'a> {
    left: BudgetsLeft<'a>,
    harness: &'a dyn Harness,
    began_at: WallTime,
    /// What the agent program has written down about this run.
    recorded: TokenUsage,
    next_look: Deadline,
    /// Whether anything was heard since the last look.
    has_news: bool,
    /// What was used when the limit was passed, `None` before that.
    pub passed_at: Option<TokenUsage>,
}

impl<'a> Allowance<'a> {
    /// Returns that of an iteration which began at this moment.
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

    /// Returns whether a limit is passed, after a line of output.
    pub fn is_passed_after_line(&mut self, so_far: SoFar<'_>) -> bool {
        self.has_news = true;
        self.is_passed(so_far)
    }

    /// Returns whether a limit is passed, and looks from time to time at what the agent program has written down: most of
    /// them say nothing in their output before its end, or only a part of it.
    pub fn is_passed_now(&mut self, so_far: SoFar<'_>) -> bool {
        if (self.left.tokens.is_some() || self.left.cost.is_some())
            && self.has_news
            && self.next_look.is_over()
            && let Some(session) = so_far.session
        {
            let clock = Stopwatch::start();
            let recorded = self.harness.session_tokens_now(session, self.began_at);
            // An agent may shorten what is written down there: what was used stays used.
            if let Some(recorded) = recorded.filter(|it| it.total() > self.recorded.total()) {
                self.recorded = recorded;
            }
            self.next_look = Deadline::after(LOOK.max(clock.elapsed() * REST));
            self.has_news = false;
        }
        self.is_passed(so_far)
    }

    /// Returns what was used so far, as far as it is known.
    pub fn used(&self, so_far: SoFar<'_>) -> TokenUsage {
        if self.recorded.total() > so_far.usage.total() { self.recorded } else { so_far.usage }
    }

    /// Returns what that costs in millionths of a dollar, and whether it is an estimate; `None` where nothing tells.
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
