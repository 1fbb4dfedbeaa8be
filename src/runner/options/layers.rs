//! The settings of all places.

use crate::feature::settings::Settings;
use crate::settings::{Chosen, Made, Setting, table};

/// The settings of all places, and what holds without any of them.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// What was typed: the strongest.
    pub typed: Chosen,
    /// The project's file.
    pub project: Chosen,
    /// The person's file.
    pub person: Chosen,
    /// Settings of the project's file that do not count: looser than what holds without them, and not trusted.
    pub left_out: Vec<Made>,
    /// What the project asks of every loop, in `.claude/ralph-speckit.local.md`.
    pub of_every_loop: Settings,
}

impl Layers {
    /// Returns the settings that count: of each the strongest.
    pub fn merged(&self) -> Chosen {
        let mut every = self.of_every_loop.chosen.clone();
        every.0.retain(|made| [&table::converge, &table::include_optional].contains(&made.setting));
        self.typed.clone().over(self.project.clone()).over(self.person.clone()).over(every)
    }

    /// Takes a setting of the project's file away, and keeps it as one that does not count.
    pub fn leave_out(&mut self, setting: &'static Setting) {
        self.left_out.extend(self.project.made(setting).cloned());
        self.project.remove(setting);
    }
}
