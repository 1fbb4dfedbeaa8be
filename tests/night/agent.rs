//! The scripted agent: a program that prints what Claude Code 2.1.330 was seen to print (tests/fixtures/streams), does real
//! edits and commits, writes its session down where Claude Code does, and keeps books of its own.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

use ralph_speckit::runner::state::iso;
use ralph_speckit::world::{self, Stopwatch};
use serde_json::{Value, json};

use crate::books::{Books, Came, Line, differences};
use crate::limited::Limited;
use crate::person;
use crate::plan::{Death, Happening, History, Plan};

/// The folder with the books.
pub const DESK: &str = "NIGHT_DESK";
/// The task list, from the project.
pub const LIST: &str = ".spool/changes/002-01_night/tasks.md";
/// Its prices, as `--prices` takes them: dollars for a million tokens sent, received, read from a cache, written to one.
pub const PRICES: [&str; 2] = ["claude-sonnet=3/15/0.30/3.75", "claude-haiku=1/5/0.10/1.25"];
/// The branch of the work.
const BRANCH: &str = "main";
/// A file that many iterations change.
pub const NOTES: &str = "notes.md";

/// What the stand-in of `claude` is: it answers what it is asked about itself, and is the agent otherwise.
pub fn stand_in(program: &Path) -> String {
    format!(
        r#"#!/bin/sh
case "$1" in
--version) echo "2.1.332 (Claude Code)"; exit ;;
auth) echo '{{"loggedIn": true}}'; exit ;;
esac
printf '%s\n' "$@" > "${DESK}/arguments"
exec 3>&1 >/dev/null
exec '{}' --exact the_scripted_agent --ignored --nocapture
"#,
        program.display()
    )
}

/// Which model is asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Model {
    Sonnet,
    Haiku,
}

/// Tokens of a call of the model.
#[derive(Clone, Copy, Default)]
struct Tokens {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

impl Tokens {
    /// Those of a call: numbers that no other call of the same run has, and that cost whole millionths of a dollar.
    fn of(run: u32, call: u32) -> Self {
        let (run, call) = (u64::from(run), u64::from(call));
        Self {
            input: 90 + run * 3 + call * 17,
            output: 20 + run + call * 5,
            cache_read: 1_000 + 10 * (run + 7 * call),
            cache_write: 40 + 4 * (run + call),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            input: self.input + other.input,
            output: self.output + other.output,
            cache_read: self.cache_read + other.cache_read,
            cache_write: self.cache_write + other.cache_write,
        }
    }

    /// Millionths of a dollar by [`PRICES`]: the one model is three times as dear as the other.
    fn micros(self, model: Model) -> u64 {
        let cheap = self.input + 5 * self.output + self.cache_read / 10 + self.cache_write / 4 * 5;
        if model == Model::Sonnet { 3 * cheap } else { cheap }
    }

    fn usage(self) -> Value {
        json!({"input_tokens": self.input, "output_tokens": self.output,
               "cache_read_input_tokens": self.cache_read, "cache_creation_input_tokens": self.cache_write})
    }
}

impl Model {
    fn name(self) -> &'static str {
        match self {
            Self::Sonnet => "claude-sonnet-4-5",
            Self::Haiku => "claude-haiku-4-5",
        }
    }
}

