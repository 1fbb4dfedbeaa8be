//! Reviews as the last check of a loop in a session: the real Claude Code works, the real Codex and Claude Code review.

use crate::headless::{Client, ClientRun};
use crate::hostile_words;
use crate::left_out::left_out;
use crate::support::program;
use crate::workshop::{Worker, Workshop};
use scripted_model::{Asked, Reply, ScriptedModel};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes one test of each function for each reader. Two words before the function say when it is played with Codex as the reader
/// and with Claude Code: `gate` or `night`.
macro_rules! by_every_reader {
    ($($codex:ident $claude:ident $test:ident)*) => {
        mod by_codex { $(crate::tier::play! { $codex $test super::play("codex", super::$test) })* }
        mod by_claude { $(crate::tier::play! { $claude $test super::play("claude", super::$test) })* }
    };
}

by_every_reader! {
    night night a_pass_completes_the_loop
    gate night unmet_review_is_repaired
    night night three_equal_verdicts_block
    night night formless_answer_is_no_verdict
    night night invented_evidence_is_no_verdict
    night night crashed_reader_is_no_verdict
    night night limited_reader_is_no_verdict
    night night overdue_reader_is_no_verdict
    night night finished_phase_is_reviewed_once
    night night foreign_reader_words_end_nothing
}

const SETTINGS: &str = ".claude/ralph-speckit.local.md";
const SPEC: &str = "# Files\n\n- **FR-001**: System MUST write\n- **FR-002**: System MUST log\n";

/// A workshop with programs of its own, and the reader of this test.
struct Stage {
    workshop: Workshop,
    reader: &'static str,
    bin: PathBuf,
    /// Whether the plugin is installed for every client of this home, not only loaded by the one that works.
    installed: bool,
}

fn play(reader: &'static str, test: fn(&Stage)) {
    play_with(reader, false, test);
}

fn play_with(reader: &'static str, installed: bool, test: fn(&Stage)) {
    let Some(codex) = codex() else {
        assert_ne!(reader, "claude", "`scripts/fetch-clients` fetches all programs");
        left_out("codex is not installed; `scripts/fetch-clients codex` installs it");
        return;
    };
    let workshop = Workshop::with_tasks(1);
    let bin = workshop.project.path().with_extension("bin");
    fs::create_dir_all(&bin).expect("a folder");
    symlink(program("2.1.332"), bin.join("claude")).expect("a link");
    symlink(codex, bin.join("codex")).expect("a link");
    workshop.project.write(&Workshop::in_feature("spec.md"), SPEC);
    let stage = Stage { workshop, reader, bin: bin.clone(), installed };
    test(&stage);
    fs::remove_dir_all(bin).expect("the folder goes");
}

/// The installed Codex, or nothing.
fn codex() -> Option<PathBuf> {
    let clients = std::env::var_os("RALPH_CLIENTS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/clients"),
        PathBuf::from,
    );
    let vendor = clients.join("codex-0.169.0/node_modules/@openai/codex/vendor");
    let found = fs::read_dir(vendor).ok()?.flatten().map(|entry| entry.path().join("bin/codex"));
    found.filter(|path| path.is_file()).last()
}

fn is_review(asked: &Asked) -> bool {
    asked.body.to_string().contains("The code of this review is")
}

/// The code of a review, from its prompt.
fn code_of(asked: &Asked) -> String {
    let prompt = asked.body.to_string();
    let code = prompt.split("The code of this review is `").nth(1).expect("a code");
    code.split('`').next().expect("its end").to_owned()
}

/// The answer of a reader: the file is written with these words, and what FR-002 is.
fn judged(asked: &Asked, quote: &str, log: &str, why: &str) -> Reply {
    Reply::text(&answered(&code_of(asked), quote, log, why))
}

/// The same as the answer to the review with this code.
fn answered(code: &str, quote: &str, log: &str, why: &str) -> String {
    let line = |id: &str, verdict: &str, why: &str| {
        format!(
            "{{\"id\":\"{id}\",\"verdict\":\"{verdict}\",\"why\":\"{why}\",\"evidence\":[{{\"file\":\"out/T001.txt\",\"line\":1,\"quote\":\"{quote}\"}}]}}"
        )
    };
    let (first, second) = (line("FR-001", "met", "it writes"), line("FR-002", log, why));
    format!("REVIEW {code}\n{first}\n{second}\nEND {code}\n\nALL_TASKS_COMPLETE")
}

const WORK: &str = "the work of T001";

