//! Which agent of a loop works: the first one that is neither at a usage limit nor overloaded.

/// Answers of an overloaded service in a row after which another agent goes on.
pub const OVERLOADS: u32 = 3;
/// Milliseconds after which an agent whose service was overloaded is tried again.
pub const OVERLOAD_REST: u64 = 15 * 60 * 1000;

/// What a run of an agent says of its service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunSign {
    /// It has answered, or failed in another way than the two below.
    Answered,
    /// It is overloaded.
    Overloaded,
    /// It is at a usage limit.
    Limited,
}

/// Why an agent does not work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RestCause {
    /// It is at a usage limit.
    #[default]
    UsageLimit,
    /// Its service was overloaded.
    Overload,
}

/// Which agent works next, and in how many milliseconds: 0 for at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextAgent {
    /// Its number, from 0 for the first choice.
    pub agent: usize,
    /// How long to wait before.
    pub wait_ms: u64,
}

/// An agent that does not work before a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentRest {
    /// The moment, in milliseconds since the Unix epoch, 0 for none.
    pub until_ms: u64,
    /// Why.
    pub cause: RestCause,
    /// When its usage limit is lifted by its own word, in seconds since the Unix epoch, `None` where it says nothing.
    pub reported: Option<u64>,
    /// Usage limits in a row.
    pub limits: u32,
    /// Overloads in a row.
    pub overloads: u32,
}

/// The agents of a loop in the order in which a person wants them to work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lineup(Vec<AgentRest>);

impl Lineup {
    /// Returns so many agents, all of which may work.
    pub fn new(agents: usize) -> Self {
        Self(vec![AgentRest::default(); agents.max(1)])
    }

    /// Returns what is known of an agent.
    pub fn rest(&self, agent: usize) -> AgentRest {
        self.0.get(agent).copied().unwrap_or_default()
    }

    /// Takes in what a run of an agent says of its service. After [`OVERLOADS`] in a row it rests for [`OVERLOAD_REST`], where
    /// another agent can go on meanwhile.
    pub fn ended(&mut self, agent: usize, sign: RunSign, now_ms: u64) {
        let is_free = |it: &AgentRest| it.until_ms <= now_ms;
        let another = self.0.iter().enumerate().any(|(other, it)| other != agent && is_free(it));
        let Some(it) = self.0.get_mut(agent) else { return };
        it.limits = if sign == RunSign::Limited { it.limits.saturating_add(1) } else { 0 };
        it.overloads = if sign == RunSign::Overloaded { it.overloads.saturating_add(1) } else { 0 };
        if it.overloads >= OVERLOADS && another {
            it.until_ms = now_ms.saturating_add(OVERLOAD_REST);
            (it.cause, it.overloads) = (RestCause::Overload, 0);
        }
    }

    /// Lets an agent rest until its usage limit is lifted; `reported` is when that is by its own word, in seconds since the
    /// Unix epoch.
    pub fn limit(&mut self, agent: usize, until_ms: u64, reported: Option<u64>) {
        if let Some(it) = self.0.get_mut(agent) {
            *it = AgentRest { until_ms, cause: RestCause::UsageLimit, reported, ..*it };
        }
    }

    /// Returns which agent works next: the first that may; else one whose service was overloaded, for that is no reason to wait
    /// where nobody else can go on; else the one whose limit is lifted first.
    pub fn next(&self, now_ms: u64) -> NextAgent {
        let all = || self.0.iter().enumerate();
        let free = all().find(|(_, it)| it.until_ms <= now_ms);
        let busy = || all().find(|(_, it)| it.cause == RestCause::Overload);
        if let Some((agent, _)) = free.or_else(busy) {
            return NextAgent { agent, wait_ms: 0 };
        }
        let first = all().min_by_key(|(_, it)| it.until_ms);
        let (agent, until_ms) = first.map_or((0, 0), |(agent, it)| (agent, it.until_ms));
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
    fn the_first_choice_works_again_as_soon_as_its_limit_is_lifted() {
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
    fn an_overloaded_service_rests_only_where_another_agent_can_go_on() {
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
    fn nobody_waits_where_the_other_one_is_only_overloaded() {
        let mut lineup = Lineup::new(2);
        for _ in 0..OVERLOADS {
            lineup.ended(0, RunSign::Overloaded, NOW);
        }
        lineup.limit(1, NOW + 10, None);
        assert_eq!(lineup.next(NOW), at_once(0));
    }
}
