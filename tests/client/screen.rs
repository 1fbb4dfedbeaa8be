//! The interactive client on a terminal: what a person types and sees.

use crate::headless::Client;
use crate::left_out::left_out;
use crate::support::{client, on_every_client, wait_until_gone};
use crate::workshop::Workshop;
use ralph_speckit::world::{Deadline, pause};
use scripted_model::{Asked, Reply, ScriptedModel};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

on_every_client! {
    night night person_types_and_sees
    night night a_healthy_run_shows_no_problem
    night night escape_leaves_no_check
    gate night waiting_person_brings_no_stop
    gate night typed_cancel_ends_the_loop
    night night typed_words_reach_the_agent
    night night resumed_queue_passes_no_stop
    night night broken_turn_spends_nothing
    gate night failing_turn_pauses_until_prompt
    gate night t6_cleared_session_keeps_loop
}

const SESSION: &str = "11111111-2222-4333-8444-555555555555";
/// How long something may take to come about on a busy machine, and how often a test looks.
const PATIENCE: Duration = Duration::from_mins(3);
const LOOK: Duration = Duration::from_millis(100);

/// A terminal that nobody sees, with one program in it; both are gone when it is dropped.
pub struct Terminal {
    socket: PathBuf,
}

impl Terminal {
    /// Starts a program in a terminal of its own.
    fn start(socket: &Path, program: &Command, columns: u16) -> Terminal {
        let terminal = Terminal { socket: socket.to_owned() };
        let mut tmux = terminal.tmux();
        tmux.args([
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-y",
            "100",
            "-x",
            &columns.to_string(),
            "-c",
        ]);
        tmux.arg(program.get_current_dir().expect("a folder"));
        tmux.args(["--", "env", "-i"]);
        for (name, value) in program.get_envs() {
            let mut setting = name.to_owned();
            setting.push("=");
            setting.push(value.unwrap_or_default());
            tmux.arg(setting);
        }
        tmux.arg(program.get_program()).args(program.get_args());
        let output = tmux.output().expect("tmux");
        assert!(output.status.success(), "{output:?}");
        terminal
    }

    pub fn tmux(&self) -> Command {
        let mut tmux = Command::new("tmux");
        tmux.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        tmux.env("LANG", "C.UTF-8").env("TERM", "xterm-256color").arg("-S").arg(&self.socket);
        tmux
    }

    pub fn press(&self, keys: &[&str]) {
        let output = self.tmux().arg("send-keys").args(keys).output().expect("tmux");
        assert!(output.status.success(), "{output:?}");
    }

    /// Presses Enter in a dialog that shows `question`, until the model is asked its next request. A dialog that has just been
    /// drawn may not listen yet: Enter is pressed again, which nothing else can take while the model keeps its answer back.
    pub fn answer(&self, question: &str, model: &ScriptedModel) {
        let asked = model.main_requests().len();
        self.wait_for(question);
        let patience = Deadline::after(PATIENCE);
        while model.main_requests().len() == asked {
            assert!(!patience.is_over(), "{question:?} takes no answer:\n{}", self.screen());
            self.press(&["Enter"]);
            pause(Duration::from_millis(500));
        }
    }

