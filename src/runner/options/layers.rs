//! The settings of all places.

use crate::feature::settings::Settings;
use crate::settings::{Chosen, Made, Setting, table};

/// The settings of all places.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// The strongest place: the command line.
    pub typed: Chosen,
    /// The project's file.
    pub project: Chosen,
    /// The person's file.
    pub person: Chosen,
    /// Ignored settings of the project's file: they are looser than the settings without them, and the person does not
    /// trust them.
    pub left_out: Vec<Made>,
    /// The project's rules for every loop, in `.claude/ralph-speckit.local.md`.
    pub of_every_loop: Settings,
}

impl Layers {
    /// The strongest value of each setting.
    pub fn merged(&self) -> Chosen {
        let mut every = self.of_every_loop.chosen.clone();
        every.0.retain(|made| [&table::converge, &table::include_optional].contains(&made.setting));
        self.typed.clone().over(self.project.clone()).over(self.person.clone()).over(every)
    }

    /// Ignores a setting of the project's file.
    pub fn leave_out(&mut self, setting: &'static Setting) {
        self.left_out.extend(self.project.made(setting).cloned());
        self.project.remove(setting);
    }
}
