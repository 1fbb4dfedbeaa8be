//! A scratch project that is put back, file by file, before every run, and the programs that work in it.

use std::fs::{self, Permissions};
use std::ops::Deref;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use filetime::{FileTime, set_file_mtime};
use ralph_speckit::world as clock;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::tracer::{self, Fault, Run};
use crate::limited::{Limited, until};
use crate::scratch::{SPOOL, Scratch, below, started_by};

/// The session that has the loop in most stories.
pub const OURS: &str = "3f2c8a10-0001-4000-8000-000000000001";
/// Another session of the same project.
pub const OTHER: &str = "3f2c8a10-0002-4000-8000-000000000002";
/// The feature of the project.
pub const FEATURE: &str = "001-login";
/// A file that somebody has broken.
pub const CORRUPT: &str = "{\"phase\": \"exec";
/// Four tasks, one of them done.
pub const TASKS: &str = "# Tasks: Login\n\n- [x] T001 Create it\n- [ ] T002 Fill it\n- [ ] T003 Try it\n- [ ] T004 Ship it\n";

/// A folder with a project, a home and the transcripts of two sessions.
pub struct World {
    scratch: Scratch,
}

impl Deref for World {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        &self.scratch
    }
}

/// What stood in the folder: put back in no time, again and again.
pub struct Snapshot(Vec<(PathBuf, Thing)>);

enum Thing {
    Folder(u32),
    File(Vec<u8>, u32),
    Link(PathBuf),
}

/// One call of a program: which, with what, and by which session.
#[derive(Clone, Debug)]
pub struct Call {
    program: &'static str,
    arguments: Vec<String>,
    session: Option<&'static str>,
    input: Vec<u8>,
}

impl Call {
    /// `spool …` by the agent of a session, or by a person in a terminal.
    pub fn spool(session: Option<&'static str>, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|&word| word.to_owned()).collect();
        Self { program: SPOOL, arguments, session, input: Vec::new() }
    }

    /// The hook with an event.
    pub fn hook(session: &'static str, event: &Value) -> Self {
        let [program, words @ ..] = started_by(event["hook_event_name"].as_str().unwrap()) else {
            unreachable!()
        };
        let arguments = words.iter().map(|&word| word.to_owned()).collect();
        let input = event.to_string().into_bytes();
        Self { program, arguments, session: Some(session), input }
    }

    pub fn is_hook(&self) -> bool {
        !self.input.is_empty()
    }
}

