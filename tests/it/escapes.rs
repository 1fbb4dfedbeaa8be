//! Nothing that a file, an agent, a path or an argument holds steers a terminal (S7): a text that would is
//! planted everywhere, every subcommand is run, and what it prints is looked through letter by letter.

use std::fs::{self, File};
use std::io::Write;
use std::ops::Deref;
use std::process::{Command, Stdio};
use std::time::Duration;

use ralph_speckit::world::{Deadline, pause};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::amounts::few_or_all;
use crate::support::limited::PATIENCE;
use crate::support::scratch::{SPOOL, Scratch, below};

const SESSION: &str = "3f2c8a10-0001-4000-8000-000000000001";
const FEATURE: &str = "001-login";
const CHANGE: &str = "002-01_greet";
/// Control sequences of both sets, a title, a change of direction, separators, and what has no width.
const POISON: &str = "p\u{1b}[7;35mq\u{1b}]2;owned\u{7}r\u{9b}41ms\u{202e}t\u{2066}u\u{2028}v\u{200b}w\u{7f}x\u{8}y\rz";
/// Colors of `spool` itself and of its help.
const OWN: [&str; 9] = [
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[2m",
    "\u{1b}[4m",
    "\u{1b}[31m",
    "\u{1b}[32m",
    "\u{1b}[33m",
    "\u{1b}[36m",
    "\u{1b}[90m",
];

/// A project in which everything is poisoned that can be.
struct Project {
    scratch: Scratch,
}

impl Deref for Project {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        &self.scratch
    }
}

impl Project {
    fn new() -> Self {
        let folder = TempDir::with_prefix("escapes-").unwrap();
        let mut scratch = Scratch::at(folder, &format!("project {POISON}"));
        scratch.search_first("bin");
        // As on a terminal: colors are not taken out on the way.
        scratch.set("CLICOLOR_FORCE", "1");
        scratch.set("LANG", "C.UTF-8");
        let project = Self { scratch };
        project.write(".specify/.current-feature", FEATURE);
        project.write(
            format!("specs/{FEATURE}/spec.md"),
            format!("# {POISON}\n\n- FR-001 {POISON}\n"),
        );
        let list = format!(
            "# {POISON}\n\n## Phase {POISON}\n\n- [ ] T001 Do {POISON} it\n  - Verify: `false {POISON}`\n\
             - [ ] T002 [P] {POISON}\n  - Verify: `true {POISON}`\n- [ ] **X{POISON}** odd\n- [ ] T003 [VERIFY] more\n"
        );
        project.write(format!("specs/{FEATURE}/tasks.md"), &list);
        project.write(format!(".spool/changes/{CHANGE}/proposal.md"), format!("# {POISON}\n"));
        project.write(
            format!(".spool/changes/{CHANGE}/tasks.md"),
            format!("- [ ] 1.1 Greet {POISON}\n- [ ] 1.2 More\n"),
        );
        project.write(format!(".spool/changes/bad{POISON}/proposal.md"), "# Bad\n");
        // All of it on both outputs, as words and as what a person has to do.
        let script = format!(
            "#!/bin/sh\ncat > /dev/null\nprintf '%s\\n' '{POISON}'\nprintf '%s\\n' '{POISON}' >&2\necho $$ > made.txt\n\
             if [ -e \"$HOME/fail\" ]; then exit 3; fi\nprintf '<blocked>do %s</blocked>\\n' '{POISON}'\n"
        );
        project.executable("bin/agent", script);
        project
    }

    fn command(&self, program: &str, session: Option<&str>) -> Command {
        let mut command = self.scratch.command(program);
        command.envs(session.map(|session| ("CLAUDE_CODE_SESSION_ID", session)));
        command
    }

    /// Runs `spool` and looks through all that it prints.
    fn spool(&self, session: Option<&str>, arguments: &[&str], faults: &mut Vec<String>) {
        let printed = ended(self.command(SPOOL, session).args(arguments), "");
        for (where_to, text) in ["output", "errors"].into_iter().zip(printed) {
            if let Some(fault) = fault(&text) {
                faults.push(format!("spool {}: {where_to}: {fault}", arguments.join(" ")));
            }
        }
    }

