//! Taking over: a loop whose session is gone continues in another one, and never in two.

use crate::hook::outcome::Outcome;
use crate::hook::support::{Bench, FEATURE, Running};
use crate::ralph::cli::{printed, refused, spool};
use crate::ralph::{PROMISE, armed, change, ralph, works_and_says};
use crate::support::has::Has;
use crate::support::limited::Limited;
use ralph_speckit::store::loops::Record;
use ralph_speckit::world;
use serde_json::{Value, json};
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const HOUR: u64 = 60 * 60 * 1000;

fn record_path(bench: &Bench, session: &str) -> PathBuf {
    bench.record_path(session)
}

/// The session crashed this long ago: nothing was heard of it since.
pub fn silent_for(bench: &Bench, session: &str, millis: u64) {
    let path = record_path(bench, session);
    let mut record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let last = world::now().millis() - millis;
    for field in ["armed_at", "seen_at"] {
        record[field] = last.min(record[field].as_u64().unwrap()).into();
    }
    fs::write(&path, record.to_string()).unwrap();
    let name = format!("feature-{}", record["about"].as_str().unwrap());
    if let Some(path) = bench.pin_path(&name) {
        let mut pin: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        pin["armed_at"] = record["armed_at"].clone();
        fs::write(path, pin.to_string()).unwrap();
    }
    let transcript = bench.transcript(session).path;
    if transcript.exists() {
        crate::hook::support::date(&transcript, -i64::try_from(millis / 1000).unwrap());
    }
}

fn adopt(bench: &Bench, session: &str, arguments: &str) -> Outcome {
    ralph(bench, session, &format!("--adopt {arguments}"))
}

/// A loop in its second iteration whose session has been gone for two hours.
fn left_behind(arguments: &str) -> Bench {
    let bench = armed(arguments);
    works_and_says(&bench, "one").reason();
    silent_for(&bench, "s1", 2 * HOUR);
    bench
}

