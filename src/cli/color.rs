//! When `spool` uses colors.

use std::ffi::OsString;

use clap::ValueEnum;

/// What `--color` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Colors {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always, also into a file or a pipe
    Always,
    /// Never
    Never,
}

/// Reads the choice before clap does: help and errors have colors, too.
pub fn asked_for(arguments: impl IntoIterator<Item = OsString>) -> Colors {
    let words = arguments.into_iter().map(|word| word.to_string_lossy().into_owned());
    let mut words = words.take_while(|word| word != "--");
    let mut asked = Colors::default();
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--color") {
            Some("") => words.next(),
            Some(rest) => rest.strip_prefix('=').map(str::to_owned),
            None => continue,
        };
        asked = value.and_then(|name| Colors::from_str(&name, false).ok()).unwrap_or(asked);
    }
    asked
}

impl Colors {
    /// Sets the choice for all output from now on, and returns it for help and errors.
    pub fn write_global(self) -> clap::ColorChoice {
        let (printed, helped) = match self {
            Self::Auto => (anstream::ColorChoice::Auto, clap::ColorChoice::Auto),
            Self::Always => (anstream::ColorChoice::Always, clap::ColorChoice::Always),
            Self::Never => (anstream::ColorChoice::Never, clap::ColorChoice::Never),
        };
        printed.write_global();
        helped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Colors {
        asked_for(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn last_color_word_counts() {
        assert_eq!(of("status --color never"), Colors::Never);
        assert_eq!(of("--color=always --help"), Colors::Always);
        assert_eq!(of("--color always status --color never"), Colors::Never);
        assert_eq!(of("status"), Colors::Auto);
        assert_eq!(of("status --color purple"), Colors::Auto);
        assert_eq!(of("start -- --color never"), Colors::Auto);
        assert_eq!(of("--colored never"), Colors::Auto);
    }
}