    /// Asks the hook and looks through all that a person reads of its answer.
    fn hook(&self, event: &Value, faults: &mut Vec<String>) {
        let [answer, log] = ended(
            &mut self.scratch.hook(event["hook_event_name"].as_str().unwrap()),
            &event.to_string(),
        );
        let mut texts = vec![log];
        if let Ok(answer) = serde_json::from_str::<Value>(&answer) {
            let stops = answer["systemMessage"].is_string();
            for field in ["systemMessage", "reason", "stopReason"] {
                // The reason of a block is for the agent, and holds the person's own task: its marks of
                // direction stay, and nothing in it steers.
                let text = answer[field].as_str().map(|text| match (field, stops) {
                    ("reason", true) => text.replace(unseen, "").replace('\t', ""),
                    _ => text.to_owned(),
                });
                texts.extend(text);
            }
        }
        for fault in texts.iter().filter_map(|text| fault(text)) {
            let name = [&event["hook_event_name"], &event["command_name"], &event["command_args"]];
            faults.push(format!("hook {name:?}: {fault}"));
        }
    }

    fn event(&self, name: &str, session: &str) -> Value {
        json!({"hook_event_name": name, "session_id": session, "cwd": self.root,
            "transcript_path": self.beside("transcript.jsonl"), "stop_hook_active": false,
            "last_assistant_message": format!("said {POISON}"), "source": "resume",
            "error": POISON, "error_details": POISON})
    }

    fn typed(&self, session: &str, command: &str, arguments: &str) -> Value {
        let mut event = self.event("UserPromptExpansion", session);
        event["expansion_type"] = "slash_command".into();
        event["command_name"] = command.into();
        event["command_args"] = arguments.into();
        event["command_source"] = "plugin".into();
        event
    }

    /// Puts the poison behind every text of every file that the programs have written.
    fn poison_what_was_written(&self) -> usize {
        let mut poisoned = 0;
        for folder in [".claude", ".spool/.state", &format!("specs/{FEATURE}")] {
            let things = below(&self.path(folder)).into_iter();
            for (path, _) in things.filter(|(_, kind)| kind.is_file()) {
                let Ok(text) = fs::read_to_string(&path) else { continue };
                let kind = path.extension().and_then(|kind| kind.to_str());
                let lines: Vec<&str> =
                    if kind == Some("jsonl") { text.lines().collect() } else { vec![&text] };
                let is_json = matches!(kind, Some("json" | "jsonl"));
                let values = lines.iter().map(|line| serde_json::from_str::<Value>(line));
                let Ok(mut values) = values.collect::<Result<Vec<_>, _>>() else { continue };
                if is_json {
                    let mut text = Vec::new();
                    for value in &mut values {
                        poisoned += poison("", value);
                        writeln!(text, "{value}").unwrap();
                    }
                    fs::write(&path, text).unwrap();
                }
            }
        }
        poisoned
    }
}

/// Puts the poison behind every text of a value but those by which a file is known again.
fn poison(name: &str, value: &mut Value) -> usize {
    const KEPT: [&str; 21] = [
        "session",
        "owner",
        "kind",
        "folder",
        "about",
        "change_id",
        "worktree_name",
        "status",
        "started_at",
        "done_criteria",
        "started",
        "ended",
        "run_started_at",
        "token",
        "closed",
        "transcript",
        "without_work",
        "promise_match",
        "reason",
        "ended_at",
        "updated_at",
    ];
    match value {
        Value::String(text) if !KEPT.contains(&name) => {
            text.push_str(POISON);
            1
        }
        Value::Array(all) => all.iter_mut().map(|value| poison(name, value)).sum(),
        Value::Object(fields) => fields.iter_mut().map(|(name, value)| poison(name, value)).sum(),
        _ => 0,
    }
}

