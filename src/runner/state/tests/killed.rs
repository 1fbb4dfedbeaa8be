//! What the next runner finds and records after one that was killed.

use super::*;
use crate::world::WallTime;

#[test]
fn partial_iteration_on_exit() {
    let desk = Desk::new();
    let mut files = desk.open();
    files.state.status = LoopStatus::Running;
    files.begin(&begun(1)).unwrap();
    files.end(&finished(1)).unwrap();
    files.begin(&Iteration { commits: vec!["abc".to_owned()], ..begun(2) }).unwrap();
    drop(files);
    let document = desk.document();
    assert_eq!(document["status"], "stopped");
    assert_eq!(numbers(&document["iterations"]), [1, 2]);
    let last = &document["iterations"][1];
    assert_eq!(last["interrupted"], true);
    assert_eq!(last["commits"], json!(["abc"]));
    assert!(time_of(last["ended"].as_str().unwrap()).is_some());
    assert!(!document["ended_at"].as_str().unwrap().is_empty());
    assert_eq!(desk.history().len(), 2);
}

#[test]
fn written_end_stays() {
    let desk = Desk::new();
    let mut files = desk.open();
    files.begin(&begun(1)).unwrap();
    files.end(&finished(1)).unwrap();
    files.state.status = LoopStatus::Stopped;
    files.state.words = "SIGTERM".to_owned();
    files.save().unwrap();
    let before = fs::read(desk.document_path()).unwrap();
    drop(files);
    assert_eq!(fs::read(desk.document_path()).unwrap(), before);
}

#[test]
fn sigkilled_iteration_is_recorded() {
    let desk = Desk::new();
    let mut files = desk.open();
    files.state.status = LoopStatus::Running;
    files.begin(&begun(1)).unwrap();
    files.end(&finished(1)).unwrap();
    files.begin(&begun(2)).unwrap();
    let run = files.state.started_at.clone();
    kill(files);
    let mut asked = String::new();
    let files = StateFiles::open_with(&desk.change, starting(), Counting::FromZero, |left, _| {
        asked = left.head_at_start.clone();
        left.commits = vec!["c1".to_owned(), "c2".to_owned()];
        Spent::default()
    })
    .unwrap();
    assert_eq!(asked, "head2");
    let recovered = files.recovered.as_ref().unwrap();
    assert_eq!(recovered.iteration.as_ref().unwrap().n, 2);
    let history = desk.history();
    assert_eq!(history.len(), 2);
    assert_eq!(history[1]["interrupted"], true);
    assert_eq!(history[1]["run_started_at"], run.as_str());
    assert_eq!(history[1]["commits"], json!(["c1", "c2"]));
    assert!(history[1]["ended"].is_string());
    // The new run shows it in front of its own iterations, by the name of its run.
    let document = desk.document();
    assert_eq!(document["status"], "starting");
    assert_eq!(numbers(&document["iterations"]), [2]);
    assert_eq!(document["iterations"][0]["interrupted"], true);
    assert_eq!(document["iterations"][0]["run_started_at"], run.as_str());
    assert_eq!(desk.journal()[0].event.as_str(), "interrupted");
    drop(files);
    let files = desk.open();
    assert_eq!(files.recovered, None, "it is recorded once");
    assert_eq!(desk.history().len(), 2);
}

#[test]
fn last_output_shows_life() {
    let desk = Desk::new();
    let mut files = desk.open();
    let (_file, log) = files.log(1).unwrap();
    files.begin(&Iteration { log: log.clone(), ..begun(1) }).unwrap();
    let printed = files.folder.join(&log);
    kill(files);
    // It began an hour ago, and the agent printed something after ten minutes.
    let hour_ago = WallTime::from_millis(world::now().millis() - 3_600_000);
    let mut state = desk.state();
    state["updated_at"] = iso(hour_ago).into();
    state["running_iteration"]["started"] = iso(hour_ago).into();
    fs::write(desk.folder().join("state.json"), state.to_string()).unwrap();
    let seen = hour_ago.after(Duration::from_mins(10));
    let time = std::time::UNIX_EPOCH + Duration::from_millis(seen.millis());
    filetime::set_file_mtime(&printed, time.into()).unwrap();
    let files = desk.open();
    let recovered = files.recovered.as_ref().unwrap();
    assert!((recovered.iteration.as_ref().unwrap().seconds - 600.0).abs() < 0.01);
    assert_eq!(desk.history()[0]["ended"], iso(seen));
}

#[test]
fn kill_between_iterations_leaves_nothing() {
    let desk = Desk::new();
    let mut files = desk.open();
    files.begin(&begun(1)).unwrap();
    files.end(&finished(1)).unwrap();
    kill(files);
    let files = desk.open();
    assert_eq!(files.recovered.as_ref().unwrap().iteration, None);
    assert_eq!(desk.history().len(), 1);
    assert_eq!(desk.document()["iterations"], json!([]));
}

#[test]
fn kill_after_uncounted_is_recorded() {
    let desk = Desk::new();
    let mut files = desk.open();
    let iso = |millis| iso(WallTime::from_millis(millis));
    let at = |millis| Iteration { started: iso(millis), ..begun(1) };
    files.begin(&at(1000)).unwrap();
    files.give_back(&Iteration { ended: Some(iso(1500)), ..at(1000) }).unwrap();
    files.begin(&at(2000)).unwrap();
    kill(files);
    let files = desk.open();
    assert!(files.recovered.as_ref().unwrap().iteration.as_ref().unwrap().interrupted);
    let begins: Vec<Value> = desk.history().iter().map(|line| line["started"].clone()).collect();
    assert_eq!(begins, [iso(1000), iso(2000)]);
}
