//! What was set, each value as it was written, and where.

use std::fmt;
use std::path::PathBuf;

use super::from_text::FromText;
use super::setting::Setting;

/// Where a setting was made, the strongest place first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// On the command line.
    CommandLine,
    /// In the project's file, on this line, from 1.
    Project(PathBuf, usize),
    /// In the person's own file, on this line.
    Person(PathBuf, usize),
    /// In the settings of every loop of the project, on this line.
    Settings(usize),
}

/// A setting as it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Which one.
    pub setting: &'static Setting,
    /// What was written: one value, or those of a list.
    pub values: Vec<String>,
    /// Where.
    pub origin: Origin,
}

/// What was set in one place, or in all of them together, the strongest place first. Each value is one that its setting takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen(pub Vec<Made>);

impl Chosen {
    /// Sets a setting; an error in words that follow its name.
    pub fn set(
        &mut self,
        setting: &'static Setting,
        values: Vec<String>,
        origin: Origin,
    ) -> Result<(), String> {
        values.iter().try_for_each(|value| setting.kind.check(value))?;
        // An empty list says nothing, and leaves what a weaker place says.
        self.0.extend((!values.is_empty()).then_some(Made { setting, values, origin }));
        Ok(())
    }

    /// Takes in what was typed: another value of a list, or one in the place of an earlier one.
    pub fn add(&mut self, setting: &'static Setting, more: impl IntoIterator<Item = String>) {
        let earlier = self.made(setting).filter(|_| setting.is_list);
        let mut values = earlier.map(|made| made.values.clone()).unwrap_or_default();
        values.extend(more);
        self.remove(setting);
        if !values.is_empty() {
            self.0.push(Made { setting, values, origin: Origin::CommandLine });
        }
    }

    /// Returns how a setting was made, `None` where it was not.
    pub fn made(&self, setting: &Setting) -> Option<&Made> {
        self.0.iter().find(|made| made.setting == setting)
    }

    /// Returns a setting by its name and its place, to begin a sentence with.
    pub fn place_of(&self, setting: &Setting) -> String {
        self.made(setting).map(Made::named).unwrap_or_default()
    }

    /// Takes a setting away.
    pub fn remove(&mut self, setting: &Setting) {
        self.0.retain(|made| made.setting != setting);
    }

    /// Returns what holds of a setting: what was written, or its default.
    pub fn values(&self, setting: &Setting) -> Vec<String> {
        match self.made(setting) {
            Some(made) => made.values.clone(),
            None if setting.default.is_empty() => Vec::new(),
            None => vec![setting.default.to_owned()],
        }
    }

    /// Returns a setting as the code has it.
    pub(super) fn get<T: FromText>(&self, setting: &Setting) -> T {
        T::of(setting.kind, self.values(setting))
    }
}

impl Made {
    /// Returns the setting by its name and its place, to begin a sentence with.
    pub fn named(&self) -> String {
        let name = self.setting.name;
        match &self.origin {
            Origin::CommandLine => format!("`--{name}`"),
            Origin::Project(path, line) | Origin::Person(path, line) => {
                format!("`{name}` in `{}`, line {line},", path.display())
            }
            Origin::Settings(line) => format!("`{name}` in the settings, line {line},"),
        }
    }
}

impl Origin {
    /// Returns whether both are one place: the command line, or one file.
    pub fn is_beside(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandLine => write!(out, "the command line"),
            Self::Project(path, line) | Self::Person(path, line) => {
                write!(out, "{}, line {line}", path.display())
            }
            Self::Settings(line) => write!(out, "the settings, line {line}"),
        }
    }
}
