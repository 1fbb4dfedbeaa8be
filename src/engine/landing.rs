//! The last iteration before a limit, in which the agent leaves the work ready for a successor.

use super::contract::Guardrails;
use super::ledger::Ledger;

/// A limit that the next iteration may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NearLimit {
    /// Only one more iteration may run.
    Iterations,
    /// Nine tenths are used up.
    Time,
    /// Nine tenths are used up.
    Tokens,
    /// Nine tenths are used up.
    Money,
    /// The agent program warned that its usage limit is near.
    Usage,
}

/// The surest limit that the next iteration may reach.
///
/// A near limit changes no verdict and adds no iteration.
pub fn near_limit(rails: &Guardrails, ledger: &Ledger, elapsed_seconds: u64) -> Option<NearLimit> {
    let is_near = |used: u64, limit: Option<u64>| {
        limit.is_some_and(|limit| u128::from(used) * 10 >= u128::from(limit) * 9)
    };
    if rails.max_iterations.is_some_and(|limit| ledger.iterations.saturating_add(1) >= limit) {
        Some(NearLimit::Iterations)
    } else if is_near(elapsed_seconds, rails.max_seconds) {
        Some(NearLimit::Time)
    } else if is_near(ledger.all_tokens(), rails.max_tokens) {
        Some(NearLimit::Tokens)
    } else if is_near(ledger.all_cost(), rails.max_cost) {
        Some(NearLimit::Money)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_tenths_are_near() {
        let rails = Guardrails {
            max_iterations: Some(5),
            max_seconds: Some(100),
            max_tokens: Some(1_000),
            ..Guardrails::default()
        };
        let near = |iterations, seconds, tokens| {
            near_limit(&rails, &Ledger { iterations, tokens, ..Ledger::default() }, seconds)
        };
        for (iterations, seconds, tokens, wanted) in [
            (0, 0, 0, None),
            (3, 89, 899, None),
            (4, 0, 0, Some(NearLimit::Iterations)),
            (9, 0, 0, Some(NearLimit::Iterations)),
            (3, 90, 0, Some(NearLimit::Time)),
            (3, 0, 900, Some(NearLimit::Tokens)),
            (4, 99, 999, Some(NearLimit::Iterations)),
            (u32::MAX, u64::MAX, u64::MAX, Some(NearLimit::Iterations)),
        ] {
            assert_eq!(
                near(iterations, seconds, tokens),
                wanted,
                "{iterations} {seconds} {tokens}"
            );
        }
        let money = Guardrails { max_cost: Some(100), ..Guardrails::default() };
        let spent = |cost| near_limit(&money, &Ledger { cost, ..Ledger::default() }, 0);
        assert_eq!((spent(89), spent(90)), (None, Some(NearLimit::Money)));
        let none = Guardrails { max_iterations: None, ..Guardrails::default() };
        assert_eq!(near_limit(&none, &Ledger::default(), u64::MAX), None);
        let one = Guardrails { max_iterations: Some(1), ..Guardrails::default() };
        assert_eq!(near_limit(&one, &Ledger::default(), 0), Some(NearLimit::Iterations));
    }
}
