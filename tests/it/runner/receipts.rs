//! The receipts of tasks that an agent ticks by hand under `spool ralph`.

use serde_json::{Value, json};

use crate::runner::support::{Bench, CHANGE, in_change};

#[test]
fn hand_ticked_box_has_iteration_work() {
    let bench = Bench::with_tasks("- [ ] 1.1 a\n- [ ] 1.2 b\n- [ ] 1.3 c\n");
    let list = in_change("tasks.md");
    bench.agent(&format!(
        "[ $n = 2 ] || echo x > made-$n\n[ $n != 3 ] || {{ git add -A; git commit -qm 'third'; }}\nsed -i \"s/\\[ \\] 1.$n/[x] 1.$n/\" {list}"
    ));
    let ran = bench.ralph("--check true --proof word").run();
    ran.with_code(0);
    let all = bench.receipts(CHANGE);
    let fields = ["task", "by", "iteration", "files", "commits"];
    let all_short = bench.receipts_in(CHANGE, &fields);
    let wanted = [
        json!(["1.1", "iteration", 1, ["made-1"], 0]),
        json!(["1.2", "iteration", 2, [], 0]),
        json!(["1.3", "iteration", 3, ["made-3"], 1]),
    ];
    assert_eq!(all_short[..2], wanted[..2], "{all:#?}");
    assert_eq!((&all_short[2][0], &all_short[2][4]), (&json!("1.3"), &json!(1)), "{all:#?}");
    assert_eq!((&all[0]["list"], &all[0]["by_content"]), (&json!(list), &json!(false)));
    assert_eq!(all[2]["checks"][0]["run"], "true", "{all:#?}");
    let log = bench.spool("log --json").run().with_code(0).output.clone();
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let found: Vec<_> = lines.filter(|line| line["event"] == "iteration").collect();
    let tasks: Vec<_> = found.iter().map(|line| line["receipts"][0]["task"].clone()).collect();
    assert_eq!(tasks, ["1.1", "1.2", "1.3"], "{log}");
}
