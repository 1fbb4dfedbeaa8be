//! The report behind `spool status`: a project's loops, as data and as text.

mod armed;
pub mod feature;
pub mod live;
pub mod session_loop;

use std::cmp::Reverse;
use std::fmt::Write;
use std::path::Path;

use crate::feature::project::{Project, printable};
use crate::feature::settings::Settings;
use crate::forms::loops::{EndForm, LoopForm};
use crate::forms::plain::{JsonTime, words};
use crate::session::{messages, pinned};
use crate::store::loops::{Loops, Record};
use crate::store::names::{EndName, LoopKind};
use crate::store::pins::PinState;
use feature::FeatureReport;
use session_loop::{FoundLoop, SessionLoop};

/// Only so many sessions are looked at, the newest.
const NEWEST: usize = 100;
const PAST: usize = 3;
const NONE: &str =
    "No feature has a loop. Start one with /speckit:implement in Claude Code, or `spool start`.\n";

#[derive(Clone, Debug)]
pub struct StatusReport {
    pub project: String,
    /// Loops are switched on here.
    pub enabled: bool,
    /// Why the settings cannot be used, with the line; empty if they can. Nothing can be armed with such settings.
    pub settings_problem: String,
    pub features: Vec<FeatureReport>,
    /// Ralph loops: the live ones, and the last three that have ended.
    pub tasks: Vec<SessionLoop>,
}

impl StatusReport {
    /// Files that cannot be read are reported, not fatal.
    pub fn of(project: &Project) -> Self {
        Self::of_loops(project, &Loops::of(&project.root))
    }

    pub fn of_loops(project: &Project, loops: &Loops) -> Self {
        let settings = Settings::read(&project.root);
        Self {
            project: project.root.display().to_string(),
            enabled: !settings.as_ref().is_ok_and(|settings| !settings.chosen.enabled()),
            settings_problem: settings.err().map(|error| error.one_line()).unwrap_or_default(),
            features: FeatureReport::all(project, loops),
            tasks: all_tasks(&project.root, loops),
        }
    }

    /// Text for a person, with line breaks and no color.
    pub fn text(&self) -> String {
        let mut text = format!("Project: {}\n", printable(&self.project));
        if !self.enabled {
            text.push_str("Loops are switched off by .claude/ralph-speckit.local.md\n");
        }
        if !self.settings_problem.is_empty() {
            let _ = writeln!(text, "Nothing can be armed: {}", printable(&self.settings_problem));
        }
        for feature in &self.features {
            feature.write(&mut text, self.switch());
        }
        if self.features.is_empty() && self.tasks.is_empty() {
            text.push_str(NONE);
        }
        text + &self.tasks_text()
    }

    /// A note beside a live loop that the settings switch loops off; empty otherwise.
    fn switch(&self) -> &'static str {
        if self.enabled { "" } else { ", but switched off by the settings: the agent may stop" }
    }

    /// The part about ralph loops.
    pub fn tasks_text(&self) -> String {
        let mut text = String::new();
        for task in &self.tasks {
            let cancel = format!("spool stop --session {}", task.session());
            let state = task.words(self.switch(), &cancel);
            let _ = writeln!(text, "\nTask: {}\n  Loop: {state}", printable(&task.form.about));
            task.write_now(&mut text, "");
            task.write_course(&mut text, "", "refused promises", &[]);
        }
        text
    }
}

/// Live ralph loops and the last three that have ended, newest first.
fn all_tasks(root: &Path, loops: &Loops) -> Vec<SessionLoop> {
    let records = loops
        .newest(loops.sessions(), NEWEST)
        .into_iter()
        .filter_map(|session| loops.peek(&session));
    let records = records.filter(|record| record.kind == LoopKind::Task);
    let mut records: Vec<Record> = records.collect();
    records.sort_by_cached_key(|record| (!record.ledger.is_live(), Reverse(record.last_sign())));
    let live = records.iter().filter(|record| record.ledger.is_live()).count();
    records.truncate(live + PAST);
    records.iter().map(|record| task_loop(root, loops, record)).collect()
}

fn task_loop(root: &Path, loops: &Loops, record: &Record) -> SessionLoop {
    let ended = record.ledger.ended.as_ref();
    let standing = ended.map_or_else(|| pinned::standing(root, record), |_| PinState::Nobody);
    let form = LoopForm {
        about: record.about.clone(),
        armed_at: JsonTime::of(record.armed_at),
        end: ended.map(|reason| EndForm { name: EndName::of(reason), words: record.words.clone() }),
        next: words(&messages::task::after_end(record)),
        max_iterations: record.ralph().and_then(|task| task.contract.guardrails.max_iterations),
        ..LoopForm::from(&record.ledger)
    };
    let record = Some(record.clone());
    let found = FoundLoop { form, record, standing: &standing, is_bound: true, tasks: None };
    SessionLoop::of(root, loops, found)
}
