//! A loop that was stopped in the middle of an iteration and continues: what its agent did by then is judged as in one run.

use std::fs;

use rustix::process::Signal;
use serde_json::json;

use crate::runner::left::tick;
use crate::runner::ran::Ran;
use crate::runner::support::{Bench, CHANGE, Call, MORE_THAN_AN_HOUR, PROMISE, in_change, says};

const FOUR: &str = "- [ ] 1.1 Write `a.rs`\n- [ ] 1.2 Write `b.rs`\n- [ ] 1.3 Write `c.rs`\n\
                    - [ ] 1.4 Write `d.rs`\n  - Verify: `test -e proof`\n";

/// An agent that is stopped in its second run. It has written `b.rs` by then and not ticked its task, ticked another one with
/// nothing behind it, and a third one that is done and whose command fails. The rest it does later, and `proof` comes last.
fn agent(bench: &Bench, stops: &str) {
    let list = in_change("tasks.md");
    bench.claude(&format!(
        "{}case $n in\n1) echo 'fn a() {{}}' > a.rs; tick 1.1;;\n\
         2) echo 'fn b() {{}}' > b.rs; tick 1.3; echo 'fn d() {{}}' > d.rs; tick 1.4\n{stops};;\n\
         3) tick 1.2; echo 'fn c() {{}}' > c.rs; tick 1.3;;\n*) touch proof;;\nesac\nresult done",
        tick(&list)
    ));
}

const AT_THE_GATE: &str = "read -r _ < \"$DESK/gate\"; exec sleep 60";

/// A project with and one without git.
fn benches() -> [Bench; 2] {
    let folder = Bench::folder();
    folder.tasks(FOUR);
    let both = [Bench::with_tasks(FOUR), folder];
    for bench in &both {
        bench.write("c.rs", "fn old() {}\n");
    }
    both
}

/// Runs a loop whose agent is stopped by this in its second run.
fn stopped(bench: &Bench, stop: impl FnOnce(&super::ran::Running)) -> Ran {
    agent(bench, AT_THE_GATE);
    let gate = bench.gate();
    let running = bench.ralph("").start();
    gate.open();
    stop(&running);
    running.finish()
}

/// Runs the loop to its end. No tick is taken without proof, none that has one is refused, and the armed command is asked.
fn continues(call: &Call<'_>, bench: &Bench, before: &Ran) -> Ran {
    let ran = call.run().with_code(0);
    let both = format!("{before}{ran}");
    assert_eq!(both.matches("1.3 is open again").count(), 1, "{both}");
    for honest in ["1.1 is open", "1.2 is open", "1.4 is open"] {
        assert!(!both.contains(honest), "{both}");
    }
    ran.says("`test -e proof` failed: exit code 1").says("`test -e proof` passed");
    assert_eq!(bench.runs(), 4, "{both}");
    let wanted = [json!(["1.2", "files", ["b.rs"]]), json!(["1.3", "files", ["c.rs"]])];
    let all = bench.receipts_in(CHANGE, &["task", "proof", "own"]);
    assert!(wanted.iter().all(|receipt| all.contains(receipt)), "{all:?}{both}");
    assert!(all.contains(&json!(["1.4", "command", ["d.rs"]])), "{all:?}{both}");
    for end in
        ["began", "list", "armed", "contents", "next", "stop"].map(|ending| format!("run-{ending}"))
    {
        assert_eq!(bench.kept_for(CHANGE, &end), None, "the run has ended: {end}");
    }
    ran
}

#[test]
fn ctrl_c_work_is_judged() {
    for bench in benches() {
        let before = stopped(&bench, |running| running.signal(Signal::INT)).with_code(130);
        continues(&bench.ralph(""), &bench, &before);
    }
}

#[test]
fn sigterm_and_hangup_work_is_judged() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        for bench in benches() {
            let before = stopped(&bench, |running| running.signal(signal)).with_code(code);
            continues(&bench.ralph(""), &bench, &before);
        }
    }
}

#[test]
fn spool_stop_work_is_judged() {
    for bench in benches() {
        let stop = format!("stop --change {CHANGE}");
        let before = stopped(&bench, |_| _ = bench.spool(&stop).run().with_code(0)).with_code(130);
        continues(&bench.ralph(""), &bench, &before);
    }
}

#[test]
fn usage_limit_work_is_judged() {
    for bench in benches() {
        agent(&bench, "limit $(($(date +%s) + 7200))");
        let before = bench.ralph("").run().with_code(13);
        continues(&bench.ralph(""), &bench, &before);
    }
}