impl World {
    /// A project of spec-kit with one feature; in memory, where there is such a folder.
    pub fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let folder = TempDir::with_prefix_in("faults-", memory);
        Self::at(folder.unwrap_or_else(|_| TempDir::with_prefix("faults-").unwrap()))
    }

    /// The same in a folder of the test's own.
    pub fn at(folder: TempDir) -> Self {
        let mut scratch = Scratch::at(folder, "project");
        scratch.set("PATH", "/usr/local/bin:/usr/bin:/bin");
        scratch.add_feature(FEATURE, TASKS);
        for folder in ["transcripts", "project/src"] {
            fs::create_dir(scratch.beside(folder)).unwrap();
        }
        let world = Self { scratch };
        for session in [OURS, OTHER] {
            world.works(session);
        }
        world
    }

    pub fn feature(&self, name: &str) -> PathBuf {
        self.root.join("specs").join(FEATURE).join(name)
    }

    /// The session's agent uses a tool and changes a file.
    pub fn works(&self, session: &str) {
        self.writes(session, &json!({"type": "tool_use", "id": "t", "name": "Edit", "input": {}}));
        let source = self.path("src/main.rs");
        let grown = fs::read_to_string(&source).unwrap_or_default() + "more\n";
        fs::write(source, grown).unwrap();
    }

    /// What the client writes down of the session's agent.
    fn writes(&self, session: &str, part: &Value) {
        let path = self.transcript(session);
        let line = json!({"type": "assistant", "isSidechain": false,
            "message": {"id": "m", "role": "assistant", "content": [part]}});
        let text = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, format!("{text}{line}\n")).unwrap();
    }

    /// Writes the words of a stop into the transcript once more: each turn of the client has words of its own
    /// there, also one that ends as the one before it did.
    pub fn speaks_again(&self, call: &Call) {
        let event: Value = serde_json::from_slice(&call.input).unwrap_or_default();
        if let (Some("Stop"), Some(words), Some(session)) = (
            event["hook_event_name"].as_str(),
            event["last_assistant_message"].as_str(),
            event["session_id"].as_str(),
        ) {
            self.writes(session, &json!({"type": "text", "text": words}));
        }
    }

    fn transcript(&self, session: &str) -> PathBuf {
        self.beside(&format!("transcripts/{session}.jsonl"))
    }

    /// Ticks the box of a task by hand.
    pub fn tick(&self, id: &str) {
        let path = self.feature("tasks.md");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text.replace(&format!("[ ] {id} "), &format!("[x] {id} "))).unwrap();
    }

    /// Changes one field of the state file, as another tool does.
    pub fn set_state(&self, field: &str, value: impl Into<Value>) {
        let path = self.feature(".speckit-state.json");
        let mut state: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        state[field] = value.into();
        fs::write(path, state.to_string()).unwrap();
    }

    fn event(&self, name: &str, session: &str) -> Map<String, Value> {
        let mut event = Map::new();
        event.insert("session_id".to_owned(), session.into());
        event.insert("transcript_path".to_owned(), self.transcript(session).to_str().into());
        event.insert("cwd".to_owned(), self.root.to_str().into());
        event.insert("hook_event_name".to_owned(), name.into());
        event
    }

    /// The agent of a session wants to end its turn with these words.
    pub fn stop(&self, session: &'static str, words: &str) -> Call {
        self.writes(session, &json!({"type": "text", "text": words}));
        let mut event = self.event("Stop", session);
        event.insert("stop_hook_active".to_owned(), false.into());
        event.insert("last_assistant_message".to_owned(), words.into());
        event.insert("background_tasks".to_owned(), json!([]));
        event.insert("session_crons".to_owned(), json!([]));
        Call::hook(session, &event.into())
    }

    /// A person types a slash command.
    pub fn command(&self, session: &'static str, name: &str, arguments: &str) -> Call {
        let mut event = self.event("UserPromptExpansion", session);
        event.insert("expansion_type".to_owned(), "slash_command".into());
        event.insert("command_name".to_owned(), name.into());
        event.insert("command_args".to_owned(), arguments.into());
        event.insert("command_source".to_owned(), "plugin".into());
        event.insert("prompt".to_owned(), format!("/{name} {arguments}").trim_end().into());
        Call::hook(session, &event.into())
    }

    /// Another event, with one field of its own.
    pub fn other_event(&self, session: &'static str, name: &str, field: (&str, &str)) -> Call {
        let mut event = self.event(name, session);
        event.insert(field.0.to_owned(), field.1.into());
        Call::hook(session, &event.into())
    }

    fn prepared(&self, call: &Call) -> Command {
        let mut command = self.scratch.command(call.program);
        command.args(&call.arguments);
        // A session's agent finds its own id there.
        if let Some(session) = call.session.filter(|_| !call.is_hook()) {
            command.env("CLAUDE_CODE_SESSION_ID", session);
        }
        command
    }

    /// Runs a program with a fault in it.
    pub fn run(&self, call: &Call, fault: Fault) -> Run {
        tracer::run(&self.prepared(call), &call.input, fault)
    }

    /// Runs a program as it is.
    pub fn plain(&self, call: &Call) -> Run {
        let mut command = self.prepared(call);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that does not read is none of this test's.
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), &call.input);
        let output = child.finish();
        Run::plain(&output)
    }

    /// Dates all files back: nobody is writing them, and what was left behind is old.
    pub fn ages(&self) {
        let long_ago =
            FileTime::from_unix_time((clock::now().millis() / 1000).cast_signed() - 7_200, 0);
        for (path, kind) in below(self.top()) {
            if !kind.is_symlink() {
                // What is gone by now needs no date.
                let _ = set_file_mtime(path, long_ago);
            }
        }
    }

    pub fn snapshot(&self) -> Snapshot {
        let thing = |path: &Path, kind: fs::FileType| {
            let mode = || fs::symlink_metadata(path).unwrap().permissions().mode();
            if kind.is_dir() {
                Thing::Folder(mode())
            } else if kind.is_symlink() {
                Thing::Link(fs::read_link(path).unwrap())
            } else {
                Thing::File(fs::read(path).unwrap(), mode())
            }
        };
        let things = below(self.top()).into_iter();
        Snapshot(things.map(|(path, kind)| (path.clone(), thing(&path, kind))).collect())
    }

    /// Puts everything back as it was.
    pub fn restore(&self, snapshot: &Snapshot) {
        for entry in fs::read_dir(self.top()).unwrap().flatten() {
            let path = entry.path();
            // Somebody who was killed may have left a process that still writes there.
            until("the end of whoever writes there", || {
                let removed = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
                (removed.is_ok() || !path.exists()).then_some(())
            });
        }
        for (path, thing) in &snapshot.0 {
            match thing {
                Thing::Folder(mode) => {
                    fs::create_dir(path).unwrap();
                    fs::set_permissions(path, Permissions::from_mode(*mode)).unwrap();
                }
                Thing::File(bytes, mode) => {
                    fs::write(path, bytes).unwrap();
                    fs::set_permissions(path, Permissions::from_mode(*mode)).unwrap();
                }
                Thing::Link(to) => symlink(to, path).unwrap(),
            }
        }
        self.ages();
    }

    /// All files of the scratch folder by name, with their content.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let is_ours = |path: &Path| !path.starts_with(self.top().join("home/.local/share"));
        let files = below(self.top()).into_iter();
        let files = files.filter(|(path, kind)| kind.is_file() && is_ours(path));
        // What a program that was killed has started may still be at work, and remove what it made.
        files.filter_map(|(path, _)| fs::read(&path).ok().map(|bytes| (path, bytes))).collect()
    }
}