    /// The screen and what has scrolled off it.
    pub fn screen(&self) -> String {
        let output = self.tmux().args(["capture-pane", "-p", "-S", "-"]).output().expect("tmux");
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// Waits until the screen shows these words.
    pub fn wait_for(&self, words: &str) {
        self.wait_until(words, |screen| screen.contains(words));
    }

    /// The screen may break these words into lines.
    pub fn wait_for_wrapped(&self, words: &str) {
        let is_there =
            |screen: &str| screen.split_whitespace().collect::<Vec<_>>().join(" ").contains(words);
        self.wait_until(words, is_there);
    }

    /// Waits until something is so of the screen.
    pub fn wait_until(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        let patience = Deadline::after(PATIENCE);
        while !is_so(&self.screen()) {
            assert!(!patience.is_over(), "{what:?} never came about:\n{}", self.screen());
            pause(LOOK);
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Without its socket, which lies in the project, nobody finds it anymore.
        let is_there = self.socket.exists() || std::thread::panicking();
        assert!(is_there, "the project was removed before its terminal was ended");
        // A client that is told to end writes into its home once more; a killed one leaves it to be removed.
        let asked = self.tmux().args(["display-message", "-p", "#{pane_pid}"]).output();
        let pid = asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        if let Some(pid) = pid.ok().filter(|pid| !pid.is_empty()) {
            drop(Command::new("kill").args(["-KILL", &pid]).output());
            wait_until_gone(&pid);
        }
        drop(self.tmux().arg("kill-server").output());
    }
}

/// Whether the screen can be played here.
pub fn tmux_is_there() -> bool {
    let found = Command::new("tmux").arg("-V").output().is_ok_and(|output| output.status.success());
    if !found {
        left_out("the interactive client needs a terminal, and tmux is not installed");
    }
    found
}

/// Starts the interactive client in a home where every question of a first start is answered.
pub fn start(workshop: &Workshop, client: &Client) -> Terminal {
    start_in(150, workshop, client)
}

/// Starts it in a terminal of this width.
pub fn start_in(columns: u16, workshop: &Workshop, client: &Client) -> Terminal {
    let project = workshop.project.path().canonicalize().expect("a project");
    let answered = json!({
        "hasCompletedOnboarding": true,
        "bypassPermissionsModeAccepted": true,
        "projects": {project.to_string_lossy(): {"hasTrustDialogAccepted": true}},
        "customApiKeyResponses": {"approved": ["scripted-model"], "rejected": []},
    });
    fs::create_dir_all(client.config_folder()).expect("a folder");
    fs::create_dir_all(client.home_folder().join("tmp")).expect("a folder");
    fs::write(client.config_folder().join(".claude.json"), answered.to_string()).expect("a file");
    let terminal = Terminal::start(&project.join("terminal"), &client.command(&[]), columns);
    terminal.wait_for("bypass permissions on");
    terminal
}

fn person_types_and_sees(version: &str) {
    if !tmux_is_there() {
        return;
    }
    let workshop = Workshop::with_tasks(3);
    let worker = workshop.worker();
    let model = ScriptedModel::start(move |asked| worker.one_task_then_stop(asked));
    let client = workshop.client(version, &model);
    let terminal = start(&workshop, &client);
    terminal.press(&["-l", "/speckit:implement"]);
    // The client has read the keys when it offers the command by its description.
    terminal.wait_for("Work through the feature's tasks.md");
    terminal.press(&["Enter"]);
    terminal.wait_for("● Everything is done.");
    let screen = terminal.screen();
    for words in [
        "Stop says: Ralph-speckit: 1 of 3 done · iteration 1 · next T002",
        "Stop says: Ralph-speckit: 2 of 3 done · iteration 2 · next T003",
    ] {
        assert!(screen.contains(words), "{words:?} is missing in:\n{screen}");
    }

    terminal.press(&["-l", "/speckit:status"]);
    terminal.wait_for("Show the state of the loop");
    terminal.press(&["Enter"]);
    terminal.wait_for("Loop: done: ");
    workshop.assert_all_done(3);
    assert_eq!(workshop.verdicts(), ["continue", "continue", "end completed"]);
    assert_eq!(model.main_requests().len(), 6);
    assert_eq!(model.complaints(), [""; 0]);
}

/// What a person sees of a healthy run: no word of trouble, and a few lines of ours at each stop.
fn a_healthy_run_shows_no_problem(version: &str) {
    if !tmux_is_there() {
        return;
    }
    let workshop = Workshop::with_tasks(5);
    let worker = workshop.worker();
    let model = ScriptedModel::start(move |asked| worker.one_task_then_stop(asked));
    let terminal = start(&workshop, &workshop.client(version, &model));
    type_line(&terminal, "/speckit:implement");
    terminal.wait_for("Ralph-speckit: done: 001-long-list · 5 of 5 tasks");
    let screen = terminal.screen();
    assert_eq!(workshop.verdicts().len(), 5, "{screen}");
    // An older client has no answer but a block, and calls it an error.
    if version == "2.1.143" {
        return;
    }
    let stops = screen.matches("● That is one. I stop here.").count();
    assert_eq!(stops, 4, "{screen}");
    assert_no_trouble(&screen, "● That is one. I stop here.");
}

/// Fails where a screen has a word of trouble, or more than four lines of ours between a stop of the agent and its next
/// work; `stop` is what it says then.
pub fn assert_no_trouble(screen: &str, stop: &str) {
    let words = screen.to_lowercase();
    for word in ["problem", "error", "failed"] {
        assert!(!words.contains(word), "{word:?} in:\n{screen}");
    }
    for stop in screen.split(stop).skip(1) {
        let ours = stop
            .lines()
            .skip_while(|line| !line.trim_start().starts_with('⎿'))
            .take_while(|line| !line.starts_with("● I do") && !line.starts_with("● Everything"));
        // The client says in a line of its own that a hook has run.
        let ours = ours.filter(|line| !line.trim().is_empty() && !line.starts_with('●')).count();
        assert!((1..=4).contains(&ours), "{ours} lines after a stop:\n{screen}");
    }
}

fn escape_leaves_no_check(version: &str) {
    if !tmux_is_there() {
        return;
    }
    let workshop = Workshop::with_tasks(1);
    workshop.project.write(
        "check.sh",
        "(trap '' TERM; echo $BASHPID >> pids; while :; do sleep 1; done) &\nsh -c 'echo $$ >> pids; exec sleep 1000' &\necho $$ >> pids\nwait\n",
    );
    let model = ScriptedModel::playing(vec![Reply::text("It is made.")]);
    let client = workshop.client(version, &model);
    let terminal = start(&workshop, &client);
    terminal.press(&["-l", "/speckit:ralph-loop \"Make it\" --check \"bash check.sh\""]);
    terminal.wait_for("bash check.sh");
    terminal.press(&["Enter"]);
    let pids = || workshop.project.read("pids");
    wait_until("a check runs", || pids().lines().count() == 3 && pids().ends_with('\n'));
    terminal.press(&["Escape"]);
    pids().lines().for_each(wait_until_gone);
    assert_eq!(workshop.status()["loop"], Value::Null, "the feature is left alone");
}

/// The agent calls a tool and then wants to stop.
fn works_then_stops(asked: &Asked) -> Reply {
    if asked.tool_results().is_empty() {
        let input = json!({"command": "date +%N >> work", "description": "work"});
        return Reply::text("I work.").and_tool("Bash", input);
    }
    Reply::text("I stop here.")
}

/// Types `/speckit:ralph-loop "Make it"`.
pub fn type_the_loop(terminal: &Terminal) {
    terminal.press(&["-l", "/speckit:ralph-loop \"Make it\""]);
    terminal.wait_for("\"Make it\"");
    terminal.press(&["Enter"]);
}

/// Types a line, waits until the client has read it, and sends it.
pub fn type_line(terminal: &Terminal, line: &str) {
    terminal.press(&["-l", line]);
    terminal.wait_for(line);
    terminal.press(&["Enter"]);
}

/// The client keeps what is typed meanwhile until the turn is over, and the loop holds the turn.
fn typed_cancel_ends_the_loop(version: &str) {
    if !tmux_is_there() {
        return;
    }
    let workshop = Workshop::with_tasks(1);
    let (go, wait_to_go) = channel();
    let model = ScriptedModel::start(move |asked| {
        if asked.number == 4 {
            wait_to_go.recv().expect("the person");
        }
        works_then_stops(asked)
    });
    let client = workshop.client(version, &model);
    let terminal = start(&workshop, &client);
    type_the_loop(&terminal);
    model.wait_for_main_request(4);
    type_line(&terminal, "/speckit:cancel-ralph");
    terminal.wait_for("edit queued messages");
    // The transcript lags; what is not there yet is found at the next stop.
    wait_until("the transcript", || {
        transcript_has(&client.config_folder(), r#""operation":"enqueue""#)
    });
    go.send(()).expect("the agent");
    terminal.wait_for("Ralph-speckit: ended (cancelled)");
    assert_eq!(workshop.verdicts(), ["continue", "wait", "end cancelled"]);
    assert_eq!(model.main_requests().len(), 4, "no turn more:\n{}", terminal.screen());
    // A newer client gives a command that a hook has answered back to the person, for them to edit.
    if version != "2.1.143" {
        let is_back = |screen: &str| screen.contains("\n❯\u{a0}/speckit:cancel-ralph");
        terminal.wait_until("the command is back", is_back);
        terminal.press(&["C-u"]);
        terminal.wait_until("the command is gone", |screen| !is_back(screen));
    }
    // What the person types next is held by nobody.
    type_line(&terminal, "Hello again");
    model.wait_for_main_request(6);
    assert_eq!(workshop.verdicts(), ["continue", "wait", "end cancelled"]);
}

/// A client with function hooks does not name in its transcript what is typed: it may be a cancel, and need not be.
fn typed_words_reach_the_agent(version: &str) {
    if !tmux_is_there() {
        return;
    }
    let workshop = Workshop::with_tasks(1);
    let (go, wait_to_go) = channel();
    let model = ScriptedModel::start(move |asked| {
        if asked.number == 4 {
            wait_to_go.recv().expect("the person");
        }
        if asked.number > 8 {
            return Reply::text("<promise>DONE</promise>");
        }
        works_then_stops(asked)
    });
    let client = workshop.client(version, &model);
    let terminal = start(&workshop, &client);
    type_the_loop(&terminal);
    model.wait_for_main_request(4);
    type_line(&terminal, "Take the blue one");
    wait_until("the transcript", || {
        transcript_has(&client.config_folder(), r#""operation":"enqueue""#)
    });
    go.send(()).expect("the agent");
    terminal.wait_for("PROMISE_ACCEPTED): Make it");
    let verdicts = workshop.verdicts();
    assert_eq!(verdicts.last().map(String::as_str), Some("end completed"), "{verdicts:?}");
    let requests = model.main_requests();
    let last = requests.last().expect("a request").body["messages"].to_string();
    assert_eq!(last.matches("Take the blue one").count(), 1, "{last}");
}

/// The older client names what is typed: there, it is a cancel that would be waited for.
fn resumed_queue_passes_no_stop(version: &str) {
    if !tmux_is_there() {
        return;
    }
    let workshop = Workshop::with_tasks(1);
    let (go, wait_to_go) = channel();
    let model = ScriptedModel::start(move |asked| {
        if asked.number == 4 {
            wait_to_go.recv().expect("the end of the client");
        }
        match asked.number {
            // Of the session that was resumed: its loop continues once, and the promise ends it.
            7.. => Reply::text("<promise>DONE</promise>"),
            _ => works_then_stops(asked),
        }
    });
    let client = workshop.client(version, &model);
    let terminal = start(&workshop, &client.clone().session(SESSION));
    type_the_loop(&terminal);
    model.wait_for_main_request(4);
    type_line(&terminal, "/speckit:cancel-ralph");
    wait_until("the transcript", || {
        transcript_has(&client.config_folder(), r#""operation":"enqueue""#)
    });
    // It is killed.
    drop(terminal);
    go.send(()).expect("the agent");
    let run = client.resume(SESSION).succeeds("Go on.");
    let verdicts = workshop.verdicts();
    assert_eq!(verdicts, ["continue", "continue", "end completed"], "{}", run.describe());
}

fn broken_turn_spends_nothing(version: &str) {
    if !tmux_is_there() {
        return;
    }
    let workshop = Workshop::with_tasks(1);
    let (go, wait_to_go) = channel();
    let model = ScriptedModel::start(move |asked| match asked.number {
        4 => Reply::silence(),
        7 => {
            wait_to_go.recv().expect("the transcript");
            Reply::text("<promise>DONE</promise>")
        }
        _ => works_then_stops(asked),
    });
    let client = workshop.client(version, &model);
    let terminal = start(&workshop, &client);
    type_the_loop(&terminal);
    model.wait_for_main_request(4);
    terminal.press(&["Escape"]);
    terminal.wait_for("Interrupted");
    assert_eq!(workshop.verdicts(), ["continue"], "the client tells no hook");
    type_line(&terminal, "Go on.");
    model.wait_for_main_request(7);
    // The transcript lags, a model that answers at once does not: what is not there cannot be counted.
    wait_until("the transcript", || {
        times_in_transcript(&client.config_folder(), r#""type":"tool_use""#) == 3
    });
    go.send(()).expect("the agent");
    terminal.wait_for_wrapped(
        "PROMISE_ACCEPTED): Make it · on the agent's word alone: no check · 3 iterations",
    );
    assert_eq!(workshop.verdicts(), ["continue", "continue", "end completed"]);
    let report = workshop.spool(&["status", "--json"]);
    let report: Value = serde_json::from_slice(&report.stdout).expect("a report");
    let calls = &report["tasks"][0]["tool_calls"];
    assert_eq!(calls, 3, "those of the half turn are counted, and once");
}

fn failing_turn_pauses_until_prompt(version: &str) {
    if !tmux_is_there() {
        return;
    }
    let workshop = Workshop::with_tasks(1);
    let broken = Arc::new(AtomicBool::new(false));
    let breaks = Arc::clone(&broken);
    let model = ScriptedModel::start(move |asked| {
        if asked.number == 3 {
            breaks.store(true, Ordering::SeqCst);
        }
        if breaks.load(Ordering::SeqCst) {
            return Reply::error(400, "invalid_request_error", "the service is out of order");
        }
        if asked.number > 3 {
            return Reply::text("<promise>DONE</promise>");
        }
        works_then_stops(asked)
    });
    let terminal = start(&workshop, &workshop.client(version, &model));
    type_the_loop(&terminal);
    terminal.wait_for("the service is out of order");
    let status = || String::from_utf8(workshop.spool(&["status"]).stdout).expect("a report");
    wait_until("the loop pauses", || status().contains("Loop: paused for"));
    let why = "(the turn broke off: API Error: 400 the service is out of order)";
    assert!(status().contains(why), "{}", status());
    broken.store(false, Ordering::SeqCst);
    type_line(&terminal, "Go on.");
    terminal.wait_for_wrapped(
        "PROMISE_ACCEPTED): Make it · on the agent's word alone: no check · 2 iterations",
    );
    let events: Vec<_> =
        workshop.journal().into_iter().map(|entry| entry["event"].clone()).collect();
    assert_eq!(events, ["armed", "stop", "paused", "resumed", "stop"]);
}

/// `/clear` begins another session in the same process: the loop goes on in it.
fn t6_cleared_session_keeps_loop(version: &str) {
    if !tmux_is_there() {
        return;
    }
    let workshop = Workshop::with_tasks(1);
    let cleared = Arc::new(AtomicBool::new(false));
    let is_cleared = Arc::clone(&cleared);
    let model = ScriptedModel::start(move |asked| {
        if is_cleared.load(Ordering::SeqCst) {
            return Reply::text("<promise>DONE</promise>");
        }
        if asked.number > 2 {
            return Reply::error(400, "invalid_request_error", "the service is out of order");
        }
        works_then_stops(asked)
    });
    let terminal = start(&workshop, &workshop.client(version, &model));
    type_the_loop(&terminal);
    terminal.wait_for("the service is out of order");
    type_line(&terminal, "/clear");
    terminal.wait_for("goes on in this session");
    cleared.store(true, Ordering::SeqCst);
    type_line(&terminal, "Go on.");
    terminal.wait_for_wrapped(
        "PROMISE_ACCEPTED): Make it · on the agent's word alone: no check · 2 iterations",
    );
}

/// A question and a permission hold the turn itself: the client asks no Stop hook before the answer,
/// so that a loop has nothing to wait for.
fn waiting_person_brings_no_stop(version: &str) {
    if !tmux_is_there() {
        return;
    }
    let workshop = Workshop::with_tasks(1);
    let question = json!({"questions": [{
        "question": "Which colour shall it have?", "header": "Colour", "multiSelect": false,
        "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
    }]});
    let (go, wait_to_go) = channel();
    let model = ScriptedModel::start(move |asked| {
        if asked.number > 1 {
            wait_to_go.recv().expect("the person");
        }
        match asked.number {
            1 => Reply::tool("AskUserQuestion", question.clone()),
            2 => Reply::tool("Bash", json!({"command": "touch allowed", "description": "touch"})),
            _ => Reply::text("<promise>DONE</promise>"),
        }
    });
    let asks = json!({"permissions": {"ask": ["Bash(touch:*)"]}}).to_string();
    let client = client(version, &workshop.project, &model)
        .plugin(&workshop.recording_plugin())
        .settings(&workshop.project.write("settings.json", &asks));
    let stops = || workshop.recorded().iter().filter(|call| call.event == "Stop").count();
    let terminal = start(&workshop, &client);
    terminal.press(&["-l", "/speckit:ralph-loop \"Make it\""]);
    terminal.wait_for("ralph-loop \"Make it\"");
    terminal.press(&["Enter"]);
    terminal.wait_for("Which colour shall it have?");
    assert_eq!(stops(), 0, "{}", terminal.screen());
    terminal.answer("Enter to select", &model);
    go.send(()).expect("the agent");
    terminal.wait_for("Do you want to proceed?");
    assert_eq!(stops(), 0, "{}", terminal.screen());
    assert!(!workshop.project.path().join("allowed").exists());
    terminal.answer("Do you want to proceed?", &model);
    go.send(()).expect("the agent");
    terminal.wait_for_wrapped(
        "PROMISE_ACCEPTED): Make it · on the agent's word alone: no check · 1 iteration",
    );
    assert_eq!(stops(), 1, "{}", terminal.screen());
    assert!(workshop.project.path().join("allowed").exists());
    assert_eq!(workshop.verdicts(), ["end completed"]);
}

/// Waits until something has come about that no screen shows.
pub fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let patience = Deadline::after(PATIENCE);
    while !is_so() {
        assert!(!patience.is_over(), "it never came about: {what}");
        pause(LOOK);
    }
}

/// Whether the transcripts in this configuration of a client have these words.
pub fn transcript_has(config: &Path, words: &str) -> bool {
    times_in_transcript(config, words) > 0
}

/// How often these words stand in the transcripts.
fn times_in_transcript(config: &Path, words: &str) -> usize {
    let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let projects = entries(config.join("projects"));
    let files = projects.flat_map(|project| entries(project.path()));
    let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
    texts.map(|text| text.matches(words).count()).sum()
}
