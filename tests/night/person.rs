//! A person who edits the list while the runner works: new tasks, notes, other words. The agent says when it is at work, so that
//! both know in which run it was.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use ralph_speckit::world::{Deadline, pause};

use crate::agent::LIST;
use crate::limited::{Limited, PATIENCE};
use crate::place::Place;
use crate::plan::Plan;

/// There while the agent waits for an edit.
const ASKED: &str = "person";

/// The thread, and whether it may end.
pub struct Person {
    thread: JoinHandle<Vec<String>>,
    is_over: Arc<AtomicBool>,
}

/// How many of a plan's tasks are a person's, who adds them in the night.
pub fn tasks(plan: &Plan) -> u32 {
    let edits = (1..=plan.runs).filter(|run| plan.meets_a_person(*run));
    edits.zip(0..).filter(|(_, edit)| adds_a_task(*edit)).count() as u32
}

fn adds_a_task(edit: u32) -> bool {
    edit.is_multiple_of(2)
}

/// Lets the person edit, and waits until the edit is written.
pub fn asked_by_the_agent(desk: &Path) {
    let asked = desk.join(ASKED);
    fs::write(&asked, "").unwrap();
    let deadline = Deadline::after(PATIENCE);
    while asked.exists() {
        assert!(!deadline.is_over(), "there is no person");
        pause(Duration::from_millis(1));
    }
}

impl Person {
    pub fn at(place: &Place) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let (list, asked) = (place.scratch.path(LIST), place.desk().join(ASKED));
        let over = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            let mut written = Vec::new();
            let mut edit = 0;
            while !over.load(Ordering::Relaxed) {
                if asked.exists() {
                    written.push(edits(&list, edit));
                    edit += 1;
                    fs::remove_file(&asked).unwrap();
                }
                pause(Duration::from_millis(2));
            }
            written
        });
        Self { thread, is_over }
    }

    /// What it wrote: words that are in the list to the end.
    pub fn leaves(self) -> Vec<String> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.finish()
    }
}

/// One edit: a task or a note at the end of the file, a note at its head, or an open task in other words. An editor writes the file
/// anew, a shell behind its end.
fn edits(list: &PathBuf, edit: u32) -> String {
    let text = fs::read_to_string(list).unwrap();
    if adds_a_task(edit) {
        let task = text.matches("] T").count() + 1;
        let words = format!("T{task:03} Write `src/part{task:03}.txt`, says a person");
        let mut file = fs::File::options().append(true).open(list).unwrap();
        file.write_all(format!("- [ ] {words}\n").as_bytes()).unwrap();
        return words;
    }
    let (words, text) = match edit % 3 {
        0 => {
            let note = format!("Note {edit} of a person.");
            (note.clone(), text.replacen("# Tasks\n", &format!("# Tasks\n\n{note}\n"), 1))
        }
        1 => {
            let open: Vec<&str> = text.lines().filter(|line| line.starts_with("- [ ] ")).collect();
            let line = open[edit as usize % open.len().min(4)];
            let words = format!("{}, says edit {edit}", &line[6..]);
            (words.clone(), text.replacen(line, &format!("- [ ] {words}"), 1))
        }
        _ => {
            let note = format!("Note {edit} at the end.");
            (note.clone(), format!("{text}\n{note}\n\n"))
        }
    };
    let new = list.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(&new, list).unwrap();
    words
}
