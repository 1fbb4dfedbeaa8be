//! The settings as flags.

use clap::builder::ValueParser;
use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::chosen::{Chosen, Origin};
use super::kind::SettingKind;
use super::setting::Setting;

/// The typed settings among those of these places.
#[derive(Clone, Debug, Default)]
pub struct Flags<const PLACES: u8>(pub Chosen);

pub fn parser(setting: &Setting) -> ValueParser {
    let kind = setting.kind;
    ValueParser::new(move |text: &str| kind.check(text).map(|()| text.to_owned()))
}

fn flag(setting: &'static Setting) -> Arg {
    let flag = Arg::new(setting.name)
        .long(setting.name)
        .value_name(setting.value_name)
        .help(setting.help.trim())
        .value_parser(parser(setting))
        .action(if setting.is_list { ArgAction::Append } else { ArgAction::Set });
    let flag = match setting.heading {
        "" => flag,
        heading => flag.help_heading(heading),
    };
    let flag = match setting.kind {
        SettingKind::Switch => {
            flag.num_args(0..=1).require_equals(true).default_missing_value("true")
        }
        _ => flag,
    };
    match setting.name {
        "change" => flag.short('c'),
        "prompt-file" => flag.conflicts_with("prompt"),
        "allow-all" => flag.aliases(["yolo", "dangerously-allow-all"]),
        "agent-args" => flag.allow_hyphen_values(true),
        "verbose" => flag.short('v').conflicts_with("quiet").num_args(0).require_equals(false),
        "quiet" => flag.short('q').num_args(0).require_equals(false),
        _ => flag,
    }
}

/// The settings of these places that have a flag.
fn flags(places: u8) -> impl Iterator<Item = &'static Setting> {
    Setting::all_in(places).filter(|setting| !setting.value_name.is_empty())
}

impl<const PLACES: u8> Args for Flags<PLACES> {
    fn augment_args(command: Command) -> Command {
        command.args(flags(PLACES).map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const PLACES: u8> FromArgMatches for Flags<PLACES> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut all = Self::default();
        all.update_from_arg_matches(matches)?;
        Ok(all)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for setting in flags(PLACES) {
            if let Some(values) = matches.get_many::<String>(setting.name) {
                // The parser has checked each value.
                let _ = self.0.set(setting, values.cloned().collect(), Origin::CommandLine);
            }
        }
        Ok(())
    }
}