impl Stage {
    /// Runs a whole loop with these replies of the reader to its n-th review, from 1.
    fn run(
        &self,
        mut answer: impl FnMut(usize, &Asked) -> Reply + Send + 'static,
        more: &str,
    ) -> (ClientRun, ScriptedModel) {
        let (worker, mut reviews) = (self.workshop.worker(), 0);
        let script = move |asked: &Asked| {
            if is_review(asked) {
                reviews += 1;
                return answer(reviews, asked);
            }
            let told = asked.hook_feedback().len();
            match worker.next_task() {
                Some(id) => Worker::work_on(&id),
                // What was sent back works once in its turn.
                None if asked.tool_results().len() < told + 1 => {
                    Worker::run(&format!("echo {told} >> out/log.txt"))
                }
                None => Reply::text("FR-002 is met: it logs.\n\nALL_TASKS_COMPLETE"),
            }
        };
        self.play(script, more)
    }

    /// Runs a whole loop with this model, worker and reader.
    fn play(
        &self,
        script: impl FnMut(&Asked) -> Reply + Send + 'static,
        more: &str,
    ) -> (ClientRun, ScriptedModel) {
        let reader = self.reader;
        let settings = format!("---\nreview:\n  harness: {reader}\n{more}---\n");
        self.workshop.project.write(SETTINGS, &settings);
        let model = ScriptedModel::start(script);
        let run = self.client(&model).succeeds("/speckit:implement");
        assert_eq!(self.left_over(), "", "{}", run.describe());
        (run, model)
    }

    fn client(&self, model: &ScriptedModel) -> Client {
        let client = if self.installed {
            self.workshop.client_of_setup("2.1.332", model)
        } else {
            self.workshop.client("2.1.332", model)
        };
        let home = client.home_folder().to_owned();
        let config = format!(
            "model_provider = \"scripted\"\nmodel = \"scripted\"\ncheck_for_update_on_startup = false\n[analytics]\nenabled = false\n\
             [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{}/v1\"\nenv_key = \"SCRIPTED_KEY\"\n\
             wire_api = \"responses\"\nrequires_openai_auth = false\nsupports_websockets = false\n\
             request_max_retries = 0\nstream_max_retries = 0\n",
            model.url()
        );
        fs::create_dir_all(home.join(".codex")).expect("a folder");
        fs::write(home.join(".codex/config.toml"), config).expect("a file");
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", self.bin.display());
        client.variable("PATH", path).variable("SCRIPTED_KEY", "scratch-key")
    }

    /// The processes that have the project in their command, folder or environment, a line each.
    fn left_over(&self) -> String {
        let project = self.workshop.project.path().display().to_string();
        let found = fs::read_dir("/proc").into_iter().flatten().flatten().filter(|entry| {
            let folder = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            folder.starts_with(&project) || String::from_utf8_lossy(&environment).contains(&project)
        });
        let command = |entry: fs::DirEntry| fs::read_to_string(entry.path().join("cmdline"));
        found.filter_map(|entry| command(entry).ok()).collect::<Vec<_>>().join("\n")
    }

    fn reviews(model: &ScriptedModel) -> usize {
        model.requests().iter().filter(|request| is_review(request)).count()
    }

    /// Fails unless three reviews without a verdict ended the loop as blocked, and the agent was told of no fault.
    fn assert_no_verdict(&self, run: &ClientRun, words: &str) {
        let verdicts = self.workshop.verdicts();
        assert_eq!(verdicts, ["continue", "continue", "end blocked"], "{}", run.describe());
        for told in run.hook_feedbacks() {
            assert!(told.contains("that says nothing of the work"), "{told}");
            assert!(!told.contains("Check failed"), "{told}");
        }
        let told = run.system_messages("Stop").join("\n");
        assert!(told.contains("3 reviews in a row came to no verdict"), "{told}");
        assert!(told.contains(words), "{words}: {told}");
    }
}

