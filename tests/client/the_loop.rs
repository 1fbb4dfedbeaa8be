//! The loop in the real client: from one slash command to the last ticked box.

use crate::support::{client, on_every_client};
use crate::workshop::{FEATURE, STATE, Worker, Workshop};
use scripted_model::{Reply, ScriptedModel};
use serde_json::Value;

on_every_client! {
    night night one_command_does_fifty_tasks
    night night toolless_stops_delay_no_tasks
    night night unarmed_old_state_is_finished
    gate night last_stop_says_done
    night night iteration_limit_ends_by_name
    gate night early_claim_is_sent_back
    night night talking_agent_is_let_go
}

fn one_command_does_fifty_tasks(version: &str) {
    let workshop = Workshop::with_tasks(50);
    let worker = workshop.worker();
    let model = ScriptedModel::start(move |asked| worker.one_task_then_stop(asked));
    let run = workshop.client(version, &model).succeeds("/speckit:implement");
    workshop.assert_all_done(50);
    assert_eq!(run.block_cap(), None, "{}", run.describe());
    // What arming shows of the commands that will be run is said by the event that armed; 2.1.143 says it nowhere.
    let of_arming = |notice: &&String| notice.starts_with("UserPromptExpansion says: ");
    let notices = run.notices();
    assert!(notices.iter().filter(of_arming).count() <= 1, "{notices:?}");
    let others = notices.iter().filter(|notice| !of_arming(notice));
    assert!(others.clone().all(|notice| notice.starts_with("Stop says: ")), "{notices:?}");

    // The command's body is the coordinator's prompt, and the hook's line came with it.
    let requests = model.main_requests();
    assert!(requests[0].last_text().contains("You are the **coordinator**"), "{:?}", requests[0]);
    let conversation = requests[0].body["messages"].to_string();
    let armed = format!("ralph-speckit: the loop is armed: feature {FEATURE}, 50 of 50 tasks open");
    assert!(conversation.contains(&armed), "{conversation}");

    // Every stop but the last is refused, and each refusal names the task that comes next.
    let feedbacks = run.hook_feedbacks();
    assert_eq!(feedbacks.len(), 49, "{}", run.describe());
    for (index, feedback) in feedbacks.iter().enumerate() {
        let (iteration, next) = (index + 1, index + 2);
        let head = format!("Continue feature: {FEATURE} (Task {next}/50, Iter {iteration})");
        assert!(feedback.starts_with(&head), "{feedback}");
        let between = if version == "2.1.143" { ":" } else { " open, next" };
        let open = format!(" of 50{between} T{next:03}");
        assert!(feedback.contains(&open), "{feedback}");
        assert!(feedback.chars().count() < 4_000, "{feedback}");
    }
    let told = run.system_messages("Stop");
    assert_eq!(told.len(), 50, "each stop, and the end: {told:?}");
    assert_eq!(told[48], "Ralph-speckit: 49 of 50 done · iteration 49 · next T050");
    assert!(told[49].contains("done"), "{}", told[49]);

    let mut verdicts = vec!["continue"; 49];
    verdicts.push("end completed");
    assert_eq!(workshop.verdicts(), verdicts);
    let status = workshop.status();
    assert_eq!(status["loop"]["state"], "ended", "{status}");
    assert_eq!(status["loop"]["end"]["name"], "completed", "{status}");
    assert_eq!(status["done"], 50, "{status}");
    assert_eq!(status["loop"]["session"].as_str(), run.session_id(), "{status}");
    let found = &status["loop"];
    assert_eq!(found["iterations"], 50, "{status}");
    assert_eq!(found["sent_back"], 49, "{status}");
    assert_eq!(found["refused_claims"], 0, "{status}");
    assert_eq!(model.complaints(), [""; 0]);
}

