//! The agent programs that start the hook. What each sends, understands and writes down is in a room of its own.

mod answer;
pub mod claude;
mod event;
mod host;
pub(crate) mod json;
mod scan;
pub mod transcript;

pub(crate) use answer::HookAnswer;
pub use event::{EventKind, HookEvent, HostName, LateEvent};
pub(crate) use host::Host;

/// All hosts. The first is the one that started a hook whose arguments name none.
static HOSTS: &[&dyn Host] = &[&claude::ClaudeCode];

/// Returns the host that started a hook with these arguments, and the event that it was started for, empty where the
/// arguments do not say: `[HOST] [EVENT]`.
pub(crate) fn started_by(
    mut arguments: impl Iterator<Item = String>,
) -> (&'static dyn Host, String) {
    let first = arguments.next().unwrap_or_default();
    match HOSTS.iter().copied().find(|host| host.name() == first) {
        Some(host) => (host, arguments.next().unwrap_or_default()),
        None => (HOSTS[0], first),
    }
}

#[cfg(test)]
mod tests {
    use super::started_by;

    #[test]
    fn a_hook_is_started_by_the_host_that_its_arguments_name_or_by_the_first_one() {
        for (arguments, event) in [
            ("", ""),
            ("Stop", "Stop"),
            ("claude Stop", "Stop"),
            ("claude", ""),
            ("other Stop", "other"),
        ] {
            let (host, found) = started_by(arguments.split_whitespace().map(str::to_owned));
            assert_eq!((host.name(), found.as_str()), ("claude", event), "{arguments}");
        }
    }
}