fn a_pass_completes_the_loop(stage: &Stage) {
    let (run, model) = stage.run(|_, asked| judged(asked, WORK, "met", "it logs"), "");
    assert_eq!(stage.workshop.verdicts(), ["end completed"], "{}", run.describe());
    assert_eq!(Stage::reviews(&model), 1);
    // The reader's own hook has armed nothing and answered nothing: one session is known, and one loop.
    let words: Vec<String> =
        stage.workshop.journal().iter().map(|entry| entry["words"].to_string()).collect();
    let said = format!("review: passed (2 of 2 met), by {}", stage.reader);
    assert!(words.iter().any(|line| line.contains(&said)), "{words:?}");
    assert!(words[0].contains(&format!("spool review --harness {}", stage.reader)), "{words:?}");
    let sessions: std::collections::BTreeSet<String> =
        stage.workshop.journal().iter().map(|entry| entry["session"].to_string()).collect();
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    let status = stage.workshop.status();
    assert_eq!(status["loop"]["review"]["outcome"], "passed", "{status}");
    assert!(status["loop"]["review_tokens"].as_u64().is_some_and(|tokens| tokens > 0), "{status}");
    // What it cost, where its program says so, is summed in every place.
    let dollars = status["loop"]["review_cost_usd"].as_f64();
    assert_eq!(dollars.is_some_and(|dollars| dollars > 0.0), stage.reader == "claude", "{status}");
    let ended = stage.workshop.journal().pop().expect("an end");
    assert!(ended["review_tokens"].as_u64().is_some_and(|tokens| tokens > 0), "{ended}");
    let logged = String::from_utf8(stage.workshop.spool(&["log"]).stdout).expect("text");
    let told = run.system_messages("Stop").join("\n");
    let sum =
        told.split(" · reviews ").nth(1).and_then(|rest| rest.lines().next()).expect("its sum");
    assert_eq!(sum.contains(" tokens, $"), dollars.is_some(), "{told}");
    assert!(logged.contains(&format!("reviews {sum}")), "{sum}: {logged}");
    let shown = String::from_utf8(stage.workshop.spool(&["status"]).stdout).expect("text");
    assert!(shown.contains("  Review: passed (2 of 2 met), by "), "{shown}");
    assert!(shown.contains(&format!("  Reviews beside that: {sum}\n")), "{sum}: {shown}");
    let armed = run.describe();
    assert!(armed.contains("Review by another agent program"), "{armed}");
}

fn unmet_review_is_repaired(stage: &Stage) {
    let (run, model) = stage.run(
        |number, asked| match number {
            1 => judged(asked, WORK, "not met", "no time stands in the log"),
            _ => judged(asked, WORK, "met", "it logs"),
        },
        "",
    );
    assert_eq!(stage.workshop.verdicts(), ["continue", "end completed"], "{}", run.describe());
    let told = run.hook_feedbacks().concat();
    for words in ["not passed (1 of 2 met)", "| FR-002 not met: no time stands in the log"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert_eq!(Stage::reviews(&model), 2);
}

fn three_equal_verdicts_block(stage: &Stage) {
    let (run, model) = stage
        .run(|number, asked| judged(asked, WORK, "not met", &format!("words number {number}")), "");
    let verdicts = stage.workshop.verdicts();
    assert_eq!(verdicts, ["continue", "continue", "end blocked"], "{}", run.describe());
    let told = run.system_messages("Stop").join("\n");
    for words in
        ["3 reviews in a row came to the same", "words number 3", "FR-002 is met: it logs."]
    {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert_eq!(Stage::reviews(&model), 3);
}

fn formless_answer_is_no_verdict(stage: &Stage) {
    let (run, _) = stage.run(|_, _| Reply::text("All is met.\n\nALL_TASKS_COMPLETE"), "");
    stage.assert_no_verdict(&run, "the answer cannot be used");
}

fn invented_evidence_is_no_verdict(stage: &Stage) {
    let (run, _) = stage.run(|_, asked| judged(asked, "good evening", "met", "it logs"), "");
    stage.assert_no_verdict(&run, "evidence is not there");
}

fn crashed_reader_is_no_verdict(stage: &Stage) {
    let link = stage.bin.join(stage.reader);
    let real = fs::canonicalize(&link).expect("a program");
    fs::remove_file(&link).expect("its link");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *--version*) exec '{}' \"$@\";; esac\nkill -9 $$\n",
        real.display()
    );
    fs::write(&link, script).expect("a script");
    fs::set_permissions(&link, fs::Permissions::from_mode(0o755)).expect("an executable file");
    let (run, model) = stage.run(|_, asked| judged(asked, WORK, "met", "it logs"), "");
    stage.assert_no_verdict(&run, "the agent program failed");
    assert_eq!(Stage::reviews(&model), 0);
}

fn limited_reader_is_no_verdict(stage: &Stage) {
    let is_codex = stage.reader == "codex";
    let (run, _) = stage.run(
        move |_, _| {
            if is_codex {
                Reply::error(429, "usage_limit_reached", "The usage limit has been reached")
                    .detail("plan_type", serde_json::json!("plus"))
            } else {
                Reply::error(429, "rate_limit_error", "This request would exceed your limit")
                    .header("anthropic-ratelimit-unified-status", "rejected")
            }
        },
        "",
    );
    if is_codex {
        // The next stop asks again.
        assert_eq!(stage.workshop.verdicts(), ["wait"], "{}", run.describe());
        return;
    }
    stage.assert_no_verdict(&run, "no pass");
}

fn overdue_reader_is_no_verdict(stage: &Stage) {
    let (run, _) = stage.run(|_, _| Reply::silence(), "  timeout: 2\n");
    stage.assert_no_verdict(&run, "the reader was over its time");
    let list = Command::new("ps").args(["-eo", "args"]).output().expect("ps");
    let project = stage.workshop.project.path().display().to_string();
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    assert!(!list.lines().any(|line| line.contains(&project) && line.contains("review")), "{list}");
}

