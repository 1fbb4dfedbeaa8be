//! Plays a case before one of the two drivers, without any model.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use ralph_speckit::store::loops::Loops;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::case::{Case, Way};
use crate::scratch::{SPOOL, Said, Scratch};

const FEATURE: &str = "001-sums";
const SESSION: &str = "3f2c8a10-0001-4000-8000-0000000000bb";

/// Who judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    Session,
    Runner,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Seen {
    /// Whether there was a loop at all.
    pub began: bool,
    /// Why the loop ended, empty while it lives.
    pub end: String,
    /// How each task is proved, by its receipt that was written last.
    pub proofs: BTreeMap<String, String>,
    /// Whether the agent was sent back after its last turn, and had to say more.
    pub second_word: bool,
    /// All that was said.
    pub said: String,
}

impl Seen {
    pub fn is_completed(&self) -> bool {
        self.end == "completed"
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.end.is_empty() { "none" } else { &self.end };
        writeln!(out, "end: {end}; proofs: {:?}\n{}", self.proofs, self.said)
    }
}

/// A project with a case in it.
struct Stage<'a> {
    case: &'a Case,
    scratch: Scratch,
    said: String,
    /// What the agent was told last.
    told: String,
}

/// What all scripts of an agent begin with.
fn prelude(way: Way) -> String {
    let mark = match way {
        Way::Hand => "tick \"$@\"",
        Way::Spool => "spool task done \"$@\"",
        Way::Both => "spool task done \"$@\" || tick \"$@\"",
    };
    format!(
        "LIST=specs/{FEATURE}/tasks.md\n\
         tick() {{ for id in \"$@\"; do sed -E \"s/^( *[-*] )\\[ \\]( $id )/\\1[x]\\2/\" \"$LIST\" >\"$DESK/list\" && \
         cat \"$DESK/list\" >\"$LIST\"; done; }}\n\
         mark() {{ {mark}; }}\n\
         relist() {{ sed -E \"$1\" \"$LIST\" >\"$DESK/list\" && cat \"$DESK/list\" >\"$LIST\"; }}\n\
         put() {{ mkdir -p \"$(dirname \"$2\")\" && cat \"$DESK/$1\" >\"$2\"; }}\n"
    )
}

/// Plays a case.
pub fn play(case: &Case, driver: Driver) -> Seen {
    let stage = Stage::set(case);
    match driver {
        Driver::Session => stage.session(),
        Driver::Runner => stage.runner(),
    }
}

impl<'a> Stage<'a> {
    fn set(case: &'a Case) -> Self {
        let place = format!("project/{}", case.below);
        let mut scratch =
            Scratch::at(TempDir::with_prefix("proof-").unwrap(), place.trim_end_matches('/'));
        for folder in ["bin", "desk"] {
            fs::create_dir(scratch.beside(folder)).unwrap();
        }
        scratch.search_first("bin");
        symlink(SPOOL, scratch.beside("bin/spool")).unwrap();
        let desk = scratch.beside("desk");
        scratch.set("DESK", &desk);
        scratch.set("GIT_CONFIG_NOSYSTEM", "1");
        scratch.set("LC_ALL", "C.UTF-8");
        let config = "[user]\nname = Somebody\nemail = somebody@example.com\n[gc]\nauto = 0\n[maintenance]\nauto = false\n\
                      [init]\ndefaultBranch = main\n[core]\nautocrlf = false\n[protocol \"file\"]\nallow = always\n";
        fs::write(scratch.home().join(".gitconfig"), config).unwrap();
        for (name, text) in &case.desk {
            fs::write(desk.join(name), text).unwrap();
        }
        for (path, text) in &case.files {
            scratch.write(path, text);
        }
        scratch.add_feature(FEATURE, &case.list);
        let stage = Self { case, scratch, said: String::new(), told: String::new() };
        if case.git {
            let top = stage.scratch.beside("project").display().to_string();
            stage.script(&format!(
                "git init -q {top} && git add -A && git commit -q -m 'the beginning'"
            ));
        }
        if !case.before.is_empty() {
            stage.script(&case.before);
        }
        stage
    }

