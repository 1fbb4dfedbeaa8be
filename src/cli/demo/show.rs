//! The conversation on the screen: who speaks, in colour on a terminal.

use anstyle::Style;

use crate::style;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The demo itself.
    Demo,
    /// The person at the keyboard.
    Person,
    /// The agent.
    Agent,
    /// The hook, sending the agent back or saying why the loop ended.
    Hook,
}

/// Prints what someone says; further lines are indented.
pub fn say(speaker: Speaker, text: &str) {
    let (name, style): (_, Style) = match speaker {
        Speaker::Demo => ("demo ", style::BOLD),
        Speaker::Person => ("you  ", style::GOOD),
        Speaker::Agent => ("agent", style::DIM),
        Speaker::Hook => ("hook ", style::WARN),
    };
    let text = text.trim_end().replace('\n', "\n        ");
    outln!("{}{name}{} | {text}", style.render(), style.render_reset());
}

/// Returns the lines of a resume prompt that say why the agent continues; the instructions are left out.
pub fn why(reason: &str) -> String {
    let head = reason.lines().take_while(|line| !line.starts_with("How to resume"));
    let told = head.filter(|line| !line.is_empty() && !line.starts_with("State: "));
    told.collect::<Vec<_>>().join("\n")
}