fn toolless_stops_delay_no_tasks(version: &str) {
    let workshop = Workshop::with_tasks(50);
    let worker = workshop.worker();
    let mut done = 0;
    let mut rested = false;
    let model = ScriptedModel::start(move |asked| {
        if asked.is_hook_feedback() && done % 3 == 0 && !rested {
            rested = true;
            return Reply::text("I would rather rest.");
        }
        if asked.tool_results().is_empty() {
            rested = false;
            done += 1;
        }
        worker.one_task_then_stop(asked)
    });
    let run = workshop.client(version, &model).succeeds("/speckit:implement");
    workshop.assert_all_done(50);
    assert_eq!(run.block_cap(), None, "{}", run.describe());
    let rests = run.texts().iter().filter(|text| *text == "I would rather rest.").count();
    assert_eq!(rests, 16, "{}", run.describe());
    assert_eq!(run.hook_feedbacks().len(), 49 + 16, "{}", run.describe());
    let mut verdicts = vec!["continue"; 49 + 16];
    verdicts.push("end completed");
    assert_eq!(workshop.verdicts(), verdicts);
    assert_eq!(model.complaints(), [""; 0]);
}

fn unarmed_old_state_is_finished(version: &str) {
    let workshop = Workshop::with_tasks(50);
    workshop.write_old_state(50);
    let worker = workshop.worker();
    let model = ScriptedModel::start(move |asked| worker.one_task_then_stop(asked));
    let run = workshop.client(version, &model).succeeds("Go on with the tasks.");
    workshop.assert_all_done(50);
    assert_eq!(run.block_cap(), None, "{}", run.describe());
    assert_eq!(run.hook_feedbacks().len(), 49, "{}", run.describe());
    let mut verdicts = vec!["continue"; 49];
    verdicts.push("end completed");
    assert_eq!(workshop.verdicts(), verdicts);
    assert_eq!(workshop.journal()[0]["event"], "claimed");
    let status = workshop.status();
    assert_eq!(status["loop"]["armed_by"], "nobody", "{status}");
    assert_eq!(status["loop"]["session"].as_str(), run.session_id(), "{status}");
    // The fields that the old tools wrote are all there; the count is brought up to date at the end.
    let state: Value = serde_json::from_str(&workshop.project.read(&Workshop::in_feature(STATE)))
        .expect("a state");
    assert_eq!(state["featureId"], "001", "{state}");
    assert_eq!(state["taskIndex"], 50, "{state}");
}

fn last_stop_says_done(version: &str) {
    let workshop = Workshop::with_tasks(3);
    let plugin = workshop.recording_plugin();
    let worker = workshop.worker();
    let model = ScriptedModel::start(move |asked| worker.one_task_then_stop(asked));
    let client = client(version, &workshop.project, &model).plugin(&plugin);
    client.succeeds("/speckit:implement");
    workshop.assert_all_done(3);
    let calls = workshop.recorded();
    let events: Vec<_> = calls.iter().map(|call| call.event.as_str()).collect();
    assert_eq!(events, ["UserPromptExpansion", "Stop", "Stop", "Stop"]);
    assert!(calls.iter().all(|call| call.code == "0"), "{calls:?}");
    assert!(calls.iter().all(|call| call.stderr.starts_with("[ralph-speckit] ")), "{calls:?}");
    for call in &calls[..3] {
        let answer: Value = serde_json::from_str(&call.stdout).expect("one JSON object");
        assert!(answer.is_object(), "{call:?}");
    }
    let last: Value = serde_json::from_str(&calls[3].stdout).expect("one JSON object");
    let names: Vec<_> = last.as_object().expect("an object").keys().collect();
    assert_eq!(names, ["systemMessage", "terminalSequence"], "{last}");
    let done = last["systemMessage"].as_str().expect("a line");
    let words = "Ralph-speckit: done: 001-long-list · 3 of 3 tasks · 3 iterations · ";
    assert!(done.starts_with(words), "{last}");
    // The terminal notifies of the same line, and rings.
    let line = done.strip_suffix("\nProved: 3 by files").expect("how well they are proved");
    assert_eq!(last["terminalSequence"], format!("\u{1b}]9;{line}\u{7}\u{7}"), "{last}");
    assert_eq!(calls[3].stderr, "[ralph-speckit] ALL_TASKS_COMPLETE detected in transcript\n");
}

