//! The command line: a file or a room for each subcommand.

mod adopt;
mod block;
mod color;
mod completions;
mod context;
mod demo;
mod doctor;
mod environment;
mod handle;
mod help;
mod log;
mod man;
mod names;
mod pause;
mod person;
mod plugin;
mod ralph;
mod review;
#[cfg(test)]
mod schemas;
mod selection;
mod setup;
pub mod slash;
mod start;
mod status;
mod statusline;
mod steered;
mod stop;
mod task;
mod trust;

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::plugin::VERSION as PACKAGE_VERSION;
use crate::print;
use crate::runner::harness::demo::play_if_asked;
use crate::text;
use color::Colors;
use selection::Steering;

/// Keeps a coding agent working until the work is really done.
///
/// In Claude Code: /speckit:implement starts a loop, /speckit:status shows it, /speckit:cancel ends it.
#[derive(Parser)]
#[command(name = "spool", version = VERSION, after_help = EXAMPLES, max_term_width = 100)]
struct Spool {
    #[command(subcommand)]
    command: SpoolCommand,
    /// Use colors: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        global = true,
        hide_possible_values = true,
        hide_default_value = true
    )]
    color: Colors,
}

/// The version; a release adds its commit.
const VERSION: &str = match option_env!("SPOOL_VERSION") {
    Some(with_commit) => with_commit,
    None => PACKAGE_VERSION,
};

const EXAMPLES: &str = include_str!("examples.txt").trim_ascii_end();

