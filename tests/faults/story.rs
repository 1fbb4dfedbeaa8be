//! A story: a project as it is before, one call, and what must hold whatever breaks in that call.

use std::cell::RefCell;
use std::fs::File;

use nix::errno::Errno;
use serde_json::Value;

use super::facts::Facts;
use super::tracer::{Fault, Kind, Run};
use super::world::{Call, OURS, Snapshot, World};

/// What went wrong, in words.
pub type Outcome = Result<(), String>;

/// One operation of one of the programs.
pub struct Story {
    pub name: &'static str,
    /// Prepares the project, by hand and with the real programs.
    pub before: fn(&World),
    /// The call that is broken.
    pub call: fn(&World) -> Call,
    /// Who is at work at the same time, as the lock that they hold.
    pub beside: fn(&World) -> Option<File>,
    /// Looks at what is left, and goes on as people and agents would.
    pub judge: fn(&Case<'_>) -> Outcome,
    /// Of the steps that change nothing, one of so many is visited.
    pub stride_of_looks: usize,
    /// Of those that change something, one of so many.
    pub stride_of_changes: usize,
    /// Only steps with this in their words are visited; empty for all.
    pub about: &'static str,
}

impl Story {
    /// A story that visits every step with a change, and half of the others.
    pub fn new(
        name: &'static str,
        before: fn(&World),
        call: fn(&World) -> Call,
        judge: fn(&Case<'_>) -> Outcome,
    ) -> Self {
        Self {
            name,
            before,
            call,
            beside: |_| None,
            judge,
            stride_of_looks: 2,
            stride_of_changes: 1,
            about: "",
        }
    }
}

/// A story that was prepared in a folder of its own.
pub struct Stage {
    pub world: World,
    pub call: Call,
    snapshot: Snapshot,
    before: Facts,
}

/// One run of a story with a fault in it.
pub struct Case<'a> {
    pub world: &'a World,
    pub call: &'a Call,
    pub fault: Fault,
    /// What the step does in which the fault is, and `None` where there is no fault.
    pub kind: Option<Kind>,
    pub run: Run,
    pub before: &'a Facts,
    pub now: Facts,
    /// What was done since, for whoever reads a failure.
    pub told: RefCell<Vec<String>>,
}

/// What the hook said to a stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The agent may stop, and nobody is told anything.
    Silent,
    /// The agent is sent back.
    Held(String),
    /// The agent may stop, and the person reads this.
    Told(String),
}

impl Stage {
    /// Prepares a story.
    pub fn of(story: &Story, world: World) -> Self {
        (story.before)(&world);
        world.ages();
        let (call, snapshot) = ((story.call)(&world), world.snapshot());
        let before = Facts::read(&world).unwrap();
        Self { world, call, snapshot, before }
    }

    /// Puts the project back and makes the call with this fault; fails with what does not hold.
    pub fn play(&self, story: &Story, fault: Fault, kind: Option<Kind>) -> (Run, Outcome) {
        self.world.restore(&self.snapshot);
        let _beside = (story.beside)(&self.world);
        let run = self.world.run(&self.call, fault);
        self.judge(story, fault, kind, run)
    }

    /// Puts the project back as it was before.
    pub fn restore(&self) {
        self.world.restore(&self.snapshot);
    }

    /// Judges a run whose call was made already.
    pub fn judge(
        &self,
        story: &Story,
        fault: Fault,
        kind: Option<Kind>,
        run: Run,
    ) -> (Run, Outcome) {
        let steps = run.steps.clone();
        let hit = run.hit;
        // What was hit: a run that waits for something may take a step more or less than the one before.
        let kind = match fault {
            Fault::Fail(at, _) => steps.get(at).map(|step| step.kind).or(kind),
            _ => kind,
        };
        let facts = Facts::read(&self.world);
        let case = |now| Case {
            world: &self.world,
            call: &self.call,
            fault,
            kind,
            run,
            before: &self.before,
            now,
            told: RefCell::new(Vec::new()),
        };
        let (case, outcome) = match facts {
            Ok(now) => {
                let case = case(now);
                let outcome = case.contract().and_then(|()| (story.judge)(&case));
                let outcome = outcome.and_then(|()| case.is_tidy());
                (case, outcome)
            }
            Err(why) => (case(Facts::default()), Err(why)),
        };
        let outcome = outcome.map_err(|why| {
            let Run { code, stdout, stderr, .. } = &case.run;
            let then = case.told.borrow().join("\n    ");
            format!(
                "{why}\n    code {code:?}\n    stdout {stdout:?}\n    stderr {stderr:?}\n    {then}"
            )
        });
        (Run { steps, hit, ..case.run }, outcome)
    }
}

