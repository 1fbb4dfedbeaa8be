//! Settings by name, and the place that decides.

use super::chosen::{Chosen, Made};
use super::setting::Setting;
use super::table::{self, ALL};
use crate::text::nearest;

impl Setting {
    /// `_` and `-` are the same in a name.
    pub fn named(name: &str, places: u8) -> Option<&'static Self> {
        let name = name.replace('_', "-");
        Self::all_in(places).find(|setting| setting.name == name)
    }

    /// The setting with the nearest name.
    pub fn meant(name: &str, places: u8) -> Option<&'static Self> {
        let names = Self::all_in(places).map(|setting| setting.name);
        Self::named(nearest(&name.replace('_', "-"), names)?, places)
    }

    /// The settings of one or more places.
    pub fn all_in(places: u8) -> impl Iterator<Item = &'static Self> {
        ALL.iter().copied().filter(move |setting| setting.places & places != 0)
    }
}

impl Chosen {
    /// Adds settings that only a weaker place has. Two pairs go together: the stronger place decides on agent program
    /// and command line, and on verbose and quiet.
    pub fn over(mut self, weaker: Self) -> Self {
        let has = |setting| self.made(setting).is_some();
        let (command, shown) =
            (has(&table::harness_command), has(&table::verbose) || has(&table::quiet));
        let more = weaker.0.into_iter().filter(|made| {
            let is_decided = (command && made.setting == &table::harness)
                || (shown && [&table::verbose, &table::quiet].contains(&made.setting));
            !is_decided && !has(made.setting)
        });
        let more: Vec<Made> = more.collect();
        self.0.extend(more);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_take_their_defaults() {
        for setting in ALL.iter().filter(|setting| !setting.default.is_empty()) {
            assert_eq!(setting.kind.check(setting.default), Ok(()), "{}", setting.name);
        }
    }

    #[test]
    fn name_has_one_meaning() {
        for place in (0..8).map(|bit| 1 << bit) {
            let mut names: Vec<&str> = Setting::all_in(place).map(|setting| setting.name).collect();
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all, "place {place}: {names:?}");
        }
    }

    #[test]
    fn dash_and_underscore_are_equal() {
        let found =
            |name| Setting::named(name, super::super::setting::YAML).map(|found| found.name);
        for name in ["spec_kit_command", "spec-kit-command", "spec-kit_command"] {
            assert_eq!(found(name), Some("spec-kit-command"), "{name}");
        }
        assert_eq!(found("max-iterations"), None, "no key of the settings");
    }
}
