//! `spool doctor`: what it finds in the way of a loop, with a scripted `claude`.

use crate::support::left_out::left_out;
use crate::support::limited::Limited;
use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::plugin::scratch::{HOOK, Home, SPOOL, checkout};
use crate::support::schema;

/// A user with the plugin built, a `claude` that lists it, and a project.
struct Patient {
    scratch: Home,
    version: &'static str,
    plugins: Vec<Value>,
}

impl Patient {
    fn healthy() -> Self {
        let mut scratch = Home::new();
        let bin = scratch.top().join("plugin/bin");
        fs::create_dir_all(&bin).unwrap();
        symlink(SPOOL, bin.join("spool")).unwrap();
        symlink(HOOK, bin.join("ralph-hook")).unwrap();
        scratch.search_first("client");
        scratch.write("project/.specify/feature.json", "{}");
        let folder = scratch.top().join("plugin");
        let ours = serde_json::json!({
            "id": "speckit@ralph-speckit", "version": "1.0.0", "enabled": true, "installPath": folder,
        });
        Self { scratch, version: "2.1.332", plugins: vec![ours] }
    }

    /// The status of each check by its name, and the exit code.
    fn examine(&self) -> (Option<i32>, Value) {
        self.scratch.write("client/plugins.json", Value::from(self.plugins.clone()).to_string());
        let folder = self.scratch.top().join("client");
        self.scratch.script(
            "client/claude",
            &format!(
                "case \"$*\" in --version) echo '{} (Claude Code)' ;; 'plugin list --json') cat '{}/plugins.json' ;; *) exit 1 ;; esac",
                self.version,
                folder.display()
            ),
        );
        let output = self
            .scratch
            .command(SPOOL, &["doctor", "--json"])
            .current_dir(self.scratch.top().join("project"))
            .finish();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        schema::holds("doctor", &report);
        let fails =
            report["checks"].as_array().unwrap().iter().any(|check| check["status"] == "fail");
        assert_eq!(report["ok"], !fails);
        assert_eq!(output.status.code(), Some(i32::from(fails)));
        (output.status.code(), report)
    }

    /// Asserts the status of one check, and that what was found and what to do next hold these words.
    fn expect(&self, name: &str, status: &str, words: &[&str]) {
        let (_, report) = self.examine();
        let check = report["checks"]
            .as_array()
            .unwrap()
            .iter()
            .find(|check| check["name"] == name)
            .unwrap_or_else(|| panic!("no check `{name}` in {report:#}"));
        assert_eq!(check["status"], status, "{report:#}");
        for word in words {
            assert!(check.to_string().contains(word), "{word}: {check:#}");
        }
        if status != "ok" {
            assert!(check["next"].is_string(), "{check:#}");
        }
    }
}

#[test]
fn a_healthy_installation_is_in_order() {
    let patient = Patient::healthy();
    let (code, report) = patient.examine();
    let statuses: Vec<_> =
        report["checks"].as_array().unwrap().iter().map(|check| &check["status"]).collect();
    assert!(statuses.iter().all(|status| *status == "ok"), "{report:#}");
    assert_eq!(code, Some(0));

    let told = patient.scratch.run(SPOOL, &["doctor"]).with_code(0);
    assert!(told.out.ends_with("\nall checks passed\n"), "{told}");
    assert!(!told.out.contains('\u{1b}'), "colour without a terminal: {told}");
}

#[test]
fn a_broken_ralph_toml_is_named() {
    let patient = Patient::healthy();
    patient.scratch.write("project/.spool/ralph.toml", "quiet = true\nmax-iteration = 3\n");
    patient.expect("runner", "fail", &["ralph.toml`, line 2: there is no setting `max-iteration`"]);
}

#[test]
fn uncounted_lines_are_named() {
    let patient = Patient::healthy();
    let feature = r#"{"feature_directory": "specs/001-x"}"#;
    patient.scratch.write("project/.specify/feature.json", feature);
    patient.scratch.write("project/specs/001-x/tasks.md", "- [ ] T001 A\n\n**[ ] T002 B**\n");
    let words = "`specs/001-x/tasks.md`: line 3 looks like a task and does not count";
    patient.expect("list", "warn", &[words, "**[ ] T002 B**"]);
    let two = "- [ ] T001 A\n\n**[ ] T002 B**\n\n**[ ] T003 C**\n";
    patient.scratch.write("project/specs/001-x/tasks.md", two);
    let mut doctor = patient.scratch.command(SPOOL, &["doctor"]);
    let told = doctor.current_dir(patient.scratch.top().join("project")).finish();
    let told = String::from_utf8(told.stdout).unwrap();
    assert_eq!(told.matches("`spool task list` shows what counts").count(), 1, "{told}");
}

