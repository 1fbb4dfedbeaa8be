//! Where nobody is at the keyboard: the jobs of docs/ci.md, and a loop as in a container.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use ralph_speckit::world::{Deadline, pause};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde_norway::Value;

use crate::runner::ran::Running;
use crate::runner::support::{Bench, CHANGE, in_change};
use crate::support::left_out::left_out;
use crate::support::limited::Limited;
use crate::support::scratch::SPOOL;
use crate::support::witness::PATIENCE;

const PAGES: [&str; 2] =
    [include_str!("../../../docs/ci.md"), include_str!("../../../docs/reference/kubernetes.md")];
const DOCKERFILE: &str = include_str!("../../../Dockerfile");

#[test]
fn page_jobs_are_startable_yaml() {
    let jobs = jobs();
    assert_eq!(jobs.len(), 2, "a workflow and a Kubernetes Job");
    let mut tried = 0;
    for job in &jobs {
        let mut texts = Vec::new();
        words(job, &mut texts);
        for text in texts.iter().filter(|text| text.contains("spool ralph ")) {
            let (_, arguments) = text.split_once("spool ralph ").unwrap();
            let line = arguments.replace("\\\n", " ").replace("\"$CHANGE\"", CHANGE);
            tried += would_start(shell_words::split(&line).unwrap());
        }
    }
    let args = jobs[1]["spec"]["template"]["spec"]["containers"][0]["args"].as_sequence().unwrap();
    let mut args = args.iter().map(|argument| argument.as_str().unwrap().to_owned());
    assert_eq!(args.next().as_deref(), Some("ralph"));
    tried += would_start(args.map(|argument| argument.replace("add-login", CHANGE)).collect());
    assert_eq!(tried, 2, "one loop in each");
}

/// Has `spool` say what it would do: whatever it does not know is refused with code 2.
fn would_start(arguments: Vec<String>) -> usize {
    let bench = Bench::with_tasks("- [ ] 1.1 Make it\n");
    let mut call = bench.spool("ralph --dry-run");
    for argument in arguments {
        call = call.arg(&argument);
    }
    call.run().with_code(0).says("claude");
    1
}

#[test]
fn kubernetes_job_maps_exit_codes() {
    let job = &jobs()[1];
    let pod = &job["spec"]["template"]["spec"];
    let grace = pod["terminationGracePeriodSeconds"].as_u64().unwrap();
    let args = pod["containers"][0]["args"].as_sequence().unwrap();
    let given = args.iter().position(|argument| argument.as_str() == Some("--grace")).unwrap() + 1;
    let given: u64 = args[given].as_str().unwrap().trim_end_matches('s').parse().unwrap();
    assert!(grace >= given + 10, "{grace} s for an agent with {given} s");
    let outcomes: Vec<u64> = job["spec"]["podFailurePolicy"]["rules"][1]["onExitCodes"]["values"]
        .as_sequence()
        .unwrap()
        .iter()
        .map(|number| number.as_u64().unwrap())
        .collect();
    let ends = include_str!("../../../docs/ends.md");
    let table = ends.split_once("\n## Exit codes of `spool ralph`\n").unwrap().1;
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |"));
    let rows: Vec<u64> = rows.filter_map(|(code, _)| code.parse().ok()).collect();
    // A state that could not be written, another runner, and signals are tried again.
    let ends = rows.into_iter().filter(|code| ![0, 1, 12].contains(code) && *code < 128);
    assert_eq!(outcomes, ends.collect::<Vec<_>>());
    let secure = &pod["containers"][0]["securityContext"];
    assert_eq!(secure["readOnlyRootFilesystem"].as_bool(), Some(true));
    assert_eq!(pod["securityContext"]["runAsNonRoot"].as_bool(), Some(true));
    let user = pod["securityContext"]["runAsUser"].as_u64().unwrap();
    assert!(DOCKERFILE.contains(&format!("\nUSER {user}:{user}\n")), "{user}");
    assert!(DOCKERFILE.trim_end().ends_with("ENTRYPOINT [\"spool\"]"));
}

/// The YAML blocks of the pages.
fn jobs() -> Vec<Value> {
    let blocks = PAGES.into_iter().flat_map(|page| page.split("\n```yaml\n").skip(1));
    let blocks = blocks.map(|rest| rest.split_once("\n```").unwrap().0);
    blocks.map(|text| serde_norway::from_str(text).unwrap()).collect()
}

/// All texts in a value.
fn words(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Sequence(items) => items.iter().for_each(|item| words(item, into)),
        Value::Mapping(map) => map.values().for_each(|item| words(item, into)),
        _ => {}
    }
}

