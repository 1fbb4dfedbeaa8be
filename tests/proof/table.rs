//! The table of kinds and counts, and what is wrong.

use std::collections::BTreeMap;
use std::fmt;

use crate::case::Case;
use crate::stage::Seen;

/// The variable that has a part of the names of the cases that are played.
pub const ONLY: &str = "PROOF_ONLY";
/// How many wrong cases are shown with all that was said; with `ONLY` all cases are.
const SHOWN: usize = 4;

/// Whether only some of the cases are played.
pub fn is_of_some() -> bool {
    ralph_speckit::world::variable(ONLY).is_some()
}

/// One case that was played.
pub struct Row {
    pub case: Case,
    /// Which of the three columns it falls into.
    pub column: usize,
    pub is_wrong: bool,
    pub seen: Seen,
}

impl Row {
    /// The case and what came of it, in a line.
    fn line(&self) -> String {
        format!("{}: {} {:?}\n", self.case.name, self.seen.end, self.seen.proofs)
    }

    /// The same with all that was said.
    fn whole(&self) -> String {
        format!("== {}\n{}\n", self.case.name, self.seen)
    }
}

pub struct Table {
    columns: [&'static str; 3],
    rows: Vec<Row>,
}

impl Table {
    pub fn new(columns: [&'static str; 3]) -> Self {
        Self { columns, rows: Vec::new() }
    }

    pub fn add(&mut self, row: Row) {
        self.rows.push(row);
    }

    pub fn count(&self, column: usize) -> usize {
        self.rows.iter().filter(|row| row.column == column).count()
    }

    /// The names of the cases of a column, a line each.
    pub fn of_column(&self, column: usize) -> String {
        let rows = self.rows.iter().filter(|row| row.column == column);
        rows.map(Row::line).collect()
    }

    /// Fails when a case is wrong, or where there are fewer cases or kinds than promised.
    pub fn hold(&self, cases: usize, kinds: usize) {
        if is_of_some() {
            self.rows.iter().for_each(|row| println!("{}", row.whole()));
        }
        let wrong: Vec<&Row> = self.rows.iter().filter(|row| row.is_wrong).collect();
        let names: String = wrong.iter().map(|row| row.line()).collect();
        let whole: String = wrong.iter().take(SHOWN).map(|row| row.whole()).collect();
        assert!(wrong.is_empty(), "{} are wrong:\n{names}\n{whole}", wrong.len());
        if is_of_some() {
            return;
        }
        assert!(self.rows.len() >= cases, "{} cases", self.rows.len());
        let all = self.kinds();
        assert!(all.len() >= kinds, "{} kinds", all.len());
    }

    fn kinds(&self) -> BTreeMap<&'static str, [usize; 3]> {
        let mut kinds = BTreeMap::new();
        for row in &self.rows {
            kinds.entry(row.case.kind).or_insert([0; 3])[row.column] += 1;
        }
        kinds
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line =
            |out: &mut fmt::Formatter<'_>, name: &str, all: &dyn fmt::Display, of: [String; 3]| {
                writeln!(out, "{name:<46}{all:>6}{:>13}{:>13}{:>13}", of[0], of[1], of[2])
            };
        line(out, "kind", &"cases", self.columns.map(str::to_owned))?;
        for (kind, of) in self.kinds() {
            line(out, kind, &of.iter().sum::<usize>(), of.map(|number| number.to_string()))?;
        }
        let sums = [0, 1, 2].map(|column| self.count(column).to_string());
        line(out, "all", &self.rows.len(), sums)
    }
}
