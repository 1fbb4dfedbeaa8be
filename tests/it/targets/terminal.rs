//! Choosing a change on a terminal.

#![cfg(target_os = "linux")]

use crate::support::terminal::{CTRL_C, Terminal};
use crate::targets::support::{Bench, CHANGE, SPOOL};

/// A text that gives the terminal another title and wipes it; tests name it as `$HOSTILE`.
const HOSTILE: &str = "\x1b]0;owned\x07\x1b[2J";

/// `spool ralph` on a terminal; `None` where there is none.
fn running(bench: &Bench, arguments: &str) -> Option<Terminal> {
    let mut command = bench.command(&[]);
    command.env("SPOOL", SPOOL).env("HOSTILE", HOSTILE);
    Terminal::running(&format!("\"$SPOOL\" ralph go {arguments}"), &command)
}

#[test]
fn interactive_selection_when_omitted() {
    let bench = Bench::with(&[CHANGE, "002-02_ralph-status", "archive/001-01_old"]);
    bench.write(".spool/changes/002-02_ralph-status/tasks.md", "- [x] T001 a\n- [ ] T002 b\n");
    let Some(mut terminal) = running(&bench, "--dry-run") else { return };
    terminal.until("002-02_ralph-status (1 of 2 tasks done)").press("\x1b[B").press("\r");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("Which change?") && !seen.contains("001-01_old"), "{seen}");
    assert!(seen.contains("Change: 002-02_ralph-status"), "{seen}");
}

#[test]
fn single_change_is_taken_aloud() {
    let bench = Bench::with(&[CHANGE]);
    let Some(terminal) = running(&bench, "--dry-run") else { return };
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("The only active change is taken: 002-01_add-ralph-loop"), "{seen}");
    assert!(!seen.contains("Which change?"), "{seen}");
}

#[test]
fn d12_piped_output_keeps_the_choice() {
    let bench = Bench::with(&[CHANGE, "002-02_ralph-status"]);
    let Some(mut terminal) = running(&bench, "--dry-run | cat") else { return };
    terminal.until("002-02_ralph-status").press("\x1b[B").press("\r");
    let (_, seen) = terminal.end();
    assert!(seen.contains("Which change?"), "{seen}");
    assert!(seen.contains("Change: 002-02_ralph-status"), "{seen}");
}

#[test]
fn no_interactive_asks_nothing() {
    let bench = Bench::with(&[CHANGE, "002-02_ralph-status"]);
    let Some(terminal) = running(&bench, "--no-interactive --dry-run") else { return };
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(2), "{seen}");
    assert!(seen.contains("--change is required"), "{seen}");
}

#[test]
fn leaving_the_choice_starts_nothing() {
    let bench = Bench::with(&[CHANGE, "002-02_ralph-status"]);
    for key in [CTRL_C, "q"] {
        let Some(mut terminal) = running(&bench, "") else { return };
        terminal.until("002-02_ralph-status").press(key);
        let (code, seen) = terminal.end();
        assert_eq!(code, Some(130), "{key:?}: {seen}");
        let (hidden, shown) = (seen.rfind("\x1b[?25l"), seen.rfind("\x1b[?25h"));
        assert!(hidden < shown, "{key:?}: {seen:?}");
    }
}

/// Only on a terminal: elsewhere all codes are left out of what is printed.
#[test]
fn documents_never_draw_on_terminals() {
    let bench = Bench::with(&[CHANGE]);
    bench.write(".spool/changes/002-01_add-ralph-loop/proposal.md", format!("# Say {HOSTILE}\n"));
    let check = "check = [\"true \\u001b]0;owned\\u0007\\u001b[2J\"]\n";
    bench.write(".spool/ralph.toml", check);
    for (arguments, code, words) in [
        ("--dry-run --trust-project", 0, "# Say \u{fffd}]0;owned"),
        ("--dry-run", 2, "this project is not trusted"),
        ("--dry-run --change=\"$HOSTILE\"", 2, "is not trusted"),
        ("--dry-run --trust-project --change=\"$HOSTILE\"", 2, "cannot be a change"),
        ("--dry-run --trust-project --module=\"$HOSTILE\"", 2, "cannot be a module"),
        ("--dry-run --trust-project --model=\"$HOSTILE\"", 2, "needs a name such as"),
    ] {
        let Some(terminal) = running(&bench, arguments) else { return };
        let (ended, seen) = terminal.end();
        assert_eq!(ended, Some(code), "{arguments}: {seen:?}");
        assert!(seen.contains(words), "{arguments}: {seen:?}");
        assert!(!seen.contains("\x1b]0;") && !seen.contains("\x1b[2J"), "{arguments}: {seen:?}");
    }
}
