//! Versions of programs.

use std::fmt;

/// As in `2.1.332`. Text behind the third number does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// The first version in a text, such as `codex-cli 0.169.0`.
    pub fn find(text: &str) -> Option<Self> {
        text.split(|letter: char| letter.is_whitespace() || letter == '@').find_map(Self::parse)
    }

    /// As in `2.1.332 (Claude Code)`.
    pub fn at_start(text: &str) -> Option<Self> {
        Self::parse(text.split_whitespace().next()?)
    }

    fn parse(word: &str) -> Option<Self> {
        let word = word.strip_prefix('v').unwrap_or(word);
        let mut parts = word.split(['.', '-', '+']).map(str::parse::<u32>);
        match (parts.next()?, parts.next()?, parts.next()?) {
            (Ok(major), Ok(minor), Ok(patch)) => Some(Self(major, minor, patch)),
            _ => None,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_versions_are_found() {
        for (text, version) in [
            ("2.1.332 (Claude Code)\n", Some(Version(2, 1, 332))),
            ("codex-cli 0.169.0\n", Some(Version(0, 169, 0))),
            ("1.18.33\n", Some(Version(1, 18, 33))),
            ("GitHub Copilot CLI 1.0.102.\nCommit: abc\n", Some(Version(1, 0, 102))),
            ("v0.61.0-nightly.1\n", Some(Version(0, 61, 0))),
            ("no version here 1.2\n", None),
        ] {
            assert_eq!(Version::find(text), version, "{text}");
        }
    }

    #[test]
    fn leading_version_differs_from_held() {
        assert_eq!(Version::at_start("2.1.332 (Claude Code)\n"), Some(Version(2, 1, 332)));
        assert_eq!(Version::at_start("2.2.0-beta.1 (Claude Code)"), Some(Version(2, 2, 0)));
        assert_eq!(Version::at_start("claude 2.1.332"), None);
        assert_eq!(Version::at_start("2.1"), None);
        assert_eq!(Version::at_start(""), None);
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        let oldest = Version(2, 1, 143);
        assert!(Version(2, 1, 99) < oldest);
        assert!(Version(2, 2, 0) > oldest && Version(10, 0, 0) > oldest);
    }
}