impl Case<'_> {
    /// Whether the program was killed.
    pub fn killed(&self) -> bool {
        matches!(self.fault, Fault::Kill(_))
    }

    /// Whether no file can be put back as it was: the disk takes nothing any more, not even a rename.
    pub fn cannot_undo(&self) -> bool {
        matches!(self.fault, Fault::BrokenFrom(_, errno) if errno != Errno::ENOSPC)
    }

    /// Whether what it said may not have arrived.
    pub fn is_mute(&self) -> bool {
        self.kind == Some(Kind::Print)
    }

    /// Whether the call said that it did what it was asked for.
    pub fn acknowledged(&self) -> bool {
        !self.killed() && self.run.code == Some(0) && self.run.signal.is_none()
    }

    /// Whether the answer of the hook has these words.
    pub fn said(&self, words: &str) -> bool {
        self.run.stdout.contains(words)
    }

    /// What holds for every call of both programs.
    fn contract(&self) -> Outcome {
        let Run { code, signal, stdout, stderr, hung, .. } = &self.run;
        ensure(!hung, "it did not end by itself")?;
        ensure(!stderr.contains("panicked"), "it panicked")?;
        if self.killed() && *signal == Some(9) {
            return Ok(());
        }
        ensure(signal.is_none(), &format!("it ended by signal {signal:?}"))?;
        if self.call.is_hook() {
            ensure(*code == Some(0), "the hook's code is not 0")?;
            let object = serde_json::from_str::<Value>(stdout).is_ok_and(|value| value.is_object());
            let whole = stdout.is_empty() || (object && stdout.ends_with('\n'));
            ensure(whole || self.is_mute(), "the hook printed something that is no JSON object")?;
        } else {
            let known = code.is_some_and(|code| code < 100 || code == 130 || code == 143);
            ensure(known, "it ended with an exit code that no table has")?;
        }
        Ok(())
    }

    /// Temporary files are gone once the programs have worked again and time has passed.
    fn is_tidy(&self) -> Outcome {
        let litter = || {
            let mut files = self.world.files().into_iter().map(|(path, _)| path);
            files.find(|path| path.extension().is_some_and(|end| end == "tmp"))
        };
        if litter().is_none() {
            return Ok(());
        }
        // What could not be removed, or was in the making when the program was killed, is removed later: when
        // a loop is armed, and by the next `spool task`.
        self.later(&self.world.command(OURS, "speckit:ralph-loop", "\"Sweep\" --replace"));
        // Only for work: what is refused changes nothing.
        self.world.works(OURS);
        self.later(&Call::spool(Some(OURS), &["task", "done", "T001"]));
        let litter = litter();
        litter.map_or(Ok(()), |path| Err(format!("litter stays\n    {}", path.display())))
    }

    /// Makes a call without any fault, later.
    pub fn later(&self, call: &Call) -> Run {
        self.world.ages();
        let run = self.world.plain(call);
        let words = format!("then: {:?} {:?} {:?}", run.code, run.stdout, run.stderr);
        self.told.borrow_mut().push(words);
        run
    }

    /// Makes the same call again, in a later turn.
    pub fn repeats(&self) -> Run {
        self.world.speaks_again(self.call);
        self.later(self.call)
    }

    /// Makes the same call again and returns what the files say then.
    pub fn again(&self) -> Result<Facts, String> {
        let run = self.repeats();
        ensure(run.signal.is_none(), "made again, it ended by a signal")?;
        self.facts()
    }

    pub fn facts(&self) -> Result<Facts, String> {
        Facts::read(self.world)
    }

    /// The agent of a session works on and wants to stop.
    pub fn stops(&self, session: &'static str, words: &str) -> Answer {
        self.world.works(session);
        self.stops_idle(session, words)
    }

    /// The agent of a session wants to stop.
    pub fn stops_idle(&self, session: &'static str, words: &str) -> Answer {
        let run = self.later(&self.world.stop(session, words));
        let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
        let text = |field: &str| answer[field].as_str().map(str::to_owned);
        match (text("decision"), text("reason"), text("systemMessage")) {
            (Some(_), reason, _) => Answer::Held(reason.unwrap_or_default()),
            (None, _, Some(message)) => Answer::Told(message),
            _ => Answer::Silent,
        }
    }
}

impl Answer {
    /// Fails unless the agent is sent back.
    pub fn held(self, when: &str) -> Outcome {
        ensure(matches!(self, Self::Held(_)), &format!("{when}, the agent is not held: {self:?}"))
    }

    /// Fails unless the agent may stop without a word.
    pub fn silent(self, when: &str) -> Outcome {
        ensure(self == Self::Silent, &format!("{when}, the hook is not silent: {self:?}"))
    }

    /// Fails unless the person reads these words.
    pub fn told(self, words: &str, when: &str) -> Outcome {
        let told = matches!(&self, Self::Told(message) if message.contains(words));
        ensure(told, &format!("{when}, nobody is told of `{words}`: {self:?}"))
    }
}

/// Fails with these words unless it holds.
pub fn ensure(holds: bool, otherwise: &str) -> Outcome {
    if holds { Ok(()) } else { Err(otherwise.to_owned()) }
}

/// Fails with these words and both values unless they are the same.
pub fn same<T: PartialEq + std::fmt::Debug>(left: &T, right: &T, what: &str) -> Outcome {
    ensure(left == right, &format!("{what}:\n    now    {left:?}\n    before {right:?}"))
}
