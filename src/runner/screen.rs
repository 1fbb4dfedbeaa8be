//! The loop's lines, the live line, and the terminal's title.
//!
//! A terminal may be closed while a loop runs: a line that cannot be shown is dropped, and is no failure.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::path::{MAIN_SEPARATOR, Path};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::harness::AgentEvent;
use super::options::{Form, Shown};
use crate::forms;
use crate::forms::events::{EventForm, RunnerEvent};
use crate::print::{fitted, size_of};
use crate::style::{DIM, WARN, sequences};
use crate::text;
pub use crate::text::{counted, grouped, lasted};

/// The most characters in one line of the agent's words.
const WIDEST: usize = 2_000;
/// The columns of a terminal that does not tell.
const COLUMNS: usize = 80;
/// Columns of the live line around its words: the spinner, a blank, and the last one.
const SPINNER: usize = 3;
/// Saves the terminal's title, and restores it.
const KEEP_TITLE: &str = "\u{1b}[22;2t";
const PUT_TITLE_BACK: &str = "\u{1b}[23;2t";

pub struct Screen {
    shown: Shown,
    form: Form,
    change: String,
    /// The work's folder with a slash; paths below are shown without it.
    folder: String,
    live: ProgressBar,
    has_title: bool,
    /// The terminal's title; empty for its own.
    title: RefCell<String>,
    is_ending: Cell<bool>,
    /// The agent's last words or trouble on the screen.
    heard_last: RefCell<String>,
}

impl Screen {
    /// The live line and the title need a terminal.
    pub fn new((change, folder): (&str, &Path), shown: Shown, form: Form) -> Self {
        let terminal = io::stderr().is_terminal();
        let is_dumb = crate::world::variable("TERM").is_some_and(|term| term == "dumb");
        let live = if terminal && !is_dumb && form == Form::Words && shown != Shown::Quiet {
            let live = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {wide_msg}");
            style.map_or(live.clone(), |style| live.with_style(style))
        } else {
            ProgressBar::hidden()
        };
        let screen = Self {
            shown,
            form,
            change: plain(change),
            folder: format!("{}{MAIN_SEPARATOR}", folder.display()),
            live,
            has_title: terminal && !is_dumb,
            title: RefCell::default(),
            is_ending: Cell::new(false),
            heard_last: RefCell::default(),
        };
        screen.title_bytes(KEEP_TITLE);
        screen
    }

    /// A line for people, or an event for programs.
    pub fn report(&self, event: RunnerEvent, words: &str) {
        match self.form {
            Form::Words => self.print(words),
            Form::Json => self.print_event(event, words),
        }
    }

    /// Confirms once that the loop will end.
    pub fn ending(&self, words: &str) {
        if !self.is_ending.replace(true) {
            self.report(RunnerEvent::Ending, words);
        }
    }

    /// On standard error.
    pub fn warn(&self, words: &str) {
        self.live.suspend(|| {
            let line = format!("{WARN}warning{WARN:#}: {words}");
            // The terminal may be closed.
            let line = text::styled(&line, &sequences());
            let _ = writeln!(anstream::stderr(), "{}", fitted(&line, size_of(io::stderr())));
        });
    }

    /// Shows the agent's action.
    pub fn heard(&self, event: &AgentEvent) {
        if self.form == Form::Json {
            let (event, words) = match event {
                AgentEvent::Said(words) => (RunnerEvent::Said, words.clone()),
                AgentEvent::Called { tool, what } => {
                    (RunnerEvent::Called { tool: tool.clone() }, format!("{tool}: {what}"))
                }
                AgentEvent::Trouble(words) => (RunnerEvent::Trouble, words.clone()),
                AgentEvent::Returned { .. } | AgentEvent::Finished => return,
            };
            if self.shown != Shown::Quiet {
                self.print_event(event, &words);
            }
            return;
        }
        match (event, self.shown) {
            (AgentEvent::Returned { .. } | AgentEvent::Finished, _) | (_, Shown::Quiet) => {}
            (AgentEvent::Said(words), _) => {
                self.heard_last.replace(words.trim().to_owned());
                for line in words.lines().filter(|line| !line.trim().is_empty()) {
                    self.print(&format!("  {}", shortened(line)));
                }
            }
            (AgentEvent::Called { tool, what }, _) => {
                let what = what.strip_prefix(&self.folder).unwrap_or(what);
                self.print(&format!("  {DIM}{}: {}{DIM:#}", plain(tool), shortened(what)));
            }
            (AgentEvent::Trouble(words), _) => {
                // Some programs report trouble as the agent's words, too.
                if self.heard_last.replace(words.trim().to_owned()) != words.trim() {
                    self.print(&format!("  ! {}", shortened(words)));
                }
            }
        }
    }