    /// What a person or a tool does; the test fails when it does not work.
    fn script(&self, text: &str) {
        let text = format!("set -e\n{}{text}", prelude(Way::Hand));
        let said = Said::of(self.scratch.command("/bin/sh").args(["-c", &text]));
        assert_eq!(said.code, Some(0), "{}: {said}\n{text}", self.case.name);
    }

    fn session(mut self) -> Seen {
        self.scratch.set("CLAUDE_CODE_SESSION_ID", SESSION);
        self.scratch.set("CLAUDECODE", "1");
        self.write_settings();
        self.hook(&json!({
            "session_id": SESSION, "cwd": self.scratch.root, "hook_event_name": "UserPromptExpansion",
            "transcript_path": self.transcript(), "expansion_type": "slash_command",
            "command_name": "speckit:implement", "command_args": "", "command_source": "plugin",
        }));
        let mut seen = Seen { began: self.said.contains("the loop is armed"), ..Seen::default() };
        let more = self.case.second_word.iter();
        let turns = self.case.turns.iter().chain(more).map(String::as_str).chain([""]);
        for (number, turn) in turns.enumerate() {
            seen.second_word = number >= self.case.turns.len() && self.case.second_word.is_some();
            self.agent_works(turn);
            let words = if self.case.words == PROMPT { &self.told } else { &self.case.words };
            let answer = self.hook(&json!({
                "session_id": SESSION, "cwd": self.scratch.root, "hook_event_name": "Stop",
                "transcript_path": self.transcript(), "stop_hook_active": number > 0,
                "last_assistant_message": words, "background_tasks": [], "session_crons": [],
            }));
            if answer["decision"] != "block" {
                break;
            }
        }
        let journal = Loops::of(&self.scratch.root).journal(SESSION);
        let last = journal.split(|byte| *byte == b'\n').rev().find_map(|line| {
            let entry: Value = serde_json::from_slice(line).ok()?;
            (entry["verdict"] == "end").then(|| entry["reason"].as_str().unwrap().to_owned())
        });
        seen.end = last.unwrap_or_default();
        self.seen(seen)
    }

    /// Writes the settings of the project, before the loop is armed.
    fn write_settings(&self) {
        let key = |name: &str, all: &[String]| match all {
            [] => String::new(),
            all => {
                all.iter().fold(format!("{name}:\n"), |text, one| format!("{text}  - '{one}'\n"))
            }
        };
        let keys = key("checks", &self.case.checks) + &key("protect", &self.case.protect);
        if !keys.is_empty() {
            let text = format!("---\n{keys}---\n");
            self.scratch.write(".claude/ralph-speckit.local.md", text);
        }
    }

