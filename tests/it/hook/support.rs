//! A scratch project, a transcript in Claude Code's format, and the real hook: what the hook tests share.

use crate::hook::outcome::Outcome;
use crate::hook::transcript::Transcript;
pub use crate::support::scratch::HOOK;
use crate::support::scratch::started_by;
use crate::support::scratch::{SPOOL, Scratch, contents};
use crate::support::work;
use ralph_speckit::store::loops::{Loops, Record};
use ralph_speckit::world::{self, Deadline};
use serde_json::{Map, Value, json};
use std::fs::{self, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::ops::Deref;
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, PermissionsExt};
#[cfg(unix)]
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, SystemTime};

/// What a hook does that waits for ever; how long each wait may take is settled in `src/hook/mod.rs` (spec 003, NFR-1).
const LIMIT: Duration = crate::support::limited::PATIENCE;
/// A patience that is soon at its end, and one that is not.
pub const SHORT: Duration = Duration::from_millis(50);
pub const LONG: Duration = Duration::from_mins(1);
/// The feature that most tests work on.
pub const FEATURE: &str = "001-login";
/// Three tasks, the first one done.
pub const THREE_TASKS: &str =
    "# Tasks\n\n- [x] T001 Create it\n- [ ] T002 Fill it\n- [ ] T003 [VERIFY] Try it\n";
/// The same with every box ticked.
pub const ALL_DONE: &str =
    "# Tasks\n\n- [x] T001 Create it\n- [x] T002 Fill it\n- [x] T003 [VERIFY] Try it\n";

/// A state file as older tools write it: in execution, and not armed.
pub fn executing(index: u64, total: u64) -> Value {
    json!({"phase": "execution", "taskIndex": index, "totalTasks": total, "taskIteration": 1,
        "maxTaskIterations": 5, "globalIteration": 1, "maxGlobalIterations": 100})
}

/// A task list of this length, its first tasks done.
pub fn numbered_tasks(total: usize, done: usize) -> String {
    let mark = |number| if number <= done { 'x' } else { ' ' };
    (1..=total).fold(String::new(), |list, number| {
        list + &format!("- [{}] T{number:03} Do\n", mark(number))
    })
}

/// Dates a file ten seconds back.
pub fn leave_alone(path: &Path) {
    date(path, -10);
}

/// Dates a file some seconds from now.
pub fn date(path: &Path, seconds: i64) {
    let length = Duration::from_secs(seconds.unsigned_abs());
    let time = SystemTime::UNIX_EPOCH + Duration::from_millis(world::now().millis());
    let time = if seconds < 0 { time - length } else { time + length };
    filetime::set_file_mtime(path, time.into()).unwrap();
}

/// A throw-away spec-kit project, its transcripts beside it.
pub struct Bench {
    scratch: Scratch,
    feature: String,
}

impl Deref for Bench {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        &self.scratch
    }
}

impl Bench {
    /// A project with nothing but an empty `.specify`.
    pub fn project() -> Self {
        let bench = Self::folder();
        fs::create_dir_all(bench.root.join(".specify")).unwrap();
        bench
    }

    /// A folder that is no project.
    pub fn folder() -> Self {
        let scratch = Scratch::new("ralph-");
        fs::create_dir(scratch.path("src")).unwrap();
        fs::create_dir(scratch.beside("transcripts")).unwrap();
        Self { scratch, feature: FEATURE.to_owned() }
    }

    /// A project in the middle of its list: three tasks, one of them done, armed by nobody.
    pub fn in_execution() -> Self {
        Self::project().current_feature(FEATURE).tasks(THREE_TASKS).state(&executing(1, 3))
    }

    /// A feature with a list and no loop yet.
    pub fn ready() -> Self {
        Self::project().current_feature(FEATURE).tasks(THREE_TASKS)
    }

    /// The same, armed by a person in the session `s1`.
    #[track_caller]
    pub fn armed() -> Self {
        let bench = Self::ready();
        bench.implement("s1", "").context();
        bench
    }

    /// In the middle of its list, with a loop that the session `s1` has taken at a stop.
    #[track_caller]
    pub fn taken() -> Self {
        let bench = Self::in_execution();
        bench.stop("s1").run().reason();
        bench
    }

