//! The chosen settings: each text as written, with its place.

use std::fmt;
use std::path::PathBuf;

use super::from_text::FromText;
use super::setting::Setting;

/// The place of a setting, strongest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    CommandLine,
    /// The project's file, with the line from 1.
    Project(PathBuf, usize),
    /// The person's own file, with the line.
    Person(PathBuf, usize),
    /// The settings of every loop of the project, with the line.
    Settings(usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    pub setting: &'static Setting,
    /// One value, or those of a list.
    pub values: Vec<String>,
    pub origin: Origin,
}

/// The settings of one place, or of all places, strongest first. Every value is valid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen(pub Vec<Made>);

impl Chosen {
    /// An error goes on behind the setting's name.
    pub fn set(
        &mut self,
        setting: &'static Setting,
        values: Vec<String>,
        origin: Origin,
    ) -> Result<(), String> {
        values.iter().try_for_each(|value| setting.kind.check(value))?;
        // An empty list says nothing, so a weaker place decides.
        self.0.extend((!values.is_empty()).then_some(Made { setting, values, origin }));
        Ok(())
    }

    /// Adds a typed value to a list, or replaces an earlier value.
    pub fn add(&mut self, setting: &'static Setting, more: impl IntoIterator<Item = String>) {
        let earlier = self.made(setting).filter(|_| setting.is_list);
        let mut values = earlier.map(|made| made.values.clone()).unwrap_or_default();
        values.extend(more);
        self.remove(setting);
        if !values.is_empty() {
            self.0.push(Made { setting, values, origin: Origin::CommandLine });
        }
    }

    pub fn made(&self, setting: &Setting) -> Option<&Made> {
        self.0.iter().find(|made| made.setting == setting)
    }

    /// Name and place, to begin a sentence with.
    pub fn place_of(&self, setting: &Setting) -> String {
        self.made(setting).map(Made::named).unwrap_or_default()
    }

    pub fn remove(&mut self, setting: &Setting) {
        self.0.retain(|made| made.setting != setting);
    }

    /// The written values, or the default.
    pub fn values(&self, setting: &Setting) -> Vec<String> {
        match self.made(setting) {
            Some(made) => made.values.clone(),
            None if setting.default.is_empty() => Vec::new(),
            None => vec![setting.default.to_owned()],
        }
    }

    pub(super) fn get<T: FromText>(&self, setting: &Setting) -> T {
        T::of(setting.kind, self.values(setting))
    }
}

impl Made {
    /// Name and place, to begin a sentence with.
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
    /// Both are on the command line, or in one file.
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
