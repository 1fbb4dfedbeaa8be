//! What a person's shell, terminal and `man` get to know of the command line.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::left_out::left_out;
use crate::support::limited::Limited;
use crate::support::scratch::{SPOOL, Said, Scratch, contents};

/// A project with two features, of which the second is the current one, and the programs first on the search path.
fn project() -> Scratch {
    let mut scratch = Scratch::new("command-line-");
    scratch.add_feature("001-login", "- [ ] T001 First\n");
    scratch.add_feature("002-search", "- [x] T001 Done\n- [ ] T002 Find `$(touch owned)` it\n");
    scratch.search_first(Path::new(SPOOL).parent().unwrap());
    scratch
}

/// What bash offers for the last word of a line.
fn offered(scratch: &Scratch, line: &str) -> BTreeSet<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let script = "eval \"$(spool completions bash)\"
COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9
_clap_complete_spool spool \"${COMP_WORDS[COMP_CWORD]}\"
printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut bash = scratch.command("bash");
    let said = Said::of(bash.args(["--norc", "-c", script, "bash"]).args(words)).ok();
    said.lines().filter(|line| !line.is_empty()).map(|line| line.trim_end().to_owned()).collect()
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn shell_completes_existing_names() {
    let scratch = project();
    assert_eq!(offered(&scratch, "spool sta"), names(&["start", "status", "statusline"]));
    let both = names(&["001-login", "002-search"]);
    assert_eq!(offered(&scratch, "spool task --feature 0"), both);
    assert_eq!(offered(&scratch, "spool ralph --change 0"), both);
    for command in ["stop", "cancel", "pause", "resume", "status", "log"] {
        assert_eq!(offered(&scratch, &format!("spool {command} 001")), names(&["001-login"]));
        assert_eq!(offered(&scratch, &format!("spool {command} --feature 0")), both);
        assert_eq!(offered(&scratch, &format!("spool {command} -c 001")), names(&["001-login"]));
    }
    assert_eq!(offered(&scratch, "spool task done T"), names(&["T002"]), "only the open ones");
    assert_eq!(offered(&scratch, "spool task show T"), names(&["T001", "T002"]));
    for name in ["ralph", "loop"] {
        let line = format!("spool {name} --harness co");
        assert_eq!(offered(&scratch, &line), names(&["codex", "command", "copilot"]));
    }
    let mut arms = scratch.command(SPOOL);
    Said::of(arms.arg("start").env("CLAUDE_CODE_SESSION_ID", "abc-1")).with_code(0);
    assert_eq!(offered(&scratch, "spool log --session a"), names(&["abc-1"]));
}

/// A shell reads what it completed once more when the person presses Enter.
#[test]
fn dangerous_name_is_not_offered() {
    let scratch = project();
    for name in
        ["003-$(touch owned)", "003-`touch owned`", "003-a;b", "003-a b", "003-a&b", "003-'a"]
    {
        scratch.write(format!("specs/{name}/tasks.md"), "- [ ] T001 First\n");
        scratch.write(format!(".spool/changes/{name}/proposal.md"), "Do it.\n");
    }
    scratch.write("specs/003-good/tasks.md", "- [ ] T001 First\n");
    assert_eq!(offered(&scratch, "spool task --feature 003"), names(&["003-good"]));
    assert_eq!(offered(&scratch, "spool ralph --change 003"), names(&["003-good"]));
    assert!(!scratch.path("owned").exists());
}

#[test]
fn every_shell_gets_its_lines() {
    let scratch = project();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let lines = Said::of(scratch.command(SPOOL).args(["completions", shell])).ok();
        assert!(lines.contains("SPOOL_COMPLETE"), "{shell}: {lines}");
    }
    Said::of(scratch.command(SPOOL).args(["completions", "csh"])).with_code(2);
}

/// All commands with those below them, as `--help` lists them.
fn commands(scratch: &Scratch, above: &[String]) -> Vec<Vec<String>> {
    let help = Said::of(scratch.command(SPOOL).args(above).arg("--help")).ok();
    let is_title = |line: &&str| line.ends_with(':') && !line.starts_with(' ');
    let (mut is_list, mut all) = (above.is_empty(), vec![above.to_vec()]);
    for line in help.lines() {
        if is_title(&line) {
            is_list = line == "Commands:"
                || above.is_empty() && !["Options:", "Examples:"].contains(&line);
            continue;
        }
        let name =
            line.strip_prefix("  ").and_then(|words| words.split_once("  ")).map(|words| words.0);
        if let Some(name) = name.filter(|name| is_list && !name.is_empty() && *name != "help") {
            all.extend(commands(scratch, &[above, &[name.to_owned()]].concat()));
        }
    }
    all
}

/// The long flags that a text lists, each at the start of a line.
fn flags(text: &str) -> BTreeSet<String> {
    let words = |line: &str| line.trim_start().split(' ').map(str::to_owned).collect::<Vec<_>>();
    let listed = text.lines().flat_map(|line| {
        words(line).into_iter().map_while(|word| {
            let flag = word.split([',', '=', '[']).next().unwrap_or_default().to_owned();
            flag.starts_with('-').then_some(flag)
        })
    });
    let is_flag = |sign: char| sign.is_ascii_lowercase() || sign == '-';
    listed.filter(|word| word.starts_with("--") && word.chars().all(is_flag)).collect()
}