    /// Makes a feature the current one; what follows is about it.
    pub fn current_feature(self, name: &str) -> Self {
        self.file(".specify/.current-feature", &format!("{name}\n")).feature(name)
    }

    /// Makes a feature's folder; what follows is about it.
    pub fn feature(mut self, name: &str) -> Self {
        name.clone_into(&mut self.feature);
        fs::create_dir_all(self.feature_path("")).unwrap();
        self
    }

    pub fn tasks(self, text: &str) -> Self {
        self.write_tasks(text);
        self
    }

    pub fn state(self, state: &Value) -> Self {
        self.raw_state(state.to_string())
    }

    /// A state file with any bytes, old enough to be nobody's work in progress.
    pub fn raw_state(self, bytes: impl AsRef<[u8]>) -> Self {
        self.write_state(bytes);
        self
    }

    pub fn settings(self, text: &str) -> Self {
        self.file(".claude/ralph-speckit.local.md", text)
    }

    pub fn file(self, name: &str, text: &str) -> Self {
        self.write(name, text);
        self
    }

    /// A folder beside the project, outside of it.
    pub fn outside(&self) -> PathBuf {
        let path = self.beside("outside");
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// What a person armed, as it is kept in their home folder: the pin `feature-…`, `session-…`.
    #[allow(dead_code, reason = "only the tests of the ralph loop do")]
    pub fn pin(&self, name: &str) -> Option<Value> {
        let kept: Value = serde_json::from_slice(&fs::read(self.pin_path(name)?).unwrap()).unwrap();
        if !name.starts_with("session-") {
            let is_armed = kept["armed_by"] == "command" || kept["armed_by"] == "terminal";
            return Some(kept).filter(|kept| is_armed && kept["ended"].is_null());
        }
        let lives = kept["ledger"]["ended"].is_null();
        kept.get("armed").filter(|_| lives).cloned()
    }

    /// The path of that file.
    #[allow(dead_code, reason = "not all tests that share this look at it")]
    pub fn pin_path(&self, name: &str) -> Option<PathBuf> {
        let projects = self.kept().join("projects");
        let folders = fs::read_dir(projects).into_iter().flatten().flatten();
        let mut pins = folders.map(|folder| folder.path().join(format!("{name}.json")));
        pins.find(|path| path.is_file())
    }

    pub fn feature_path(&self, name: &str) -> PathBuf {
        self.root.join(".specify").join("specs").join(&self.feature).join(name)
    }

    pub fn state_path(&self) -> PathBuf {
        self.feature_path(".speckit-state.json")
    }

    pub fn write_tasks(&self, text: &str) {
        let path = self.feature_path("tasks.md");
        let before = fs::read_to_string(&path).unwrap_or_default();
        fs::write(&path, text).unwrap();
        work::work_on_ticked(&self.root, &path, &before, text);
        leave_alone(&self.feature_path("tasks.md"));
    }

    pub fn write_state(&self, bytes: impl AsRef<[u8]>) {
        fs::write(self.state_path(), bytes).unwrap();
        leave_alone(&self.state_path());
    }

    /// Changes one field of the state file, as a coordinator does.
    pub fn set_state(&self, field: &str, value: impl Into<Value>) {
        let mut state = self.read_state();
        state[field] = value.into();
        self.write_state(state.to_string());
    }

    pub fn read_state(&self) -> Value {
        serde_json::from_slice(&fs::read(self.state_path()).unwrap()).unwrap()
    }

    /// Ticks the box of one task, as an agent does.
    pub fn tick(&self, id: &str) {
        let text = fs::read_to_string(self.feature_path("tasks.md")).unwrap();
        let (open, done) = (format!("[ ] {id} "), format!("[x] {id} "));
        assert!(text.contains(&open), "{id} is not open in:\n{text}");
        self.write_tasks(&text.replace(&open, &done));
    }

    pub fn transcript(&self, session: &str) -> Transcript {
        Transcript { path: self.beside(&format!("transcripts/{session}.jsonl")) }
    }

    /// `spool`, to be started by a person in the project.
    pub fn spool(&self) -> Command {
        self.scratch.command(SPOOL)
    }

    /// The agent of this session wants to end its turn.
    pub fn stop(&self, session: &str) -> Call<'_> {
        // Field for field what Claude Code 2.1.332 sends.
        self.event("Stop", session)
            .with("permission_mode", "bypassPermissions")
            .with("effort", json!({"level": "high"}))
            .with("prompt_id", "0d5bd1c5-86d8-4f1e-9a8c-6c8f3cf1b0aa")
            .with("stop_hook_active", false)
            .with("last_assistant_message", "I am done for now.")
            .with("background_tasks", json!([]))
            .with("session_crons", json!([]))
    }

