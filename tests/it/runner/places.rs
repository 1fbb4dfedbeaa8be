//! Programs that a project puts in the way: none of them is started in the place of another one.

use std::fs;
use std::path::Path;

use crate::review::support::{Built, FR_001, FR_002, US1_1};
use crate::runner::support::{Bench, CHANGE, in_change};
use crate::support::limited::Limited;

/// What a program does that the project has.
const TRAP: &str = "#!/bin/sh\necho \"$0\" >> \"$DESK/trapped\"\nexit 1\n";
/// The programs that a loop and a review start.
const NAMES: [&str; 7] = ["agent", "sh", "git", "claude", "wt-usage", "printf", "systemd-inhibit"];

/// The search path of the bench with this folder before it.
fn path_with(bench: &Bench, folder: &str) -> String {
    let command = bench.command("true");
    let path = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value);
    format!("{folder}:{}", path.unwrap().to_str().unwrap())
}

/// Puts programs into a folder of the project.
fn trap(bench: &Bench, folder: &str, names: &[&str]) {
    let project = bench.root.file_name().unwrap().to_str().unwrap();
    for name in names {
        bench.executable(&format!("{project}/{folder}/{name}"), TRAP);
    }
}

/// The programs of the project that were started.
fn trapped(bench: &Bench) -> String {
    fs::read_to_string(bench.beside("desk/trapped")).unwrap_or_default()
}

/// Ticks the first open box.
const TICK: &str = "sed -i '0,/\\[ \\]/s//[x]/' .spool/changes/*/tasks.md\n";

/// An agent that does the only task.
fn at_work() -> Bench {
    let bench = Bench::with_tasks("- [ ] 1.1 Write a.rs\n");
    let list = in_change("tasks.md");
    bench.agent(&format!(
        "echo 'fn a() {{}}' > a.rs; sed -i.old 's/\\[ \\]/[x]/' {list}; rm {list}.old"
    ));
    bench
}

#[test]
fn relative_path_folders_start_no_loop() {
    for folder in [".", ""] {
        let bench = at_work();
        trap(&bench, ".", &NAMES);
        let call = bench.ralph("--commit --check true").arg("--notify").arg("cat >/dev/null");
        call.env("PATH", &path_with(&bench, folder)).run().with_code(0);
        assert_eq!(trapped(&bench), "", "PATH begins with `{folder}`");
    }
}

#[test]
fn s13_project_folders_are_not_searched() {
    for through_a_link in [false, true] {
        let bench = at_work();
        trap(&bench, "bin", &NAMES);
        let folder = bench.root.join("bin");
        let link = bench.beside("link");
        std::os::unix::fs::symlink(&folder, &link).unwrap();
        let folder = if through_a_link { link } else { folder };
        let path = path_with(&bench, folder.to_str().unwrap());
        let call = bench.ralph("--commit --check true").arg("--notify").arg("cat >/dev/null");
        call.env("PATH", &path).run().with_code(0);
        assert_eq!(trapped(&bench), "", "PATH begins with {}", folder.display());
    }
}

#[test]
fn s13_project_readers_are_not_found() {
    let built = Built::new();
    built.claude(&Built::met());
    trap(&built, "node_modules/.bin", &["claude", "git"]);
    let folder = built.root.join("node_modules/.bin");
    let path = path_with(&built, folder.to_str().unwrap());
    built.spool("review").env("PATH", &path).run().with_code(0);
    // A link to it is no other program.
    let links = links(&built, &folder);
    built.spool("review").env("PATH", &path_with(&built, &links)).run().with_code(0);
    assert_eq!(trapped(&built), "");
}

#[test]
fn reader_named_by_path_reads() {
    let built = Built::new();
    built.reader(&[US1_1, FR_001, FR_002]);
    fs::create_dir(built.root.join("tools")).unwrap();
    fs::copy(built.beside("bin/agent"), built.root.join("tools/agent")).unwrap();
    let call = built.spool("review --may-write").arg("--harness-command").arg("tools/agent");
    call.run().with_code(0);
}

/// Ways in which git cannot read a repository, the variable that is set for it, and what git says then.
const UNREAD: [(&str, &str, &str); 8] = [
    ("echo nonsense >.git/HEAD", "", "fatal: not a git repository"),
    ("rm -rf .git/objects", "", "fatal: not a git repository"),
    ("rm -rf .git; mkdir .git", "", "fatal: not a git repository"),
    ("rm -rf .git; ln -s /nowhere .git", "", "fatal: not a git repository"),
    ("rm -rf .git; echo 'gitdir: /nowhere/x' >.git", "", "fatal: not a git repository: /nowhere/x"),
    ("rm -rf .git; echo nonsense >.git", "", "fatal: invalid gitfile format"),
    ("echo '[core' >>.git/config", "", "fatal: bad config"),
    ("", "GIT_TEST_ASSUME_DIFFERENT_OWNER", "fatal: detected dubious ownership in repository"),
];

