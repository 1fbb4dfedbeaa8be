//! What happens in which run of the agent program, counted over all runs of the runner.

use ralph_speckit::world;

/// The variable that names the plan, for the scripted agent.
pub const PLAN: &str = "NIGHT_PLAN";

/// What happens in one run of the agent program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// The next task is finished, ticked and committed.
    Work,
    /// The first half of the next task is written and committed.
    Half,
    /// The service answers with this status, before any work was done.
    Error(u16),
    /// The same in the middle of the work, with an edit that is not committed.
    ErrorLater(u16),
    /// A tool is denied and nothing changes.
    Denied,
    /// A tool prints nothing any more, and does not end.
    Hung,
    /// A usage limit that is lifted in two seconds.
    Limit,
    /// Half of an edit is there when the runner is killed.
    Killed,
    /// The same when the runner gets SIGTERM.
    Stopped,
}

/// A play: how many runs of the agent program, and what happens in those that do not just work.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Its name.
    pub name: &'static str,
    /// How many runs of the agent program there are.
    pub runs: u32,
    special: &'static [(u32, Happening)],
}

use Happening::{Denied, Error, ErrorLater, Half, Hung, Killed, Limit, Stopped, Work};

/// The whole night. The second kill leaves as many runs as the first fifty, so that both can be compared.
pub const NIGHT: Plan = Plan {
    name: "night",
    runs: 200,
    special: &[
        (7, Error(429)),
        (15, Error(500)),
        (23, Error(529)),
        (31, Denied),
        (38, ErrorLater(529)),
        (61, Hung),
        (66, Error(529)),
        (67, Error(529)),
        (72, Limit),
        (90, Killed),
        (101, ErrorLater(500)),
        (117, Denied),
        (128, Error(429)),
        (150, Killed),
        (163, Error(500)),
        (171, Denied),
        (184, ErrorLater(429)),
    ],
};

/// The same in a container, shorter.
pub const CONTAINED: Plan = Plan {
    name: "contained",
    runs: 30,
    special: &[
        (3, Error(429)),
        (5, Error(500)),
        (7, Error(529)),
        (9, Denied),
        (11, ErrorLater(529)),
        (13, Stopped),
        (16, Limit),
        (18, Hung),
        (21, Killed),
        (26, Denied),
    ],
};

impl Plan {
    /// The plan that the environment names.
    pub fn of_environment() -> Self {
        let name = world::variable(PLAN).unwrap();
        [NIGHT, CONTAINED].into_iter().find(|plan| plan.name == name).unwrap()
    }

    /// What happens in a run, from 1.
    pub fn happening(&self, run: u32) -> Happening {
        let special = self.special.iter().find(|(at, _)| *at == run);
        match special {
            Some((_, happening)) => *happening,
            None if run % 9 == 4 && run < self.runs => Half,
            None => Work,
        }
    }

    /// How many tasks its runs finish.
    pub fn tasks(&self) -> u32 {
        self.count(|happening| happening == Work)
    }

    /// In how many runs this happens.
    pub fn count(&self, is_it: impl Fn(Happening) -> bool) -> u32 {
        (1..=self.runs).filter(|run| is_it(self.happening(*run))).count() as u32
    }

    /// The runs in which the runner is ended.
    pub fn ends(&self) -> Vec<(u32, Happening)> {
        let ends =
            self.special.iter().filter(|(_, happening)| matches!(happening, Killed | Stopped));
        ends.copied().collect()
    }
}
