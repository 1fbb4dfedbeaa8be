//! A feature's loop at one moment, as every command sees it: who armed it, the record of its session, the judge of its
//! ticks, and its list, with only the tasks of the loop and unproved ticks counted as open.

use std::borrow::Cow;
use std::cell::{LazyCell, OnceCell};
use std::io;
use std::time::Duration;

use crate::engine::TerminalReason;
use crate::engine::matched::Matched;
use crate::engine::tasks::TaskList;
use crate::evidence::commits;
use crate::evidence::contents::KeptContents;
use crate::evidence::task_list::TASKS;
use crate::exec::partner::in_run;
use crate::feature::project::{Feature, Project};
use crate::feature::settings::Settings;
use crate::feature::snapshot::{FeatureSnapshot, armed_list};
use crate::judge::ticks::{Tick, TickClaim, Ticks};
use crate::judge::{ArmedTerms, JudgedPlace, LOOK, TickJudge};
use crate::store::loops::{Asked, Loops, Record};
use crate::store::names::EndName;
use crate::store::pins::{Pin, PinKey, PinState, Pins};
use crate::store::receipts::{Receipt, Receipts, Witness};
use crate::system::processes;
use crate::world::{self, WallTime};

/// A feature's loop. Pin and record are read at once, the judge's files on first use.
pub struct FeatureView<'a> {
    pub project: &'a Project,
    pub feature: &'a Feature,
    pub standing: PinState,
    /// The record of the session that drives the feature, or did last.
    pub record: Option<Cow<'a, Record>>,
    /// Why the loop ended; `None` while it lives, if there never was one, and in a run of `spool ralph`, where the loop of
    /// a session is not the agent's.
    pub ended: Option<EndName>,
    judge: OnceCell<Result<TickJudge, Unjudged>>,
}

#[derive(Debug)]
pub enum Unjudged {
    /// Nothing can be kept outside of the project, with the reason: every tick counts.
    Nowhere(String),
    /// The arming cannot be read now, with the reason: no tick counts until it can.
    Unreadable(String),
}

impl<'a> FeatureView<'a> {
    pub fn of(project: &'a Project, feature: &'a Feature) -> Self {
        Self::by(project, feature, Loops::of(&project.root).found(&feature.name))
    }

    /// Like [`Self::of`], with a pin that the caller has read.
    pub fn by(project: &'a Project, feature: &'a Feature, pin: io::Result<Option<Pin>>) -> Self {
        // In a run the loop of a session is not the agent's.
        let pin = if in_run() { Ok(None) } else { pin };
        let found = pin.as_ref().ok().and_then(Option::as_ref);
        let record = found.and_then(|pin| Loops::of(&project.root).peek(&pin.session));
        let record = record.filter(|record| record.about == feature.name).map(Cow::Owned);
        let ended = found.and_then(|pin| pin.ended.as_ref());
        let ended = ended.map(|end| EndName::of(&end.reason));
        let standing = PinState::found(Pins::of(&project.root).and(pin));
        Self { record, ended, ..Self::under(project, feature, standing, None) }
    }

    /// The loop of a known record.
    pub fn under(
        project: &'a Project,
        feature: &'a Feature,
        standing: PinState,
        record: Option<&'a Record>,
    ) -> Self {
        let (record, judge) = (record.map(Cow::Borrowed), OnceCell::new());
        Self { project, feature, standing, record, ended: None, judge }
    }

    /// The same loop after a change, under the same judge.
    pub fn again(self) -> Self {
        Self { judge: self.judge, ..Self::of(self.project, self.feature) }
    }

    /// The pin of the current arming: in a session, or by a runner at work.
    pub fn armed(&self) -> Result<Option<Pin>, Unjudged> {
        let list = list_of(self.feature);
        let is_its =
            |pin: &Pin| pin.list == list && pin.process > 0 && processes::is_alive(pin.process);
        let pins = Pins::of(&self.project.root);
        let pins = pins.map_err(|why| Unjudged::Nowhere(why.to_string()))?;
        let of_runner = || pins.read(PinKey::Change(&self.feature.name)).ok().flatten();
        match (&self.standing, self.standing.pin().cloned().or_else(|| of_runner().filter(is_its)))
        {
            (PinState::Unknown(why), None) => Err(Unjudged::Unreadable(why.clone())),
            (_, pin) => Ok(pin),
        }
    }