#[test]
fn unreadable_repository_is_named_first() {
    for (how, variable, said) in UNREAD {
        let bench = at_work();
        let root = bench.root.display().to_string();
        let broken = bench.command("sh").args(["-c", how]).current_dir(&bench.root).finish();
        assert!(broken.status.success(), "{how}");
        let call = || match variable {
            "" => bench.ralph("--commit"),
            name => bench.ralph("--commit").env(name, "1"),
        };
        let ran = call().run().with_code(0);
        ran.warns(&format!("git cannot read the repository `{root}/.git`: {said}"));
        ran.warns("\nthe loop continues without it: commits are not seen, files are looked at without git, nothing will be committed\n");
        let next = match variable {
            "" => format!("\nmake `git status` work in `{root}`, then start the loop again\n"),
            _ => "\nif you trust what is in it: `git config --global --add safe.directory "
                .to_owned(),
        };
        ran.warns(&next);
        assert_eq!(ran.errors.matches("warning").count(), 1, "{ran}");
        ran.says("0 commits").says("Proved: 1 by files");
    }
}

#[test]
fn repository_lost_midway_is_told() {
    for how in ["rm -rf .git", "echo nonsense >.git/HEAD", "rm -rf .git/objects"] {
        let bench = at_work();
        bench.agent(&format!("echo x > made.txt\n{TICK}{how}"));
        let ran = bench.ralph("").run().with_code(0);
        ran.says(", commits unknown, ");
        ran.says("git cannot say what was committed and changed: fatal: not a git repository");
        assert!(!ran.output.contains("git diff") && !ran.output.contains("git log"), "{ran}");
    }
}

#[test]
fn moved_submodule_is_one_file() {
    let bench = at_work();
    let commit = "git -c user.name=a -c user.email=a@b commit -qm s";
    let made = format!(
        "git init -q ../sub && (cd ../sub && echo 1 > s.rs && git add -A && {commit}) && \
         git -c protocol.file.allow=always submodule -q add ../sub sub"
    );
    let made = bench.command("sh").args(["-c", &made]).current_dir(&bench.root).finish();
    assert!(made.status.success());
    bench.commit("a submodule");
    bench.agent(&format!(
        "(cd sub && echo 2 > s.rs && git add -A && {commit})\necho x > made.txt\n{TICK}"
    ));
    let ran = bench.ralph("").run().with_code(0);
    let told = ran.output.lines().find(|line| line.starts_with("-- iteration 1:")).unwrap();
    let count = told.split(", ").find(|part| part.ends_with(" files")).unwrap();
    ran.says(&format!("Changed: {count}")).says(&format!(" commits, {count}, "));
}

#[test]
fn replaced_commits_count_once() {
    let amend = "commit --quiet --all --amend --no-edit";
    let beside = format!("switch --quiet --create beside; git {amend}");
    for how in [amend, "rebase --quiet --root --force-rebase", &beside] {
        let bench = Bench::with_tasks(&"- [ ] Make it\n".repeat(2));
        bench.agent(&format!(
            "{TICK}echo $n > made$n.txt\ngit add made$n.txt\n\
             if [ $n = 1 ]; then git commit -qm one; else git {how}; fi"
        ));
        let ran = bench.ralph("--proof word").run();
        ran.says(" 2 iterations, ").says(", 1 commit, ");
    }
}

#[test]
fn readable_or_absent_repository_stays_unnamed() {
    for (bench, flags) in [(Bench::new(), ""), (Bench::folder(), "--commit"), (Bench::folder(), "")]
    {
        bench.agent("echo x > made.txt");
        let ran = bench.ralph(&format!("{flags} --max-iterations 1")).run().with_code(3);
        let told =
            ran.errors.contains("nothing will be committed: there is no git repository here\n");
        assert_eq!(
            (ran.errors.contains("git cannot read"), told),
            (false, !flags.is_empty()),
            "{ran}"
        );
    }
}

#[test]
fn missing_git_is_named_with_why() {
    let bench = at_work();
    let agent = bench.beside("bin/agent").display().to_string();
    let call = bench.spool(&format!("ralph --change {CHANGE} --no-stay-awake --max-iterations 1"));
    let call = call.arg("--harness-command").arg(&agent).arg("Build it");
    call.env("PATH", "/nowhere").run().warns("/.git`: `git` cannot be started: ");
}

/// A folder outside of the project whose program leads into it.
fn links(bench: &Bench, folder: &Path) -> String {
    let links = bench.beside("links");
    fs::create_dir(&links).unwrap();
    std::os::unix::fs::symlink(folder.join("claude"), links.join("claude")).unwrap();
    links.to_str().unwrap().to_owned()
}

#[test]
fn model_never_becomes_shell_code() {
    let bench = Bench::new();
    let command = "harness-command = \"sh -c 'echo {model}; cat >/dev/null'\"\n";
    bench.write("../home/.config/ralph-speckit/ralph.toml", command);
    for name in ["model", "fallback-model"] {
        let own = if name == "model" { "" } else { "model = \"plain\"\n" };
        bench.write(".spool/ralph.toml", format!("{own}{name} = \"x$(touch pwned)\"\n"));
        let ran = bench.ralph("--max-iterations 1").run().with_code(2);
        ran.warns(&format!("`{name}` in `")).warns("cannot stand in a command as {model}");
    }
    bench.write(".spool/ralph.toml", "model = \"anthropic/claude-sonnet-4.5:1\"\n");
    bench.ralph("--max-iterations 1").run().with_code(3);
    let typed = bench.ralph("--max-iterations 1").arg("--model").arg("x$(touch pwned)");
    typed.run().with_code(2).warns("`--model`: `x$(touch pwned)` cannot stand");
    assert!(!bench.root.join("pwned").exists());
}