/// What a message of the model holds.
enum Block<'a> {
    Says(&'a str),
    Uses(&'a str, Value),
}

/// One run of it.
struct Agent {
    run: u32,
    session: String,
    output: File,
    transcript: File,
    books: Books,
    desk: PathBuf,
    message: u32,
    tool: u32,
    turns: u32,
    used: [Tokens; 2],
    denials: Vec<Value>,
    /// The commit on which it began.
    base: String,
    began: Stopwatch,
}

/// One run from its prompt to its exit code.
pub fn play(desk: &Path) -> ! {
    let runs = desk.join("runs");
    let before = fs::read_to_string(&runs).map_or(0, |text| text.trim().parse().unwrap());
    let run: u32 = before + 1;
    fs::write(&runs, run.to_string()).unwrap();
    let session = format!("26befd30-6e9a-467e-bd49-{run:012}");
    let sessions = world::home().unwrap().join(".claude/projects/-night");
    fs::create_dir_all(&sessions).unwrap();
    let mut agent = Agent {
        run,
        output: File::options().write(true).open("/dev/fd/3").unwrap(),
        transcript: File::create(sessions.join(format!("{session}.jsonl"))).unwrap(),
        books: Books::open(desk, run),
        desk: desk.to_owned(),
        session,
        message: 0,
        tool: 0,
        turns: 0,
        used: <[Tokens; 2]>::default(),
        denials: Vec::new(),
        base: git(&["rev-parse", "HEAD"]),
        began: Stopwatch::start(),
    };
    agent.note_prompt();
    agent.note_runner();
    exit(agent.works())
}

impl Agent {
    fn note_prompt(&mut self) {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).unwrap();
        if text.is_empty() {
            // The prompt is the argument behind the first one; it may have several lines.
            let arguments = fs::read_to_string(self.desk.join("arguments")).unwrap();
            let rest = arguments.strip_prefix("-p\n").unwrap();
            let at = rest.find("\n--permission-mode=").unwrap();
            rest[..at].clone_into(&mut text);
        }
        self.books.write(&Line::Prompt { text });
    }

    /// What the runner has used so far: the supervisor is between it and this program.
    fn note_runner(&mut self) {
        let parent = |id: &str| status(id, "PPid:").to_string();
        let process = parent(&parent("self"));
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().collect();
        // In hundredths of a second: user and system.
        let cpu = [11, 12].map(|at: usize| fields[at].parse::<u64>().unwrap() * 10);
        self.books.write(&Line::Runner {
            cpu: cpu.iter().sum(),
            peak: status(&process, "VmHWM:"),
            process: process.parse().unwrap(),
        });
    }

    fn works(&mut self) -> i32 {
        self.line(json!({"type": "system", "subtype": "init", "cwd": "/home/user/project", "tools": ["Bash"],
            "model": Model::Sonnet.name(), "permissionMode": "acceptEdits", "claude_code_version": "2.1.332"}));
        self.returns_to_its_branch();
        match Plan::of_environment().happening(self.run) {
            Happening::Work(history) => self.finishes_a_task(history),
            Happening::Dies(history, Death::AtWork) => {
                self.does_a_task(history);
                self.stands_still()
            }
            Happening::Dies(history, Death::Judging) => {
                fs::write(self.desk.join("kills"), "").unwrap();
                self.finishes_a_task(history)
            }
            Happening::Renames => self.renames_a_commit(),
            Happening::Half => self.writes_a_half(),
            Happening::Error(status) => self.fails(status),
            Happening::ErrorLater(status) => {
                self.edits_half();
                self.note_changes();
                self.fails(status)
            }
            Happening::Denied => self.is_denied(),
            Happening::Hung => {
                self.note_changes();
                self.stands_still()
            }
            Happening::Limit => self.meets_a_limit(),
            Happening::Killed | Happening::Stopped => {
                self.edits_half();
                if self.run.is_multiple_of(8) {
                    self.is_refused();
                }
                self.note_changes();
                self.stands_still()
            }
        }
    }

    /// A line of the stream.
    fn line(&mut self, mut value: Value) {
        value["session_id"] = json!(self.session);
        self.output.write_all(format!("{value}\n").as_bytes()).unwrap();
    }

    /// A call of a model with its answer: a line for each block, which all have the figures of its beginning; the session's
    /// own file has those of its end. Returns the ids of the tools.
    fn calls(&mut self, model: Model, parent: Option<&str>, blocks: &[Block<'_>]) -> Vec<String> {
        self.message += 1;
        self.turns += u32::from(parent.is_none());
        let tokens = Tokens::of(self.run, self.message);
        self.used[model as usize] = self.used[model as usize].plus(tokens);
        let Tokens { input, output, cache_read, cache_write } = tokens;
        let micros = tokens.micros(model);
        self.books.write(&Line::Call { input, output, cache_read, cache_write, micros });
        let id = format!("msg_{:04}_{:02}", self.run, self.message);
        let written = json!({"type": "assistant", "timestamp": iso(world::now()), "sessionId": self.session,
            "message": {"id": id, "model": model.name(), "role": "assistant", "usage": tokens.usage()}});
        self.transcript.write_all(format!("{written}\n").as_bytes()).unwrap();
        let begun = Tokens { output: 1, ..tokens }.usage();
        let mut ids = Vec::new();
        for block in blocks {
            let content = match block {
                Block::Says(text) => json!({"type": "text", "text": text}),
                Block::Uses(tool, input) => {
                    self.tool += 1;
                    let id = format!("toolu_{:04}_{:02}", self.run, self.tool);
                    ids.push(id.clone());
                    json!({"type": "tool_use", "id": id, "name": tool, "input": input})
                }
            };
            self.line(json!({"type": "assistant", "parent_tool_use_id": parent, "message": {"id": id, "type": "message",
                "role": "assistant", "model": model.name(), "content": [content], "stop_reason": null, "usage": begun}}));
        }
        ids
    }

    fn says(&mut self, text: &str) {
        self.books.write(&Line::Said { text: text.to_owned(), fault: false });
        self.calls(Model::Sonnet, None, &[Block::Says(text)]);
    }

    /// A call of the model that uses a tool; the id of that.
    fn uses(&mut self, tool: &str, input: Value, came: Came) -> String {
        let with =
            ["command", "file_path", "description"].iter().find_map(|name| input[*name].as_str());
        let with = with.unwrap().to_owned();
        self.books.write(&Line::Tool { tool: tool.to_owned(), with, came });
        self.calls(Model::Sonnet, None, &[Block::Uses(tool, input)]).remove(0)
    }

    fn returned(&mut self, id: &str, parent: Option<&str>, content: &str, came: Came) {
        let failed = came != Came::Done;
        self.line(json!({"type": "user", "parent_tool_use_id": parent, "message": {"role": "user", "content": [
            {"tool_use_id": id, "type": "tool_result", "content": content, "is_error": failed}]}}));
    }

    /// Uses a shell command that succeeds or fails as it really does.
    fn shell(&mut self, command: &str, came: Came) -> String {
        let id = self.uses("Bash", json!({"command": command}), came);
        let done = Command::new("sh").args(["-c", command]).finish();
        assert_eq!(done.status.success(), came == Came::Done, "{command}: {done:?}");
        let output = String::from_utf8_lossy(&done.stdout).into_owned();
        self.returned(&id, None, &output, came);
        output
    }

    /// Writes a file of the project.
    fn writes(&mut self, file: &str, text: &str) {
        let tool = if Path::new(file).exists() { "Edit" } else { "Write" };
        let id = self.uses(tool, json!({"file_path": file, "content": text}), Came::Done);
        fs::write(file, text).unwrap();
        self.returned(&id, None, "written", Came::Done);
    }

    /// The next open task and its file.
    fn next_task() -> (String, String) {
        let list = fs::read_to_string(LIST).unwrap();
        let line = list.lines().find_map(|line| line.strip_prefix("- [ ] ")).unwrap();
        let file = line.split('`').nth(1).unwrap();
        (line[..4].to_owned(), file.to_owned())
    }

    fn edits_half(&mut self) -> String {
        let (task, file) = Self::next_task();
        self.says(&format!("I begin with {task}."));
        let mut text = fs::read_to_string(&file).unwrap_or_default();
        for line in 0..=self.run % 4 {
            text += &format!("half {line} of run {}\n", self.run);
        }
        self.writes(&file, &text);
        task
    }

    fn writes_a_half(&mut self) -> i32 {
        let task = self.edits_half();
        self.commits(&format!("{task}: the first half"));
        self.says("The rest is for the next one.");
        self.finishes("The rest is for the next one.")
    }

    fn finishes_a_task(&mut self, history: History) -> i32 {
        let words = self.does_a_task(history);
        self.finishes(&words)
    }

    fn does_a_task(&mut self, history: History) -> String {
        let (task, file) = Self::next_task();
        self.says(&format!("{task} is next."));
        if history == History::Aside {
            self.commits_aside();
            self.returns_to_its_branch();
        }
        self.shell(&format!("cat {LIST} | head -3"), Came::Done);
        if self.run.is_multiple_of(5) {
            self.shell("cat nothing-of-this-name", Came::Failed);
        }
        // Where the agent did not live to say what it cost, all counts as the model that it began with.
        let is_told = !Plan::of_environment().happening(self.run).waits();
        if self.run.is_multiple_of(10) && is_told {
            self.has_a_helper_look();
        }
        let text = fs::read_to_string(&file).unwrap_or_default();
        self.writes(&file, &format!("{text}the whole of {task}\nin run {}\n", self.run));
        if history == History::Amends {
            self.commits(&format!("{task}: not ticked yet"));
        }
        if self.run.is_multiple_of(3) {
            let notes = fs::read_to_string(NOTES).unwrap();
            let (rest, _) = notes.trim_end().rsplit_once('\n').unwrap();
            self.writes(NOTES, &format!("{rest}\n{task} is done\nrun {}\n", self.run));
        }
        if Plan::of_environment().meets_a_person(self.run) {
            person::asked_by_the_agent(&self.desk);
        }
        let list = fs::read_to_string(LIST).unwrap();
        self.writes(LIST, &list.replacen("- [ ] ", "- [x] ", 1));
        self.books.write(&Line::Tick { task: task.clone() });
        let message = format!("{task}: {file}");
        match history {
            History::Amends | History::AmendsEarlier => self.amends(&message),
            _ => self.commits(&message),
        }
        match history {
            History::Rebases => self.rebases(),
            History::Strays => self.commits_aside(),
            _ => {}
        }
        self.note_changes();
        let words = format!("{task} is done.");
        self.says(&words);
        words
    }

    /// An agent of its own, with another model, whose lines name the tool that it belongs to.
    fn has_a_helper_look(&mut self) {
        let id =
            self.uses("Task", json!({"description": "look around", "prompt": "Look."}), Came::Done);
        let with = "ls src".to_owned();
        self.books.write(&Line::Tool { tool: "Bash".to_owned(), with, came: Came::Done });
        let uses = Block::Uses("Bash", json!({"command": "ls src"}));
        let inner = self.calls(Model::Haiku, Some(&id), &[uses]).remove(0);
        self.returned(&inner, Some(&id), "files", Came::Done);
        self.calls(Model::Haiku, Some(&id), &[Block::Says("There are files.")]);
        self.returned(&id, None, "There are files.", Came::Done);
    }

    fn commits(&mut self, message: &str) {
        self.note_changes();
        self.commits_with("", message);
    }

    /// The last commit is no more, whosever it was.
    fn amends(&mut self, message: &str) {
        let last = git(&["rev-parse", "HEAD"]);
        self.commits_with("--amend ", message);
        self.books.write(&Line::Gone { name: last });
        self.note_commit("HEAD");
    }

    fn renames_a_commit(&mut self) -> i32 {
        let last = git(&["rev-parse", "HEAD"]);
        let message = format!("{}, renamed in run {}", subject("HEAD"), self.run);
        self.shell(&format!("git commit --quiet --amend --only --message '{message}'"), Came::Done);
        self.books.write(&Line::Gone { name: last });
        self.note_commit("HEAD");
        self.finishes("It has a better name.")
    }

    /// The last two commits are no more; two others stand for them.
    fn rebases(&mut self) {
        let gone = ["HEAD~1", "HEAD"].map(|name| git(&["rev-parse", name]));
        let again = format!(
            "git commit --quiet --amend --message \"$(git log -1 --format=%s), again in run {}\"",
            self.run
        );
        self.shell(&format!("git rebase --quiet --exec '{again}' HEAD~2"), Came::Done);
        for name in gone {
            self.books.write(&Line::Gone { name });
        }
        self.note_commit("HEAD~1");
        self.note_commit("HEAD");
    }

    /// A commit on another branch, which stays checked out.
    fn commits_aside(&mut self) {
        let run = self.run;
        self.shell(&format!("git switch --quiet --create aside-{run} && echo {run} > aside-{run}.txt && git add aside-{run}.txt && git commit --quiet --message 'aside in run {run}'"), Came::Done);
        self.note_commit("HEAD");
    }

    /// What was committed on another branch is not on this one.
    fn returns_to_its_branch(&mut self) {
        let branch = git(&["branch", "--show-current"]);
        if branch == BRANCH {
            return;
        }
        let aside = git(&["rev-list", &format!("{BRANCH}..HEAD")]);
        self.shell(&format!("git switch --quiet {BRANCH}"), Came::Done);
        for name in aside.lines() {
            self.books.write(&Line::Gone { name: name.to_owned() });
        }
        self.note_changes();
    }

    fn commits_with(&mut self, how: &str, message: &str) {
        let command = format!("git add --all && git commit --quiet {how}--message '{message}'");
        self.shell(&command, Came::Done);
        if how.is_empty() {
            self.note_commit("HEAD");
        }
    }

    fn note_commit(&mut self, name: &str) {
        let (name, message) = (git(&["rev-parse", name]), subject(name));
        self.books.write(&Line::Commit { name, message });
    }

    /// Books every file that differs from the commit on which it began, by a comparison of its own.
    fn note_changes(&mut self) {
        let tracked = git(&["diff", "--name-only", &self.base]);
        let new = git(&["ls-files", "--others", "--exclude-standard"]);
        for file in tracked.lines().chain(new.lines()).map(str::to_owned) {
            let before =
                Command::new("git").args(["show", &format!("{}:{file}", self.base)]).finish();
            let before = if before.status.success() { before.stdout } else { Vec::new() };
            let before = String::from_utf8(before).unwrap();
            let now = fs::read_to_string(&file).unwrap_or_default();
            let (added, removed) = differences(&before, &now);
            self.books.write(&Line::Changed { file, added, removed });
        }
    }

    fn is_denied(&mut self) -> i32 {
        self.is_refused();
        let words = "I may not fetch it.";
        self.says(words);
        self.finishes(words)
    }

    fn is_refused(&mut self) {
        self.says("I fetch what is missing.");
        let input = json!({"command": "curl https://example.org", "description": "fetch"});
        let why = "This command requires approval";
        let id = self.uses("Bash", input.clone(), Came::Denied);
        self.line(json!({"type": "system", "subtype": "permission_denied", "tool_name": "Bash", "tool_use_id": id,
            "message": why}));
        self.fault(&format!("Bash was refused: {why}"));
        self.returned(&id, None, why, Came::Denied);
        self.denials.push(json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": input}));
    }

    fn fault(&mut self, words: &str) {
        self.books.write(&Line::Said { text: words.to_owned(), fault: true });
    }

    /// The service fails twice and then for good, as the client says it.
    fn fails(&mut self, status: u16) -> i32 {
        let (again, kind, words) = match status {
            429 => (
                "rate_limit",
                "rate_limit_error",
                "API Error: Request rejected (429) · mock error 429",
            ),
            500 => (
                "server_error",
                "api_error",
                "API Error: 500 mock error 500. This is a server-side issue, usually temporary",
            ),
            _ => (
                "overloaded",
                "overloaded_error",
                "API Error: 529 Overloaded. This is a server-side issue, usually temporary",
            ),
        };
        for attempt in 1..=2 {
            self.line(json!({"type": "system", "subtype": "api_retry", "attempt": attempt, "max_retries": 2,
                "retry_delay_ms": 567, "error_status": status, "error": again}));
            self.fault(&format!("the model is asked again, {attempt} of 2: {again} ({status})"));
        }
        let error = if status == 429 { "rate_limit" } else { "server_error" };
        let more = json!({"error": error, "api_error_status": status, "api_error_type": kind});
        self.stands_in_for_the_model(words, &more);
        let more = json!({"is_error": true, "terminal_reason": "api_error", "api_error_status": status, "result": words});
        self.result(&more);
        1
    }

    /// The client's own words in the place of the model's.
    fn stands_in_for_the_model(&mut self, words: &str, more: &Value) {
        self.fault(words);
        let none = Tokens::default().usage();
        let line = json!({"type": "assistant", "parent_tool_use_id": null, "is_api_error_message": true,
            "message": {"id": format!("synthetic-{}", self.run), "model": "<synthetic>", "role": "assistant",
            "type": "message", "usage": none, "content": [{"type": "text", "text": words}]}});
        self.line(with(line, more));
    }

    fn meets_a_limit(&mut self) -> i32 {
        let at = world::now().millis() / 1000 + 2;
        let info = json!({"status": "rejected", "resetsAt": at, "rateLimitType": "five_hour", "isUsingOverage": false});
        self.line(json!({"type": "rate_limit_event", "rate_limit_info": info}));
        let words = "You've hit your 5-hour limit · resets 12:57am (UTC)";
        let more = json!({"error": "rate_limit", "api_error_status": 429, "api_error": "usage_limit_reached"});
        self.stands_in_for_the_model(words, &more);
        let more = json!({"is_error": true, "terminal_reason": "api_error", "api_error_status": 429,
            "api_error": "usage_limit_reached", "result": words});
        self.result(&more);
        1
    }

    fn finishes(&mut self, words: &str) -> i32 {
        self.result(&json!({"is_error": false, "api_error_status": null, "terminal_reason": "completed", "result": words}));
        0
    }

    fn note_time(&mut self) {
        let millis = self.began.elapsed().as_millis() as u64;
        self.books.write(&Line::Lasted { millis });
    }

    /// The last line: the figures of the main thread, and those of all models.
    fn result(&mut self, more: &Value) {
        self.note_time();
        let [main, helpers] = self.used;
        let mut models = serde_json::Map::new();
        let mut cost = 0;
        for (model, tokens) in [(Model::Sonnet, main), (Model::Haiku, helpers)] {
            if tokens.input == 0 {
                continue;
            }
            cost += tokens.micros(model);
            let usage = json!({"inputTokens": tokens.input, "outputTokens": tokens.output,
                "cacheReadInputTokens": tokens.cache_read, "cacheCreationInputTokens": tokens.cache_write,
                "costUSD": tokens.micros(model) as f64 / 1e6});
            models.insert(model.name().to_owned(), usage);
        }
        let line = json!({"type": "result", "subtype": "success", "num_turns": self.turns, "usage": main.usage(),
            "modelUsage": models, "model_usage_since_last_result": models, "total_cost_usd": cost as f64 / 1e6,
            "permission_denials": self.denials});
        self.line(with(line, more));
    }

    /// A tool that never comes back; whoever ends the agent ends it as well.
    fn stands_still(&mut self) -> ! {
        self.note_time();
        let tool = self.uses("Bash", json!({"command": "make"}), Came::Nothing);
        fs::write(self.desk.join(format!("waits-{}", self.run)), tool).unwrap();
        let ended = Command::new("sleep").arg("1000").status();
        panic!("nobody ended the agent: {ended:?}");
    }
}

/// A line with more fields.
fn with(mut line: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        line[name] = value.clone();
    }
    line
}

/// A number of `/proc/ID/status`.
fn status(id: &str, name: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// The first line of a commit's message.
fn subject(name: &str) -> String {
    git(&["log", "-1", "--format=%s", name])
}

/// What git prints, without the last newline.
fn git(arguments: &[&str]) -> String {
    let done = Command::new("git").args(arguments).finish();
    assert!(done.status.success(), "{arguments:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap().trim_end().to_owned()
}