/// What the namespaces of a container give: a root that cannot be written but for work tree, home and `TMPDIR`, a user
/// without rights, and `spool` as process 1.
const CONTAINER: &str = r#"top=$1; shift
mount --make-rprivate /
for folder in project home tmp; do mount --bind "$top/$folder" "$top/$folder" || exit 99; done
for place in $(cut -d' ' -f5 /proc/self/mountinfo | sort -u); do
  case $place in "$top"/*|/proc|/proc/*) ;; *) mount -o remount,bind,ro "$place" 2>/dev/null ;; esac
done
cd "$top/project" || exit 99
export TMPDIR="$top/tmp"
exec setpriv --reuid 65532 --regid 65532 --clear-groups --no-new-privs "$top/bin/spool" "$@"
"#;

#[test]
fn sigtermed_container_loop_is_continued() {
    let mut can = Command::new("unshare");
    can.args(["--mount", "--pid", "--fork", "setpriv", "--version"]);
    if !geteuid().is_root()
        || !Path::new("/usr/bin/unshare").exists()
        || !can.finish().status.success()
    {
        left_out("it needs root, `unshare` with mounts, and `setpriv`");
        return;
    }
    let bench = Bench::with_tasks("- [ ] 1.1 a\n- [ ] 1.2 b\n");
    let list = in_change("tasks.md");
    bench.agent(&format!(
        "id -u; for place in /etc /usr \"$DESK/../..\"; do echo x > \"$place/ralph-probe\" && echo WRITTEN; done 2>/dev/null\n\
         if [ $n = 1 ]; then echo half > half.txt; echo ready; sleep 1000; fi\n\
         echo $n > made$n.txt; sed -i \"s/\\[ \\] 1\\.$((n - 1))/[x] 1.$((n - 1))/\" {list}"
    ));
    fs::create_dir(bench.beside("tmp")).unwrap();
    let copy = "cp \"$1\" \"$2/bin/spool\" && mv \"$2/desk\" \"$2/home/desk\" && chown -R 65532:65532 \"$2\"";
    let mut copying = Command::new("sh");
    copying.args(["-c", copy, "sh", SPOOL]).arg(bench.top());
    assert!(copying.finish().status.success());
    let contained = || {
        let mut command = bench.command("unshare");
        command.args(["--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", CONTAINER, "sh"]);
        command.arg(bench.top()).env("DESK", bench.home().join("desk"));
        command.env("GIT_AUTHOR_NAME", "ralph").env("GIT_AUTHOR_EMAIL", "ralph@example.com");
        command.env("GIT_COMMITTER_NAME", "ralph").env("GIT_COMMITTER_EMAIL", "ralph@example.com");
        command.args(["ralph", "Build it", "--change", CHANGE, "--harness-command", "agent"]);
        command.args(["--commit", "--no-interactive", "--json", "--grace", "5s"]);
        Running::start(&mut command)
    };
    let mut first = contained();
    first.wait_for("ready");
    kill_process(inner(first.id()), Signal::TERM).unwrap();
    let first = first.finish().with_code(143);
    let events = first.events();
    assert_eq!(events.last().unwrap()["reason"], "stopped", "{first}");
    assert!(events.iter().any(|event| event["words"] == "65532"), "the agent is not root: {first}");
    assert_eq!(events[0]["process"], 1, "{first}");

    let second = contained().finish().with_code(0);
    let end = second.events().pop().unwrap();
    assert_eq!(
        (end["status"].as_str(), end["commits"].as_u64()),
        (Some("done"), Some(2)),
        "{second}"
    );
    second.says("committed 1 file that the interrupted iteration 1 left");
    // The top folder is this user's own: only the mount keeps it as it is.
    assert!(!(first.output + &second.output).contains("WRITTEN"), "a root that can be written");
    assert_eq!(second.errors, "", "{}", second.errors);
    let history = bench.state_lines("history.jsonl");
    assert_eq!(history.len(), 3, "an interrupted iteration and two: {history:#?}");
    assert_eq!(history[0]["interrupted"], true, "{history:#?}");
}

/// The only child of a process.
fn inner(id: u32) -> Pid {
    let deadline = Deadline::after(PATIENCE);
    loop {
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
        if let Ok(child) = children.trim().parse() {
            return Pid::from_raw(child).unwrap();
        }
        assert!(!deadline.is_over(), "no child: {children}");
        pause(Duration::from_millis(2));
    }
}
