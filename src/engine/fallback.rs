//! Which agent of a loop works: the first that is neither at a usage limit nor overloaded.

/// Overloads in a row after which an agent rests.
pub const OVERLOADS: u32 = 3;
/// Milliseconds of that rest.
pub const OVERLOAD_REST: u64 = 15 * 60 * 1000;

/// The state of an agent's service, as a run shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunSign {
    /// The service answered, or the run failed for another reason.
    Answered,
    Overloaded,
    /// The service is at a usage limit.
    Limited,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RestCause {
    #[default]
    UsageLimit,
    Overload,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextAgent {
    /// From 0 for the first choice.
    pub agent: usize,
    /// 0 for no wait.
    pub wait_ms: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentRest {
    /// Milliseconds since the Unix epoch; 0 for no rest.
    pub until_ms: u64,
    pub cause: RestCause,
    /// End of the usage limit as the service reported it, in seconds since the Unix epoch.
    pub reported: Option<u64>,
    /// In a row.
    pub limits: u32,
    /// In a row.
    pub overloads: u32,
}

/// The agents of a loop in a person's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lineup(Vec<AgentRest>);

impl Lineup {
    /// All agents are free.
    pub fn new(agents: usize) -> Self {
        Self(vec![AgentRest::default(); agents.max(1)])
    }

    pub fn rest(&self, agent: usize) -> AgentRest {
        self.0.get(agent).copied().unwrap_or_default()
    }

    /// Counts the sign of a run. After [`OVERLOADS`] in a row an agent rests for [`OVERLOAD_REST`] if another one can
    /// go on meanwhile.
    pub fn ended(&mut self, agent: usize, sign: RunSign, now_ms: u64) {
        let is_free = |rest: &AgentRest| rest.until_ms <= now_ms;
        let another = self.0.iter().enumerate().any(|(at, rest)| at != agent && is_free(rest));
        let Some(rest) = self.0.get_mut(agent) else { return };
        rest.limits = if sign == RunSign::Limited { rest.limits.saturating_add(1) } else { 0 };
        rest.overloads =
            if sign == RunSign::Overloaded { rest.overloads.saturating_add(1) } else { 0 };
        if rest.overloads >= OVERLOADS && another {
            rest.until_ms = now_ms.saturating_add(OVERLOAD_REST);
            (rest.cause, rest.overloads) = (RestCause::Overload, 0);
        }
    }

    /// Lets an agent rest until its usage limit is lifted; `reported` is the service's own word, in seconds since the
    /// Unix epoch.
    pub fn limit(&mut self, agent: usize, until_ms: u64, reported: Option<u64>) {
        if let Some(rest) = self.0.get_mut(agent) {
            *rest = AgentRest { until_ms, cause: RestCause::UsageLimit, reported, ..*rest };
        }
    }

    /// The first free agent; else one that rests for an overload, since a try costs less than a wait; else the one
    /// whose limit is lifted first.
    pub fn next(&self, now_ms: u64) -> NextAgent {
        let all = || self.0.iter().enumerate();
        let free = all().find(|(_, rest)| rest.until_ms <= now_ms);
        let busy = || all().find(|(_, rest)| rest.cause == RestCause::Overload);
        if let Some((agent, _)) = free.or_else(busy) {
            return NextAgent { agent, wait_ms: 0 };
        }
        let first = all().min_by_key(|(_, rest)| rest.until_ms);
        let (agent, until_ms) = first.map_or((0, 0), |(agent, rest)| (agent, rest.until_ms));
        NextAgent { agent, wait_ms: until_ms.saturating_sub(now_ms) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_000_000;

    fn at_once(agent: usize) -> NextAgent {
        NextAgent { agent, wait_ms: 0 }
    }

    #[test]
    fn lifted_limit_restores_first_choice() {
        let mut lineup = Lineup::new(3);
        assert_eq!(lineup.next(NOW), at_once(0));
        lineup.ended(0, RunSign::Limited, NOW);
        lineup.limit(0, NOW + 100, Some(1));
        assert_eq!(lineup.next(NOW), at_once(1));
        lineup.limit(1, NOW + 50, None);
        assert_eq!(lineup.next(NOW), at_once(2));
        lineup.limit(2, NOW + 200, None);
        assert_eq!(lineup.next(NOW), NextAgent { agent: 1, wait_ms: 50 });
        assert_eq!(lineup.next(NOW + 50), at_once(1));
        assert_eq!(lineup.next(NOW + 100), at_once(0));
        assert_eq!((lineup.rest(0).limits, lineup.rest(0).reported), (1, Some(1)));
        lineup.ended(0, RunSign::Answered, NOW + 100);
        assert_eq!(lineup.rest(0).limits, 0);
    }

    #[test]
    fn overloaded_service_rests_beside_another() {
        let mut alone = Lineup::new(1);
        for _ in 0..9 {
            alone.ended(0, RunSign::Overloaded, NOW);
            assert_eq!(alone.next(NOW), at_once(0));
        }
        let mut lineup = Lineup::new(2);
        for _ in 0..2 {
            lineup.ended(0, RunSign::Overloaded, NOW);
        }
        lineup.ended(0, RunSign::Answered, NOW);
        for times in 1..=OVERLOADS {
            assert_eq!(lineup.next(NOW), at_once(0), "{times}");
            lineup.ended(0, RunSign::Overloaded, NOW);
        }
        assert_eq!(lineup.next(NOW), at_once(1));
        for _ in 0..9 {
            lineup.ended(1, RunSign::Overloaded, NOW);
        }
        assert_eq!(lineup.next(NOW), at_once(1), "the first choice rests");
        assert_eq!(lineup.next(NOW + OVERLOAD_REST), at_once(0));
    }

    #[test]
    fn overload_alone_waits_for_nobody() {
        let mut lineup = Lineup::new(2);
        for _ in 0..OVERLOADS {
            lineup.ended(0, RunSign::Overloaded, NOW);
        }
        lineup.limit(1, NOW + 10, None);
        assert_eq!(lineup.next(NOW), at_once(0));
    }
}
