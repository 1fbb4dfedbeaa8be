//! The books of a night: one count for summary, status and log, and an end that says why.

use std::time::Duration;

use ralph_speckit::world::pause;

use rustix::process::Signal;
use serde_json::json;

use crate::review::support::Built;
use crate::runner::support::{Bench, PROMISE, in_change, says};

#[test]
fn n2_briefly_empty_document_stays() {
    let bench = Bench::new();
    let proposal = in_change("proposal.md");
    bench.agent(&format!(
        "echo $n > more.txt\nif [ $n = 1 ]; then : > '{proposal}'; echo on > \"$DESK/on\"; echo 'On it.'; else {}; fi",
        says(PROMISE)
    ));
    bench.stop_the_clocks();
    let running = bench.ralph("--max-iterations 3").start();
    bench.wait_for_desk("on");
    // The runner reads what the editor has emptied meanwhile, unless the machine is very busy.
    pause(Duration::from_millis(500));
    bench.write(&proposal, "# Add a loop\n\nWHAT IS WANTED NOW\n");
    bench.let_pass(Duration::ZERO);
    running.finish().with_code(0);
    assert!(bench.prompt(2).contains("WHAT IS WANTED NOW"));
}

#[test]
fn n2_unreadable_documents_end_in_words() {
    let (proposal, state) = (in_change("proposal.md"), ".claude/loop-state.json");
    for (way, why) in [
        (format!(": > {proposal}"), "is empty; write into it what is wanted"),
        (format!("rm {proposal}; mkdir {proposal}"), "proposal.md` cannot be read: "),
        (format!("rm {state}; mkdir {state}"), state),
    ] {
        let bench = Bench::new();
        bench.agent(&format!("echo 1 > made.txt\n{way}"));
        let ran = bench.ralph("").run().with_code(1);
        ran.says("ralph: ended (stopped): ").says(why).says("1 iteration, ");
        let kept = bench.spool("log --summary").run().with_code(0);
        kept.says("ralph: ended (stopped): ").says(why);
    }
}

#[test]
fn n4_status_log_and_summary_agree() {
    let built = Built::new();
    let list = "specs/001-login/tasks.md";
    built.write(
        list,
        "- [ ] T001 Write src/a.rs\n- [ ] T002 Write src/b.rs\n- [ ] T003 Write src/c.rs\n",
    );
    built.commit("open tasks");
    // A task is opened again in the iteration after it was done.
    let first = format!("echo a > src/a.rs; sed -i 's/\\[ \\] T001/[x] T001/' {list}");
    let next = format!(
        "echo b > src/b.rs; sed -i 's/\\[x\\] T001/[ ] T001/; s/\\[ \\] T002/[x] T002/' {list}"
    );
    built.worker_and_reader(
        &format!("if [ $n = 1 ]; then {first}; else {next}; fi\nresult done"),
        "",
    );
    let ran = built.loop_with("--max-iterations 2").with_code(3);
    let counted = "Proved: 1 by files";
    ran.says(counted);
    built.spool("ralph --status --change 001-login").run().with_code(0).says(counted);
    built.spool("log").run().with_code(0).says(counted);
}

#[test]
fn n5_killed_iterations_keep_their_files() {
    for way in ["work tree", "commit", "no git"] {
        let built = Built::open();
        if way == "no git" {
            std::fs::remove_dir_all(built.root.join(".git")).unwrap();
        }
        let commit = if way == "commit" { "git add -A; git commit -qm work" } else { ":" };
        let work = "echo more > src/more.rs; echo util > src/util.rs";
        built.worker_and_reader(
            &format!("{work}; {commit}; read -r _ < \"$DESK/gate\"; exec sleep 60"),
            "",
        );
        let gate = built.gate();
        let call = built.spool("ralph --change 001-login --no-stay-awake").arg("Build it");
        let running = call.start();
        gate.open();
        running.signal(Signal::KILL);
        running.finish();
        built
            .worker_and_reader("sed -i 's/\\[ \\]/[x]/' specs/001-login/tasks.md; result done", "");
        let ran = built.loop_with("").with_code(0);
        let killed = &built.iterations()[0];
        let files = json!([["src/more.rs", "src/util.rs"], 2]);
        assert_eq!(json!([killed["files"], killed["files_changed"]]), files, "{way}: {ran}");
        ran.says(", 3 files, ").says("Changed: 3 files");
    }
}

#[test]
fn n6_moved_project_says_so() {
    let bench = Bench::new();
    let root = bench.root.display().to_string();
    bench.agent(&format!(
        "cd /; mv '{root}' '{root}-moved'; ln -s '{root}-moved' '{root}'; echo 'On it.'"
    ));
    let ran = bench.ralph("--max-iterations 3").run();
    ran.says("ralph: ended (blocked): ").says("the folder of the project, `").says("is gone");
    assert_eq!(bench.runs(), 1, "{ran}");
}