/// Runs a program to its end and returns what it printed; one that does not end is a failure.
fn ended(command: &mut Command, input: &str) -> [String; 2] {
    let folder = tempfile::tempdir().unwrap();
    let (out, errors) = (folder.path().join("out"), folder.path().join("errors"));
    command.stdin(Stdio::piped()).stdout(File::create(&out).unwrap());
    let mut child = command.stderr(File::create(&errors).unwrap()).spawn().unwrap();
    // One that asks for nothing may have left already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let deadline = Deadline::after(PATIENCE);
    while child.try_wait().unwrap().is_none() {
        if deadline.is_over() {
            child.kill().unwrap();
            panic!("it does not end: {command:?}");
        }
        pause(Duration::from_millis(2));
    }
    [out, errors].map(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned())
}

/// The first letter that must not reach a terminal, with what stands round it.
fn fault(text: &str) -> Option<String> {
    let text = OWN.iter().fold(text.to_owned(), |text, own| text.replace(own, ""));
    let is_bad = |letter: char| letter.is_control() && letter != '\n' || unseen(letter);
    let at = text.find(is_bad)?;
    let before: String =
        text[..at].chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
    let after: String = text[at..].chars().take(20).collect();
    Some(format!("{before:?} then {after:?}"))
}

fn all_arguments() -> Vec<Vec<String>> {
    let lines = [
        "status",
        "status --project P",
        "log",
        "log -n 3",
        "log --session P",
        "log --change P",
        "log -n P",
        "task next",
        "task list",
        "task show T001",
        "task show P",
        "task verify T001",
        "task verify T002",
        "task verify P",
        "task done T002",
        "task done T001",
        "task done P",
        "task done T003 --feature P",
        "task fail T001 P",
        "task fail P P",
        "task add --after T001 P",
        "task add --after P P",
        "task P",
        "task list --feature P",
        "task list --project P",
        "task block P",
        "pause",
        "pause --session P",
        "pause --change P",
        "resume",
        "resume --session P",
        "resume --change P",
        "adopt",
        "adopt P",
        "block P",
        "block",
        "start",
        "start P",
        "start --max-iterations P",
        "start 001-login --project P",
        "doctor",
        "doctor --project P",
        "plugin build P",
        "plugin P",
        "setup --P",
        "demo --dir P/P",
        "demo --P",
        "P",
        "--P",
        "stop",
        "stop --change P",
        "stop --wait P",
        "cancel P",
        "cancel --session P",
        "cancel",
        "trust",
        "trust P",
        "ralph P --change 2-1 --dry-run --harness-command agent",
        "ralph P --change P",
        "ralph P --module P",
        "ralph P --change 2-1 --harness P",
        "ralph P --change 2-1 --harness-command P",
        "ralph P --change 2-1 --harness-command",
        "ralph P --model P --change 2-1",
        "ralph P --change 2-1 --harness-command agent --max-runtime P",
        "ralph --prompt-file P --change 2-1",
        "ralph P --change 2-1 --check P --harness-command agent --dry-run",
        "ralph P --P",
        "ralph --project P P",
        "ralph P",
        "ralph P --no-interactive",
        "ralph --status",
        "ralph --status --change P",
        "ralph --status --change 2-1",
        "ralph --add-context P --change 2-1",
        "ralph --add-context P",
        "ralph --clear-context --change P",
    ];
    lines.into_iter().map(poisoned).collect()
}

/// Those that run whole loops, or a reader, with an agent that says it too.
fn all_loops() -> Vec<Vec<String>> {
    let lines = [
        "ralph P --change 2-1 --harness-command agent --commit --retry-pause 1ms --max-failures 2",
        "ralph P --change 2-1 --harness-command agent -v --retry-pause 1ms --max-failures 2",
        "ralph P --change 2-1 --harness-command agent --check P --done check --max-iterations 1",
        "review --may-write --harness-command agent",
        "review --last",
        "review P",
        "review --harness P",
        "review --base P --may-write --harness-command agent",
    ];
    lines.into_iter().map(poisoned).collect()
}

fn poisoned(line: &str) -> Vec<String> {
    line.split(' ').map(|word| word.replace('P', POISON)).collect()
}

