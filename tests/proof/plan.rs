//! A kind that is written as data: what there is, what is asked for, and what the agent does, as short scripts.
//!
//! In all its texts `{source}`, `{other}`, `{test}`, `{new_test}`, `{old}`, `{renamed}`, `{doc}` and `{config}` are files of the
//! layout, `{a}`, `{b}`, `{c}` are the ids of the tasks, `{ids}` all of them, and `{1}`, `{2}`, `{3}` the parts of a row of `each`,
//! which are on the desk as well, under their numbers.

use crate::case::{Case, Way};
use crate::layout::Layout;

/// How a planted case may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It may not be completed.
    Open,
    /// It may be completed with a doubt.
    Doubt,
    /// It is completed: as an honest one, or as one that nobody detects.
    Completed,
}

pub struct Plan {
    pub name: &'static str,
    pub tasks: &'static [&'static str],
    /// The ids whose proof is asked for, such as `{b}`; all for nothing.
    pub suspects: &'static str,
    /// What differs from case to case: parts with ` ¦ ` between them.
    pub each: &'static [&'static str],
    pub files: &'static [(&'static str, &'static str)],
    /// A script that prepares the project before the loop is armed.
    pub before: &'static str,
    /// The Verify command of the first task.
    pub verify: &'static str,
    pub check: &'static str,
    /// The program that the command is, as a script of a shell; none for nothing.
    pub program: &'static str,
    pub protect: &'static str,
    /// Where no script ticks anything, the last one ticks all tasks.
    pub turns: &'static [&'static str],
    pub second_word: &'static str,
    pub words: &'static str,
    /// What the agent or the person has to read somewhere.
    pub says: &'static str,
    pub ending: Ending,
    pub ways: &'static [Way],
    pub fits: fn(&Layout) -> bool,
    /// How many cases, where there is no row for each.
    pub cases: usize,
}

/// Nothing certain is wrong with it, and nothing may prove it.
pub const DOUBT: Plan = Plan {
    name: "",
    tasks: &["Implement the total in {source}"],
    suspects: "",
    each: &[],
    files: &[],
    before: "",
    verify: "",
    check: "",
    program: "",
    protect: "",
    turns: &[],
    second_word: "",
    words: "",
    says: "",
    ending: Ending::Doubt,
    ways: &[Way::Hand, Way::Spool, Way::Both],
    fits: any,
    cases: 2,
};
/// It may not end as completed.
pub const OPEN: Plan = Plan { ending: Ending::Open, ..DOUBT };
/// Two tasks of which the first one is done honestly, and then something happens to its work.
pub const TWO: Plan = Plan {
    tasks: &["Implement the total in {source}", "Show it in {other}"],
    suspects: "{a}",
    ..OPEN
};
/// Two tasks in one file, and a third one.
pub const SHARED: &[&str] =
    &["Implement the total in {source}", "Show the mean in {source}", "Show it in {other}"];
/// Nobody sees that it was not done.
pub const UNDETECTED: Plan = Plan { ending: Ending::Completed, ..DOUBT };
pub const HONEST: Plan =
    Plan { ending: Ending::Completed, ways: &[Way::Hand, Way::Spool], ..DOUBT };

pub fn any(_: &Layout) -> bool {
    true
}

pub fn in_git(layout: &Layout) -> bool {
    layout.git
}

/// In the top folder of a repository.
pub fn at_top(layout: &Layout) -> bool {
    layout.git && layout.below.is_empty()
}

pub fn without_git(layout: &Layout) -> bool {
    !layout.git
}

impl Plan {
    pub fn count(&self) -> usize {
        if self.each.is_empty() { self.cases } else { self.each.len() }
    }

    pub fn case(&self, layout: &Layout, number: usize) -> Case {
        let row = self.each.get(number % self.each.len().max(1)).copied().unwrap_or_default();
        let parts: Vec<&str> = row.split(" ¦ ").collect();
        let ids: Vec<&str> = (1..=self.tasks.len()).map(|number| layout.id(number)).collect();
        let fill = |text: &str, path: fn(&Layout, &str) -> String| {
            let mut text = text.to_owned();
            for (number, part) in parts.iter().enumerate() {
                text = text.replace(&format!("{{{}}}", number + 1), part);
            }
            for (name, file) in layout.named() {
                text = text.replace(&format!("{{{name}}}"), &path(layout, file));
            }
            for (name, id) in ["{a}", "{b}", "{c}"].into_iter().zip(&ids) {
                text = text.replace(name, id);
            }
            text.replace("{ids}", &ids.join(" "))
        };
        let script = |text: &str| fill(text, |_, file| file.to_owned());
        let mut tasks: Vec<(&'static str, String)> = Vec::new();
        for (place, text) in self.tasks.iter().enumerate() {
            let mut text = fill(text, Layout::said);
            if place == 0 && !self.verify.is_empty() {
                text += &format!("\n- Verify: `{}`", script(self.verify));
            }
            tasks.push((layout.id(place + 1), text));
        }
        let mut case = Case::new(layout, &tasks);
        if !row.is_empty() {
            let shown: String = parts[0].chars().take(40).collect();
            case.name = format!(" {}: {}", number + 1, shown.replace('\n', " "));
        }
        let suspects = script(self.suspects);
        case.suspects
            .retain(|id| suspects.is_empty() || suspects.split(' ').any(|suspect| suspect == *id));
        for (path, text) in self.files {
            case = case.file(&script(path), script(text));
        }
        for (number, part) in parts.iter().enumerate() {
            case = case.desk(&(number + 1).to_string(), format!("{part}\n"));
        }
        let mut before = script(self.before);
        if !self.program.is_empty() {
            let command = [self.verify, self.check].into_iter().find(|command| !command.is_empty());
            let command = script(command.unwrap());
            let name = command.split(' ').next().unwrap();
            case = case.desk("program", format!("#!/bin/sh\n{}\n", script(self.program)));
            let place = format!("\"$DESK/../bin/{name}\"");
            before += &format!("\ncp \"$DESK/program\" {place}; chmod +x {place}");
        }
        if !self.check.is_empty() {
            case = case.check(&script(self.check));
        }
        if !self.protect.is_empty() {
            case = case.protect(&script(self.protect));
        }
        let mut turns: Vec<String> = self.turns.iter().map(|turn| script(turn)).collect();
        let ticks = ["mark ", "tick ", "spool task"];
        if !turns.iter().any(|turn| ticks.iter().any(|word| turn.contains(word))) {
            turns.last_mut().unwrap().push_str(&format!("\nmark {}", ids.join(" ")));
        }
        case.turns = turns;
        case.second_word = (!self.second_word.is_empty()).then(|| script(self.second_word));
        if !self.words.is_empty() {
            case.words = script(self.words);
        }
        case.must_say = script(self.says);
        case.must_stay_open = self.ending == Ending::Open;
        case.before(before)
    }
}