    /// A person types a slash command.
    pub fn command(&self, session: &str, name: &str, arguments: &str) -> Call<'_> {
        self.event("UserPromptExpansion", session)
            .with("expansion_type", "slash_command")
            .with("command_name", name)
            .with("command_args", arguments)
            .with("command_source", "plugin")
            .with("prompt", format!("/{name} {arguments}").trim_end())
    }

    pub fn implement(&self, session: &str, arguments: &str) -> Outcome {
        self.command(session, "speckit:implement", arguments).run()
    }

    pub fn cancel(&self, session: &str, arguments: &str) -> Outcome {
        self.command(session, "speckit:cancel", arguments).run()
    }

    /// Any event, with the fields that all of them have.
    pub fn event(&self, name: &str, session: &str) -> Call<'_> {
        let mut fields = Map::new();
        fields.insert("session_id".to_owned(), session.into());
        let path = self.transcript(session).path;
        fields.insert("transcript_path".to_owned(), path.to_str().into());
        fields.insert("cwd".to_owned(), self.root.to_str().into());
        fields.insert("hook_event_name".to_owned(), name.into());
        Call {
            bench: self,
            fields,
            raw: None,
            kept_open: false,
            late_by: Duration::ZERO,
            arguments: Vec::new(),
            environment: Vec::new(),
        }
    }

    /// Hands these bytes to the hook.
    pub fn raw(&self, bytes: impl Into<Vec<u8>>) -> Outcome {
        let call = self.event("Stop", "raw");
        Call { raw: Some(bytes.into()), ..call }.run()
    }

    /// The same from a caller that never closes its end, and that is not waited for long.
    pub fn raw_left_open(&self, bytes: &str) -> Outcome {
        let call = self.event("Stop", "raw").left_open().waiting(SHORT, SHORT);
        Call { raw: Some(bytes.into()), ..call }.run()
    }

    pub fn loops(&self) -> Loops {
        Loops::kept_at(&self.root, Some(&self.kept()))
    }

    /// The session's record; the test fails when there is none.
    pub fn record(&self, session: &str) -> Record {
        // One that was given to another user is none to the program.
        let given = || serde_json::from_slice(&fs::read(self.record_path(session)).ok()?).ok();
        let record = self.loops().peek(session).or_else(given);
        record.unwrap_or_else(|| panic!("no record of {session}"))
    }

    /// The journal of a session, one object a line.
    pub fn journal(&self, session: &str) -> Vec<Value> {
        let bytes = self.loops().journal(session);
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }

    /// What the journal says of each stop: the verdict, and the reason of an end.
    pub fn verdicts(&self, session: &str) -> Vec<String> {
        let stops = self.journal(session).into_iter().filter(|entry| entry["verdict"] != "");
        let words = stops.map(|entry| {
            format!("{} {}", entry["verdict"].as_str().unwrap(), entry["reason"].as_str().unwrap())
        });
        words.map(|words| words.trim_end().to_owned()).collect()
    }

    /// All files below the project with their content, to see that nothing was changed.
    pub fn everything(&self) -> Vec<(PathBuf, Vec<u8>)> {
        contents(&self.root)
    }
}

/// One call of the hook.
pub struct Call<'a> {
    bench: &'a Bench,
    fields: Map<String, Value>,
    raw: Option<Vec<u8>>,
    kept_open: bool,
    late_by: Duration,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
}

