//! Whether a process seen before still lives. The system reuses ids, so the time of its start counts as well.

#[cfg(target_os = "linux")]
use super::tree;
use crate::system::processes;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessLife {
    Gone,
    Lives {
        /// By the system's own count; 0 where the system does not say.
        start: u64,
    },
    /// A process has the id, and the system shows nothing else of it.
    #[cfg_attr(
        not(any(target_os = "linux", windows)),
        allow(dead_code, reason = "macOS shows nothing")
    )]
    Hidden,
}

impl ProcessLife {
    #[cfg(target_os = "linux")]
    pub fn of(id: u32) -> Self {
        match i32::try_from(id).ok().and_then(tree::process) {
            Some(process) if !process.dead => Self::Lives { start: process.start },
            None if processes::is_alive(id) => Self::Hidden,
            _ => Self::Gone,
        }
    }

    #[cfg(windows)]
    pub fn of(id: u32) -> Self {
        match processes::start_of(id) {
            Some(start) if processes::is_alive(id) => Self::Lives { start },
            None if processes::is_alive(id) => Self::Hidden,
            _ => Self::Gone,
        }
    }

    #[cfg(not(any(target_os = "linux", windows)))]
    pub fn of(id: u32) -> Self {
        if processes::is_alive(id) { Self::Lives { start: 0 } } else { Self::Gone }
    }

    /// The living process started at this time; 0 stands for an unknown time and matches.
    pub fn is_of(self, known: u64) -> bool {
        matches!(self, Self::Lives { start } if start == known || start == 0 || known == 0)
    }
}

/// Names the space in which process ids are unique: this machine, and on Linux this namespace of process ids. Empty
/// where the system does not say.
#[cfg(target_os = "linux")]
pub fn id_space() -> String {
    let machine = crate::store::read::read("/etc/machine-id".as_ref(), 100);
    let machine = machine.map(|file| file.bytes).unwrap_or_default();
    let machine = String::from_utf8_lossy(machine.trim_ascii()).to_ascii_lowercase();
    let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    // The form that Claude Code uses.
    format!("linux:{machine}:{}", space.display())
}

/// Process ids are unique on this machine.
#[cfg(not(target_os = "linux"))]
pub fn id_space() -> String {
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_is_its_id_and_start() {
        let own = ProcessLife::of(std::process::id());
        let ProcessLife::Lives { start } = own else { panic!("{own:?}") };
        assert!(own.is_of(start) && own.is_of(0));
        assert_eq!(own.is_of(start + 1), start == 0);
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let id = child.id();
        child.wait().unwrap();
        assert_eq!(ProcessLife::of(id), ProcessLife::Gone);
        assert!(!ProcessLife::Gone.is_of(0) && !ProcessLife::Hidden.is_of(0));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn unreaped_process_is_gone() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let deadline = crate::world::Deadline::after(std::time::Duration::from_secs(10));
        while ProcessLife::of(child.id()) != ProcessLife::Gone {
            assert!(!deadline.is_over());
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(id_space().contains(":pid:["), "{}", id_space());
    }
}
