//! What is done with any bytes at all, and what must hold of it: nothing panics, everything is bounded, and
//! each reading means something. `tests/fuzz` and `fuzz/main.rs` share this table.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use ralph_speckit::engine::edit;
use ralph_speckit::engine::tasks::TaskList;
use ralph_speckit::feature::extensions::mandatory_in;
use ralph_speckit::feature::settings::Settings;
use ralph_speckit::feature::state::State;
use ralph_speckit::hosts::claude::event::ClaudeEvent;
use ralph_speckit::hosts::claude::transcript::activity;
use ralph_speckit::hosts::claude::transcript::tail::TranscriptTail;
use ralph_speckit::hosts::transcript::TranscriptPart;
use ralph_speckit::hosts::{EventKind, HookEvent};
use ralph_speckit::runner::harness::{
    self, AgentOrder, AgentReport, Approval, ExitInfo, Harness, Permissions, Stream,
};
use ralph_speckit::runner::options::HarnessChoice;
use ralph_speckit::session::arguments::feature::FeatureRequest;
use ralph_speckit::session::arguments::task::TaskRequest;
use ralph_speckit::store::journal::{self, Entry};
use ralph_speckit::store::loops::Record;
use ralph_speckit::store::pins::Pin;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One kind of input.
pub struct Target {
    /// Its name, which is that of its folder of examples.
    pub name: &'static str,
    /// Reads the bytes and panics when something does not hold.
    pub run: fn(&[u8]),
}

/// All kinds of input.
pub const TARGETS: [Target; 14] = [
    Target { name: "event", run: event },
    Target { name: "command", run: command },
    Target { name: "settings", run: settings },
    Target { name: "extensions", run: extensions },
    Target { name: "state", run: state },
    Target { name: "tasks", run: tasks },
    Target { name: "record", run: record },
    Target { name: "transcript", run: transcript },
    Target { name: "journal", run: journal },
    Target { name: "claude", run: |bytes| stream(&HarnessChoice::Claude, bytes) },
    Target { name: "codex", run: |bytes| stream(&HarnessChoice::Codex, bytes) },
    Target { name: "opencode", run: |bytes| stream(&HarnessChoice::Opencode, bytes) },
    Target { name: "gemini", run: |bytes| stream(&HarnessChoice::Gemini, bytes) },
    Target { name: "copilot", run: |bytes| stream(&HarnessChoice::Copilot, bytes) },
];

/// The event on the hook's standard input: its texts are those that any other reader of JSON finds.
fn event(bytes: &[u8]) {
    let read = ClaudeEvent::read(bytes);
    let again = ClaudeEvent::read(bytes);
    assert_eq!(again.as_ref(), read.as_ref());
    let Some(event) = read else { return };
    let plain = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if let Ok(value) = serde_json::from_slice::<Value>(plain) {
        for (name, read) in [
            ("last_assistant_message", &event.last_assistant_message),
            ("stop_hook_active", &event.stop_hook_active),
            ("command_name", &event.command_name),
            ("command_args", &event.command_args),
            ("agent_id", &event.agent_id),
        ] {
            assert_eq!(read, value.get(name).unwrap_or(&Value::Null), "{name}");
        }
    }
    let arguments = event.command_args.as_str().unwrap_or_default().to_owned();
    let event = HookEvent::from(event);
    if let EventKind::Command { arguments: read, .. } = &event.kind {
        assert_eq!(*read, arguments);
    }
    assert!(event.cwd.as_ref().is_none_or(|path| path.is_absolute()));
    assert!(event.transcript_path().is_none_or(Path::is_absolute));
    assert!(event.background.len() <= bytes.len());
}

/// What is typed after a slash command: it is taken or refused with words.
fn command(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match TaskRequest::parse(text) {
        Ok(request) => {
            let checks = request.chosen.check();
            assert!(checks.iter().all(|check| !check.trim().is_empty()));
            let adopts = request.chosen.adopt().is_some();
            assert!(adopts || request.promise().is_some() || !checks.is_empty());
        }
        Err(refusal) => {
            assert!(refusal.to_string().contains('\n'), "no word on what to do: {refusal}");
        }
    }
    if let Err(refusal) = FeatureRequest::parse(text) {
        assert!(refusal.to_string().contains('\n'), "no word on what to do: {refusal}");
    }
}