impl Call<'_> {
    /// The agent's last words.
    pub fn saying(self, text: &str) -> Self {
        self.with("last_assistant_message", text)
    }

    /// A Stop hook has held this turn before.
    pub fn held(self) -> Self {
        self.with("stop_hook_active", true)
    }

    /// The agent stands in another folder.
    pub fn standing_in(self, folder: &Path) -> Self {
        self.with("cwd", folder.to_str().unwrap())
    }

    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(field.to_owned(), value.into());
        self
    }

    pub fn without(mut self, field: &str) -> Self {
        self.fields.remove(field);
        self
    }

    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The caller never closes its end.
    pub fn left_open(mut self) -> Self {
        self.kept_open = true;
        self
    }

    /// The caller hands over its event this long after it has started the hook.
    #[allow(dead_code, reason = "only the tests of the hook do")]
    pub fn late_by(mut self, delay: Duration) -> Self {
        self.late_by = delay;
        self
    }

    /// The hook waits so long for its event, and so much longer where a loop may live.
    #[allow(dead_code, reason = "only the tests of the hook do")]
    pub fn waiting(self, patience: Duration, more: Duration) -> Self {
        let millis = |time: Duration| time.as_millis().to_string();
        self.variable("RALPH_TEST_PATIENCE", &millis(patience))
            .variable("RALPH_TEST_MORE_PATIENCE", &millis(more))
    }

    /// No limit of the hook passes until [`Running::let_the_clocks_run`].
    #[allow(dead_code, reason = "only the tests of the hook do")]
    pub fn with_stopped_clocks(self) -> Self {
        let clock = self.bench.top().join("clock");
        fs::write(&clock, "stop").unwrap();
        self.variable("RALPH_TEST_CLOCK", clock.to_str().unwrap())
    }

    /// The caller hands over these bytes in place of the event.
    #[allow(dead_code, reason = "only the tests of the hook do")]
    pub fn with_bytes(mut self, bytes: &str) -> Self {
        self.raw = Some(bytes.into());
        self
    }

    /// The hook is started as `hooks.json` has it for a stop.
    #[allow(dead_code, reason = "only the tests of the hook do")]
    pub fn named_stop(self) -> Self {
        self.started_for("Stop")
    }

    /// The hook is started as `hooks.json` has it for this event.
    pub fn started_for(mut self, event: &str) -> Self {
        self.arguments.extend(["claude".to_owned(), event.to_owned()]);
        self
    }

    /// The hook is started as `hooks.json` has it, so it may show all that the client can.
    pub fn by_plugin(self) -> Self {
        let event = self.fields["hook_event_name"].as_str().unwrap().to_owned();
        self.started_for(&event)
    }

    pub fn run(self) -> Outcome {
        self.start().finish()
    }

    /// Starts the hook and hands over the event; the answer is fetched later.
    pub fn start(self) -> Running {
        let program = Command::new(self.program());
        self.start_program(program)
    }

    fn started_by(&self) -> &'static [&'static str] {
        started_by(self.fields.get("hook_event_name").and_then(Value::as_str).unwrap_or_default())
    }

    fn program(&self) -> &'static str {
        self.started_by()[0]
    }

    /// Starts it where `ulimit` has set this, such as `-n 9` for no more than nine open files, its own three among them.
    #[allow(dead_code, reason = "only the tests of the hook do")]
    pub fn start_under(self, limit: &str) -> Running {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &format!("ulimit {limit}; exec \"$0\" \"$@\""), self.program()]);
        self.start_program(command)
    }

    /// Starts it as somebody who may write in the project, but not in these folders, and may not open
    /// these files.
    #[cfg(unix)]
    pub fn start_without_rights(self, read_only: &[&Path]) -> Running {
        let scratch = self.bench.top();
        let program = self.copy_of_program();
        if !program.exists() {
            fs::copy(self.program(), &program).unwrap();
        }
        let mut folders = vec![scratch.to_owned()];
        let home = self.bench.home();
        while let Some(folder) = folders.pop() {
            if folder.starts_with(&home) {
                // What is in the home folder is the person's alone: it changes hands with them.
                if scratch.metadata().unwrap().uid() == 0 {
                    std::os::unix::fs::chown(&folder, Some(65_534), Some(65_534)).unwrap();
                }
                let closed = read_only.contains(&folder.as_path());
                let mode = match (folder.is_dir(), closed) {
                    (true, false) => 0o700,
                    (true, true) => 0o500,
                    (false, false) => 0o600,
                    (false, true) => 0,
                };
                fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
                for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                    folders.push(entry.path());
                }
                continue;
            }
            let mode = if read_only.contains(&folder.as_path()) { 0o555 } else { 0o777 };
            for entry in fs::read_dir(&folder).unwrap().flatten() {
                match entry.file_type().unwrap() {
                    kind if kind.is_dir() => folders.push(entry.path()),
                    kind if kind.is_file() => {
                        let closed = read_only.contains(&entry.path().as_path());
                        let mode = if closed { 0 } else { 0o777 };
                        fs::set_permissions(entry.path(), Permissions::from_mode(mode)).unwrap();
                    }
                    _ => {}
                }
            }
            fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
        }
        self.start_as_nobody()
    }

    /// Another user cannot reach the program itself.
    #[cfg(unix)]
    fn copy_of_program(&self) -> PathBuf {
        self.bench.top().join(Path::new(self.program()).file_name().unwrap())
    }

    /// Starts it as another user; what that one may do was settled before.
    #[cfg(unix)]
    pub fn start_as_nobody(self) -> Running {
        let scratch = self.bench.top();
        let mut command = Command::new(self.copy_of_program());
        // Permissions do not hold root back.
        if scratch.metadata().unwrap().uid() == 0 {
            command.uid(65_534).gid(65_534);
        }
        self.start_program(command)
    }

    fn start_program(self, mut command: Command) -> Running {
        // These tests may be run by an agent that a runner has started.
        command.env_remove(world::RUNNER).args(&self.started_by()[1..]);
        let input = self.raw.unwrap_or_else(|| Value::Object(self.fields).to_string().into_bytes());
        command
            .args(self.arguments)
            .env_clear()
            .env("HOME", self.bench.home())
            .envs(self.environment)
            .current_dir(self.bench.top())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = loop {
            match command.spawn() {
                // A program just copied may still be open in a child of another test.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                    world::pause(Duration::from_millis(5));
                }
                child => break child.unwrap(),
            }
        };
        let deadline = Deadline::after(LIMIT);
        let mut stdin = child.stdin.take().unwrap();
        // A hook that has read enough closes its end; that is its right.
        let late_by = self.late_by;
        let handed_over = std::thread::spawn(move || {
            world::pause(late_by);
            let _ = stdin.write_all(&input);
            stdin
        });
        let kept_open = if self.kept_open { handed_over.join().ok() } else { None };
        let outputs =
            [gathered(child.stdout.take().unwrap()), gathered(child.stderr.take().unwrap())];
        let clock = self.bench.top().join("clock");
        Running { child, outputs, deadline, clock, _kept_open: kept_open }
    }
}

