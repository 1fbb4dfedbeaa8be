//! What happens in which run of the agent program, counted over all runs of the runner.

use ralph_speckit::world;

/// The variable that names the plan, for the scripted agent.
pub const PLAN: &str = "NIGHT_PLAN";

/// What happens in one run of the agent program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// The next task is finished, ticked and committed, with this done to the history.
    Work(History),
    /// The same, and the runner is killed.
    Dies(History, Death),
    /// The last commit gets another message.
    Renames,
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

/// What a run does to the history of git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// A commit is added.
    Grows,
    /// That commit is made of two: the second one amends the first.
    Amends,
    /// The work goes into the last commit of an earlier run.
    AmendsEarlier,
    /// The last two commits are made again.
    Rebases,
    /// Another branch gets a commit first.
    Aside,
    /// Another branch gets a commit at last, and stays checked out.
    Strays,
}

/// Where the runner is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// The agent has done all but to say so.
    AtWork,
    /// The agent has ended, and the runner asks git for its commits.
    Judging,
}

/// A play: how many runs of the agent program, and what happens in those that do not just work.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Its name.
    pub name: &'static str,
    /// How many runs of the agent program there are.
    pub runs: u32,
    /// Every fourth run between these kills its runner; none without a last one.
    deaths: [u32; 2],
    special: &'static [(u32, Happening)],
}

use Death::{AtWork, Judging};
use Happening::{
    Denied, Dies, Error, ErrorLater, Half, Hung, Killed, Limit, Renames, Stopped, Work,
};
use History::{Amends, AmendsEarlier, Aside, Grows, Rebases, Strays};

/// How the runs end in which the runner is killed, in turn.
const DEATHS: [Happening; 12] = [
    Killed,
    Dies(Grows, AtWork),
    Dies(Grows, Judging),
    Killed,
    Dies(Amends, AtWork),
    Dies(Rebases, Judging),
    Killed,
    Dies(Strays, AtWork),
    Dies(AmendsEarlier, Judging),
    Dies(Rebases, AtWork),
    Dies(Aside, Judging),
    Dies(AmendsEarlier, AtWork),
];
/// What those runs do to the history that finish their task by themselves, in turn.
const HISTORIES: [History; 11] =
    [Grows, Grows, Amends, Grows, Aside, Grows, Rebases, Grows, Grows, AmendsEarlier, Grows];

/// The whole night. A runner has the first runs and another one the last, so that both can be compared; every fourth run between
/// kills its own.
pub const NIGHT: Plan = Plan {
    name: "night",
    runs: 400,
    deaths: [92, 328],
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
        (81, Renames),
        (102, ErrorLater(500)),
        (118, Denied),
        (130, Error(429)),
        (163, Error(500)),
        (171, Denied),
        (186, ErrorLater(429)),
        (215, Renames),
        (251, Limit),
        (302, Hung),
        (345, Error(529)),
        (377, ErrorLater(500)),
    ],
};

/// The same in a container, shorter.
pub const CONTAINED: Plan = Plan {
    name: "contained",
    runs: 30,
    deaths: [0; 2],
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
        let [first, last] = self.deaths;
        match special {
            Some((_, happening)) => *happening,
            None if (first..=last).contains(&run) && run.is_multiple_of(4) => {
                DEATHS[run as usize / 4 % DEATHS.len()]
            }
            None if run % 9 == 4 && run < self.runs => Half,
            None if self.is_edited() && run > 11 => Work(HISTORIES[run as usize % HISTORIES.len()]),
            None => Work(Grows),
        }
    }

    /// History is rewritten, and a person edits the list.
    pub fn is_edited(&self) -> bool {
        self.deaths != [0; 2]
    }

    /// A person edits the list while the agent is at work in this run.
    pub fn meets_a_person(&self, run: u32) -> bool {
        self.is_edited()
            && run < self.runs - 20
            && run % 7 == 5
            && self.happening(run).finishes_a_task()
    }

    /// How many tasks its runs finish.
    pub fn tasks(&self) -> u32 {
        self.count(Happening::finishes_a_task)
    }

    /// In how many runs this happens.
    pub fn count(&self, is_it: impl Fn(Happening) -> bool) -> u32 {
        (1..=self.runs).filter(|run| is_it(self.happening(*run))).count() as u32
    }

    /// The runs in which the runner is ended.
    pub fn ends(&self) -> Vec<(u32, Happening)> {
        let all = (1..=self.runs).map(|run| (run, self.happening(run)));
        all.filter(|(_, happening)| happening.is_killed() || *happening == Stopped).collect()
    }
}

impl Happening {
    /// Its task is done at its end.
    pub fn finishes_a_task(self) -> bool {
        matches!(self, Work(_) | Dies(..))
    }

    /// The runner is killed in it.
    pub fn is_killed(self) -> bool {
        matches!(self, Killed | Dies(..))
    }

    /// The agent stands still until the runner is ended.
    pub fn waits(self) -> bool {
        matches!(self, Killed | Stopped | Dies(_, AtWork))
    }
}