#[test]
fn loop_limit_work_is_judged() {
    let limits = [
        ("--max-runtime 1h", "says 'half done'; exec sleep 600", 7),
        ("--max-iterations 2", "", 3),
        ("--token-budget 500", "calls Read; exec sleep 60", 8),
    ];
    std::thread::scope(|scope| {
        for ((limit, ends, code), bench) in
            limits.into_iter().flat_map(|limit| benches().map(|bench| (limit, bench)))
        {
            scope.spawn(move || {
                agent(&bench, ends);
                let mut running = bench.ralph(limit).start();
                if ends.contains("half done") {
                    running.wait_for("half done");
                    bench.let_pass(MORE_THAN_AN_HOUR);
                }
                let before = running.finish().with_code(code);
                let ran = continues(&bench.ralph(""), &bench, &before);
                assert_eq!(bench.state()["current_iteration"], 2, "{limit}: {ran}");
            });
        }
    });
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_work_is_judged() {
    for bench in benches() {
        let Some(disk) = super::full_disk::SmallDisk::of(&bench) else { return };
        agent(&bench, "read -r _ < \"$DESK/gate\"");
        let gate = bench.gate();
        let call = || disk.seen_by(bench.ralph(""));
        let mut running = call().start();
        running.wait_for("-- iteration 2");
        disk.fill();
        gate.open();
        let before = running.finish().with_code(1);
        disk.make_room();
        continues(&call(), &bench, &before);
    }
}

#[test]
fn work_after_the_stop_is_personal() {
    for bench in benches() {
        let list = in_change("tasks.md");
        bench.write("check.sh", "exit 1\n");
        agent(&bench, AT_THE_GATE);
        let gate = bench.gate();
        let call = || bench.ralph("").arg("--check").arg("sh check.sh");
        let running = call().start();
        gate.open();
        running.signal(Signal::INT);
        running.finish().with_code(130);
        // A person ticks what they do not want any more, mends the check, writes another command, and begins another file.
        bench.write("check.sh", "exit 0\n");
        bench.write("c.rs", "fn mine() {}\n");
        let text = bench.read(&list).replace("[ ] 1.2", "[x] 1.2").replace("-e proof", "-e d.rs");
        bench.write(&list, &text);
        bench.claude(&format!(
            "{}tick 1.3\nif [ $n = 4 ]; then echo 'fn c() {{}}' > c.rs; fi\nresult done",
            tick(&list)
        ));
        let ran = call().run().with_code(0);
        assert!(!ran.output.contains("1.2 is open") && !ran.output.contains("protected"), "{ran}");
        ran.says("`test -e d.rs` passed").says("1.3 is open again");
        assert_eq!(bench.runs(), 4, "{ran}");
    }
}

#[test]
fn weakened_command_does_not_hold() {
    for bench in benches() {
        let list = in_change("tasks.md");
        agent(&bench, &format!("sed -i 's/-e proof/-e d.rs/' {list}\n{AT_THE_GATE}"));
        let gate = bench.gate();
        let running = bench.ralph("").start();
        gate.open();
        running.signal(Signal::INT);
        let before = running.finish().with_code(130);
        // A person has touched another task.
        let text = bench.read(&list).replace("1.2 Write", "1.2 Please write");
        bench.write(&list, &text);
        continues(&bench.ralph(""), &bench, &before);
    }
}

#[test]
fn kill_makes_no_tick_personal() {
    for bench in benches() {
        stopped(&bench, |running| running.signal(Signal::INT)).with_code(130);
        fs::remove_file(bench.beside("desk/gate")).unwrap();
        let list = in_change("tasks.md");
        bench.claude(&format!("{}tick 1.3; tick 1.2\n{AT_THE_GATE}", tick(&list)));
        let gate = bench.gate();
        let running = bench.ralph("").start();
        gate.open();
        running.signal(Signal::KILL);
        running.finish();
        bench.wait_until_nobody_runs();
        bench.claude("echo 'fn c() {}' > c.rs; touch proof\nresult done");
        let ran = bench.ralph("--max-iterations 4").run().with_code(3);
        ran.says("1.3 is open again");
        assert!(!ran.output.contains("1.2 is open"), "{ran}");
    }
}

#[test]
fn stop_restarts_no_check() {
    let bench = Bench::new();
    bench.agent(&says(PROMISE));
    let check =
        "echo ran >> \"$DESK/noted\"; echo > \"$DESK/checking\"; while :; do sleep 0.1; done";
    let running = bench.ralph("").arg("--check").arg(check).start();
    bench.wait_for_desk("checking");
    bench.spool("stop --wait 30").run().with_code(0).says("has ended");
    running.finish().with_code(130).says("checks not run");
    assert_eq!(bench.desk("noted"), "ran\n");
}
