//! Receipts for entries of a journal.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::lines::{LoggedEntry, LoggedLoop};
use crate::engine::scoreboard::Scoreboard;
use crate::forms::receipt::ReceiptForm;
use crate::runner::report::list_of;
use crate::store::journal::Entry;
use crate::store::names::JournalEvent;
use crate::store::receipts::{Receipt, Receipts, Witness, scoreboard};
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
        // The next runner gives the ticks of a killed one their receipts.
        let is_of_runner =
            matches!(entry.event, JournalEvent::Iteration | JournalEvent::Interrupted);
        if !is_done && !is_of_runner && entry.event != JournalEvent::Stop {
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
            Witness::Iteration => is_of_runner && receipt.at == entry.at,
        };
        let most = if is_done { 1 } else { usize::MAX };
        all.iter().filter(belongs).take(most).map(ReceiptForm::from).collect()
    }

    /// The proofs of a loop that ended with this entry; empty for another entry. A review's receipts are written after
    /// the entry of its end.
    pub fn at_end(&mut self, logged: LoggedLoop<'_>, logged_entry: &LoggedEntry) -> Scoreboard {
        let entry = &logged_entry.entry;
        if !logged_entry.is_end() {
            return Scoreboard::default();
        }
        let (began, next) = (logged.began(), logged.next_began);
        let is_before_the_next = |at: WallTime| at <= entry.at || next.is_none_or(|next| at < next);
        let is_its = |receipt: &&Receipt| receipt.at >= began && is_before_the_next(receipt.at);
        let mut board = scoreboard(self.all(&entry.about).iter().filter(is_its));
        // The current list is about the last loop alone; a task that has left the list stays.
        let root = self.root.as_deref().filter(|_| next.is_none());
        if let Some(list) = root.and_then(|root| list_of(root, &entry.about)) {
            board.retain(|one| one.dropped || list.find(&one.task).is_none_or(|task| task.done));
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
    use crate::engine::proof::Proof;
    use crate::store::names::VerdictName;

    fn receipt(at: u64, reviewer: Option<&str>) -> Receipt {
        Receipt {
            at: WallTime::from_seconds(at),
            task: "T001".to_owned(),
            proof: Some(Proof::Files),
            reviewer: reviewer.map(str::to_owned),
            ..Receipt::default()
        }
    }

    fn entry(at: u64, event: JournalEvent, verdict: VerdictName) -> LoggedEntry {
        let at = WallTime::from_seconds(at);
        let entry = Entry { at, event, about: "a".to_owned(), verdict, ..Entry::default() };
        LoggedEntry { whose: "s1".to_owned(), entry, is_old: false }
    }

    fn armed(at: u64) -> LoggedEntry {
        entry(at, JournalEvent::Armed, VerdictName::None)
    }

    /// The proofs at the second entry, the end of the first loop.
    fn at_end(receipts: Vec<Receipt>, mut entries: Vec<LoggedEntry>) -> Scoreboard {
        let read = BTreeMap::from([("a".to_owned(), receipts)]);
        let mut receipts = ReceiptsOfLog { read, ..ReceiptsOfLog::default() };
        let first = LoggedLoop::all(&mut entries)[0];
        receipts.at_end(first, &first.entries[1])
    }

    #[test]
    fn late_review_counts_for_loop() {
        let receipts = || vec![receipt(3, None), receipt(7, Some("codex"))];
        let end = || entry(6, JournalEvent::Stop, VerdictName::End);
        let line = |next: Option<u64>| {
            let entries = [armed(1), end()].into_iter().chain(next.map(armed));
            at_end(receipts(), entries.collect()).line()
        };
        assert_eq!(line(None), "Proved: 1 by a review");
        assert_eq!(line(Some(8)), "Proved: 1 by a review");
        assert_eq!(line(Some(7)), "Proved: 1 by files");
    }

    #[test]
    fn followed_end_counts_earlier_proof() {
        let old = LoggedEntry { is_old: true, ..armed(1) };
        let entries = vec![old, entry(7, JournalEvent::Stop, VerdictName::End)];
        assert_eq!(at_end(vec![receipt(3, None), receipt(6, None)], entries).receipts, 2);
    }
}
