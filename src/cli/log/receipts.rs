//! Receipts for entries of a journal.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::lines::LoggedLoop;
use crate::engine::scoreboard::Scoreboard;
use crate::forms::receipt::ReceiptForm;
use crate::runner::report::list_of;
use crate::store::journal::Entry;
use crate::store::names::{JournalEvent, VerdictName};
use crate::store::receipts::{Receipt, Receipts, Witness, only_done, scoreboard};
use crate::world::WallTime;

/// The receipts of a project, read on demand.
#[derive(Default)]
pub struct ReceiptsOfLog {
    root: Option<PathBuf>,
    follows: bool,
    read: BTreeMap<String, Vec<Receipt>>,
}

impl ReceiptsOfLog {
    /// `follows`: new receipts may come.
    pub fn of(root: Option<PathBuf>, follows: bool) -> Self {
        Self { root, follows, read: BTreeMap::new() }
    }

    /// Receipts of the tasks ticked at an entry.
    pub fn with(&mut self, entry: &Entry) -> Vec<ReceiptForm> {
        let is_done = matches!(entry.event, JournalEvent::Done | JournalEvent::Dropped);
        if !is_done && !matches!(entry.event, JournalEvent::Iteration | JournalEvent::Stop) {
            return Vec::new();
        }
        let all = self.all(&entry.about);
        let belongs = |receipt: &&Receipt| match receipt.by {
            // This receipt is written right after the entry that names its task.
            Witness::Done | Witness::Drop => {
                let id = entry.words.split(' ').next();
                is_done && receipt.at >= entry.at && id == Some(receipt.task.as_str())
            }
            // This receipt is written before the entry of its stop or iteration, for earlier ticks.
            Witness::Review => false,
            Witness::Stop => entry.event == JournalEvent::Stop && receipt.at == entry.at,
            Witness::Iteration => entry.event == JournalEvent::Iteration && receipt.at == entry.at,
        };
        let most = if is_done { 1 } else { usize::MAX };
        all.iter().filter(belongs).take(most).map(ReceiptForm::from).collect()
    }

    /// The proofs of a loop that ended with this entry; empty for another entry. A review's receipts are written after
    /// the entry of its end.
    pub fn at_end(&mut self, logged: &LoggedLoop, entry: &Entry) -> Scoreboard {
        let is_end = entry.verdict == VerdictName::End || entry.event == JournalEvent::Ended;
        if !is_end {
            return Scoreboard::default();
        }
        let (began, next) = (logged.began(), logged.next_began);
        let is_before_the_next = |at: WallTime| at <= entry.at || next.is_none_or(|next| at < next);
        let is_its = |receipt: &&Receipt| receipt.at >= began && is_before_the_next(receipt.at);
        let mut board = scoreboard(self.all(&entry.about).iter().filter(is_its));
        // The current list is about the last loop alone; a task that has left the list stays.
        let root = self.root.as_deref().filter(|_| next.is_none());
        if let Some(list) = root.and_then(|root| list_of(root, &entry.about)) {
            only_done(&mut board, Some(&list));
        }
        board
    }

    fn all(&mut self, about: &str) -> &[Receipt] {
        if self.follows {
            self.read.clear();
        }
        let root = self.root.as_deref();
        self.read.entry(about.to_owned()).or_insert_with(|| {
            let receipts = root.and_then(|root| Receipts::named(root, about).ok());
            receipts.map(|receipts| receipts.all()).unwrap_or_default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::log::lines::LoopBegins;
    use crate::engine::proof::Proof;

    fn receipt(at: u64, reviewer: Option<&str>) -> Receipt {
        Receipt {
            at: WallTime::from_seconds(at),
            task: "T001".to_owned(),
            proof: Some(Proof::Files),
            reviewer: reviewer.map(str::to_owned),
            ..Receipt::default()
        }
    }

    #[test]
    fn late_review_counts_for_loop() {
        let receipts = vec![receipt(3, None), receipt(7, Some("codex"))];
        let read = BTreeMap::from([("a".to_owned(), receipts)]);
        let mut receipts = ReceiptsOfLog { read, ..ReceiptsOfLog::default() };
        let (at, verdict) = (WallTime::from_seconds, VerdictName::End);
        let armed = Entry { at: at(1), about: "a".to_owned(), ..Entry::default() };
        let end = Entry { at: at(6), verdict, ..armed.clone() };
        let mut line = |next: Option<u64>| {
            let logged = LoggedLoop {
                entries: vec![armed.clone(), end.clone()],
                next_began: next.map(at),
                ..LoggedLoop::default()
            };
            receipts.at_end(&logged, &end).line()
        };
        assert_eq!(line(None), "Proved: 1 by a review");
        assert_eq!(line(Some(8)), "Proved: 1 by a review");
        assert_eq!(line(Some(7)), "Proved: 1 by files");
    }

    #[test]
    fn followed_end_counts_earlier_proof() {
        let read = BTreeMap::from([("a".to_owned(), vec![receipt(3, None), receipt(6, None)])]);
        let mut receipts = ReceiptsOfLog { read, ..ReceiptsOfLog::default() };
        let entry = |at, event, verdict| Entry {
            at: WallTime::from_seconds(at),
            event,
            about: "a".to_owned(),
            verdict,
            ..Entry::default()
        };
        let armed = entry(1, JournalEvent::Armed, VerdictName::None);
        let mut begins = LoopBegins::new();
        LoggedLoop::know_the_begin(&mut LoggedLoop::all("s1", vec![armed]), &mut begins);
        let end = entry(7, JournalEvent::Stop, VerdictName::End);
        let mut new = LoggedLoop::parts("s1", vec![end.clone()]);
        LoggedLoop::know_the_begin(&mut new, &mut begins);
        assert_eq!(receipts.at_end(&new[0], &end).receipts, 2);
    }
}
