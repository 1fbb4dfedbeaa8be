//! Who descends from whom: a run leaves none of its processes.

use std::collections::BTreeSet;

use rustix::process::{Pid, Signal, kill_process};

/// The most bytes that are read of a process file or a listing.
#[cfg(target_os = "linux")]
const MOST: u64 = 1 << 20;

/// The state letter of a stopped process on both systems; a debugger's stop has another letter.
const STOPPED: char = 'T';

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    pub id: i32,
    pub parent: i32,
    pub group: i32,
    /// A zombie: ended, but its parent has not asked yet.
    pub dead: bool,
    /// Stopped as by SIGSTOP.
    pub stopped: bool,
    /// The time of its start by the system's count; 0 where the list does not tell.
    pub start: u64,
}

/// The living below `root`, in `group` or `seen` before, with their descendants, but without `root`.
pub fn members(
    all: &[Process],
    root: i32,
    group: Option<i32>,
    seen: &BTreeSet<i32>,
) -> BTreeSet<i32> {
    let mut found = BTreeSet::new();
    loop {
        let before = found.len();
        for process in all.iter().filter(|process| process.id != root) {
            let descends = process.parent == root || found.contains(&process.parent);
            if descends || Some(process.group) == group || seen.contains(&process.id) {
                found.insert(process.id);
            }
        }
        if found.len() == before {
            break;
        }
    }
    found.retain(|id| all.iter().any(|process| process.id == *id && !process.dead));
    found
}

/// Sorts parents before their children.
pub fn parents_first(all: &[Process], members: &BTreeSet<i32>) -> Vec<i32> {
    let parent = |id| all.iter().find(|process| process.id == id).map(|process| process.parent);
    let depth = |id: &i32| {
        let line = std::iter::successors(Some(*id), |id| parent(*id));
        // The list is not of one moment: a process may seem to descend from itself.
        line.take(members.len()).take_while(|id| members.contains(id)).count()
    };
    let mut ordered: Vec<i32> = members.iter().copied().collect();
    ordered.sort_by_cached_key(depth);
    ordered
}

/// A process that has gone meanwhile is no error.
pub fn signal<'a>(members: impl IntoIterator<Item = &'a i32>, signal: Signal) {
    for id in members {
        if let Some(id) = Pid::from_raw(*id) {
            let _ = kill_process(id, signal);
        }
    }
}

#[cfg(target_os = "linux")]
pub fn all() -> Vec<Process> {
    ids().filter_map(|id| of_stat(id, &of_system(id, "stat")?)).collect()
}

#[cfg(target_os = "linux")]
fn ids() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// At most 1 MiB of a process's file.
#[cfg(target_os = "linux")]
#[expect(
    clippy::disallowed_methods,
    reason = "the system's own file, bounded; nobody has to write it first"
)]
fn of_system(id: i32, name: &str) -> Option<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    // A file of the system itself: no size, and no writer to wait for.
    let file = std::fs::File::open(format!("/proc/{id}/{name}")).ok()?;
    file.take(MOST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(target_os = "linux")]
pub fn process(id: i32) -> Option<Process> {
    of_stat(id, &of_system(id, "stat")?)
}

#[cfg(target_os = "linux")]
pub fn is_stopped(id: i32) -> bool {
    process(id).is_some_and(|process| process.stopped)
}

#[cfg(not(target_os = "linux"))]
pub fn is_stopped(id: i32) -> bool {
    printed_by_ps(&["-o", "stat=", "-p", &id.to_string()]).trim_start().starts_with(STOPPED)
}

/// The command line, with blanks between the arguments.
#[cfg(target_os = "linux")]
pub fn name(id: i32) -> Option<String> {
    let command = of_system(id, "cmdline")?;
    Some(String::from_utf8_lossy(&command).trim_end_matches('\0').to_owned())
}