    /// Forgets what was heard, for another iteration.
    pub fn begin(&self) {
        self.heard_last.take();
    }

    /// The agent's last words on the screen were these.
    pub fn has_shown(&self, words: &str) -> bool {
        !words.trim().is_empty() && *self.heard_last.borrow() == words.trim()
    }

    /// Shows a line of the agent program's output as it is, if everything is wanted.
    pub fn raw(&self, line: &[u8]) {
        if self.shown == Shown::Verbose && self.form == Form::Words {
            let line = shortened(&String::from_utf8_lossy(line));
            self.print(&format!("  {DIM}| {line}{DIM:#}"));
        }
    }

    /// The columns of the live line; `None` without one.
    pub fn room(&self) -> Option<usize> {
        let columns = || size_of(io::stderr()).map_or(COLUMNS, |size| size.columns);
        (!self.live.is_hidden()).then(|| columns().saturating_sub(SPINNER))
    }

    /// Draws the live line.
    pub fn live(&self, words: &str) {
        if !self.live.is_hidden() {
            if self.live.is_finished() {
                self.live.reset();
            }
            self.live.set_message(plain(words));
            self.live.tick();
        }
    }

    /// Removes the live line.
    pub fn still(&self) {
        // Without empty words, the next live line would begin with the old ones.
        self.live.set_message("");
        self.live.finish_and_clear();
    }

    /// Sets the terminal's title to `Ralph: {change} [{of}]` (spec 001).
    pub fn title(&self, of: &impl Display) {
        let of = plain(&of.to_string());
        self.title.replace(format!("\u{1b}]2;Ralph: {} [{of}]\u{7}", self.change));
        self.title_bytes(&self.title.borrow());
    }

    /// Restores the terminal, except for the last title: a person who comes back in the morning reads how the loop
    /// ended, until the shell sets its own.
    pub fn close(&self) {
        self.still();
        self.title_bytes(&format!("{PUT_TITLE_BACK}{}", self.title.borrow()));
    }

    fn title_bytes(&self, bytes: &str) {
        if self.has_title {
            let mut errors = io::stderr();
            // The terminal may be closed.
            let _ = errors.write_all(bytes.as_bytes()).and_then(|()| errors.flush());
        }
    }

    fn print_event(&self, event: RunnerEvent, words: &str) {
        let words = anstream::adapter::strip_str(words).to_string();
        // A form's values can always be written.
        if let Ok(line) = forms::line(&EventForm::now(event, words)) {
            self.print(&line);
        }
    }

    fn print(&self, line: &str) {
        let line = match self.form {
            Form::Words => {
                let line = text::styled(line, &sequences());
                fitted(&line, size_of(io::stdout())).into()
            }
            Form::Json => text::json(line),
        };
        self.live.suspend(|| {
            let mut output = anstream::stdout().lock();
            // The reader may be gone.
            let _ = writeln!(output, "{line}").and_then(|()| output.flush());
        });
    }
}

/// The text without control characters.
pub fn plain(text: &str) -> String {
    text::line(text).into_owned()
}

fn shortened(line: &str) -> String {
    text::title(&line.replace('\t', "    "), WIDEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_steers_no_terminal() {
        assert_eq!(plain("a\u{1b}]2;x\u{7}b\nc\u{9b}d"), "a�]2;x�b c�d");
        assert_eq!(shortened("a\tb\u{1b}[31m"), "a    b�[31m");
        assert_eq!(shortened(&"é".repeat(WIDEST + 1)).chars().count(), WIDEST);
    }
}
