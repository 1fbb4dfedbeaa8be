//! The history, the list of the newest iterations, and the logs.

use super::*;
use crate::world::WallTime;

#[test]
fn old_logs_go_in_time() {
    let desk = Desk::new();
    let mut files = desk.open();
    let logs = files.folder.join("logs");
    // Files with a length and nothing in them.
    let write = |name: &str, length| {
        fs::File::create(logs.join(name)).unwrap().set_len(length).unwrap();
    };
    (1..=21).for_each(|number| write(&format!("1999-{number:04}.log"), 100 << 20));
    (1..=20).for_each(|iteration| drop(files.log(iteration).unwrap()));
    assert!(!logs.join("1999-0001.log").exists());
    write("1999-0001.log", 100 << 20);
    drop(files);
    desk.open();
    assert!(!logs.join("1999-0001.log").exists());
}

#[test]
fn uncounted_iteration_stays_in_history() {
    let desk = Desk::new();
    let mut files = desk.open();
    let (_, first_log) = files.log(1).unwrap();
    files.begin(&begun(1)).unwrap();
    files.give_back(&finished(1)).unwrap();
    assert_eq!(desk.document()["iterations"], json!([]));
    assert_eq!(desk.state()["running_iteration"], Value::Null);
    assert_eq!(desk.state()["current_iteration"], 0);
    let (_, second_log) = files.log(1).unwrap();
    assert_ne!(first_log, second_log, "no log is overwritten");
    files.begin(&begun(1)).unwrap();
    files.end(&finished(1)).unwrap();
    files.end(&finished(1)).unwrap();
    assert_eq!(desk.history().len(), 2, "an end that is told twice is recorded once");
    assert_eq!(numbers(&desk.document()["iterations"]), [1]);
}

#[test]
fn newest_two_hundred_are_listed() {
    let desk = Desk::new();
    let mut files = desk.open();
    for n in 1..=210 {
        files.ended.push(&finished(n)).unwrap();
        files.unwritten.extend(super::super::history::line("run", &finished(n)).unwrap());
        files.unwritten.push(b'\n');
    }
    files.save().unwrap();
    let document = desk.document();
    let listed = numbers(&document["iterations"]);
    assert_eq!((listed.len(), listed[0], listed[199]), (MOST_ITERATIONS, 11, 210));
    assert_eq!(document["iterations_left_out"], 10);
    assert_eq!(desk.history().len(), 210);
}

#[test]
fn list_stays_below_a_mebibyte() {
    let mut ended = EndedIterations::default();
    for n in 1..=20 {
        ended.push(&Iteration { words: "x".repeat(200_000), ..finished(n) }).unwrap();
    }
    let huge = Iteration { words: "x".repeat(2 * MOST_BYTES), ..finished(21) };
    let [_, document] = written(&starting(), &ended, None).unwrap();
    assert!(document.len() < MOST_BYTES + 4096);
    let read = parse(document.as_bytes()).unwrap();
    assert_eq!(read.iterations.len() as u64 + read.left_out, 20);
    assert_eq!(read.iterations.last().unwrap().n, 20);
    ended.push(&huge).unwrap();
    let [_, document] = written(&starting(), &ended, None).unwrap();
    let read = parse(document.as_bytes()).unwrap();
    assert_eq!((read.iterations.len(), read.iterations[0].n, read.left_out), (1, 21, 20));
}

#[test]
fn torn_history_line_costs_itself() {
    let desk = Desk::new();
    let mut files = desk.open();
    files.begin(&begun(1)).unwrap();
    files.end(&finished(1)).unwrap();
    kill(files);
    let path = desk.folder().join("history.jsonl");
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend_from_slice(b"{\"n\": 2, \"star");
    fs::write(&path, bytes).unwrap();
    let mut files = desk.open();
    files.begin(&begun(1)).unwrap();
    files.end(&finished(1)).unwrap();
    assert_eq!(tail(&desk.folder(), 10).unwrap().len(), 2);
}

#[test]
fn l1_iteration_behind_garbage_stays() {
    let desk = Desk::new();
    let mut files = desk.open();
    let path = desk.folder().join("history.jsonl");
    for n in 1..=2 {
        files.begin(&begun(n)).unwrap();
        let mut file = File::options().create(true).append(true).open(&path).unwrap();
        file.write_all(b"an agent was here").unwrap();
        files.end(&finished(n)).unwrap();
        let mut journal = File::options()
            .create(true)
            .append(true)
            .open(desk.folder().join("journal.jsonl"))
            .unwrap();
        journal.write_all(b"{\"at\":1,\"eve").unwrap();
        files.note(&Entry { at: WallTime::from_millis(n.into()), ..Entry::default() }).unwrap();
    }
    let found = tail(&desk.folder(), 10).unwrap();
    let numbers: Vec<_> = found.iter().map(|past| past.iteration.n).collect();
    assert_eq!(numbers, [1, 2]);
    let (entries, unread) =
        journal::entries(&fs::read(desk.folder().join("journal.jsonl")).unwrap());
    assert_eq!((entries.len(), unread), (2, 2));
}

#[test]
fn long_history_reads_its_tail() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("history.jsonl");
    let mut text = Vec::new();
    for n in 1..=5000 {
        let words = "x".repeat(if n == 4998 { 100_000 } else { 10 });
        text.extend(
            super::super::history::line("run", &Iteration { words, ..finished(n) }).unwrap(),
        );
        text.push(b'\n');
    }
    fs::write(&path, &text).unwrap();
    let last = tail(scratch.path(), 10).unwrap();
    let numbers: Vec<u32> = last.iter().map(|past| past.iteration.n).collect();
    assert_eq!(numbers, (4991..=5000).collect::<Vec<_>>());
    assert_eq!(tail(scratch.path(), 0).unwrap().len(), 0);
    assert_eq!(tail(&scratch.path().join("none"), 3).unwrap(), []);
}
