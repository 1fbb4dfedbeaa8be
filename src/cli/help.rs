//! The first page of the help: every command, in groups by what people do with it.

use std::fmt::Write;

use clap::{Command, CommandFactory};

use super::Spool;
use crate::style;

/// The commands in the order of the help; those that an agent calls come last.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Run a loop", &["demo", "ralph", "start"]),
    ("Look at it", &["status", "log", "doctor"]),
    ("Steer it", &["pause", "resume", "cancel", "stop", "adopt"]),
    ("Set up", &["setup", "trust", "statusline", "completions", "man", "plugin"]),
    ("For agents", &["task", "block"]),
];

/// Returns the command line of `spool` with its grouped help.
pub fn command() -> Command {
    let command = Spool::command();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\n{}Options:{}\n{{options}}{{after-help}}",
        groups(&command),
        style::BOLD.render(),
        style::BOLD.render_reset()
    );
    command.help_template(template)
}

/// All groups, each below its title.
fn groups(command: &Command) -> String {
    let widest = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max();
    let mut text = String::new();
    for (title, names) in GROUPS {
        let (bold, end) = (style::BOLD.render(), style::BOLD.render_reset());
        let _ = writeln!(text, "\n{bold}{title}:{end}");
        for name in names {
            let found = command.find_subcommand(name);
            let about = found.and_then(Command::get_about).map(ToString::to_string);
            let mut about = about.unwrap_or_default();
            for alias in found.into_iter().flat_map(Command::get_visible_aliases) {
                let _ = write!(about, " [alias: {alias}]");
            }
            let width = widest.unwrap_or_default() - name.len();
            let _ = writeln!(text, "  {bold}{name}{end}{:width$}  {about}", "");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        grouped.sort_unstable();
        let command = Spool::command();
        let mut all: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn every_line_of_a_group_fits_a_terminal_of_80_columns() {
        let page = command().render_help().to_string();
        // What follows is broken by clap.
        let groups = page.split_once("Options:").expect("options").0;
        for line in groups.lines().filter(|line| line.starts_with(' ')) {
            assert!(line.len() <= 80, "{} columns: {line}", line.len());
        }
    }

    #[test]
    fn the_command_line_is_well_formed() {
        command().debug_assert();
    }
}