#[test]
fn commands_have_manual_pages() {
    let scratch = project();
    let said = Said::of(scratch.command(SPOOL).args(["man", "--to", "man1"])).ok();
    let all = commands(&scratch, &[]);
    assert!(all.len() > 25, "{all:?}");
    assert_eq!(said, format!("wrote {} pages to `man1`\n", all.len()));
    let mut with_notes = 0;
    for command in all {
        let file = format!("man1/{}.1", [&["spool".to_owned()], &*command].concat().join("-"));
        let page = scratch.read(&file).replace("\\-", "-").replace("\\fB", "").replace("\\fR", "");
        let footer = concat!("\"spool ", env!("CARGO_PKG_VERSION"), "\" ralph-speckit");
        assert!(page.contains(footer), "{file}: {page}");
        let help = Said::of(scratch.command(SPOOL).args(&command).arg("--help")).ok();
        let found = flags(&page.replace("\\fI", ""));
        assert_eq!(found, flags(&help), "{file}");
        let one = Said::of(scratch.command(SPOOL).arg("man").args(&command)).ok();
        assert_eq!(one.trim_end(), scratch.read(&file).trim_end());
        assert!(!page.contains(".SH EXTRA"), "{file}: {page}");
        let notes = page.split_once(".SH NOTES\n.in 2\n.nf\n").map_or("", |(_, notes)| notes);
        let notes = notes.split_once("\n.fi\n.SH ").map_or("", |(notes, _)| notes);
        with_notes += usize::from(!notes.is_empty());
        let notes = notes.replace("\\*(Aq", "'").replace("\\\\", "\\");
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&help).contains(&words(&notes)), "{file}: {notes}");
        let too_wide = notes.lines().find(|line| line.chars().count() > 78);
        assert_eq!(too_wide, None, "{file}");
    }
    assert!(with_notes > 6, "{with_notes} pages have notes");
    let typed = Said::of(scratch.command(SPOOL).args(["man", "taks"])).refused();
    assert!(typed.contains("did you mean `task`?"), "{typed}");
}

#[test]
fn commands_complete_their_flags() {
    let scratch = project();
    let all = commands(&scratch, &[]);
    for command in &all {
        let line = [&["spool".to_owned()], &**command].concat().join(" ");
        let help = Said::of(scratch.command(SPOOL).args(command).arg("--help")).ok();
        assert_eq!(offered(&scratch, &format!("{line} --")), flags(&help), "{line}");
        let is_below =
            |words: &&Vec<String>| words.len() == command.len() + 1 && words.starts_with(command);
        let below: BTreeSet<String> =
            all.iter().filter(is_below).filter_map(|words| words.last().cloned()).collect();
        let mut found = offered(&scratch, &format!("{line} "));
        found.remove("help");
        assert!(below.is_subset(&found), "{line}: {below:?} in {found:?}");
    }
}

#[test]
fn manual_leaves_other_files() {
    let scratch = project();
    let write = |folder: &str| Said::of(scratch.command(SPOOL).args(["man", "--to", folder]));
    // A file that is no page of ours, the last one in the order of writing, and a folder.
    scratch.write("mine/spool-plugin.1", ".TH mine 1\n");
    scratch.write("folder/spool-task.1/x", "");
    for (folder, file) in [("mine", "spool-plugin.1"), ("folder", "spool-task.1")] {
        let before = contents(&scratch.path(folder));
        let said = write(folder).refused();
        assert!(said.contains(&format!("`{folder}/{file}` is in the way")), "{said}");
        assert!(said.contains("move it away, or name another folder"), "{said}");
        assert_eq!(contents(&scratch.path(folder)), before);
    }
    scratch.write("file", "");
    let said = write("file").refused();
    assert!(said.contains("the folder `file` cannot be made"), "{said}");

    assert_eq!(write("man1").code, Some(0));
    let older = scratch.read("man1/spool-demo.1").replace("SYNOPSIS", "OLDER");
    scratch.write("man1/spool-demo.1", &older);
    assert_eq!(write("man1").code, Some(0), "a page of another version is renewed");
    assert!(!scratch.read("man1/spool-demo.1").contains("OLDER"));
}

#[test]
fn colors_come_when_told() {
    let scratch = project();
    let has_colors = |arguments: &[&str], no_color: bool| {
        let mut command = scratch.command(SPOOL);
        command.args(arguments);
        if no_color {
            command.env("NO_COLOR", "1");
        }
        let said = Said::of(&mut command);
        format!("{}{}", said.out, said.err).contains('\u{1b}')
    };
    for command in [&["doctor"][..], &["--help"], &["no-such-command"]] {
        let with = |when: &'static str| [&["--color", when], command].concat();
        assert!(!has_colors(command, false), "{command:?}: into a pipe");
        assert!(has_colors(&with("always"), false), "{command:?}");
        assert!(has_colors(&with("always"), true), "{command:?}: asked for");
        assert!(!has_colors(&with("never"), false), "{command:?}");
    }
}

/// Where they are installed, other shells take their lines without a word.
#[test]
fn present_shells_read_lines() {
    let scratch = project();
    for (shell, flag) in [("zsh", "-fc"), ("fish", "-c")] {
        let Ok(program) = Command::new(shell).arg("--version").stdout(Stdio::null()).spawn() else {
            left_out(&format!("the lines of {shell}, which is not installed"));
            continue;
        };
        program.finish();
        let script = match shell {
            "zsh" => "autoload -U compinit && compinit -u; eval \"$(spool completions zsh)\"",
            _ => "spool completions fish | source",
        };
        Said::of(scratch.command(shell).args([flag, script])).ok();
    }
}
