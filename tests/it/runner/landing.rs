//! The last iteration before a limit: it is asked to leave a handoff, and the next loop reads it.

use crate::support::has::Has;
use serde_json::json;

use crate::runner::support::{Bench, in_change};

const NINE: &str = "- [ ] 1.1 a\n- [ ] 1.2 b\n- [ ] 1.3 c\n- [ ] 1.4 d\n- [ ] 1.5 e\n- [ ] 1.6 f\n- [ ] 1.7 g\n- [ ] 1.8 h\n- [ ] 1.9 i\n";
const HEAD: &str = "# A limit is near\n\n";

/// An agent that does a task in each run, and leaves a handoff where it is asked for one.
fn bench() -> Bench {
    let bench = Bench::with_tasks(NINE);
    let (list, handoff) = (in_change("tasks.md"), in_change("handoff.md"));
    bench.agent(&format!(
        "echo $n > made.txt; sed -i \"s/\\[ \\] 1.$n/[x] 1.$n/\" {list}\n\
         if grep -q 'A limit is near' \"$DESK/prompt-$n\"; then echo \"run $n: 1.$n is done, 1.$((n + 1)) comes next\" > {handoff}; fi"
    ));
    bench
}

#[test]
fn last_iteration_writes_the_handoff() {
    let bench = bench();
    bench
        .ralph("--max-iterations 3")
        .run()
        .with_code(3)
        .says("the limit of 3 iterations was reached");
    assert_eq!(bench.runs(), 3, "no iteration is added");
    let asked: Vec<bool> = (1..=3).map(|run| bench.prompt(run).contains(HEAD)).collect();
    assert_eq!(asked, [false, false, true]);
    let prompt = bench.prompt(3);
    let path = in_change("handoff.md");
    prompt
        .has("This is the last iteration of this loop. Unless all of the work is done by its end:");
    assert!(prompt.contains(&format!("- Write into `{path}`, in at most 60 lines, what is done, what is open and what comes next: the next loop reads it first.\n")), "{prompt}");
    let history = bench.state_lines("history.jsonl");
    let noted: Vec<bool> =
        history.iter().map(|iteration| iteration["handoff_asked"] == json!(true)).collect();
    assert_eq!(noted, [false, false, true]);
    let journal = bench.state_lines("journal.jsonl");
    let told = |entry: &&serde_json::Value| {
        entry["words"].as_str().is_some_and(|words| words.ends_with("; a handoff was asked for"))
    };
    assert_eq!(journal.iter().filter(told).count(), 1, "{journal:#?}");

    bench.ralph("--max-iterations 50").run().with_code(0);
    let prompt = bench.prompt(4);
    let head = format!(
        "# The handoff of an earlier loop: `{path}`\n\nrun 3: 1.3 is done, 1.4 comes next\n"
    );
    assert!(prompt.contains(&head), "{prompt}");
    prompt.has(&format!("- `{path}` is what an earlier loop wrote at its limit."));
    assert!(!prompt.contains(HEAD), "{prompt}");
}

#[test]
fn near_limit_iteration_writes_a_handoff() {
    let bench = Bench::with_tasks(NINE);
    bench.claude(
        "calls Bash\necho $n > made.txt\n\
         [ $n = 2 ] && printf '{\"type\":\"rate_limit_event\",\"rate_limit_info\":{\"status\":\"allowed_warning\",\"utilization\":0.95}}\\n'\n\
         result 'On it.'",
    );
    let ran = bench.ralph("--max-iterations 5").run().with_code(3);
    ran.says("the usage limit is near: 95 % is used");
    let warned = "The usage limit of the agent program is near: it may end this iteration in its middle, and the loop with it.";
    let asked: Vec<bool> =
        (1..=5).map(|run| bench.arguments(run).join("\n").contains(warned)).collect();
    assert_eq!(asked, [false, false, true, false, false]);
    assert!(bench.arguments(3).join("\n").contains(HEAD));
    let off = Bench::with_tasks(NINE);
    off.claude(
        "calls Bash\necho $n > made.txt\n\
         printf '{\"type\":\"rate_limit_event\",\"rate_limit_info\":{\"status\":\"allowed_warning\"}}\\n'\n\
         result 'On it.'",
    );
    off.ralph("--max-iterations 3 --no-landing").run().with_code(3);
    assert!(!(1..=3).any(|run| off.arguments(run).join("\n").contains(HEAD)));
}

#[test]
fn flag_switches_the_handoff_off() {
    let bench = bench();
    bench.ralph("--max-iterations 1 --no-landing").run().with_code(3);
    bench.write(".spool/ralph.toml", "no-landing = true\n");
    bench.ralph("--max-iterations 1").run().with_code(3);
    assert!(!bench.prompt(1).contains(HEAD) && !bench.prompt(2).contains(HEAD));
    bench.ralph("--max-iterations 1 --no-landing=false").run().with_code(3);
    assert!(bench.prompt(3).contains(HEAD));
}

#[test]
fn nine_tenths_are_near_the_limit() {
    let bench = Bench::with_tasks(NINE);
    bench.claude("calls Bash\necho $n > made.txt\nresult 'On it.'");
    // Each run uses 420.
    bench.ralph("--token-budget 900").run().with_code(8);
    let asked: Vec<bool> =
        (1..=3).map(|run| bench.arguments(run).join("\n").contains(HEAD)).collect();
    assert_eq!(asked, [false, false, true]);
    let prompt = bench.arguments(3).join("\n");
    prompt.has("Nine tenths of this loop's tokens are used up: this may be its last iteration.");
}

#[test]
fn long_handoff_is_quoted_briefly() {
    let bench = bench();
    bench.write(in_change("handoff.md"), "a line of the handoff\n".repeat(2_000));
    bench.ralph("--max-iterations 2").run().with_code(3);
    let quoted = bench.prompt(1).matches("a line of the handoff\n").count();
    assert!((50..200).contains(&quoted), "{quoted}");
}
