//! The conversation on the screen, as Claude Code shows one, at a pace that people can follow.

use std::io::{self, IsTerminal};
use std::time::Duration;

use anstyle::Style;
use anyhow::{Context, Result, bail};

use crate::print;
use crate::runner::signals::Signals;
use crate::style;

/// Every terminal has so many columns.
const COLUMNS: usize = 80;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    Demo,
    /// The person at the keyboard.
    Person,
    /// The agent's words.
    Agent,
    /// The agent's work.
    Tool,
    /// The hook's words, as Claude Code shows them.
    Hook,
}

impl Speaker {
    /// The lead, the style, and the wait before the words.
    fn manner(self) -> (&'static str, Style, Duration) {
        let (lead, style, wait) = match self {
            Speaker::Demo => ("", style::BOLD, 500),
            Speaker::Person => ("❯ ", style::GOOD, 1_000),
            Speaker::Agent => ("● ", Style::new(), 1_000),
            Speaker::Tool => ("● ", style::DIM, 1_000),
            Speaker::Hook => ("  ⎿  ", style::WARN, 1_200),
        };
        (lead, style, Duration::from_millis(wait))
    }
}

/// The terminal of the demo.
pub struct Stage {
    signals: Signals,
    is_watched: bool,
}

impl Stage {
    /// Waits between lines only where a person watches. From now on, signals end the demo.
    pub fn open(fast: bool) -> Result<Self> {
        let signals = Signals::listen().context("signals cannot be watched")?;
        Ok(Self { signals, is_watched: !fast && io::stdout().is_terminal() })
    }

    /// The signal that ended the demo early.
    pub fn cut_short(&self) -> Option<i32> {
        self.signals.asked()
    }

    /// Prints lines that fit the terminal; an error after a signal.
    pub fn say(&self, speaker: Speaker, text: &str) -> Result<()> {
        let (lead, style, wait) = speaker.manner();
        let wait = if self.is_watched { wait } else { Duration::ZERO };
        if self.signals.wait(wait).is_some() {
            bail!("cut short");
        }
        outln!("{style}{}{style:#}", laid_out(lead, text.trim_end()));
        Ok(())
    }
}

/// The text behind a lead, wrapped at blanks; further lines are indented.
fn laid_out(lead: &str, text: &str) -> String {
    let indent = lead.chars().count();
    let text = format!("{lead}{}", text.replace('\n', &format!("\n{:indent$}", "")));
    text.split_inclusive('\n').map(|line| print::indented(line, COLUMNS, indent)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_line_breaks_indented() {
        let words = ["seven"; 20].join(" ");
        let shown = laid_out("  ⎿  ", &format!("{words}\nthe end"));
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines.len(), 3, "{shown}");
        assert!(lines.iter().all(|line| line.chars().count() <= COLUMNS), "{shown}");
        assert!(
            lines[0].starts_with("  ⎿  seven") && lines[1].starts_with("     seven"),
            "{shown}"
        );
        assert_eq!(lines[2], "     the end");
        let pieces: Vec<&str> = shown.split_whitespace().skip(1).collect();
        assert_eq!(pieces.join(" "), format!("{words} the end"));
    }
}