    /// The judge under the current arming.
    pub fn judge(&self) -> &Result<TickJudge, Unjudged> {
        let judge = |pin: Option<Pin>| {
            let judge = judge_of(self.project, self.feature, pin.as_ref());
            judge.map_err(|why| Unjudged::Nowhere(why.to_string()))
        };
        self.judge.get_or_init(|| self.armed().and_then(judge))
    }

    /// Each task of a list with the armed one that it was; with itself where nothing is judged.
    pub fn matched<'b>(&'b self, list: &'b TaskList) -> Matched<'b> {
        let judge = self.judge().as_ref();
        judge.map_or_else(|_| Matched::of(list, list), |judge| judge.matched(list))
    }

    /// The request for the loop; without a loop, the settings' request for the next one.
    fn request_or_settings(&self) -> Asked {
        if self.standing.pin().is_some() || self.record.is_some() {
            return self.standing.asked(self.record.as_deref()).cloned().unwrap_or_default();
        }
        let settings = Settings::read(&self.project.root).unwrap_or_default();
        let optional = settings.chosen.include_optional();
        Asked { optional, ..Asked::default() }
    }

    /// The request for the live loop, beyond the feature itself.
    pub fn request(&self) -> Option<&Asked> {
        self.standing.asked(self.record.as_deref().filter(|record| record.ledger.is_live()))
    }

    /// The tasks of a list that the live loop is about.
    pub fn part(&self, list: &TaskList) -> TaskList {
        let asked = self.request().cloned().unwrap_or_default();
        asked.part_of(list.clone(), |at| armed_list(self.feature, at))
    }

    /// The feature's files, as they count.
    pub fn snapshot(&self) -> FeatureSnapshot {
        let mut snapshot = self.listed();
        if let Some(list) = &snapshot.tasks {
            let open = self.not_proved(list);
            snapshot.gone = self.missing(list);
            snapshot.open_again(&open);
        }
        snapshot
    }

    /// The feature's files, with the boxes of the list.
    fn listed(&self) -> FeatureSnapshot {
        FeatureSnapshot::of_loop(self.feature, &self.standing, &self.request_or_settings())
    }

    /// Judges all boxes of a loop that ends without another stop. Ticks that count get receipts. Returns the other ticked
    /// tasks: they stay open. No command runs.
    pub fn judge_at_end(&self, limit: Duration) -> Vec<String> {
        let (open, ticks) = self.judged(limit);
        let record = self.record.as_deref().cloned().unwrap_or_default();
        let receipt = |tick: &Tick| receipt_of_stop(tick, world::now(), &record, self.project);
        // Without a receipt a tick counts as the list says.
        let _unkept = self.judge().as_ref().map(|judge| ticks.keep(judge, false, &receipt));
        open
    }

    /// The ticked tasks that count as open, and the ticks of a live loop, all judged now.
    pub fn judged(&self, limit: Duration) -> (Vec<String>, Ticks) {
        let (mut refused, listed) = (self.refused(), self.listed());
        let (Ok(judge), Some(list), Some(_)) = (self.judge(), &listed.tasks, self.standing.pin())
        else {
            return (refused, Ticks::default());
        };
        let record = self.record.as_deref().cloned().unwrap_or_default();
        let (new, since) = (judge.not_proved(list), record.judged_at);
        let claim = TickClaim { new: &new, since, all_done: true, ..TickClaim::default() };
        let ticks = Ticks::of(judge, (list, &listed.text), claim, limit);
        // Only a look at the files, or the command, lets a refused tick count.
        refused.retain(|id| ticks.seen.now.is_none() || record.unverified.contains(id));
        refused.extend(ticks.refused());
        (refused, ticks)
    }

    /// What counts of a list, and the ids of its ticked tasks that count as open.
    pub fn counted(&self, list: TaskList) -> (TaskList, Vec<String>) {
        let mut list = self.request_or_settings().part_of(list, |at| armed_list(self.feature, at));
        let open = list.open_again(&self.not_proved(&list));
        (list, open)
    }

    /// Open tasks of the loop that have left the whole list, and were not dropped.
    pub fn missing(&self, whole: &TaskList) -> Vec<String> {
        let noted = self.record.iter().flat_map(|record| &record.gone_tasks);
        let gone: Vec<_> = noted.filter(|id| whole.find(id).is_none()).cloned().collect();
        match self.record.as_deref().filter(|record| !record.ledger.is_live()) {
            Some(own) if own.ledger.ended == Some(TerminalReason::Completed) => Vec::new(),
            Some(own) => self.without_receipt(gone, own.armed_at),
            None => self.judge().as_ref().map_or_else(
                |_| Vec::new(),
                |judge| judge.missing(whole, &gone, &self.request_or_settings().tasks),
            ),
        }
    }