/// Calls each line inside of a session and by a person; in a sample, the passes take turns.
fn run_all(project: &Project, lines: &[Vec<String>], pass: usize, faults: &mut Vec<String>) {
    for (place, arguments) in lines.iter().enumerate() {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let sessions = [Some(SESSION), None];
        for session in few_or_all(&sessions[(place + pass) % 2..][..1], &sessions[..]) {
            project.spool(*session, &arguments, faults);
        }
    }
}

/// Types every `step`th command with arguments from this one on, then asks for all events.
fn ask_all(project: &Project, first: usize, step: usize, faults: &mut Vec<String>) {
    let commands = ["implement", "status", "ralph-loop", "ulw-loop", "cancel-ralph", "cancel"];
    let arguments = ["", "P", "--max-iterations P", "\"P\" --check 'false P'", "--adopt P", "--P"];
    let all = commands.iter().flat_map(|command| arguments.map(|words| (command, words)));
    for (command, arguments) in all.skip(first).step_by(step) {
        let arguments = arguments.replace('P', POISON);
        project.hook(&project.typed("s2", &format!("speckit:{command}"), &arguments), faults);
        project.hook(&project.event("Stop", "s2"), faults);
    }
    for name in ["Stop", "SessionStart", "StopFailure", POISON] {
        for session in [SESSION, POISON, "s3"] {
            project.hook(&project.event(name, session), faults);
        }
    }
}

#[test]
fn s7_prints_steer_no_terminal() {
    let project = Project::new();
    let mut faults = Vec::new();
    project.hook(&project.typed(SESSION, "speckit:implement", ""), &mut faults);
    let (lines, loops) = (all_arguments(), all_loops());
    ask_all(&project, 0, 1, &mut faults);
    // A color alone, which clap takes out of its plain text.
    for arguments in
        [&["x\u{1b}[7;35my"][..], &["status", "--x\u{1b}[7;35m"], &["log", "-n", "\u{1b}[7;35m"]]
    {
        project.spool(None, arguments, &mut faults);
    }
    run_all(&project, &lines, 0, &mut faults);
    run_all(&project, &loops, 0, &mut faults);
    fs::write(project.beside("home/fail"), "").unwrap();
    run_all(&project, &loops, 1, &mut faults);
    project.hook(&project.typed(SESSION, "speckit:implement", ""), &mut faults);
    assert!(project.poison_what_was_written() > 100, "the files hold texts");
    run_all(&project, &lines, 1, &mut faults);
    ask_all(&project, 0, 1, &mut faults);
    for (place, (name, text)) in [
        (".spool/ralph.toml", format!("model = \"{0}\"\n\"{0}\" = 1\n", "x\\u001b[7;35m\\u202e")),
        (".claude/ralph-speckit.local.md", format!("---\nchecks:\n  - false {POISON}\n---\n")),
        (".claude/ralph-speckit.local.md", format!("---\n\"{}\": 1\n---\n", "x\\e[7;35m\\u202e")),
        (
            ".claude/ralph-speckit.local.md",
            format!("---\nchecks:\n  - \"false {}\"\n---\n", "x\\e[7;35m\\u202e"),
        ),
        (".specify/.current-feature", format!("{FEATURE}{POISON}")),
        (".specify/feature.json", format!("{{\"feature_directory\": \"x\\u001b[2J\", {POISON}")),
        (&format!("specs/{FEATURE}/.speckit-state.json"), format!("{{\"phase\": {POISON}")),
    ]
    .into_iter()
    .enumerate()
    {
        project.write(name, &text);
        // Each line and each command meets one of these files, in a thorough run all.
        let step = few_or_all(7, 1);
        let lines: Vec<_> = lines.iter().skip(place % step).step_by(step).cloned().collect();
        run_all(&project, &lines, place, &mut faults);
        ask_all(&project, place % step, step, &mut faults);
    }
    let count = faults.len();
    faults.dedup();
    assert!(
        faults.is_empty(),
        "{count} texts reach the terminal as they are:\n{}",
        faults.join("\n")
    );
}

/// Whether a letter changes the direction or has no width.
fn unseen(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}
