//! A throw-away project with a change, an agent program that is a script, and `spool ralph` on it.

use crate::support::left_out::left_out;
use crate::support::limited::{Limited, until};
use crate::support::scratch::{SPOOL, Scratch};
use std::fs::{self, File};
use std::io::Write;
use std::ops::Deref;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use ralph_speckit::world::{Deadline, pause};
use rustix::fs::OFlags;
use serde_json::Value;

use crate::runner::ran::{Ran, Running};
use crate::support::witness::{PATIENCE, Witness};

/// The change that all loops here work on.
pub const CHANGE: &str = "002-01_add-ralph-loop";
/// The promise that nobody has asked to be another one.
pub const PROMISE: &str = "<promise>COMPLETE</promise>";
/// Longer than the limits of time that a test sets to an hour.
pub const MORE_THAN_AN_HOUR: Duration = Duration::from_mins(61);
/// What a script of an agent begins with: it counts its runs in `$n`, and keeps notes on its `$DESK`.
const BEGINNING: &str = r#"#!/bin/sh
n=0
if [ -f "$DESK/runs" ]; then read -r n < "$DESK/runs"; fi
n=$((n + 1))
echo "$n" > "$DESK/runs"
"#;

/// A project in a git repository, with a home and a search path of its own.
pub struct Bench {
    scratch: Scratch,
}

impl Deref for Bench {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        &self.scratch
    }
}

impl Bench {
    /// A project without git: one change with a proposal and no task list.
    pub fn folder() -> Self {
        let mut scratch = Scratch::new("runner-");
        let path = ralph_speckit::world::raw_variable("PATH").unwrap();
        let git = std::env::split_paths(&path).find(|folder| folder.join("git").is_file());
        for folder in git.into_iter().chain([scratch.beside("bin")]) {
            scratch.search_first(folder);
        }
        let desk = scratch.beside("desk");
        for folder in ["bin", "desk"] {
            fs::create_dir(scratch.beside(folder)).unwrap();
        }
        for (name, value) in [
            ("DESK", desk.as_os_str()),
            ("GIT_CONFIG_NOSYSTEM", "1".as_ref()),
            ("RALPH_TEST_CLOCK", scratch.beside("clock").as_os_str()),
            ("LANG", "C.UTF-8".as_ref()),
        ] {
            scratch.set(name, value);
        }
        let bench = Self { scratch };
        bench.write(in_change("proposal.md"), "# Add a loop\n\nWHAT THE PROPOSAL WANTS\n");
        bench
    }

    /// The same in a git repository with one commit.
    pub fn new() -> Self {
        let bench = Self::folder();
        bench.init();
        bench.commit("the beginning");
        bench
    }

    /// The same with a task list in the change's folder.
    pub fn with_tasks(list: &str) -> Self {
        let bench = Self::folder();
        bench.tasks(list);
        bench.init();
        bench.commit("the beginning");
        bench
    }

    pub fn tasks(&self, list: &str) {
        self.write(in_change("tasks.md"), list);
    }