#[test]
fn without_claude_the_first_check_fails() {
    let scratch = Home::new();
    let outcome = scratch.run(SPOOL, &["doctor"]).with_code(1);
    assert!(outcome.out.starts_with("fail  no `claude` was found on PATH\n"), "{outcome}");
    assert!(outcome.out.contains("one thing must be fixed"), "{outcome}");
}

#[test]
fn an_old_client_fails() {
    let mut patient = Patient::healthy();
    patient.version = "2.1.142";
    patient.expect("client", "fail", &["2.1.142", "2.1.143", "claude update"]);
    patient.version = "2.1.143";
    patient.expect("client", "ok", &["2.1.143"]);
    patient.version = "nonsense";
    patient.expect("client", "fail", &["nonsense"]);
}

#[test]
fn unusable_plugin_fails() {
    let mut patient = Patient::healthy();
    patient.plugins[0]["enabled"] = false.into();
    patient.expect("plugin", "fail", &["claude plugin enable speckit@ralph-speckit"]);
    patient.plugins[0]["enabled"] = true.into();
    patient.plugins[0]["version"] = "0.9.0".into();
    patient.expect("plugin", "fail", &["0.9.0", "spool setup"]);
    patient.plugins[0]["version"] = "1.0.0".into();
    patient.plugins[0]["errors"] = vec!["hooks\u{1b}[31m did not load"].into();
    patient.expect("plugin", "fail", &["[31m did not load"]);
    patient.plugins.clear();
    patient.expect("plugin", "fail", &["not installed", "spool setup"]);
}

#[test]
fn missing_or_foreign_programs_fail() {
    let patient = Patient::healthy();
    let bin = patient.scratch.top().join("plugin/bin");
    fs::rename(bin.join("ralph-hook"), bin.join("aside")).unwrap();
    patient.expect("programs", "fail", &["ralph-hook", "spool setup"]);
    for other in ["/bin/cat", "/bin/pwd"] {
        symlink(other, bin.join("ralph-hook")).unwrap();
        patient.expect("programs", "fail", &["does not answer as it should", "spool setup"]);
        fs::remove_file(bin.join("ralph-hook")).unwrap();
    }
    patient.scratch.copy(checkout().join("bin/ralph-hook"), "plugin/bin/ralph-hook");
    patient.expect("programs", "fail", &["cargo install --path ."]);
    assert!(!patient.scratch.data().exists(), "asking left a note behind");
    fs::rename(bin.join("aside"), bin.join("ralph-hook")).unwrap();
    patient.scratch.script("plugin/bin/spool", "echo spool 0.9.0");
    patient.expect("programs", "fail", &["0.9.0", "version 1.0.0"]);
}

