//! Kills in the middle of an edit: no byte that was on the disk is lost, whatever the next agent does to the tree.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ralph_speckit::world::{Deadline, pause};
use rustix::process::{Pid, Signal, kill_process};

use crate::place::{PATIENCE, Place};
use crate::support::amounts::few_or_all;
use crate::support::limited::Ended;

/// How many projects they are spread over, each with its own row of loops.
const PROJECTS: u32 = 4;

/// It edits its files without an end, or ends as the file `how` says. Its next run begins with what no agent should do: all
/// that is not committed goes.
const AGENT: &str = r#"
cat > "$NOTES.prompt"
rm -f new-* && printf 'as it was' > tracked
read -r n how moment < "$NOTES.how"
edit=0
edits() {
    edit=$((edit + 1))
    printf 'half of edit %s.%s' "$n" "$edit" > tracked
    printf 'edit %s.%s;' "$n" "$edit" >> "new-$n"
    printf 'a new file of edit %s.%s' "$n" "$edit" > "new-$n-$((edit % 7))"
}
edits
echo "$n" > "$NOTES.now" && mv "$NOTES.now" "$NOTES.ready"
case $how in
crash) exit 7 ;;
murder) (sleep "0.0$moment"; kill -9 $$) & ;;
esac
while :; do edits; done
"#;
/// The files of the person besides: one is staged, one is changed and not staged, one is new.
const OF_THE_PERSON: [&str; 3] = ["staged", "unstaged", "untracked"];

#[test]
fn every_byte_is_found_after_kills() {
    // So many tries are given up, a quarter in each way.
    let kills = few_or_all(40, 200);
    let done = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..PROJECTS {
            scope.spawn(|| {
                row_of_kills(kills / PROJECTS);
                done.fetch_add(kills / PROJECTS, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(done.into_inner(), kills);
}

fn row_of_kills(kills: u32) {
    let place = Place::with_git(AGENT);
    place.write("tracked", "as it was");
    for name in ["staged", "stashed", "unstaged"] {
        place.write(name, "as it was");
    }
    place.commit("first");
    place.write("stashed", "of the person");
    place.git(&["stash"]);
    place.write("staged", "as the person staged it");
    place.git(&["add", "staged"]);
    for name in ["unstaged", "untracked"] {
        place.write(name, "as the person left it");
    }
    let before = what_is_the_persons(&place);
    for number in 1..=kills {
        let way = ["crash", "murder", "interrupt", "kill"][(number % 4) as usize];
        given_up(&place, number, way);
        assert_eq!(what_is_the_persons(&place), before, "after {way} {number}");
        if number > 1 {
            is_found(&place, number - 1);
        }
        remember_what_is_on_the_disk(&place);
    }
    let refs = place.git(&["for-each-ref", "--format=%(refname)", "refs/ralph"]);
    assert!(refs.lines().count() <= 20, "{refs}");
}

/// Runs a loop whose only try is given up in this way, at another moment of its edits each time.
fn given_up(place: &Place, number: u32, way: &str) {
    let moment = number * 37 % 90 + 10;
    fs::write(place.beside("notes.how"), format!("{number} {way} {moment}\n")).unwrap();
    let arguments =
        ["--max-iterations", "1", "--restart", "--grace", "100ms", "--idle-timeout", "5m"];
    if matches!(way, "crash" | "murder") {
        let ran = place.run(&arguments);
        assert!(matches!(ran.status.code(), Some(3 | 9)), "{ran:#?}");
        return;
    }
    let mut runner = place.start(&arguments);
    place.wait_for_file("notes.ready", &format!("{number}\n"));
    pause(Duration::from_millis(moment.into()));
    let signal = if way == "kill" { Signal::KILL } else { Signal::INT };
    end(&mut runner, signal);
    // The supervisor of a killed runner ends the agent.
    place.wait_until_nobody_is_alive(Deadline::after(PATIENCE));
}

fn end(runner: &mut Child, signal: Signal) {
    kill_process(Pid::from_child(runner), signal).unwrap();
    let status = runner.ended();
    let wanted = if signal == Signal::KILL { (None, Some(9)) } else { (Some(130), None) };
    assert_eq!((status.code(), status.signal()), wanted);
}

/// Copies what is on the disk, now that nobody is at work: that must be found again.
fn remember_what_is_on_the_disk(place: &Place) {
    let aside = place.beside("notes.before");
    let _ = fs::remove_dir_all(&aside);
    fs::create_dir(&aside).unwrap();
    for entry in fs::read_dir(&place.root).unwrap() {
        let (name, path) = entry.map(|entry| (entry.file_name(), entry.path())).unwrap();
        if path.is_file() {
            fs::copy(path, aside.join(name)).unwrap();
        }
    }
}

/// The prompt of the last run names a ref, and it has every byte that was on the disk when `number` was given up.
fn is_found(place: &Place, number: u32) {
    let prompt = fs::read_to_string(place.beside("notes.prompt")).unwrap();
    let (_, behind) = prompt.split_once("is kept as `").unwrap_or_else(|| panic!("{prompt}"));
    let name = behind.split('`').next().unwrap();
    let mut files = 0;
    for entry in fs::read_dir(place.beside("notes.before")).unwrap() {
        let entry = entry.unwrap();
        let file = entry.file_name().into_string().unwrap();
        let on_disk = fs::read_to_string(entry.path()).unwrap();
        assert_eq!(place.git(&["show", &format!("{name}:{file}")]), on_disk, "{number} {file}");
        files += 1;
    }
    // Those of the person, `stashed` and `tracked`, and what the agent has made.
    assert!(files >= OF_THE_PERSON.len() + 4, "{number}: {files} files");
}

/// Branch, index, stashes, and the person's own files.
fn what_is_the_persons(place: &Place) -> Vec<String> {
    let file =
        |name: &str| fs::read(place.root.join(name)).unwrap_or_default().escape_ascii().to_string();
    let asked = [&["stash", "list", "--format=%H"][..], &["show-ref", "--heads"]];
    let files = [".git/index", ".git/HEAD", ".git/logs/HEAD", "stashed"].map(file);
    let files = files.into_iter().chain(OF_THE_PERSON.map(file));
    files.chain(asked.map(|words| place.git(words))).collect()
}
