//! Other loops in the same sessions, and whether the machine stays awake.

use super::finding::{Finding, one_line};
use crate::plugin::client::InstalledPlugin;
use crate::plugin::{IDENTIFIER, NAME};
use crate::runner::inhibitor::Inhibitor;

/// Warns of another plugin with a loop.
pub fn check_other_loops(plugins: &[InstalledPlugin]) -> Finding {
    let name = "other-loops";
    let is_other = |plugin: &&InstalledPlugin| plugin.enabled && plugin.id != IDENTIFIER;
    let others = plugins.iter().filter(is_other).filter(|plugin| is_loop(&plugin.id));
    let others: Vec<String> = others.map(|plugin| one_line(&plugin.id)).collect();
    if others.is_empty() {
        return Finding::ok(name, "no other loop plugin is switched on");
    }
    let commands = others.join("; claude plugin disable ");
    Finding::warn(
        name,
        format!("another loop may block the same session: `{}`", others.join("`, `")),
        format!("use one loop at a time: claude plugin disable {commands}"),
    )
}

/// A machine that may fall asleep is no fault.
pub fn check_stay_awake() -> Finding {
    let found = match Inhibitor::start().known_trouble() {
        (None, true) => "`spool ralph` keeps this machine awake while it runs".to_owned(),
        (None, false) => "`spool ralph` does not keep this machine awake where it is the first process of a container".to_owned(),
        (Some(why), _) => format!("this machine may fall asleep while `spool ralph` runs: {why}"),
    };
    Finding::ok("stay-awake", one_line(&found))
}

/// Plugins that block a session by their own Stop hook, and plugins with our commands.
fn is_loop(identifier: &str) -> bool {
    let name = identifier.split('@').next().unwrap_or(identifier);
    name == NAME || name.starts_with("oh-my-") || LOOP_PLUGINS.contains(&name)
}

const LOOP_PLUGINS: &[&str] =
    &["ralph", "ralph-loop", "ralph-speckit", "ralph-specum", "ralph-wiggum", "smart-ralph"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loop_plugins_are_known() {
        for id in ["ralph-loop@a", "ralph-wiggum@b", "oh-my-claudecode@omc", "speckit@elsewhere"] {
            assert!(is_loop(id), "{id}");
        }
        for id in ["spec-kit@a", "ralphs-notes@b", "my-oh-my-tool@c"] {
            assert!(!is_loop(id), "{id}");
        }
    }
}