fn gathered(mut pipe: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

/// A hook at work, under a watchdog.
pub struct Running {
    child: Child,
    outputs: [mpsc::Receiver<Vec<u8>>; 2],
    deadline: Deadline,
    clock: PathBuf,
    _kept_open: Option<std::process::ChildStdin>,
}

impl Running {
    /// Kills the hook as a client does that does not wait any longer.
    #[allow(dead_code, reason = "only the tests of the ralph loop do")]
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Whether it has ended.
    pub fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Has the clocks of a hook go on that was started with [`Call::with_stopped_clocks`].
    pub fn let_the_clocks_run(&self) {
        fs::write(&self.clock, "0").unwrap();
    }

    /// The answer. A hook that does not end is killed, and the test fails.
    pub fn finish(mut self) -> Outcome {
        let [stdout, stderr] = self.outputs.map(|pipe| pipe.recv_timeout(self.deadline.left()));
        let (Ok(stdout), Ok(stderr)) = (stdout, stderr) else {
            self.child.kill().unwrap();
            self.child.wait().unwrap();
            panic!("the hook does not end");
        };
        let status = self.child.wait().unwrap();
        let (stdout, stderr) =
            (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
        assert_eq!(status.code(), Some(0), "stdout: {stdout}\nstderr: {stderr}");
        let answer = (!stdout.is_empty()).then(|| {
            assert!(stdout.ends_with('\n') && stdout.lines().count() == 1, "{stdout}");
            serde_json::from_str::<Value>(&stdout).expect("one JSON object")
        });
        assert!(answer.as_ref().is_none_or(Value::is_object), "{stdout}");
        let log: Vec<String> = stderr.lines().map(str::to_owned).collect();
        let ours = log.iter().all(|line| line.starts_with("[ralph-speckit] "));
        assert!(ours, "a line that is not ours: {stderr}");
        Outcome { answer, log }
    }
}