/// The settings: an error names a line of the file, and checks written down again are the same checks.
fn settings(bytes: &[u8]) {
    match Settings::parse(bytes) {
        Err(error) => {
            let lines = bytes.split(|byte| *byte == b'\n').count();
            assert!(error.line.is_none_or(|line| (1..=lines + 1).contains(&line)), "{error:?}");
            let words = error.one_line();
            assert!(!words.contains(char::is_control) && words.len() < 1_000, "{words:?}");
        }
        Ok(settings) => {
            let checks = settings
                .checks
                .iter()
                .map(|check| serde_json::json!({ "run": check.run, "limit": check.limit_seconds }));
            let value = serde_json::json!({ "enabled": settings.chosen.enabled(), "checks": checks.collect::<Vec<_>>() });
            let again = Settings::parse(format!("---\n{value}\n---\n").as_bytes());
            let again = again.unwrap_or_else(|error| panic!("{error}\n{value}"));
            let is_on = |settings: &Settings| settings.chosen.enabled();
            assert_eq!((is_on(&again), again.checks), (is_on(&settings), settings.checks));
        }
    }
}

/// The extensions of spec-kit: what is asked of the agent are names of commands, few and in one form.
fn extensions(bytes: &[u8]) {
    let (hooks, wrong) = mandatory_in(bytes);
    for commands in [&hooks.before, &hooks.after] {
        assert!(commands.len() <= 20, "{commands:?}");
        for (place, command) in commands.iter().enumerate() {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte);
            assert!(
                (1..=80).contains(&command.len()) && command.bytes().all(is_part),
                "{command:?}"
            );
            assert!(
                !command.starts_with('-') && !commands[..place].contains(command),
                "{command:?}"
            );
        }
    }
    for words in &wrong {
        assert!(!words.contains(char::is_control) && words.len() < 1_000, "{words:?}");
    }
    let maps = [&hooks.before, &hooks.after].map(|commands| {
        let map = |command| serde_json::json!({ "command": command, "optional": false });
        commands.iter().map(map).collect::<Vec<_>>()
    });
    let again =
        serde_json::json!({ "hooks": { "before_implement": maps[0], "after_implement": maps[1] } });
    assert_eq!(mandatory_in(again.to_string().as_bytes()), (hooks, Vec::new()));
}

/// The state file: writing it down keeps every field.
fn state(bytes: &[u8]) {
    let Ok(mut state) = State::parse(bytes) else { return };
    let _numbers = (state.task_index(), state.total_tasks(), state.task_iteration());
    let _limits = (state.max_task_iterations(), state.max_global_iterations());
    state.set("phase", "execution");
    assert_eq!(state.phase(), "execution");
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let before: Value = serde_json::from_slice(text).unwrap();
    for (name, _) in before.as_object().unwrap() {
        assert!(state.has(name), "{name} is lost");
    }
}

/// The task list: ticking a task changes the inside of its box and no other task, a new task leaves every other byte.
fn tasks(bytes: &[u8]) {
    let list = TaskList::parse(bytes);
    assert_eq!(list.done() + list.open().count(), list.tasks.len());
    for task in &list.tasks {
        assert!(task.mark_at < bytes.len() && task.block.end <= bytes.len());
        let _proof = task.verify_command(bytes);
    }
    let next = list.next();
    assert_eq!(next.is_empty(), list.open().next().is_none(), "open tasks, and none is next");
    assert!(next.iter().all(|task| !task.done));
    // What is quadratic in the tasks is tried on a few.
    for task in list.open().take(4) {
        let ticked = edit::tick(bytes, task);
        let (front, behind) = (&bytes[..task.mark_at], &ticked[task.mark_at + 1..]);
        assert_eq!(&ticked[..=task.mark_at], [front, b"x"].concat());
        assert!(bytes.ends_with(behind));
        assert!(!bytes[task.mark_at..bytes.len() - behind.len()].contains(&b']'));
        let after = TaskList::parse(&ticked);
        assert_eq!(after.tasks.len(), list.tasks.len());
        for (one, other) in after.tasks.iter().zip(&list.tasks) {
            assert_eq!((&one.id, one.line), (&other.id, other.line));
            assert_eq!(one.done, other.done || one.line == task.line);
        }
        if let Some(grown) = edit::add_after(bytes, &list, task, "Do more") {
            let kept = grown.text.len() - bytes.len();
            let start =
                bytes.iter().zip(&grown.text).take_while(|(one, other)| one == other).count();
            assert_eq!(bytes[start..], grown.text[start + kept..], "more than one line is new");
            assert_eq!(grown.list.tasks.len(), list.tasks.len() + 1);
        }
    }
}

/// A record and a pin: written down and read again they are the same, with fields that nobody knows.
fn record(bytes: &[u8]) {
    same_again::<Record>(bytes);
    same_again::<Pin>(bytes);
}