/// What a person armed, as files.
fn pins(bench: &Bench) -> Vec<(PathBuf, Vec<u8>)> {
    let names = [format!("feature-{FEATURE}"), "session-s1".to_owned()];
    let paths = names.iter().filter_map(|name| bench.pin_path(name));
    paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// Puts them back as they were.
fn put_back(pins: Vec<(PathBuf, Vec<u8>)>) {
    for (path, bytes) in pins {
        fs::write(&path, bytes).unwrap();
        #[cfg(unix)]
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

fn stops(bench: &Bench, session: &str, words: &str) -> Outcome {
    bench.transcript(session).tool("Edit");
    if words == PROMISE {
        bench.write("src/made.rs", "made");
    }
    bench.stop(session).saying(words).run()
}

fn live(bench: &Bench) -> Vec<String> {
    let loops = bench.loops();
    let records = loops.sessions().into_iter().filter_map(|session| loops.peek(&session));
    records.filter(|record| record.ledger.is_live()).map(|record| record.session).collect()
}

#[test]
fn left_loop_continues_whole() {
    let bench = left_behind("\"Make it\" --max-iterations 3 --completion-promise YES --check true");
    let before = bench.record("s1");
    bench.transcript("s2").tool("Read").tool("Read");
    let answer = adopt(&bench, "s2", "");
    let said = answer.context();
    said.has_all(&[
        "Task:\nMake it",
        "output <promise>YES</promise>",
        "`true`",
        "taken over from session s1, which is gone, at iteration 1",
    ]);
    assert_eq!(answer.message(), "Loop taken over from session s1 at iteration 1: Make it.");
    let after = bench.record("s2");
    assert_eq!(after.assignment, before.assignment);
    assert_eq!(after.ledger, before.ledger);
    assert_eq!((after.armed_at, after.about), (before.armed_at, before.about));
    assert_eq!(live(&bench), ["s2"]);

    assert!(stops(&bench, "s2", "no").reason().contains("iteration 2 of 3"));
    assert_eq!(bench.record("s2").ledger.tool_calls, 2, "what s2 did before is not the loop's");
    assert!(stops(&bench, "s2", "no").told().contains("the limit of 3 iterations was reached"));
    let log = printed(&spool(&bench, None, &["log"]));
    let said: Vec<_> = ["armed", "iteration 1", "taken over from session s1", "iteration 3"]
        .map(|words| log.find(words).unwrap_or_else(|| panic!("{words}\n{log}")))
        .into();
    assert!(said.is_sorted(), "{log}");
    let own = printed(&spool(&bench, None, &["log", "--session", "s2"]));
    assert!(own.contains("Limit: 3 iterations"), "it begins with the arming: {own}");
}

#[test]
fn open_turn_goes_with_the_loop() {
    let bench = armed("\"Make it\"");
    bench.transcript("s1").tool("Edit").tool("Edit");
    change(&bench);
    adopt(&bench, "s2", "s1 --force").context();
    assert_eq!(bench.record("s2").ledger.tool_calls, 2);
    bench.transcript("s2").assistant("It was all made before.");
    bench.stop("s2").saying(PROMISE).run().told().has("PROMISE_ACCEPTED");
}

#[test]
fn old_session_hears_once() {
    let bench = left_behind("\"Make it\"");
    adopt(&bench, "s2", "s1").context();
    let told = works_and_says(&bench, PROMISE);
    let words = "ended (stopped): Make it · session s2 has taken this loop over, this one may stop · 1 iteration";
    assert!(told.told().contains(words), "{told}");
    works_and_says(&bench, "again").silent();
    assert_eq!(live(&bench), ["s2"]);
    let ends = bench.journal("s1").into_iter().filter(|entry| entry["verdict"] == "end");
    let ends: Vec<_> =
        ends.map(|entry| (entry["reason"].clone(), entry["words"].clone())).collect();
    assert_eq!(ends, [(json!("stopped"), json!("session s2 took it over"))]);
    let refusal = adopt(&bench, "s3", "s1");
    assert!(refusal.reason().contains("no live loop belongs to a session `s1`"), "{refusal}");
    stops(&bench, "s2", PROMISE)
        .told()
        .has("PROMISE_ACCEPTED): Make it · on the agent's word alone: no check · 2 iterations");
}

#[test]
fn living_session_keeps_its_loop() {
    let bench = armed("\"Make it\"");
    works_and_says(&bench, "one").reason();
    let refusal = adopt(&bench, "s2", "");
    refusal.reason().has("if one of them is really gone, name it and add --force:\ns1  Make it");
    let refusal = adopt(&bench, "s2", "s1");
    assert!(refusal.reason().contains("after an hour of silence"), "{refusal}");
    // It has not stopped for two hours, but it still writes its transcript.
    silent_for(&bench, "s1", 2 * HOUR);
    bench.transcript("s1").assistant("I am still at it.");
    let refusal = adopt(&bench, "s2", "s1");
    assert!(refusal.reason().contains("gave a sign of life "), "{refusal}");
    assert_eq!(live(&bench), ["s1"]);
    assert!(!record_path(&bench, "s2").exists());
    works_and_says(&bench, "two").reason();
    adopt(&bench, "s2", "s1 --force").context();
    assert_eq!(live(&bench), ["s2"]);
}

#[test]
fn death_before_moving_moves_nothing() {
    let bench = left_behind("\"Make it\"");
    let before = fs::read(record_path(&bench, "s1")).unwrap();
    let armed = pins(&bench);
    adopt(&bench, "s2", "").context();
    fs::write(record_path(&bench, "s1"), before).unwrap();
    put_back(armed);
    assert_eq!(live(&bench), ["s1"]);
    stops(&bench, "s2", "not mine").silent();
    assert!(works_and_says(&bench, "two").is_block());
    assert_eq!(bench.record("s1").ledger.iterations, 2);
    assert!(bench.loops().peek("s2").is_none());
    let status = printed(&spool(&bench, None, &["status"]));
    // The name of the scratch folder may hold anything.
    let status = status.replace(bench.root.to_str().unwrap(), "");
    assert!(status.contains("Session: s1") && !status.contains("s2"), "{status}");
    // It can be tried again.
    adopt(&bench, "s2", "s1 --force").context();
    assert_eq!(live(&bench), ["s2"]);
}

#[test]
fn new_loop_leaves_moved_one() {
    let bench = left_behind("\"Make it\"");
    adopt(&bench, "s2", "").context();
    ralph(&bench, "s1", "\"Make that\"").context();
    assert_eq!(live(&bench), ["s1", "s2"]);
    assert!(stops(&bench, "s2", "no").reason().ends_with("Original task: Make it"));
    assert!(works_and_says(&bench, "no").reason().ends_with("Original task: Make that"));
}

#[test]
fn loop_returns_to_first_session() {
    let bench = left_behind("\"Make it\"");
    adopt(&bench, "s2", "").context();
    adopt(&bench, "s1", "s2 --force").context();
    assert_eq!(live(&bench), ["s1"]);
    assert!(works_and_says(&bench, "no").reason().contains("iteration 2"));
    assert!(!stops(&bench, "s2", "no").is_block());
}

#[test]
fn one_adopter_gets_the_loop() {
    let bench = left_behind("\"Make it\"");
    let names: Vec<String> = (2..10).map(|number| format!("s{number}")).collect();
    let calls: Vec<_> = names
        .iter()
        .map(|name| bench.command(name, "speckit:ralph-loop", "--adopt s1").start())
        .collect();
    let taken = calls.into_iter().map(Running::finish).filter(|stop| !stop.is_block()).count();
    assert_eq!(taken, 1);
    let live = live(&bench);
    assert!(live.len() == 1 && names.contains(&live[0]), "{live:?}");
}

#[test]
fn long_task_moves_with_file() {
    let task = "Make it, and make it well. ".repeat(200);
    let bench = left_behind(&format!("\"{task}\""));
    adopt(&bench, "s2", "").context();
    assert_eq!(fs::read_to_string(bench.path(".claude/ralph/s2/task.md")).unwrap(), task);
    fs::remove_dir_all(bench.path(".claude/ralph/s1")).unwrap();
    assert!(stops(&bench, "s2", "no").reason().contains(".claude/ralph/s2/task.md"));
}

#[test]
fn looping_session_takes_no_other() {
    let bench = left_behind("\"Make it\"");
    ralph(&bench, "s2", "\"Make that\"").context();
    let refusal = adopt(&bench, "s2", "");
    assert!(refusal.reason().contains("this session has a ralph loop: Make that"), "{refusal}");
    assert_eq!(live(&bench), ["s1", "s2"]);
    adopt(&bench, "s2", "--replace").context();
    assert!(stops(&bench, "s2", "no").reason().ends_with("Original task: Make it"));
    let refusal = adopt(&bench, "s2", "s2");
    assert!(refusal.reason().contains("this session has that loop already"), "{refusal}");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let bench = armed("\"Make it\"");
    for (arguments, words) in [
        ("--adopt Make it", "only a session, `--force` and `--replace`"),
        ("--adopt s1 --max-iterations 3", "only a session, `--force` and `--replace`"),
        ("\"Make it\" --adopt", "only a session, `--force` and `--replace`"),
        ("\"Make it\" --force", "`--force` is for `--adopt` alone"),
        ("--adopt --force=yes", "`--force` needs `true` or `false`, not `yes`"),
        ("--adopt ../s1", "no live loop belongs to a session `../s1`"),
        ("--adopt s1x", "no live loop belongs"),
    ] {
        let refusal = ralph(&bench, "s2", arguments);
        assert!(refusal.reason().contains(words), "{arguments}: {refusal}");
    }
    let nothing = adopt(&Bench::folder(), "s2", "");
    assert!(nothing.reason().contains("there is no loop to take over"), "{nothing}");
    assert_eq!(live(&bench), ["s1"]);
}

#[test]
fn id_beginning_is_enough() {
    let bench = Bench::folder();
    for session in ["abcd-1", "abcd-2", "abce-3"] {
        ralph(&bench, session, "\"Make it\"").context();
        silent_for(&bench, session, 2 * HOUR);
    }
    let several = adopt(&bench, "s2", "");
    assert!(several.reason().contains("several loops fit; name one"), "{several}");
    assert!(adopt(&bench, "s2", "abcd").reason().contains("several loops fit"));
    assert!(adopt(&bench, "s2", "abc").reason().contains("no live loop belongs"));
    adopt(&bench, "s2", "abce").context();
    assert_eq!(live(&bench), ["abcd-1", "abcd-2", "s2"]);
}

#[test]
fn status_shows_an_orphan() {
    let bench = left_behind("\"Make it\"");
    let status = printed(&spool(&bench, None, &["status"]));
    status.has_all(&[
        "its session has been silent for 2 h",
        "/speckit:ralph-loop --adopt s1",
        "spool stop --session s1",
        "  Next: claude --resume s1\n",
    ]);
    let report: Value =
        serde_json::from_str(&printed(&spool(&bench, None, &["status", "--json"]))).unwrap();
    assert_eq!(report["tasks"][0]["state"], "orphaned");
    crate::hook::support::date(&bench.transcript("s1").path, -1800);
    let status = printed(&spool(&bench, None, &["status"]));
    assert!(status.contains("Loop: live\n"), "half an hour is a long turn: {status}");
    silent_for(&bench, "s1", 2 * HOUR);
    adopt(&bench, "s2", "s1").context();
    let status = printed(&spool(&bench, None, &["status"]));
    assert!(status.contains("ended (stopped): session s2 took it over"), "{status}");
    assert!(status.contains("Taken over from session s1, "), "{status}");
}

#[test]
fn adopt_takes_for_its_session() {
    let bench = left_behind("\"Make it\"");
    let transcripts = bench.outside().join(".claude/projects/-some-project");
    fs::create_dir_all(&transcripts).unwrap();
    fs::copy(bench.transcript("s1").path, transcripts.join("s2.jsonl")).unwrap();
    let mut command = bench.spool();
    command.arg("adopt").current_dir(bench.path("src"));
    command.env("CLAUDE_CODE_SESSION_ID", "s2").env("HOME", bench.outside());
    command.env("XDG_STATE_HOME", bench.home().join(".local/state"));
    let said = printed(&command.finish());
    assert!(said.contains("Loop taken over from session s1 at iteration 1: Make it."), "{said}");
    assert!(said.contains("output <promise>DONE</promise>"), "{said}");
    let record: Record = bench.record("s2");
    assert!(record.transcript_from > 0, "what the session did before is not the loop's");
    assert_eq!(live(&bench), ["s2"]);
}

#[test]
fn terminal_adopt_says_what_to_type() {
    let bench = left_behind("\"Make it\"");
    let error = refused(&spool(&bench, None, &["adopt"]));
    error.has("type there, in this project: /speckit:ralph-loop --adopt s1");
    assert!(error.contains("s1  Make it  (silent for 2 h)"), "{error}");
    assert_eq!(live(&bench), ["s1"]);
}

#[test]
fn a_feature_goes_on_in_another_session() {
    let bench = Bench::armed();
    stops(&bench, "s1", "one").reason();
    silent_for(&bench, "s1", 2 * HOUR);
    let status = printed(&spool(&bench, None, &["status"]));
    status.has("/speckit:ralph-loop --adopt s1\n    end it: spool stop 001-login\n");
    let said = adopt(&bench, "s2", "");
    assert!(said.context().contains("feature 001-login, task 2 of 3, iteration 2"), "{said}");
    assert_eq!(bench.loops().pin(FEATURE).unwrap().unwrap().session, "s2");
    assert_eq!(live(&bench), ["s2"]);
    assert!(stops(&bench, "s2", "no").is_block());
    assert_eq!(bench.record("s2").ledger.iterations, 2, "the count goes on");
    assert!(stops(&bench, "s1", "late").told().contains("session s2 has taken this loop over"));
    stops(&bench, "s1", "late").silent();
    let pin = bench.pin(&format!("feature-{FEATURE}")).expect("what was armed still holds");
    assert_eq!(pin["armed_at"], bench.record("s2").armed_at.millis());
}

#[test]
fn feature_stays_in_one_session() {
    for moved in [false, true] {
        let bench = Bench::armed();
        stops(&bench, "s1", "one").reason();
        silent_for(&bench, "s1", 2 * HOUR);
        let old = fs::read(record_path(&bench, "s1")).unwrap();
        let armed = pins(&bench);
        adopt(&bench, "s2", "").context();
        fs::write(record_path(&bench, "s1"), old).unwrap();
        if !moved {
            put_back(armed);
        }
        let (owner, other) = if moved { ("s2", "s1") } else { ("s1", "s2") };
        assert!(!stops(&bench, other, "no").is_block(), "{other}");
        assert!(stops(&bench, owner, "no").is_block(), "{owner}");
        assert_eq!(live(&bench), [owner]);
    }
}

// Whatever fails, the loop is in exactly one session.

/// All files of the project but locks, which may come.
fn files(bench: &Bench) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = bench.everything();
    files.extend(crate::support::scratch::contents(&bench.kept()));
    files.retain(|(path, _)| !path.to_string_lossy().ends_with("lock"));
    files
}

/// A file of the loop's own: in the folder of the notes, or with the records.
fn place(bench: &Bench, name: &str) -> PathBuf {
    if name.contains('/') {
        return bench.path(".claude/ralph").join(name);
    }
    bench.record_path("s1").with_file_name(name)
}

/// Puts a link to the file itself in its place: it can be read, and is never written.
fn obstruct(path: &Path) {
    let real = path.with_extension("real");
    if path.exists() {
        fs::rename(path, &real).unwrap();
    } else {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&real, "{}").unwrap();
    }
    crate::support::system::symlink(&real, path).unwrap();
}

#[test]
fn l4_failed_takeover_changes_nothing() {
    let task = format!("\"{}\"", "long ".repeat(2_000));
    for name in ["open-s2.txt", "s2/task.md"] {
        let bench = left_behind(&task);
        ralph(&bench, "s2", "\"A task of its own\"").context();
        obstruct(&place(&bench, name));
        let before = files(&bench);
        let answer = adopt(&bench, "s2", "s1 --replace");
        assert!(answer.is_block(), "`{name}`: {answer}");
        assert_eq!(files(&bench), before, "`{name}`: {answer}");
        assert_eq!(live(&bench), ["s1", "s2"], "`{name}`");
    }
}

#[test]
fn l4_a_takeover_that_fails_at_the_pin_changes_nothing() {
    let bench = Bench::armed();
    ralph(&bench, "s2", "\"A task of its own\"").context();
    obstruct(&place(&bench, &format!("feature-{FEATURE}.json")));
    let before = files(&bench);
    let answer = adopt(&bench, "s2", "s1 --force --replace");
    assert!(answer.is_block(), "{answer}");
    assert_eq!(files(&bench), before, "{answer}");
    assert_eq!(live(&bench), ["s1", "s2"]);
}

#[cfg(unix)]
#[test]
fn l4_a_takeover_that_cannot_open_a_file_changes_none_and_the_next_one_works() {
    for name in ["session-s1.json", "session-s2.json", "feature-001-login.json"] {
        let bench = Bench::armed();
        ralph(&bench, "s2", "\"A task of its own\"").context();
        let before = files(&bench);
        let path = place(&bench, name);
        let takes = || bench.command("s2", "speckit:ralph-loop", "--adopt s1 --force --replace");
        let answer = takes().start_without_rights(&[&path]).finish();
        assert!(answer.is_block(), "`{name}`: {answer}");
        assert_eq!(files(&bench), before, "`{name}`: {answer}");
        let answer = takes().start_without_rights(&[]).finish();
        assert!(answer.message().contains("taken over from session s1"), "`{name}`: {answer}");
        let live = ["s1", "s2"].map(|session| bench.record(session).ledger.is_live());
        assert_eq!(live, [false, true], "`{name}`");
    }
}
