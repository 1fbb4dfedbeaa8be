//! What `spool` shows of a loop on a terminal: lines that fit, a screen that is drawn again, a log that is followed.

use super::cli::{printed, refused, spool};
use super::{PROMISE, armed, ralph, works_and_says};
use crate::hook::support::Bench;
use crate::support::terminal::{CTRL_C, Terminal};
use serde_json::Value;
use std::fs;

/// Starts `spool` on a terminal of 80 columns and 24 lines.
fn on_a_terminal(bench: &Bench, arguments: &str) -> Option<Terminal> {
    let spool = env!("CARGO_BIN_EXE_spool");
    let line = format!("stty cols 80 rows 24; exec {spool} {arguments}");
    Terminal::running(&line, &bench.spool())
}

#[test]
fn screen_redraws_until_ctrl_c() {
    let bench = armed("\"Make it\"");
    let Some(mut terminal) = on_a_terminal(&bench, "status --watch") else { return };
    terminal.until("Iteration: 1 of 50");
    works_and_says(&bench, "no").reason();
    terminal.until("Iteration: 2 of 50");
    terminal.press(CTRL_C);
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.matches("\u{1b}[H").count() >= 2 && !screen.contains("error"), "{screen}");
}

#[test]
fn screen_fits_the_terminal() {
    let bench = armed("\"Make it\"");
    for session in 2..9 {
        ralph(&bench, &format!("s{session}"), "\"Make it\"").context();
    }
    let Some(mut terminal) = on_a_terminal(&bench, "status --watch") else { return };
    terminal.until("… and more: `spool status` shows all of it");
    terminal.press(CTRL_C);
    let (_, screen) = terminal.end();
    let first = screen.split("\u{1b}[H").nth(1).unwrap();
    assert!(first.lines().count() <= 24, "{first}");
    for line in first.lines() {
        let line = line.replace("\u{1b}[K", "").replace("\u{1b}[J", "");
        assert!(line.trim_end().chars().count() <= 80, "{line}");
    }
}

#[test]
fn no_terminal_means_no_screen() {
    let bench = armed("\"Make it\"");
    let error = refused(&spool(&bench, None, &["status", "--watch"]));
    assert!(error.contains("--watch draws on a terminal"), "{error}");
}

#[test]
fn long_text_breaks_at_blanks() {
    let task = "word ".repeat(30);
    let bench = armed(&format!("\"{task}\""));
    works_and_says(&bench, "no").reason();
    for arguments in
        ["status", "log", "doctor", "--help", "ralph --help", "setup --help", "task --help"]
    {
        let Some(terminal) = on_a_terminal(&bench, arguments) else { return };
        let (_, screen) = terminal.end();
        let plain = without_colors(&screen);
        for line in plain.lines() {
            let too_long = line.trim_end().chars().count() > 80;
            // A path or a command in quotes is one word.
            let words = line.split_whitespace().map(|word| word.chars().count()).max();
            assert!(!too_long || words > Some(60), "spool {arguments}: {line:?}\n{plain}");
        }
    }
    let Some(terminal) = on_a_terminal(&bench, "status --json") else { return };
    let (_, screen) = terminal.end();
    let _whole: Value = serde_json::from_str(&screen).unwrap();
}

fn without_colors(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn log_separates_named_loops() {
    let bench = armed("\"Make one\"");
    ralph(&bench, "s2", "\"Make two\"").context();
    works_and_says(&bench, PROMISE).told();
    ralph(&bench, "s1", "\"Make three\"").context();
    let log = printed(&spool(&bench, None, &["log"]));
    let titles = [
        "Make one · session s1 · 20",
        "Make two · session s2 · 20",
        "Make three · session s1 · 20",
    ];
    let places: Vec<_> =
        titles.iter().map(|title| log.find(title).unwrap_or_else(|| panic!("{log}"))).collect();
    assert!(places.is_sorted(), "{log}");
    assert_eq!(log.lines().filter(|line| line.is_empty()).count(), 2, "{log}");
    let one = printed(&spool(&bench, None, &["log", "Make one"]));
    assert_eq!(one.lines().count(), 3, "{one}");
    assert!(one.contains("  iteration 1  done  "), "{one}");
    let error = refused(&spool(&bench, None, &["log", "Make on"]));
    assert!(error.contains("did you mean `Make one`?"), "{error}");
    assert!(error.contains("there are:\n  Make one\n  Make three\n  Make two\n  s1"), "{error}");
}

#[test]
fn log_has_end_words_once() {
    let bench = armed("\"Make it\"");
    works_and_says(&bench, "no").reason();
    printed(&spool(&bench, None, &["cancel", "--session", "s1"]));
    let log = printed(&spool(&bench, None, &["log"]));
    let last = log.lines().last().unwrap_or_default();
    assert!(last.contains("  ended (cancelled)  (1 tool call"), "{log}");
    assert!(!log.contains("it was cancel"), "{log}");
    let journal = fs::read_to_string(bench.path(".claude/ralph/s1/journal.jsonl")).unwrap();
    assert!(journal.contains("it was cancelled"), "{journal}");
}

/// A project keeps the folders of all sessions that ever had a loop there.
#[cfg(target_os = "linux")]
#[test]
fn the_log_opens_no_old_loop() {
    use filetime::{FileTime, set_file_mtime};
    use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
    let bench = armed("\"Make it\"");
    works_and_says(&bench, PROMISE).told();
    let opened = Inotify::init(InitFlags::IN_NONBLOCK).unwrap();
    for number in 0..200 {
        let session = format!("old{number}");
        let journal = |session: &str| bench.path(&format!(".claude/ralph/{session}/journal.jsonl"));
        let record = |session: &str| bench.record_path(session);
        std::fs::create_dir(journal(&session).parent().unwrap()).unwrap();
        let both: [&dyn Fn(&str) -> std::path::PathBuf; 2] = [&journal, &record];
        for path in both {
            let text = std::fs::read_to_string(path("s1")).unwrap().replace("s1", &session);
            let copy = path(&session);
            std::fs::write(&copy, text).unwrap();
            set_file_mtime(&copy, FileTime::from_unix_time(number, 0)).unwrap();
            if number < 50 {
                opened.add_watch(&copy, AddWatchFlags::IN_OPEN).unwrap();
            }
        }
    }
    assert!(printed(&spool(&bench, None, &["log"])).contains("Make it"));
    let names: Vec<_> =
        opened.read_events().into_iter().flatten().map(|event| event.name).collect();
    assert!(names.is_empty(), "it opened {names:?}");
}

#[test]
fn log_begins_where_told() {
    let bench = armed("\"Make it\"");
    let since = |time: &str| spool(&bench, None, &["log", "--since", time]);
    assert!(printed(&since("1h")).contains("  armed  "));
    assert_eq!(printed(&since("2999-01-01")), "Nothing happened in that time.\n");
    assert!(printed(&since("2020-01-01 10:00")).contains("  armed  "));
    let wrong = since("yesterday");
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    let error = String::from_utf8(wrong.stderr).unwrap();
    assert!(error.contains("`90s`, `30m`, `2h`, `3d`, `2026-11-22`"), "{error}");
}

#[test]
fn followed_log_shows_news() {
    let bench = armed("\"Make it\"");
    let Some(mut terminal) = on_a_terminal(&bench, "log --follow") else { return };
    terminal.until("armed");
    works_and_says(&bench, "no").reason();
    terminal.until("iteration 1");
    ralph(&bench, "s2", "\"Make that\"").context();
    terminal.until("Make that");
    terminal.press(CTRL_C);
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(screen.matches("Make it").count(), 1, "one title: {screen}");
}