    /// What an agent has left on its desk.
    pub fn desk(&self, name: &str) -> String {
        let path = self.beside("desk").join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Waits until an agent has put this on its desk.
    pub fn wait_for_desk(&self, name: &str) {
        let path = self.beside("desk").join(name);
        until(name, || path.exists().then_some(()));
    }

    /// Has no limit pass before the next [`Self::let_pass`].
    pub fn stop_the_clocks(&self) {
        fs::write(self.beside("clock"), "stop").unwrap();
    }

    /// Sets the clock of all limits ahead: nobody waits, and this time has passed.
    pub fn let_pass(&self, time: Duration) {
        let clock = self.beside("clock");
        let before = fs::read_to_string(&clock).map_or(0, |text| text.parse().unwrap_or(0));
        let part = self.beside("clock.part");
        fs::write(&part, (before + time.as_millis()).to_string()).unwrap();
        // The programs never see half of it.
        fs::rename(part, clock).unwrap();
    }

    /// Lets this time pass again and again until a runner has printed these words: it may have set its limits only after what
    /// it printed before.
    pub fn let_pass_until(&self, time: Duration, running: &mut Running, words: &str) {
        until(words, || {
            self.let_pass(time);
            running.prints_soon(words).then_some(())
        });
    }

    /// How often the agent program was run.
    pub fn runs(&self) -> u32 {
        let runs = fs::read_to_string(self.beside("desk/runs"));
        runs.map_or(0, |runs| runs.trim().parse().unwrap())
    }

    /// The prompt of a run, from 1.
    pub fn prompt(&self, run: u32) -> String {
        self.desk(&format!("prompt-{run}"))
    }

    /// Puts a program on the search path.
    pub fn program(&self, name: &str, text: &str) -> PathBuf {
        self.executable(&format!("bin/{name}"), text)
    }

    /// The agent program of a loop: it keeps its prompt, then does what the script says.
    pub fn agent(&self, script: &str) -> &Self {
        self.program("agent", &format!("{BEGINNING}cat > \"$DESK/prompt-$n\"\n{script}\n"));
        self
    }

    /// An agent program under its own name that prints a stream.
    ///
    /// `answers` is the part of a `case` over its first argument that answers what it is asked about
    /// itself; its arguments are kept on the desk, one a line.
    pub fn named_agent(&self, name: &str, answers: &str, script: &str) -> &Self {
        let keep = "printf '%s\\n' \"$@\" > \"$DESK/arguments-$n\"";
        let text = BEGINNING.replacen('\n', &format!("\ncase \"$1\" in\n{answers}\nesac\n"), 1);
        self.program(name, &format!("{text}{keep}\n{script}\n"));
        self
    }

    /// A named pipe on the desk at which an agent waits: `read -r _ < "$DESK/gate"`.
    pub fn gate(&self) -> Gate {
        let path = self.beside("desk").join("gate");
        assert!(Command::new("mkfifo").arg(&path).finish().status.success());
        Gate { path }
    }

    /// Starts to watch the tree of an agent whose script begins with [`Witness::held`].
    pub fn witness() -> Witness {
        Witness::new()
    }

    pub fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// `.claude/loop-state.json`.
    pub fn state(&self) -> Value {
        serde_json::from_str(&self.read(".claude/loop-state.json")).unwrap()
    }

    /// The iterations in it.
    pub fn iterations(&self) -> Vec<Value> {
        self.state()["iterations"].as_array().unwrap().clone()
    }

    /// A file of lines in the folder in which the loop keeps its state.
    pub fn state_lines(&self, name: &str) -> Vec<Value> {
        let text = self.read(&in_state(name));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What is kept outside of the project of this kind for a change.
    pub fn kept_for(&self, change: &str, kind: &str) -> Option<Vec<u8>> {
        let projects = fs::read_dir(self.kept().join("projects")).into_iter().flatten().flatten();
        let files = projects.map(|folder| folder.path().join(format!("receipts-{change}.{kind}")));
        let all: Vec<_> = files.filter_map(|file| fs::read(file).ok()).collect();
        (!all.is_empty()).then(|| all.concat())
    }

    /// The receipts of a change.
    pub fn receipts(&self, change: &str) -> Vec<Value> {
        let text = self.kept_for(change, "jsonl").unwrap_or_default();
        String::from_utf8(text)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// These fields of each receipt of a change.
    pub fn receipts_in(&self, change: &str, fields: &[&str]) -> Vec<Value> {
        let short = |receipt: Value| fields.iter().map(|field| receipt[field].clone()).collect();
        self.receipts(change).into_iter().map(short).collect()
    }

    /// Waits until no runner holds the lock on the change.
    pub fn wait_until_nobody_runs(&self) {
        let lock = File::open(self.root.join(in_state("lock"))).unwrap();
        lock.lock_shared().unwrap();
    }

    /// `spool ralph "Build it"` on the change with these further arguments, in the project.
    ///
    /// The agent program is [`Self::agent`]'s where there is one, and nothing is waited for long.
    pub fn ralph(&self, arguments: &str) -> Call<'_> {
        let mut call = self.spool(&format!("ralph --change {CHANGE} {arguments}"));
        if !arguments.contains("--retry-pause") {
            call = call.arg("--retry-pause=10ms");
        }
        // What holds the machine awake differs from machine to machine.
        if !arguments.contains("--no-stay-awake") {
            call = call.arg("--no-stay-awake");
        }
        if self.beside("bin/agent").exists() {
            call = call.arg("--harness-command").arg("agent");
        }
        call.arg("Build it")
    }

    /// `spool` with these arguments, in the project.
    pub fn spool(&self, arguments: &str) -> Call<'_> {
        let arguments = arguments.split_whitespace().map(str::to_owned).collect();
        let program = vec![SPOOL.to_owned()];
        Call { bench: self, program, arguments, folder: self.root.clone(), set: Vec::new() }
    }
}

/// A call of `spool`.
pub struct Call<'a> {
    bench: &'a Bench,
    program: Vec<String>,
    arguments: Vec<String>,
    folder: PathBuf,
    set: Vec<(String, String)>,
}

