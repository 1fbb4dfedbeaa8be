//! `spool demo`: the first thing a person sees, with the programs as they are built.

use crate::support::has::Has;
use crate::support::limited::Limited;
use crate::support::terminal::{CTRL_C, Terminal};
use ralph_speckit::engine::tasks::TaskList;
use ralph_speckit::system::files::real_path;
use ralph_speckit::world;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The demo with nothing but a search path around it, and folders of its own for all that a program may leave.
fn demo(scratch: &Path, flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spool"));
    command.arg("demo").args(flags).env_clear().current_dir(scratch);
    command.env("PATH", "/usr/bin:/bin");
    let (temporary, home) = if cfg!(windows) { ("TMP", world::HOME) } else { ("TMPDIR", "HOME") };
    for (name, folder) in [(temporary, "tmp"), (home, "home")] {
        let folder = scratch.join(folder);
        fs::create_dir_all(&folder).expect("a folder");
        command.env(name, folder);
    }
    command
}

/// Plays it in `scratch/demo`, where it stays.
fn played(scratch: &Path) -> Output {
    demo(scratch, &["--dir", "demo"]).finish()
}

/// What lies in the folders that the demo was given for what it might leave.
fn left_in(scratch: &Path) -> Vec<PathBuf> {
    let folders = ["tmp", "home"].map(|folder| fs::read_dir(scratch.join(folder)));
    let entries = folders.into_iter().flat_map(|folder| folder.expect("a folder").flatten());
    entries.map(|entry| entry.path()).collect()
}

#[test]
#[cfg_attr(windows, ignore = "`sh` plays what the demo has built, and there is none under Wine")]
fn demo_refuses_early_finish_then_ends() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let output = played(scratch.path());
    let printed = String::from_utf8(output.stdout).expect("text");
    let errors = String::from_utf8(output.stderr).expect("text");
    assert!(output.status.success(), "{printed}\n{errors}");
    assert_eq!(errors, "");
    assert!(!printed.contains('\u{1b}'), "colours belong on a terminal: {printed:?}");
    let words: Vec<&str> = printed.split_whitespace().collect();
    let in_one_line = words.join(" ");
    in_one_line.has_all(&[
        "❯ /speckit:implement",
        "● All done! ALL_TASKS_COMPLETE ⎿ Stop says: Ralph-speckit",
        "claimed done, but 3 of 7 are open",
        "all tests passed",
        "7 of 7 tasks, 4 iterations, 1 early finish refused; the loop ended: completed",
    ]);
    let real = real_path(&scratch.path().join("demo")).expect("the demo's folder");
    assert!(printed.contains(&format!("the files:    {}", real.display())), "{printed}");
    let list = fs::read(real.join("specs/001-todo-list/tasks.md")).expect("a list");
    let list = TaskList::parse(&list);
    assert_eq!((list.tasks.len(), list.open().count()), (7, 0));
    // What was built works.
    let test = Command::new("sh").arg("test.sh").current_dir(&real).finish();
    assert!(test.status.success(), "{test:?}");
    assert_eq!(left_in(scratch.path()), Vec::<PathBuf>::new());
}

#[test]
fn demo_fits_small_terminals() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let output = demo(scratch.path(), &["--fast"]).finish();
    let printed = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{printed}");
    // The last line of the screen is the next prompt's.
    assert!(printed.lines().count() <= 23, "{} lines:\n{printed}", printed.lines().count());
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
    assert_eq!(left_in(scratch.path()), Vec::<PathBuf>::new());
}

/// What GitHub shows first is what a person gets: the same words, drawn by the same script.
#[test]
#[cfg_attr(windows, ignore = "`bash` draws the picture, and there is none under Wine")]
fn readme_picture_shows_the_demo() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let printed = demo(scratch.path(), &["--fast"]).finish().stdout;
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR"));
    let committed = fs::read_to_string(checkout.join("docs/demo.svg")).expect("a picture");
    let again = "the demo prints something else: run `scripts/picture`";
    let shown = committed.lines().filter_map(|line| line.strip_prefix("<text ")?.split_once('>'));
    let shown: Vec<String> = shown
        .map(|(_, words)| words.trim_end_matches("</text>"))
        .map(|words| words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
        .collect();
    let printed = String::from_utf8(printed).expect("text");
    let lines: Vec<String> = printed.lines().map(|line| line.replace('⎿', "└")).collect();
    let lines: Vec<&String> = lines.iter().filter(|line| !line.is_empty()).collect();
    assert_eq!(shown.iter().collect::<Vec<_>>(), lines, "{again}");

    let mut draw = Command::new("bash");
    draw.arg(checkout.join("scripts/picture")).arg("-").env_clear().env("PATH", "/usr/bin:/bin");
    draw.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut draw = draw.spawn().expect("bash");
    draw.stdin.take().expect("a pipe").write_all(printed.as_bytes()).expect("written");
    let drawn = draw.finish();
    assert_eq!(String::from_utf8_lossy(&drawn.stdout), committed, "{again}\n{drawn:?}");
}

#[test]
fn kept_demo_says_where() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let output = demo(scratch.path(), &["--keep"]).finish();
    let printed = String::from_utf8(output.stdout).expect("text");
    let place = printed.lines().find_map(|line| line.strip_prefix("the files:    "));
    let place = Path::new(place.expect("a place"));
    assert!(place.join("todo.sh").is_file(), "{printed}");
    let left = left_in(scratch.path());
    let left: Vec<_> = left.iter().map(|path| real_path(path).expect("a path")).collect();
    assert_eq!(left, [place], "{printed}");
}

#[test]
#[cfg_attr(windows, ignore = "there is no terminal for a test")]
fn ctrl_c_ends_the_demo_cleanly() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let place = demo(scratch.path(), &[]);
    let line = format!("{} demo", env!("CARGO_BIN_EXE_spool"));
    let Some(mut terminal) = Terminal::running(&line, &place) else { return };
    terminal.until("/speckit:implement").press(CTRL_C);
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(130), "{seen}");
    assert!(!seen.contains("error") && !seen.contains("7 of 7 tasks"), "{seen}");
    assert_eq!(left_in(scratch.path()), Vec::<PathBuf>::new());
}

#[test]
fn demo_journal_can_be_read() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    assert!(played(scratch.path()).status.success());
    let mut log = Command::new(env!("CARGO_BIN_EXE_spool"));
    log.arg("log").arg("--project").arg(scratch.path().join("demo")).env_clear();
    let printed = String::from_utf8(log.finish().stdout).expect("text");
    assert_eq!(printed.matches("  continue  ").count(), 3, "{printed}");
    assert_eq!(printed.matches("  done  all the work is done").count(), 1, "{printed}");
}

#[test]
fn filled_folder_is_refused_untouched() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path().join("demo");
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("mine.txt"), "mine\n").expect("a file");
    let output = played(scratch.path());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let errors = String::from_utf8(output.stderr).expect("text");
    errors.has("is not an empty folder\nname one that is missing or empty");
    let left: Vec<_> = fs::read_dir(&folder).expect("the folder").flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(fs::read_to_string(folder.join("mine.txt")).expect("a file"), "mine\n");
}