fn same_again<T: DeserializeOwned + Serialize + PartialEq + std::fmt::Debug>(bytes: &[u8]) {
    let Ok(read) = serde_json::from_slice::<T>(bytes) else { return };
    let written = serde_json::to_vec(&read).unwrap();
    let again: T = serde_json::from_slice(&written).unwrap();
    assert_eq!(again, read);
    let (Ok(Value::Object(before)), Ok(Value::Object(after))) =
        (serde_json::from_slice(bytes), serde_json::from_slice::<Value>(&written))
    else {
        return;
    };
    for (name, value) in before {
        let is_empty = value.is_null() || value == "" || value == false || value == 0;
        assert!(is_empty || after.contains_key(&name), "{name} is lost");
    }
}

/// A transcript: what is read of it is bounded by it, and a second look finds the same.
fn transcript(bytes: &[u8]) {
    let path = scratch("transcript", bytes);
    let length = bytes.len() as u64;
    let all = activity::since(&path, TranscriptPart::default()).unwrap();
    assert!(all.read_up_to <= length && all.count.unwrap_or(0) <= length);
    let rest = activity::since(
        &path,
        TranscriptPart { from: all.read_up_to, last: all.last, ..TranscriptPart::default() },
    )
    .unwrap();
    assert_eq!(rest.count.unwrap_or(0), 0, "what was counted is counted again");
    let beyond =
        activity::since(&path, TranscriptPart { from: length + 1, ..TranscriptPart::default() })
            .unwrap();
    assert_eq!((beyond.count, beyond.read_up_to), (all.count, all.read_up_to));
    let tail = TranscriptTail::read_for_signal(&path, 0).unwrap();
    let said = tail.last_text().unwrap_or_default();
    assert!(said.len() <= 3 * bytes.len());
    let _signal = tail.says("ALL_TASKS_COMPLETE");
    assert_eq!(TranscriptTail::read(&path, 0), TranscriptTail::read(&path, length + 1));
}

/// A journal: whatever stands in it, an entry that is added is read, and nothing that was read is lost.
fn journal(bytes: &[u8]) {
    let (before, _) = journal::entries(bytes);
    let path = scratch("journal", bytes);
    let entry = Entry {
        at: ralph_speckit::world::WallTime::from_millis(7),
        event: "fuzz".to_owned().into(),
        words: "a \" \n b".to_owned(),
        ..Entry::default()
    };
    journal::append(&path, std::slice::from_ref(&entry)).unwrap();
    let text = fs::read(&path).unwrap();
    assert!(text.starts_with(bytes));
    let (after, _) = journal::entries(&text);
    assert_eq!(after.last(), Some(&entry));
    assert_eq!(after[..after.len() - 1], before[..]);
}

/// The output of an agent program: no more is heard than was printed, and the same twice.
fn stream(choice: &HarnessChoice, bytes: &[u8]) {
    let harness = &*harness::harness(choice).unwrap();
    let first = read_stream(harness, bytes, Approval::Own);
    assert_eq!(first, read_stream(harness, bytes, Approval::Own));
    let (report, heard) = first;
    let most = 8 * bytes.len() + 4_096;
    assert!(heard <= most && report.final_text.len() <= most, "{heard} of {}", bytes.len());
    let _sum = report.tokens.map(harness::TokenUsage::total);
    let _all = read_stream(harness, bytes, Approval::All);
}

fn read_stream(harness: &dyn Harness, bytes: &[u8], approval: Approval) -> (AgentReport, usize) {
    let order = AgentOrder {
        prompt: "go on",
        model: None,
        version: "",
        approval,
        permissions: &Permissions::default(),
        resume: None,
        folder: Path::new("/nowhere"),
        scratch: Path::new("/nowhere"),
    };
    let mut reader = harness.reader(&order);
    let mut heard = 0;
    for line in bytes.split(|byte| *byte == b'\n') {
        let (stream, line) = match line.strip_prefix(b"!") {
            Some(line) => (Stream::Errors, line),
            None => (Stream::Output, line),
        };
        reader.line(stream, line, &mut |event| heard += format!("{event:?}").len() / 4);
    }
    (reader.report(&ExitInfo { code: Some(0), ..ExitInfo::default() }), heard)
}

/// A file with these bytes; each thread has one of its own.
fn scratch(name: &str, bytes: &[u8]) -> PathBuf {
    let thread = format!("{:?}", std::thread::current().id());
    // In memory where there is such a folder: a journal is flushed to the disk again and again.
    let memory = PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let path = folder.join(format!(
        "ralph-fuzz-{name}-{}-{}",
        std::process::id(),
        thread.trim_matches(|letter: char| !letter.is_ascii_digit())
    ));
    let mut file = fs::File::create(&path).unwrap();
    file.write_all(bytes).unwrap();
    path
}
