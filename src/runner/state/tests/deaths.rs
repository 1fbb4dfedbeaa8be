//! Every moment of death.

use proptest::prelude::*;

use super::*;
use crate::world::WallTime;

/// What a runner does next.
#[derive(Clone, Copy, Debug)]
enum StateStep {
    Save,
    Begin,
    End,
    GiveBack,
}

fn steps() -> impl Strategy<Value = Vec<StateStep>> {
    let step = prop_oneof![
        Just(StateStep::Save),
        Just(StateStep::Begin),
        Just(StateStep::End),
        Just(StateStep::GiveBack)
    ];
    prop::collection::vec(step, 1..8)
}

/// The files in the order in which a step writes them.
fn written_files(desk: &Desk) -> [PathBuf; 3] {
    [desk.folder().join("history.jsonl"), desk.folder().join("state.json"), desk.document_path()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// A runner that is killed in the middle of a step has written some of its files and not the
    /// others; beside them may lie a temporary file, cut anywhere.
    #[test]
    fn no_death_loses_an_iteration(
        lives in prop::collection::vec((steps(), 0..4_usize, 0..600_usize), 1..4)
    ) {
        let desk = Desk::new();
        let mut expected: Vec<(String, String)> = Vec::new();
        let mut clock = 0;
        for (steps, written, cut) in lives {
            let mut files = desk.open();
            files.state.status = LoopStatus::Running;
            let run = files.state.started_at.clone();
            let mut before = Vec::new();
            let mut expected_before = expected.clone();
            let mut n = 0;
            let mut open: Option<Iteration> = None;
            let mut open_before = None;
            for step in &steps {
                before = written_files(&desk).map(|path| fs::read(path).ok()).to_vec();
                expected_before.clone_from(&expected);
                open_before.clone_from(&open);
                match (step, open.take()) {
                    (StateStep::Save, running) => {
                        open = running;
                        files.save().unwrap();
                    }
                    (StateStep::Begin, running) => {
                        let iteration = running.unwrap_or_else(|| {
                            n += 1;
                            clock += 1;
                            Iteration { started: iso(WallTime::from_millis(clock)), ..begun(n) }
                        });
                        files.begin(&iteration).unwrap();
                        open = Some(iteration);
                    }
                    (_, None) => {}
                    (step, Some(running)) => {
                        let ended = Iteration { started: running.started, ..finished(running.n) };
                        if matches!(step, StateStep::End) {
                            files.end(&ended).unwrap();
                        } else {
                            n -= 1;
                            files.give_back(&ended).unwrap();
                        }
                        expected.push((run.clone(), ended.started));
                    }
                }
            }
            let temporary = fs::read(desk.document_path()).unwrap();
            kill(files);
            // The last step got as far as `written` files.
            for (path, bytes) in written_files(&desk).iter().zip(&before).skip(written) {
                match bytes {
                    Some(bytes) => fs::write(path, bytes).unwrap(),
                    None => { let _ = fs::remove_file(path); }
                }
            }
            let name = desk.root().join(".claude/.loop-state.json.7.0.tmp");
            fs::write(&name, &temporary[..cut.min(temporary.len())]).unwrap();
            filetime::set_file_mtime(&name, filetime::FileTime::from_unix_time(1, 0)).unwrap();
            for path in written_files(&desk).iter().skip(1) {
                parse(&fs::read(path).unwrap()).unwrap();
            }
            // What is to be found: all that had ended, and what the state file shows as running.
            if written == 0 {
                expected = expected_before;
            }
            let running = if written >= 2 { open } else { open_before };
            let running = running.map(|iteration| (run.clone(), iteration.started));
            if let Some(entry) = running.filter(|entry| !expected.contains(entry)) {
                expected.push(entry);
            }
            let files = desk.open();
            prop_assert!(files.put_aside.is_empty());
            prop_assert!(!name.exists(), "a leftover stays");
            let text = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
            let entry = |line: &Value| (text(line, "run_started_at"), text(line, "started"));
            let found: Vec<_> = desk.history().iter().map(entry).collect();
            prop_assert_eq!(&found, &expected);
            let all_ended = desk.history().iter().all(|line| line["ended"].is_string());
            prop_assert!(all_ended);
            kill(files);
        }
    }
}