    /// Ticked tasks that count as open.
    fn not_proved(&self, list: &TaskList) -> Vec<String> {
        let mut open = self.refused();
        open.extend(self.judge().iter().flat_map(|judge| judge.not_proved(list)));
        open
    }

    /// Tasks that did not count at the loop's last stop, or whose Verify command failed when it ran last, without a
    /// receipt since.
    pub fn refused(&self) -> Vec<String> {
        let Some(record) = &self.record else { return Vec::new() };
        let is_new = |id: &&String| !record.refused.contains(id);
        let all = record.refused.iter().chain(record.unverified.iter().filter(is_new));
        // Receipts of that very stop do not count: a command may have failed behind them.
        let after_stop = record.judged_at.after(Duration::from_millis(1));
        self.without_receipt(all.cloned().collect(), after_stop.max(record.armed_at))
    }

    /// Those of these tasks that have no receipt since a time.
    fn without_receipt(&self, mut tasks: Vec<String>, since: WallTime) -> Vec<String> {
        let receipts = Some(receipts_of(self.project, self.feature)).filter(|_| !tasks.is_empty());
        for receipt in receipts.into_iter().flatten().flat_map(|receipts| receipts.since(since)) {
            tasks.retain(|id| *id != receipt.task);
        }
        tasks
    }

    /// Stores the files' contents before a loop's first task, unless they are stored: they will show its work. Where they
    /// cannot be stored, the tasks' receipts name no files.
    pub fn begin_tasks(&self) {
        let Ok(judge) = self.judge() else { return };
        let (number, kept) = (judge.number(), judge.receipts.contents());
        if kept.and_then(|bytes| KeptContents::number_in(&bytes)) != Some(number) {
            let contents = judge.contents(None, LOOK).ok();
            let _ = judge.receipts.keep_contents(&KeptContents { number, contents }.to_bytes());
        }
    }
}

/// What a session's record knows of the receipt of a tick by hand.
pub fn receipt_of_stop(tick: &Tick, at: WallTime, record: &Record, project: &Project) -> Receipt {
    let (session, iteration) = (record.session.clone(), record.ledger.iterations);
    let attempt = record.attempts.get(&tick.task).copied().unwrap_or_default().saturating_add(1);
    let log_read = commits::log_place(&project.root).length;
    Receipt { at, by: Witness::Stop, session, iteration, attempt, log_read, ..Receipt::default() }
}

/// Relative to the project.
pub fn list_of(feature: &Feature) -> String {
    [&feature.relative, "/", TASKS].concat()
}

/// The receipts of a feature: what is seen of the work when a task is ticked. An error if nothing can be kept outside of
/// the project.
pub fn receipts_of(project: &Project, feature: &Feature) -> io::Result<Receipts> {
    Receipts::of(&project.root, &feature.name, &list_of(feature))
}

/// The judge under this pin, without one under default terms. An error if nothing can be kept outside of the project.
pub fn judge_of(project: &Project, feature: &Feature, pin: Option<&Pin>) -> io::Result<TickJudge> {
    let (root, list) = (&project.root, list_of(feature));
    let receipts = receipts_of(project, feature)?;
    let (folder, list_at) = (root.clone(), list.clone());
    let place = JudgedPlace { folder, list, list_at, ..JudgedPlace::default() };
    let Some(pin) = pin else { return Ok(TickJudge::of(place, ArmedTerms::default(), receipts)) };
    let (root, about) = (root.clone(), feature.name.clone());
    let Pin { process, armed_at, verify, .. } = *pin;
    let armed = Pin { about, armed_at, process, verify, ..Pin::default() };
    let verify = LazyCell::new(Box::new(move || {
        Pins::of(&root).and_then(|pins| pins.verify(armed.key(), &armed)).unwrap_or_default()
    }) as Box<_>);
    let armed = ArmedTerms {
        at: pin.armed_at,
        least: pin.proof,
        protect: pin.protect.clone(),
        checks: ArmedTerms::commands_of(&pin.checks),
        verify,
    };
    Ok(TickJudge::of(place, armed, receipts))
}
