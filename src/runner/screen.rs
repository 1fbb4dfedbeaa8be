//! What a person sees: the lines of a loop, the live line, the terminal's title.
//!
//! A terminal may be closed while a loop runs: what cannot be shown is dropped, never a failure.

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
use crate::text;
pub use crate::text::{counted, grouped, lasted};

/// The most characters of one line of the agent's words.
const WIDEST: usize = 2_000;
/// How many columns a terminal has that does not say it.
const COLUMNS: usize = 80;
/// The columns of the live line that its words do not have: the sign that turns, a blank, and the last one.
const SPINNER: usize = 3;
/// Takes the terminal's title away for later, and puts it back.
const KEEP_TITLE: &str = "\u{1b}[22;2t";
const PUT_TITLE_BACK: &str = "\u{1b}[23;2t";

/// The screen of one loop.
pub struct Screen {
    shown: Shown,
    form: Form,
    change: String,
    /// The folder of the work, with its slash: a path below it is shown without.
    folder: String,
    live: ProgressBar,
    has_title: bool,
    /// The title that the terminal has, empty for its own.
    title: RefCell<String>,
    is_ending: Cell<bool>,
    /// The last words or trouble of the agent that were shown.
    heard_last: RefCell<String>,
    /// The last words of the agent, when no trouble came after them.
    said_last: RefCell<String>,
}

impl Screen {
    /// Returns the screen for the loop of a change; the live line and the title need a terminal.
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
            said_last: RefCell::default(),
        };
        screen.title_bytes(KEEP_TITLE);
        screen
    }

    /// Shows one line of the loop's own, as an event where programs read.
    pub fn report(&self, event: RunnerEvent, words: &str) {
        match self.form {
            Form::Words => self.print(words),
            Form::Json => self.print_event(event, words),
        }
    }

    /// Says once that a person's wish to end the loop was heard.
    pub fn ending(&self, words: &str) {
        if !self.is_ending.replace(true) {
            self.report(RunnerEvent::Ending, words);
        }
    }

    /// Shows a warning, on standard error.
    pub fn warn(&self, words: &str) {
        self.live.suspend(|| {
            let style = crate::style::WARN;
            let line = format!("{}warning{}: {words}", style.render(), style.render_reset());
            // See the first lines of this file.
            let line = text::styled(&line, &crate::style::sequences());
            let _ = writeln!(anstream::stderr(), "{}", fitted(&line, size_of(io::stderr())));
        });
    }

    /// Shows what the agent does.
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
        let style = crate::style::DIM;
        match (event, self.shown) {
            (AgentEvent::Returned { .. } | AgentEvent::Finished, _) | (_, Shown::Quiet) => {}
            (AgentEvent::Said(words), _) => {
                self.heard_last.replace(words.trim().to_owned());
                self.said_last.replace(words.clone());
                for line in words.lines().filter(|line| !line.trim().is_empty()) {
                    self.print(&format!("  {}", shortened(line)));
                }
            }
            (AgentEvent::Called { tool, what }, _) => {
                let (on, off) = (style.render(), style.render_reset());
                let what = what.strip_prefix(&self.folder).unwrap_or(what);
                self.print(&format!("  {on}{}: {}{off}", plain(tool), shortened(what)));
            }
            (AgentEvent::Trouble(words), _) => {
                // Some programs say what went wrong as the agent's words too.
                let said = self.said_last.take();
                self.heard_last.replace(words.trim().to_owned());
                if said.trim() != words.trim() {
                    self.print(&format!("  ! {}", shortened(words)));
                }
            }
        }
    }

    /// Forgets what was heard: another iteration begins.
    pub fn begin(&self) {
        self.heard_last.take();
        self.said_last.take();
    }

    /// Returns whether these words were the last ones that the agent said on the screen.
    pub fn has_shown(&self, words: &str) -> bool {
        !words.trim().is_empty() && *self.heard_last.borrow() == words.trim()
    }

    /// Shows a line of the agent program's output as it is, where everything is to be seen.
    pub fn raw(&self, line: &[u8]) {
        if self.shown == Shown::Verbose && self.form == Form::Words {
            let style = crate::style::DIM;
            let line = shortened(&String::from_utf8_lossy(line));
            self.print(&format!("  {}| {line}{}", style.render(), style.render_reset()));
        }
    }

    /// Returns how many columns the live line has, `None` where there is none.
    pub fn room(&self) -> Option<usize> {
        let columns = || size_of(io::stderr()).map_or(COLUMNS, |size| size.columns);
        (!self.live.is_hidden()).then(|| columns().saturating_sub(SPINNER))
    }

    /// Renews the live line.
    pub fn live(&self, words: &str) {
        if !self.live.is_hidden() {
            if self.live.is_finished() {
                self.live.reset();
            }
            self.live.set_message(plain(words));
            self.live.tick();
        }
    }

    /// Takes the live line away.
    pub fn still(&self) {
        // Without its words first, or the next one begins by showing them again.
        self.live.set_message("");
        self.live.finish_and_clear();
    }

    /// Sets the terminal's title to `Ralph: {change} [{of}]` (spec 001).
    pub fn title(&self, of: &impl Display) {
        let of = plain(&of.to_string());
        self.title.replace(format!("\u{1b}]2;Ralph: {} [{of}]\u{7}", self.change));
        self.title_bytes(&self.title.borrow());
    }

    /// Puts the terminal back as it was, but for the last title, which says how it ended and stays until the shell
    /// sets its own: a person who comes back in the morning reads it.
    pub fn close(&self) {
        self.still();
        self.title_bytes(&format!("{PUT_TITLE_BACK}{}", self.title.borrow()));
    }

    fn title_bytes(&self, bytes: &str) {
        if self.has_title {
            let mut errors = io::stderr();
            // See the first lines of this file.
            let _ = errors.write_all(bytes.as_bytes()).and_then(|()| errors.flush());
        }
    }

    fn print_event(&self, event: RunnerEvent, words: &str) {
        let words = anstream::adapter::strip_str(words).to_string();
        // No value of a form can fail to be written.
        if let Ok(line) = forms::line(&EventForm::now(event, words)) {
            self.print(&line);
        }
    }

    fn print(&self, line: &str) {
        let line = match self.form {
            Form::Words => {
                let line = text::styled(line, &crate::style::sequences());
                fitted(&line, size_of(io::stdout())).into()
            }
            Form::Json => text::json(line),
        };
        self.live.suspend(|| {
            let mut output = anstream::stdout().lock();
            // See the first lines of this file.
            let _ = writeln!(output, "{line}").and_then(|()| output.flush());
        });
    }
}

/// Returns a text without characters that would steer a terminal.
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
    fn nothing_of_a_text_steers_a_terminal() {
        assert_eq!(plain("a\u{1b}]2;x\u{7}b\nc\u{9b}d"), "a�]2;x�b c�d");
        assert_eq!(shortened("a\tb\u{1b}[31m"), "a    b�[31m");
        assert_eq!(shortened(&"é".repeat(WIDEST + 1)).chars().count(), WIDEST);
    }
}