fn iteration_limit_ends_by_name(version: &str) {
    let workshop = Workshop::with_tasks(10);
    let worker = workshop.worker();
    let model = ScriptedModel::start(move |asked| worker.one_task_then_stop(asked));
    let client = workshop.client(version, &model);
    let run = client.succeeds("/speckit:implement --max-iterations=3");
    assert_eq!(run.hook_feedbacks().len(), 2, "{}", run.describe());
    assert_eq!(model.main_requests().len(), 6, "{}", run.describe());
    let told = run.system_messages("Stop");
    assert_eq!(told.len(), 3, "{told:?}");
    let ended = "Ralph-speckit: ended (max_iters): 001-long-list · the limit of 3 iterations was reached · 3 of 10 tasks · 3 iterations · ";
    assert!(told[2].starts_with(ended), "{}", told[2]);
    let next = "; --max-iterations N sets another limit.\nOpen: T004, T005, T006, T007, T008, T009, T010\nProved: 3 by files";
    assert!(told[2].ends_with(next), "{}", told[2]);
    assert_eq!(workshop.verdicts(), ["continue", "continue", "end max_iters"]);
    let status = workshop.status();
    assert_eq!(status["loop"]["end"]["name"], "max_iters", "{status}");
    assert_eq!(status["open"].as_array().map(Vec::len), Some(7), "{status}");
}

fn early_claim_is_sent_back(version: &str) {
    let workshop = Workshop::with_tasks(4);
    let worker = workshop.worker();
    let mut claimed = false;
    let model = ScriptedModel::start(move |_| match worker.next_task() {
        // The claim stands where two tasks are still open.
        Some(id) if id == "T003" && !claimed => {
            claimed = true;
            Reply::text("All four are done.\n\nALL_TASKS_COMPLETE")
        }
        Some(id) => Worker::work_on(&id),
        None => Reply::text("Now they are.\n\nALL_TASKS_COMPLETE"),
    });
    let run = workshop.client(version, &model).succeeds("/speckit:implement");
    workshop.assert_all_done(4);
    let requests = model.main_requests();
    assert_eq!(requests.len(), 6, "{}", run.describe());
    let seen: Vec<String> = requests.iter().flat_map(|asked| asked.hook_feedback()).collect();
    assert_eq!(seen.len(), 1, "{}", run.describe());
    assert!(seen[0].contains("ALL_TASKS_COMPLETE"), "{}", seen[0]);
    let open = if version == "2.1.143" { "2 of 4: T003, T004" } else { "2 of 4 open, next T003" };
    assert!(seen[0].contains(open), "{}", seen[0]);
    assert_eq!(
        run.system_messages("Stop")[..1],
        ["Ralph-speckit: claimed done, but 2 of 4 are open · next T003"]
    );
    assert_eq!(workshop.verdicts(), ["continue", "end completed"]);
    assert_eq!(workshop.status()["loop"]["refused_claims"], 1);
    assert_eq!(model.complaints(), [""; 0]);
}

fn talking_agent_is_let_go(version: &str) {
    let workshop = Workshop::with_tasks(3);
    let model = ScriptedModel::playing(vec![Reply::text("Shall I begin?")]);
    let run = workshop.client(version, &model).succeeds("/speckit:implement");
    // The client itself would end the turn at the ninth, without a reason.
    assert_eq!(model.main_requests().len(), 3, "{}", run.describe());
    assert_eq!(run.hook_feedbacks().len(), 2, "{}", run.describe());
    assert_eq!(run.block_cap(), None, "{}", run.describe());
    assert_eq!(run.final_text(), "Shall I begin?");
    let told = run.system_messages("Stop");
    assert_eq!(told.len(), 3, "{told:?}");
    let ended = "Ralph-speckit: ended (no_progress): 001-long-list · the agent stopped 3 times in a row without doing anything · 0 of 3 tasks · 3 iterations · ";
    assert!(told[2].starts_with(ended), "{}", told[2]);
    let next = " Then continue with /speckit:implement 001-long-list.\nOpen: T001, T002, T003";
    assert!(told[2].ends_with(next), "{}", told[2]);
    assert_eq!(workshop.verdicts(), ["continue", "continue", "end no_progress"]);
    let status = workshop.status();
    assert_eq!(status["loop"]["state"], "ended", "{status}");
    assert_eq!(status["loop"]["end"]["name"], "no_progress", "{status}");
}
