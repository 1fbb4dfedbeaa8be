//! The first page of the help: all commands, grouped by what people do with them.

use std::fmt::Write;

use clap::Command;

use crate::style::BOLD;

/// In the order of the help; the commands for agents come last.
pub const GROUPS: [(&str, &[&str]); 5] = [
    ("Run a loop", &["demo", "ralph", "start"]),
    ("Look at it", &["status", "log", "review", "doctor"]),
    ("Steer it", &["pause", "resume", "stop", "adopt"]),
    ("Set up", &["setup", "trust", "statusline", "completions", "man", "plugin"]),
    ("For agents", &["task", "block"]),
];

pub fn grouped(command: Command) -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\n{BOLD}Options:{BOLD:#}\n{{options}}{{after-help}}",
        groups(&command)
    );
    command.help_template(template)
}

fn groups(command: &Command) -> String {
    let widest = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max();
    let mut text = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(text, "\n{BOLD}{title}:{BOLD:#}");
        for name in names {
            let found = command.find_subcommand(name);
            let about = found.and_then(Command::get_about).map(ToString::to_string);
            let mut about = about.unwrap_or_default();
            for alias in found.into_iter().flat_map(Command::get_visible_aliases) {
                let _ = write!(about, " [alias: {alias}]");
            }
            let width = widest.unwrap_or_default() - name.len();
            let _ = writeln!(text, "  {BOLD}{name}{BOLD:#}{:width$}  {about}", "");
        }
    }
    text
}