impl Call<'_> {
    pub fn arg(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Another prompt than `Build it`, which stands last.
    pub fn asking(mut self, prompt: &str) -> Self {
        self.arguments.pop();
        self.arg(prompt)
    }

    pub fn within(mut self, folder: &Path) -> Self {
        folder.clone_into(&mut self.folder);
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.set.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Starts it so that it does not hear when its terminal is closed.
    pub fn under_nohup(mut self) -> Self {
        let shell = ["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"].map(str::to_owned);
        self.program = shell.into_iter().chain(self.program).collect();
        self
    }

    /// Gives its terminal this many columns.
    pub fn with_columns(mut self, columns: u32) -> Self {
        let set = format!("stty cols {columns} rows 24; exec \"$@\"");
        let shell = ["sh".to_owned(), "-c".to_owned(), set, "sh".to_owned()];
        self.program = shell.into_iter().chain(self.program).collect();
        self
    }

    /// Has it started by these words, which get it as the rest of their arguments.
    pub fn started_by(mut self, words: &[&str]) -> Self {
        self.program.splice(..0, words.iter().map(|&word| word.to_owned()));
        self
    }

    /// Gives its terminal this name.
    pub fn with_term(mut self, name: &str) -> Self {
        self.program.splice(..0, ["env".to_owned(), format!("TERM={name}")]);
        self
    }

    pub fn command(&self) -> Command {
        let mut command = self.started(&self.program[0]);
        command.args(&self.program[1..]).args(&self.arguments);
        command
    }

    fn started(&self, program: &str) -> Command {
        let mut command = self.bench.scratch.command(program);
        command.current_dir(&self.folder).envs(self.set.iter().cloned());
        command
    }

    pub fn start(&self) -> Running {
        Running::start(&mut self.command())
    }

    pub fn run(&self) -> Ran {
        self.start().finish()
    }

    /// Starts it on a terminal of its own, `None` where the program `script` is not there.
    pub fn on_a_terminal(&self) -> Option<Running> {
        if !Path::new("/usr/bin/script").exists() {
            left_out("a terminal is needed, and `script` is not installed");
            return None;
        }
        let words = [self.program.clone(), self.arguments.clone()].concat();
        let mut command = self.started("/usr/bin/script");
        if cfg!(target_os = "macos") {
            command.args(["-q", "/dev/null"]).args(words);
        } else {
            command.args(["-qefc", &shell_words::join(words), "/dev/null"]);
        }
        command.env("TERM", "xterm").stdin(Stdio::piped());
        Some(Running::start(&mut command))
    }
}

/// A named pipe at which an agent waits until it is let go on.
pub struct Gate {
    path: PathBuf,
}

impl Gate {
    /// Waits until the agent stands there, then lets it go on.
    pub fn open(&self) {
        let deadline = Deadline::after(PATIENCE);
        // Opened like this, it fails as long as nobody stands there; otherwise it would wait for ever.
        let at_once = i32::try_from(OFlags::NONBLOCK.bits()).unwrap();
        loop {
            match File::options().write(true).custom_flags(at_once).open(&self.path) {
                Ok(mut gate) => return gate.write_all(b"go\n").unwrap(),
                Err(error) if deadline.is_over() => panic!("nobody came to the gate: {error}"),
                Err(_) => pause(Duration::from_millis(2)),
            }
        }
    }
}

/// A path in the folder of the change, from the project.
pub fn in_change(name: &str) -> String {
    format!(".spool/changes/{CHANGE}/{name}")
}

/// A path in the folder in which the loop keeps its state, from the project.
pub fn in_state(name: &str) -> String {
    format!(".spool/.state/ralph/{CHANGE}/{name}")
}

/// The last line of a script: these words as all that the agent says. One that promises has changed a file.
pub fn says(words: &str) -> String {
    if words == PROMISE {
        return format!("{{ echo $n > made.txt; echo '{words}'; }}");
    }
    format!("echo '{words}'")
}