/// Both processes run the same file, as far as the system says.
#[cfg(target_os = "linux")]
pub fn run_the_same_program(one: i32, other: i32) -> bool {
    use std::os::unix::fs::MetadataExt;
    let file = |id| std::fs::metadata(format!("/proc/{id}/exe")).ok();
    let (Some(one), Some(other)) = (file(one), file(other)) else { return false };
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// The command lines of all visible processes.
#[cfg(target_os = "linux")]
pub fn names() -> Vec<String> {
    ids().filter_map(name).collect()
}

/// The command lines of all visible processes.
#[cfg(not(target_os = "linux"))]
pub fn names() -> Vec<String> {
    let lines = printed_by_ps(&["-axww", "-o", "command="]);
    lines.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// The process started with this variable in its environment, as far as the system tells.
#[cfg(target_os = "linux")]
pub fn has_variable(id: i32, name: &str, value: &str) -> bool {
    let wanted = format!("{name}={value}");
    of_system(id, "environ").is_some_and(|environment| {
        environment.split(|byte| *byte == 0).any(|pair| pair == wanted.as_bytes())
    })
}

/// The system does not tell here.
#[cfg(not(target_os = "linux"))]
pub fn has_variable(_: i32, _: &str, _: &str) -> bool {
    false
}

/// Reads `/proc/ID/stat`. The name may hold anything, so the fields count from the last `)`.
#[cfg(target_os = "linux")]
fn of_stat(id: i32, stat: &[u8]) -> Option<Process> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let text = std::str::from_utf8(&stat[end + 1..]).ok()?;
    let mut fields = text.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let since = fields.nth(16).and_then(|ticks| ticks.parse().ok()).unwrap_or_default();
    let dead = matches!(state, "Z" | "X");
    Some(Process { id, parent, group, dead, stopped: state.starts_with(STOPPED), start: since })
}

#[cfg(not(target_os = "linux"))]
pub fn all() -> Vec<Process> {
    of_ps(&printed_by_ps(&["-axo", "pid=,ppid=,pgid=,stat="]))
}

/// The output of `ps`, without `ps` itself.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::disallowed_methods, reason = "the supervisor itself asks for the list")]
fn printed_by_ps(arguments: &[&str]) -> String {
    use std::process::{Command, Stdio};
    let mut command = Command::new("/bin/ps");
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::piped());
    let Ok(child) = command.spawn() else { return String::new() };
    let own = child.id().to_string();
    let output = child.wait_with_output().map(|output| output.stdout).unwrap_or_default();
    let text = String::from_utf8_lossy(&output);
    let is_own = |line: &&str| line.split_ascii_whitespace().next() == Some(own.as_str());
    text.lines().filter(|line| !is_own(line)).collect::<Vec<_>>().join("\n")
}

/// Reads the output of `ps -axo pid=,ppid=,pgid=,stat=`; other lines are skipped.
#[cfg(any(test, not(target_os = "linux")))]
fn of_ps(text: &str) -> Vec<Process> {
    let line = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let id = fields.next()?.parse().ok()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let state = fields.next()?;
        let (dead, stopped) = (state.starts_with('Z'), state.starts_with(STOPPED));
        Some(Process { id, parent, group, dead, stopped, start: 0 })
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(id: i32, parent: i32, group: i32) -> Process {
        Process { id, parent, group, dead: false, stopped: false, start: 0 }
    }

    fn members_of_10(all: &[Process], group: Option<i32>, seen: &[i32]) -> Vec<i32> {
        let seen = seen.iter().copied().collect();
        members(all, 10, group, &seen).into_iter().collect()
    }

    #[test]
    fn tree_is_found_in_any_order() {
        let all = [
            process(40, 30, 40),
            process(30, 20, 20),
            process(20, 10, 20),
            process(10, 1, 10),
            process(50, 1, 50),
            process(60, 1, 20),
            process(70, 1, 70),
        ];
        assert_eq!(members_of_10(&all, Some(20), &[70, 80]), [20, 30, 40, 60, 70]);
        assert_eq!(members_of_10(&all, None, &[]), [20, 30, 40]);
    }

    #[test]
    fn only_children_of_dead_count() {
        let mut parent = process(20, 10, 20);
        parent.dead = true;
        assert_eq!(members_of_10(&[parent, process(30, 20, 20)], None, &[]), [30]);
        assert_eq!(members_of_10(&[parent], Some(20), &[20]), [] as [i32; 0]);
    }

    #[test]
    fn parents_come_first_whatever_their_numbers() {
        let all = [process(5, 9, 5), process(9, 7, 7), process(7, 10, 7), process(8, 5, 8)];
        let order = |ids: &[i32]| parents_first(&all, &ids.iter().copied().collect());
        assert_eq!(order(&[5, 7, 8, 9]), [7, 9, 5, 8]);
        // Who came from outside, or lost its parent.
        assert_eq!(order(&[5, 8]), [5, 8]);
        assert_eq!(order(&[3, 8]), [3, 8]);
        let circle = [process(5, 9, 5), process(9, 5, 5)];
        assert_eq!(parents_first(&circle, &[5, 9].into()).len(), 2);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn stopped_process_is_seen() {
        assert!(of_stat(77, b"77 (a) T 5 6").unwrap().stopped);
        assert!(!of_stat(77, b"77 (a) t 5 6").unwrap().stopped);
        assert!(!is_stopped(i32::try_from(std::process::id()).unwrap()) && !is_stopped(-1));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn strange_names_move_no_fields() {
        let stat = b"77 (a) Z (b) S 5 6 7 0 -1 4194560";
        assert_eq!(of_stat(77, stat), Some(process(77, 5, 6)));
        assert_eq!(of_stat(77, b"77 (cut"), None);
    }

    #[test]
    fn ps_output_is_read() {
        let text = "    1     0     1 Ss\n  900   1   900 Z+\nnonsense\n  901   1   900 T\n";
        let dead = Process { dead: true, ..process(900, 1, 900) };
        let stopped = Process { stopped: true, ..process(901, 1, 900) };
        assert_eq!(of_ps(text), [process(1, 0, 1), dead, stopped]);
    }

    #[test]
    fn this_process_is_among_all() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(all().iter().any(|process| process.id == own && !process.dead));
    }
}