    /// The agent calls a tool, and that does what the script of its turn says.
    fn agent_works(&mut self, turn: &str) {
        let path = self.transcript();
        let line = json!({"type": "assistant", "isSidechain": false, "message": {"id": "m", "role": "assistant",
            "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]}});
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        writeln!(file, "{line}").unwrap();
        let text = format!("{}n=1\n{turn}\n", prelude(self.case.way));
        let said = Said::of(self.scratch.command("/bin/sh").args(["-c", &text]));
        self.say("agent", &format!("{turn}\n{said}"));
    }

    fn hook(&mut self, event: &Value) -> Value {
        let name = event["hook_event_name"].as_str().unwrap();
        let said = Said::with_input(&mut self.scratch.hook(name), event.to_string());
        assert_eq!(said.code, Some(0), "{}: {said}", self.case.name);
        self.say(name, &format!("{}{}", said.out, said.err));
        let answer: Value = serde_json::from_str(&said.out).unwrap_or_default();
        let context = &answer["hookSpecificOutput"]["additionalContext"];
        if let Some(told) = answer["reason"].as_str().or(context.as_str()) {
            told.clone_into(&mut self.told);
        }
        answer
    }

    fn runner(mut self) -> Seen {
        let case = self.case;
        let mut script = String::from(
            "#!/bin/sh\nn=0\nif [ -f \"$DESK/runs\" ]; then read -r n <\"$DESK/runs\"; fi\nn=$((n + 1))\necho \"$n\" >\"$DESK/runs\"\n\
             cat >\"$DESK/prompt\"\n",
        );
        // It begins at the top of the repository.
        script.push_str(&format!("cd '{}' || exit 1\n", self.scratch.root.display()));
        script.push_str(&prelude(case.way));
        script.push_str("case $n in\n");
        for (number, turn) in case.turns.iter().chain(&case.second_word).enumerate() {
            script.push_str(&format!("{})\n{turn}\n;;\n", number + 1));
        }
        script
            .push_str(&format!("esac >\"$DESK/said-$n\" 2>&1\ncat <<'END'\n{}\nEND\n", case.words));
        if case.words == PROMPT {
            script.push_str("cat \"$DESK/prompt\"\n");
        }
        self.scratch.executable("bin/agent", script);
        let most = case.turns.len() + 1;
        let mut command = self.scratch.command(SPOOL);
        command.args([
            "ralph",
            "--change",
            FEATURE,
            "--retry-pause=10ms",
            "--harness-command",
            "agent",
        ]);
        command.arg(format!("--max-iterations={most}"));
        for check in &case.checks {
            command.args(["--check", check]);
        }
        for glob in &case.protect {
            command.args(["--protect", glob]);
        }
        let said = Said::of(command.arg("Work on the list."));
        let mut seen = Seen { began: said.code != Some(2), ..Seen::default() };
        let runs = fs::read_to_string(self.scratch.beside("desk/runs")).unwrap_or_default();
        let runs = runs.trim().parse().unwrap_or(0);
        seen.second_word = runs > case.turns.len() && case.second_word.is_some();
        seen.end = match said.code {
            Some(0) => "completed".to_owned(),
            code => format!("code {code:?}"),
        };
        for number in 1..=runs {
            let name = format!("desk/said-{number}");
            let text = fs::read_to_string(self.scratch.beside(&name)).unwrap_or_default();
            self.say(&name, &text);
        }
        self.say("spool ralph", &said.to_string());
        self.seen(seen)
    }

    /// What the receipts say in the end; they are outside of the project.
    fn seen(mut self, mut seen: Seen) -> Seen {
        let projects = self.scratch.home().join(".local/state/ralph-speckit/projects");
        let folders = fs::read_dir(projects).into_iter().flatten().flatten();
        let files = folders.map(|folder| folder.path().join(format!("receipts-{FEATURE}.jsonl")));
        for line in
            files.filter_map(|path| fs::read_to_string(path).ok()).collect::<String>().lines()
        {
            let receipt: Value = serde_json::from_str(line).unwrap();
            if let (Some(task), Some(proof)) = (receipt["task"].as_str(), receipt["proof"].as_str())
            {
                seen.proofs.insert(task.to_owned(), proof.to_owned());
            }
            self.say("receipt", line);
        }
        let list = fs::read(self.scratch.path(&format!("specs/{FEATURE}/tasks.md")));
        self.say("list", &String::from_utf8_lossy(&list.unwrap_or_default()));
        seen.said = std::mem::take(&mut self.said);
        seen
    }

    fn say(&mut self, who: &str, words: &str) {
        self.said.push_str(&format!("[{who}] {}\n", words.trim_end()));
    }

    fn transcript(&self) -> PathBuf {
        self.scratch.beside("transcript.jsonl")
    }
}

/// In place of words: all that the agent was told, word by word.
pub const PROMPT: &str = "Here is what I was told.";