#[derive(Subcommand)]
enum SpoolCommand {
    Demo(demo::DemoArgs),
    #[command(visible_alias = ralph::ALIAS)]
    Ralph(Box<ralph::RalphArgs>),
    Setup(setup::SetupArgs),
    Start(start::StartArgs),
    Status(status::StatusArgs),
    Statusline(statusline::StatuslineArgs),
    Task(task::TaskArgs),
    Review(Box<review::ReviewArgs>),
    Trust(trust::TrustArgs),
    /// Pause a loop: the agent may stop, the loop stays armed.
    ///
    /// The agent finishes its turn and may then stop; nothing is counted until the loop is resumed. Evidence
    /// still counts: a loop whose work is done ends as completed. `spool resume` continues it, `spool stop` ends it.
    Pause(pause::SteerArgs),
    /// Continue a paused loop.
    ///
    /// The agent is blocked again from its next stop on. Nothing wakes an idle session: type anything there.
    Resume(pause::SteerArgs),
    Adopt(adopt::AdoptArgs),
    #[command(visible_alias = stop::ALIAS)]
    Stop(stop::StopArgs),
    /// End the loop because a person is needed
    Block(block::BlockArgs),
    Log(log::LogArgs),
    Doctor(doctor::DoctorArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    Plugin(plugin::PluginArgs),
}

fn command_line() -> Command {
    help::grouped(Spool::command())
}

/// Exit codes: 0 for success, 1 for a failure, 2 for a usage error.
pub fn main() -> ExitCode {
    if let Some(code) = play_if_asked(std::env::args_os()) {
        return code;
    }
    crate::system::signals::outlive_long_files();
    if let Some(code) = slash::answer_if_asked() {
        return code;
    }
    crate::exec::supervise::supervise_if_asked();
    crate::runner::process::supervise_if_asked();
    completions::answer_if_asked(command_line);
    let color = color::asked_for(std::env::args_os().skip(1)).write_global();
    let arguments = command_line().color(color).try_get_matches();
    let command = match arguments.and_then(|found| Spool::from_arg_matches(&found)) {
        Ok(spool) => spool.command,
        Err(error) => return said_by_clap(&unproposed(error)),
    };
    let result = match command {
        SpoolCommand::Demo(args) => demo::run(&args),
        SpoolCommand::Ralph(args) => ralph::run(&args),
        SpoolCommand::Setup(args) => setup::run(&args),
        SpoolCommand::Start(args) => start::run(&args),
        SpoolCommand::Status(args) => status::run(&args),
        SpoolCommand::Statusline(args) => statusline::run(&args),
        SpoolCommand::Task(args) => task::run(&args),
        SpoolCommand::Adopt(args) => adopt::run(&args),
        SpoolCommand::Block(args) => block::run(&args),
        SpoolCommand::Review(args) => review::run(&args),
        SpoolCommand::Trust(args) => trust::run(&args),
        SpoolCommand::Pause(args) => pause::run(Steering::Pause, &args),
        SpoolCommand::Resume(args) => pause::run(Steering::Resume, &args),
        SpoolCommand::Stop(args) => stop::run(&args),
        SpoolCommand::Log(args) => log::run(&args),
        SpoolCommand::Doctor(args) => doctor::run(&args),
        SpoolCommand::Completions(args) => completions::run(&args),
        SpoolCommand::Man(args) => man::run(&args, command_line()),
        SpoolCommand::Plugin(args) => plugin::run(&args),
    };
    print::exit_code(result.unwrap_or_else(|error| {
        print::error(&error);
        ExitCode::FAILURE
    }))
}

/// Prints clap's help, version or error.
fn said_by_clap(error: &clap::Error) -> ExitCode {
    // clap quotes the arguments. If they could control the terminal, the colors go.
    let plain = error.render().to_string();
    let code = u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
    // clap's plain text has already lost colors from an argument, so the arguments are checked.
    if !std::env::args_os().all(|argument| text::is_plain(&argument.to_string_lossy())) {
        errln!("{}", plain.trim_end());
        return code;
    }
    let printed = error.print();
    if printed.is_err() && code == ExitCode::SUCCESS { ExitCode::FAILURE } else { code }
}

/// Removes proposals that a typo must not lead to: a flag that allows everything, and one mistyped word behind `--`,
/// which the agent program would get.
fn unproposed(mut error: clap::Error) -> clap::Error {
    const BOLD: [&str; 3] = ["--allow-all", "--yolo", "--dangerously-allow-all"];
    let is = |kind, holds: &dyn Fn(&str) -> bool| matches!(error.get(kind), Some(ContextValue::String(word)) if holds(word));
    let is_bold = is(ContextKind::SuggestedArg, &|flag| BOLD.contains(&flag));
    let is_one_word = error.kind() == ErrorKind::UnknownArgument
        && is(ContextKind::InvalidArg, &|typed| !typed.contains(char::is_whitespace));
    if is_bold {
        error.remove(ContextKind::SuggestedArg);
    }
    if is_one_word {
        error.remove(ContextKind::Suggested);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flag_after_dashes_is_passed() {
        let said = |arguments: &[&str]| {
            let error = command_line().try_get_matches_from(arguments).unwrap_err();
            unproposed(error).render().to_string()
        };
        let typo = said(&["spool", "ralph", "--max-iteration", "3"]);
        assert!(typo.contains("'--max-iterations'") && !typo.contains("use '-- "), "{typo}");
        let prompt = said(&["spool", "ralph", "--fix it"]);
        assert!(prompt.contains("use '-- --fix it'"), "{prompt}");
    }

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> =
            help::GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        grouped.sort_unstable();
        let command = Spool::command();
        let mut all: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn group_lines_fit_80_columns() {
        let page = command_line().render_help().to_string();
        // What follows is broken by clap.
        let groups = page.split_once("Options:").expect("options").0;
        for line in groups.lines().filter(|line| line.starts_with(' ')) {
            assert!(line.len() <= 80, "{} columns: {line}", line.len());
        }
    }

    /// The end of a command's help: lines that begin with spaces are laid out, and clap would break them in the middle.
    #[test]
    fn laid_out_lines_fit_80() {
        let mut all = command_line();
        all.build();
        let mut commands = leaves(&all);
        commands.push(&all);
        let mut lines = 0;
        for command in commands {
            let below = [command.get_after_help(), command.get_after_long_help()];
            for text in below.into_iter().flatten().map(ToString::to_string) {
                for line in text.lines().filter(|line| line.trim_start().contains("   ")) {
                    assert!(line.len() <= 80, "{}: {line}", command.get_name());
                    lines += 1;
                }
            }
        }
        assert!(lines > 15, "{lines} lines");
    }

    /// Commands without any output for programs, with the reason.
    const WITHOUT_JSON: [(&str, &str); 4] = [
        ("spool demo", "a show for a person; `spool ralph --harness demo --json` has the events"),
        ("spool completions", "lines of a shell"),
        ("spool man", "a page in the form of `man`"),
        ("spool plugin build", "it writes a folder, and plugin.json in it says what that is"),
    ];

    /// Commands that do something, by their whole names.
    fn leaves(command: &Command) -> Vec<&Command> {
        if command.has_subcommands() {
            command
                .get_subcommands()
                .filter(|command| command.get_name() != "help")
                .flat_map(leaves)
                .collect()
        } else {
            vec![command]
        }
    }

    #[test]
    fn fact_commands_have_json() {
        let mut all = command_line();
        all.build();
        let leaves = leaves(&all);
        assert!(leaves.len() > 20, "{}", leaves.len());
        for command in &leaves {
            let name = command.get_bin_name().expect("a name");
            let has_json = command.get_arguments().any(|flag| flag.get_long() == Some("json"));
            let excused = WITHOUT_JSON.iter().any(|(without, _)| *without == name);
            assert!(has_json != excused, "{name}: --json {has_json}, excused {excused}");
        }
        for (name, _) in WITHOUT_JSON {
            assert!(
                leaves.iter().any(|leaf| leaf.get_bin_name() == Some(name)),
                "{name} is no command"
            );
        }
    }

    #[test]
    fn the_command_line_is_well_formed() {
        command_line().debug_assert();
    }
}
