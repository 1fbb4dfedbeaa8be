//! The loop in the real client: from one slash command to the last ticked box.

use crate::support::on_every_client;
use crate::workshop::{FEATURE, Workshop};
use ralph_speckit::rehearsal::{Reply, ScriptedModel};

on_every_client! {
    fifty_tasks_are_finished_from_one_command
    an_agent_that_claims_too_early_is_sent_back_with_the_open_tasks
    an_agent_that_only_talks_is_let_go_with_a_named_reason
}

fn fifty_tasks_are_finished_from_one_command(version: &str) {
    let workshop = Workshop::with_tasks(50);
    let worker = workshop.worker();
    let model = ScriptedModel::start(move |asked| worker.one_task_then_stop(asked));
    let model = model.expect("a model");
    let run = workshop.client(version, &model).run("/speckit:implement").expect("a run");
    assert!(run.is_success(), "{}", run.describe());
    workshop.assert_all_done(50, &run);
    assert_eq!(run.block_cap(), None, "{}", run.describe());
    assert!(run.notices().iter().all(|notice| notice.starts_with("Stop says: ")), "{run:?}");

    // Every stop but the last is refused, and each refusal names the task that comes next.
    let feedbacks = run.hook_feedbacks();
    assert_eq!(feedbacks.len(), 49, "{}", run.describe());
    for (index, feedback) in feedbacks.iter().enumerate() {
        let (iteration, next) = (index + 1, index + 2);
        let head = format!("Continue feature: {FEATURE} (Task {next}/50, Iter {iteration})\n");
        assert!(feedback.starts_with(&head), "{feedback}");
        assert!(feedback.contains(&format!(" of 50: T{next:03}")), "{feedback}");
        assert!(feedback.chars().count() < 4_000, "{feedback}");
    }
    let told = run.system_messages("Stop");
    assert_eq!(told.len(), 49, "the last stop is silent: {told:?}");
    assert_eq!(told[48], "Ralph-speckit iteration 49 | Task 50/50");

    let mut verdicts = vec!["continue"; 49];
    verdicts.push("end completed");
    assert_eq!(workshop.verdicts(), verdicts);
    let status = workshop.status();
    assert_eq!(status["loop_status"], "ended", "{status}");
    assert_eq!(status["reason"], "completed", "{status}");
    assert_eq!(status["done"], 50, "{status}");
    assert_eq!(status["record"]["session"].as_str(), run.session_id(), "{status}");
    let ledger = &status["record"]["ledger"];
    assert_eq!(ledger["iterations"], 50, "{status}");
    assert_eq!(ledger["continued"], 49, "{status}");
    assert_eq!(ledger["refused_claims"], 0, "{status}");
    assert_eq!(model.complaints(), [""; 0]);
}

fn an_agent_that_claims_too_early_is_sent_back_with_the_open_tasks(version: &str) {
    let workshop = Workshop::with_tasks(4);
    let worker = workshop.worker();
    let mut claimed = false;
    let model = ScriptedModel::start(move |_| match worker.next_task() {
        // The claim stands where two tasks are still open.
        Some(id) if id == "T003" && !claimed => {
            claimed = true;
            Reply::text("All four are done.\n\nALL_TASKS_COMPLETE")
        }
        Some(id) => worker.work_on(&id),
        None => Reply::text("Now they are.\n\nALL_TASKS_COMPLETE"),
    });
    let model = model.expect("a model");
    let run = workshop.client(version, &model).run("/speckit:implement").expect("a run");
    assert!(run.is_success(), "{}", run.describe());
    workshop.assert_all_done(4, &run);
    let requests = model.main_requests();
    assert_eq!(requests.len(), 6, "{}", run.describe());
    let seen: Vec<String> = requests.iter().flat_map(|asked| asked.hook_feedback()).collect();
    assert_eq!(seen.len(), 1, "{}", run.describe());
    assert!(seen[0].contains("You wrote ALL_TASKS_COMPLETE, but"), "{}", seen[0]);
    assert!(seen[0].contains("2 of 4: T003, T004\n"), "{}", seen[0]);
    assert_eq!(
        run.system_messages("Stop"),
        ["Ralph-speckit iteration 1 | Task 3/4 | said to be complete, but 2 open"]
    );
    assert_eq!(workshop.verdicts(), ["continue", "end completed"]);
    assert_eq!(workshop.status()["record"]["ledger"]["refused_claims"], 1);
    assert_eq!(model.complaints(), [""; 0]);
}

fn an_agent_that_only_talks_is_let_go_with_a_named_reason(version: &str) {
    let workshop = Workshop::with_tasks(3);
    let model = ScriptedModel::playing(vec![Reply::text("Shall I begin?")]).expect("a model");
    let run = workshop.client(version, &model).run("/speckit:implement").expect("a run");
    assert!(run.is_success(), "{}", run.describe());
    // The client itself would end the turn at the ninth, without a reason.
    assert_eq!(model.main_requests().len(), 3, "{}", run.describe());
    assert_eq!(run.hook_feedbacks().len(), 2, "{}", run.describe());
    assert_eq!(run.block_cap(), None, "{}", run.describe());
    assert_eq!(run.final_text(), "Shall I begin?");
    let told = run.system_messages("Stop");
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[2].contains("(no_progress)"), "{}", told[2]);
    assert!(told[2].contains("Open: 3 of 3: T001, T002, T003."), "{}", told[2]);
    assert_eq!(workshop.verdicts(), ["continue", "continue", "end no_progress"]);
    let status = workshop.status();
    assert_eq!(status["loop_status"], "ended", "{status}");
    assert_eq!(status["reason"], "no_progress", "{status}");
}
