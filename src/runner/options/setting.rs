//! One setting with the place where it was made, and the order in which places count.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, anyhow};

use super::keys::Key;
use super::value;
use crate::engine::Check;

/// A setting as it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// What is set.
    pub key: &'static Key,
    /// To what: one value, or those of a list; a switch is `true` or `false`.
    pub values: Vec<String>,
    /// Where.
    pub origin: Origin,
}

/// Where a setting was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// On the command line.
    CommandLine,
    /// In the project's file.
    Project {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// In the person's own file.
    User {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
}

impl Origin {
    /// Returns whether both are one place: the command line, or one file.
    pub fn is_beside(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::CommandLine, Self::CommandLine) => true,
            (Self::Project { path, .. }, Self::Project { path: other, .. })
            | (Self::User { path, .. }, Self::User { path: other, .. }) => path == other,
            _ => false,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandLine => write!(out, "the command line"),
            Self::Project { path, line } | Self::User { path, line } => {
                write!(out, "{}, line {line}", path.display())
            }
        }
    }
}

impl Setting {
    /// Returns the setting by its name and its place, to begin a sentence with.
    pub fn named(&self) -> String {
        match &self.origin {
            Origin::CommandLine => format!("`--{}`", self.key.name),
            Origin::Project { path, line } | Origin::User { path, line } => {
                format!("`{}` in `{}`, line {line},", self.key.name, path.display())
            }
        }
    }

    /// Returns its only value.
    pub fn value(&self) -> &str {
        self.values.first().map_or("", String::as_str)
    }

    fn read<T>(&self, read: impl Fn(&str) -> Result<T, String>) -> Result<T> {
        read(self.value()).map_err(|what| anyhow!("{} {what}", self.named()))
    }
}

/// All settings; the strongest place first: command line, project, person.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    layers: Vec<Vec<Setting>>,
    /// Settings of the project's file that do not count: looser than what holds without them, and not trusted.
    pub left_out: Vec<Setting>,
    /// The checks that the project asks of every loop, in `.claude/ralph-speckit.local.md`.
    pub of_every_loop: ProjectChecks,
}

/// The checks that a project asks of every loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectChecks {
    /// The checks, in the order of the file.
    pub checks: Vec<Check>,
    /// Whether the file comes with the repository, so that nobody here may have read it.
    pub foreign: bool,
}

impl Settings {
    /// Returns settings out of layers, the strongest first.
    pub fn of(layers: Vec<Vec<Setting>>) -> Self {
        Self { layers, ..Self::default() }
    }

    /// Returns these settings with the checks that the project asks of every loop.
    #[must_use]
    pub fn with_checks_of_every_loop(self, of_every_loop: ProjectChecks) -> Self {
        Self { of_every_loop, ..self }
    }

    /// Takes a setting away, and keeps it as one that does not count.
    pub fn leave_out(&mut self, setting: &Setting) {
        for layer in &mut self.layers {
            layer.retain(|it| it != setting);
        }
        self.left_out.push(setting.clone());
    }

    /// Returns the strongest setting of this name.
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.first_of(&[name])
    }

    /// Returns the first of these names in the strongest layer that has one of them.
    pub fn first_of(&self, names: &[&str]) -> Option<&Setting> {
        self.layers.iter().find_map(|layer| {
            names.iter().find_map(|name| layer.iter().find(|setting| setting.key.name == *name))
        })
    }

    /// Returns the settings that count, each one once.
    pub fn effective(&self) -> Vec<&Setting> {
        let all = self.layers.iter().flatten();
        all.filter(|setting| self.get(setting.key.name) == Some(setting)).collect()
    }

    /// Returns a number, `default` where it is not set.
    pub fn number(&self, name: &str, least: u64, default: u64) -> Result<u64> {
        self.number_up_to(name, least, value::MOST, default)
    }

    /// Returns a number of at most `most`, `default` where it is not set.
    pub fn number_up_to(&self, name: &str, least: u64, most: u64, default: u64) -> Result<u64> {
        let read = |setting: &Setting| setting.read(|it| value::number(it, least, most));
        self.get(name).map_or(Ok(default), read)
    }

    /// Returns a time, `None` where it is not set; a plain number counts in `unit` seconds.
    pub fn time(&self, name: &str, unit: u64) -> Result<Option<Duration>> {
        self.get(name).map(|it| it.read(|text| value::time(text, unit))).transpose()
    }

    /// Returns whether a switch is on; without a setting it is off.
    pub fn is_on(&self, name: &str) -> Result<bool> {
        let words = [("true", true), ("false", false)];
        let read = |setting: &Setting| setting.read(|it| value::one_of(it, &words));
        self.get(name).map_or(Ok(false), read)
    }

    /// Returns what a function makes of a text, `None` where it is not set.
    pub fn text<T>(
        &self,
        name: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>> {
        self.get(name).map(|setting| setting.read(&read)).transpose()
    }
}