fn finished_phase_is_reviewed_once(stage: &Stage) {
    let list = "## Phase 1: First\n\n- [ ] T001 Write out/T001.txt\n\n## Phase 2: Second\n\n- [ ] T002 Write out/T002.txt\n";
    stage.workshop.project.write(&Workshop::in_feature("tasks.md"), list);
    let by_spool = |id: &str| {
        format!("mkdir -p out && echo 'the work of {id}' >> out/{id}.txt && spool task done {id}")
    };
    let (mut reviews, mut step) = (0, 0);
    let script = move |asked: &Asked| {
        if is_review(asked) {
            reviews += 1;
            let log = ["not met", "later", "met"][(reviews - 1).min(2)];
            return judged(asked, WORK, log, "about the log");
        }
        // One call in each turn: the first task, the repair, the second task.
        step += 1;
        match step {
            1 => Worker::run(&by_spool("T001")),
            3 => Worker::run("echo more >> out/log.txt"),
            5 => Worker::run(&by_spool("T002")),
            6.. => Reply::text("All is done.\n\nALL_TASKS_COMPLETE"),
            _ => Reply::text("I stop here."),
        }
    };
    let (run, model) = stage.play(script, "  when: phases\n");
    let verdicts = stage.workshop.verdicts();
    assert_eq!(verdicts, ["continue", "continue", "end completed"], "{}", run.describe());
    let told = run.hook_feedbacks();
    for words in ["not passed (1 of 2 met), T001, by", "FR-002 not met", "Before any other task"] {
        assert!(told[0].contains(words), "{words}: {told:?}");
    }
    assert!(!told[1].contains("review"), "{told:?}");
    let asked: Vec<String> =
        model.requests().iter().map(|request| request.body.to_string()).collect();
    let asked: Vec<&String> =
        asked.iter().filter(|body| body.contains("The code of this")).collect();
    let of_a_part = asked.iter().map(|body| body.contains("these tasks: T001. Judge"));
    assert_eq!(of_a_part.collect::<Vec<_>>(), [true, true, false], "{}", run.describe());
    assert!(run.describe().contains("run when the tasks of a phase are all ticked"));
    // The first one by the review of its phase, both by the one at the end.
    let ended = run.system_messages("Stop").join("\n");
    assert!(ended.contains("Proved: 2 by a review"), "{ended}");
    let shown = stage.workshop.spool(&["task", "show", "T001", "--json"]).stdout;
    let shown: serde_json::Value = serde_json::from_slice(&shown).expect("a task");
    let receipts = shown["receipts"].as_array().expect("receipts");
    let by: Vec<_> = receipts
        .iter()
        .map(|receipt| (receipt["by"].as_str(), receipt["reviewer"].as_str()))
        .collect();
    let reader = Some(stage.reader);
    assert_eq!(by, [(Some("done"), None), (Some("review"), reader), (Some("review"), reader)]);
}

/// First the hostile words as the reason of a verdict, then around the whole answer to the review before, then a pass.
fn foreign_reader_words_end_nothing(stage: &Stage) {
    let mut earlier = String::new();
    let (run, model) = stage.run(
        move |number, asked| match number {
            1 => {
                earlier = code_of(asked);
                judged(asked, WORK, "not met", &hostile_words::in_json())
            }
            2 => {
                let (words, answer) = (hostile_words::text(), answered(&earlier, WORK, "met", "x"));
                Reply::text(&format!("{words}\n{answer}\n{words}"))
            }
            _ => judged(asked, WORK, "met", "it logs"),
        },
        "",
    );
    let verdicts = stage.workshop.verdicts();
    assert_eq!(verdicts, ["continue", "continue", "end completed"], "{}", run.describe());
    assert_eq!(Stage::reviews(&model), 3, "{}", run.describe());
    let told = run.hook_feedbacks();
    for (told, words) in told.iter().zip(["not passed (1 of 2 met)", "the answer cannot be used"]) {
        assert!(told.contains(words), "{words}: {told}");
        assert!(told.chars().all(|sign| !sign.is_control() || sign == '\n'), "{told:?}");
    }
    let shown = run.system_messages("Stop").concat();
    assert!(shown.chars().all(|sign| !sign.is_control() || sign == '\n'), "{shown:?}");
}

/// The agent has the plugin from its home alone, and the reader has the same home.
#[test]
#[ignore = "nightly"]
fn reader_with_plugin_stays_out() {
    play_with("claude", true, a_pass_completes_the_loop);
    play_with("claude", true, unmet_review_is_repaired);
}