#[test]
fn settings_disabling_hooks_fail() {
    for path in [
        "home/.claude/settings.json",
        "project/.claude/settings.json",
        "project/.claude/settings.local.json",
    ] {
        let patient = Patient::healthy();
        patient.scratch.write(path, r#"{"disableAllHooks":true}"#);
        let name = path.rsplit('/').next().unwrap();
        patient.expect("hooks", "fail", &["disableAllHooks", name]);
    }
}

#[test]
fn the_nearest_setting_wins() {
    let patient = Patient::healthy();
    patient.scratch.write("home/.claude/settings.json", r#"{"disableAllHooks":true}"#);
    patient.scratch.write("project/.claude/settings.local.json", r#"{"disableAllHooks":false}"#);
    patient.expect("hooks", "ok", &[]);
}

#[test]
fn variable_disabling_hooks_fails() {
    let mut patient = Patient::healthy();
    patient.scratch.set("CLAUDE_CODE_SIMPLE", "0");
    patient.expect("hooks", "ok", &[]);
    patient.scratch.set("CLAUDE_CODE_SIMPLE", "1");
    patient.expect("hooks", "fail", &["CLAUDE_CODE_SIMPLE", "the environment"]);
}

#[test]
fn broken_settings_file_warns() {
    let patient = Patient::healthy();
    patient.scratch.write("project/.claude/settings.json", "{half");
    patient.expect("settings", "warn", &["settings.json"]);
}

#[test]
fn ac_3_1_switched_off_project_warns() {
    let patient = Patient::healthy();
    let path = "project/.claude/ralph-speckit.local.md";
    patient.scratch.write(path, "---\nenabled: false\n---\n");
    patient.expect("project", "warn", &["ralph-speckit.local.md", "enabled: true"]);
    patient.scratch.write(path, "---\nenabled: true\n---\nNot enabled: false\n");
    patient.expect("project", "ok", &[]);
}

#[test]
fn s3_misnamed_settings_fail() {
    let patient = Patient::healthy();
    patient.scratch.write("project/.claude/ralph-speckit.md", "---\nchecks: [npm test]\n---\n");
    patient.expect("project", "fail", &[".claude/ralph-speckit.md` is not the settings file"]);
}

#[test]
fn s3_unusable_settings_fail_with_line() {
    let patient = Patient::healthy();
    let path = "project/.claude/ralph-speckit.local.md";
    patient.scratch.write(path, "---\nenabled: true\ncheck:\n  - cargo test\n---\n");
    patient.expect(
        "project",
        "fail",
        &["ralph-speckit.local.md", "line 3: unknown key `check`", "did you mean `checks`?"],
    );
    patient.scratch.write(path, "-\0-\0-\0");
    patient.expect("project", "fail", &["UTF-16", "save it as UTF-8 text"]);
}

#[test]
fn other_loop_plugin_warns() {
    for id in [
        "ralph-loop@claude-plugins-official",
        "ralph-wiggum@x",
        "ralph-speckit@smart-ralph",
        "oh-my-claudecode@omc",
        "speckit@other",
    ] {
        let mut patient = Patient::healthy();
        patient.plugins.push(serde_json::json!({"id": id, "enabled": true}));
        patient.expect("other-loops", "warn", &[&format!("claude plugin disable {id}")]);
        patient.plugins[1]["enabled"] = false.into();
        patient.expect("other-loops", "ok", &[]);
    }
}

#[test]
fn lower_block_cap_warns() {
    for (cap, status) in
        [("2", "warn"), ("3", "warn"), ("4", "ok"), ("0", "ok"), ("-1", "ok"), ("many", "warn")]
    {
        let mut patient = Patient::healthy();
        patient.scratch.set("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", cap);
        patient.expect("block-cap", status, &["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", cap]);
    }
    let patient = Patient::healthy();
    patient
        .scratch
        .write("home/.claude/settings.json", r#"{"env":{"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP":"1"}}"#);
    patient.expect("block-cap", "warn", &["settings.json"]);
}

/// Has this stand in the place of the system's inhibitor.
fn inhibited_by(patient: &Patient, script: &str) {
    let name = if cfg!(target_os = "macos") { "caffeinate" } else { "systemd-inhibit" };
    patient.scratch.script(&format!("client/{name}"), script);
}

#[test]
fn awake_ability_is_told() {
    let patient = Patient::healthy();
    let real = "while case \"$1\" in --*) true ;; *) false ;; esac; do shift; done\n\"$@\"";
    let held = "`spool ralph` keeps this machine awake while it runs";
    inhibited_by(&patient, real);
    patient.expect("stay-awake", "ok", &[held]);
    let asleep = "this machine may fall asleep while `spool ralph` runs: ";
    inhibited_by(&patient, "echo 'no bus' >&2; exit 1");
    patient.expect("stay-awake", "ok", &[asleep, "no bus"]);
    if cfg!(target_os = "linux") {
        inhibited_by(&patient, "exec sleep 600");
        patient.expect("stay-awake", "ok", &[asleep, "`systemd-inhibit`: no answer for 5 s"]);
    }
}

#[test]
fn container_init_claims_no_wakefulness() {
    let patient = Patient::healthy();
    inhibited_by(&patient, "echo held; exec sleep 600");
    let container = ["--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc"];
    let mut can = patient.scratch.command("/usr/bin/unshare", &container);
    if !std::path::Path::new("/usr/bin/unshare").exists()
        || !can.arg("true").finish().status.success()
    {
        left_out("it needs `unshare` with a user and its processes");
        return;
    }
    let doctor = [&container[..], &[SPOOL, "doctor", "--json"]].concat();
    let output = patient
        .scratch
        .command("/usr/bin/unshare", &doctor)
        .current_dir(patient.scratch.top().join("project"))
        .finish();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    schema::holds("doctor", &report);
    let checks = report["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "stay-awake").unwrap();
    let found = "`spool ralph` does not keep this machine awake where it is the first process of a container";
    assert_eq!((&check["status"], &check["found"]), (&"ok".into(), &found.into()), "{check:#}");
}
