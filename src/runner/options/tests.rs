//! Values, files, and which place is the strongest.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::*;
use crate::settings::{Chosen, Flags, RUNNER, Setting, SettingKind};

/// The settings as flags, beside the prompt that some of them exclude.
fn flags() -> Command {
    Flags::<RUNNER>::augment_args(Command::new("ralph")).arg(clap::Arg::new("prompt"))
}

/// Settings as they are typed, or what is wrong with them.
fn typed(settings: &[(&str, &str)]) -> Result<Chosen, String> {
    let flag = |(name, value): &(&str, &str)| match *name {
        "verbose" | "quiet" => format!("--{name}"),
        _ => format!("--{name}={value}"),
    };
    let words = std::iter::once("ralph".to_owned()).chain(settings.iter().map(flag));
    let matches: Result<ArgMatches, _> = flags().try_get_matches_from(words);
    matches
        .and_then(|matches| Flags::<RUNNER>::from_arg_matches(&matches))
        .map(|flags| flags.0)
        .map_err(|error| error.to_string())
}

fn layers(settings: &[(&str, &str)]) -> Result<Layers, String> {
    Ok(Layers { typed: typed(settings)?, ..Layers::default() })
}

fn resolved(layers: &Layers) -> Result<Options, String> {
    resolve(layers, "go".to_owned(), Path::new("/")).map_err(|error| error.to_string())
}

fn options(settings: &[(&str, &str)]) -> Options {
    resolved(&layers(settings).unwrap()).unwrap()
}

fn set(settings: &[(&str, &str)]) -> Chosen {
    options(settings).settings
}

fn names() -> impl Iterator<Item = &'static str> {
    Setting::all_in(RUNNER).map(|setting| setting.name)
}

fn refused(settings: &[(&str, &str)]) -> String {
    layers(settings).and_then(|layers| resolved(&layers)).unwrap_err()
}

/// A project with a file, and a person with another.
struct OptionsBench {
    scratch: TempDir,
}

impl OptionsBench {
    fn new(project: &str, user: &str) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        fs::create_dir_all(scratch.path().join("project/.spool")).unwrap();
        fs::write(scratch.path().join("project/.spool/ralph.toml"), project).unwrap();
        fs::write(scratch.path().join("user.toml"), user).unwrap();
        Self { scratch }
    }

    fn root(&self) -> PathBuf {
        self.scratch.path().join("project").canonicalize().unwrap()
    }

    fn settings(&self, on_the_command_line: &[(&str, &str)]) -> anyhow::Result<Layers> {
        Ok(Layers {
            typed: typed(on_the_command_line).map_err(anyhow::Error::msg)?,
            project: file::of_project(&self.root())?,
            person: file::of_user(&self.scratch.path().join("user.toml"))?,
            ..Layers::default()
        })
    }

    fn refused(&self) -> String {
        self.settings(&[])
            .unwrap_err()
            .to_string()
            .replace(self.scratch.path().to_str().unwrap(), "…")
    }
}

#[test]
fn numbers_are_digits_only() {
    assert_eq!(set(&[("max-iterations", "08")]).max_iterations(), Some(8));
    assert_eq!(set(&[("max-iterations", "0")]).max_iterations(), None);
    assert_eq!(set(&[]).max_iterations(), Some(50));
    for wrong in
        ["", "-1", "+1", "0x8", "1e3", " 3", "3 ", "1_000", "1000001", "99999999999999999999"]
    {
        let said = refused(&[("max-iterations", wrong)]);
        assert!(
            said.contains("'--max-iterations <N>': needs a whole number from 0 to 1000000"),
            "{wrong}: {said}"
        );
    }
    assert!(refused(&[("max-failures", "0")]).contains("from 1 to"));
    assert_eq!(set(&[("token-budget", "5000000000")]).token_budget(), Some(5_000_000_000));
    assert_eq!(set(&[("token-budget", "0")]).token_budget(), None);
}

#[test]
fn least_exceeds_no_most() {
    let both = refused(&[("min-iterations", "4"), ("max-iterations", "3")]);
    assert!(both.contains("`min-iterations` (4) is more than `max-iterations` (3)"), "{both}");
    assert_eq!(set(&[("min-iterations", "4"), ("max-iterations", "0")]).min_iterations(), 4);
}

#[test]
fn plain_times_are_minutes() {
    let table = [
        ("30", Some(1_800_000)),
        ("08", Some(480_000)),
        ("90s", Some(90_000)),
        ("1h30m", Some(5_400_000)),
        ("1d2h3m4s5ms", Some(93_784_005)),
        ("2min", Some(120_000)),
        ("0", None),
        ("0s", None),
    ];
    for (text, millis) in table {
        let limit = set(&[("iteration-timeout", text)]).iteration_timeout();
        assert_eq!(limit, millis.map(Duration::from_millis), "{text}");
    }
    for wrong in [
        "",
        "h",
        "1x",
        "30m1h",
        "1m2m",
        "1h30",
        "-1",
        "1.5h",
        "1 h",
        "366d",
        "99999999999999999999s",
        "18446744073709551615h",
    ] {
        let said = refused(&[("iteration-timeout", wrong)]);
        assert!(said.contains("'--iteration-timeout <TIME>': "), "{wrong}: {said}");
    }
    assert_eq!(set(&[("grace", "3")]).grace(), Duration::from_secs(3));
    assert_eq!(set(&[("grace", "0")]).grace(), Duration::ZERO);
    assert_eq!(options(&[("check", "a"), ("check-timeout", "10")]).checks[0].limit_seconds, 10);
    assert!(refused(&[("check-timeout", "0")]).contains("from 1s to 1d, not `0`"));
    assert!(refused(&[("grace", "11m")]).contains("from 0s to 10m, not `11m`"));
}

#[test]
fn a_time_in_words_reads_back() {
    for millis in [1, 999, 1_000, 61_000, 5_400_000, 86_400_000, 93_784_005] {
        let words = time_in_words(Duration::from_millis(millis));
        assert_eq!(SettingKind::Time(60, 0, 1).number(&words), Some(millis), "{words}");
    }
    assert_eq!(time_in_words(Duration::ZERO), "0s");
}

#[test]
fn useless_promise_is_refused() {
    for wrong in ["", " ", "\t", " DONE", "DONE ", "<promise>DONE</promise>", "a\nb", "a\u{1b}b"] {
        let said = refused(&[("completion-promise", wrong)]);
        assert!(said.contains("'--completion-promise <TOKEN>': "), "{wrong:?}: {said}");
    }
    assert_eq!(set(&[("completion-promise", "all done")]).completion_promise(), "all done");
}

#[test]
fn flag_like_model_is_refused() {
    for wrong in ["--dangerously-skip-permissions", "-c", "", "a\nb"] {
        assert!(
            refused(&[("model", wrong)]).contains("'--model <MODEL>': needs a name"),
            "{wrong}"
        );
    }
    assert_eq!(
        set(&[("model", "anthropic/claude-sonnet")]).model().unwrap(),
        "anthropic/claude-sonnet"
    );
}

#[test]
fn command_line_implies_its_harness() {
    let line = "agent 'with a blank' {prompt_file}";
    let any = HarnessChoice::Command(line.to_owned());
    assert_eq!(options(&[]).harness, HarnessChoice::Claude);
    assert_eq!(options(&[("harness", "codex")]).harness, HarnessChoice::Codex);
    assert_eq!(options(&[("harness-command", line)]).harness, any);
    assert_eq!(options(&[("harness", "command"), ("harness-command", line)]).harness, any);
    let both = refused(&[("harness", "claude"), ("harness-command", line)]);
    assert!(both.contains("`--harness-command` means `harness` `command`, not `claude`"), "{both}");
    assert!(refused(&[("harness", "command")]).contains("no command is given"));
    assert!(refused(&[("harness-command", "a 'b")]).contains("never closed"));
    assert!(refused(&[("harness-command", " ")]).contains("names no program"));
    let unknown = refused(&[("harness", "cursor")]);
    assert!(
        unknown.contains(
            "`claude`, `opencode`, `codex`, `gemini`, `copilot`, `command`, `demo` or `acp:COMMAND`, not `cursor`"
        ),
        "{unknown}"
    );
}

#[test]
fn typed_harness_beats_filed_command() {
    let bench = OptionsBench::new("", "harness-command = \"mine\"\n");
    let chosen =
        |typed: &[(&str, &str)]| resolved(&bench.settings(typed).unwrap()).unwrap().harness;
    assert_eq!(chosen(&[]), HarnessChoice::Command("mine".to_owned()));
    assert_eq!(chosen(&[("harness", "gemini")]), HarnessChoice::Gemini);
    assert_eq!(chosen(&[("harness", "command")]), HarnessChoice::Command("mine".to_owned()));
    assert_eq!(chosen(&[("harness-command", "other")]), HarnessChoice::Command("other".to_owned()));
}

#[test]
fn command_line_beats_project_and_person() {
    let bench = OptionsBench::new(
        "max-iterations = 20\nno_progress = 4\nverbose = true\n",
        "max_iterations = 30\nno-progress = 5\niteration-timeout = \"90s\"\nallow-all = true\nquiet = true\n",
    );
    let options = resolved(&bench.settings(&[("max-iterations", "10")]).unwrap()).unwrap();
    assert_eq!(options.settings.max_iterations(), Some(10));
    assert_eq!(options.settings.no_progress(), Some(4));
    assert_eq!(options.settings.iteration_timeout(), Some(Duration::from_secs(90)));
    assert_eq!(options.allow_all, Approval::All);
    assert_eq!(options.shown, Shown::Verbose);
    let off =
        resolved(&bench.settings(&[("allow-all", "false"), ("quiet", "true")]).unwrap()).unwrap();
    assert_eq!((off.allow_all, off.shown), (Approval::Own, Shown::Quiet));
}

#[test]
fn empty_list_keeps_earlier_values() {
    let bench = OptionsBench::new("check = []\n", "check = [\"make\"]\n");
    let options = resolved(&bench.settings(&[]).unwrap()).unwrap();
    assert_eq!(options.checks.iter().map(|check| &*check.run).collect::<Vec<_>>(), ["make"]);
}

#[test]
fn no_file_is_no_setting() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().canonicalize().unwrap();
    assert_eq!(file::of_project(&root).unwrap().0, []);
    assert_eq!(file::of_user(&root.join("none/ralph.toml")).unwrap().0, []);
}

#[test]
fn file_mistake_has_line_and_key() {
    let table = [
        (
            "# a\n\nmax-iteration = 3\n",
            "line 3: there is no setting `max-iteration`\ndid you mean `max-iterations`?",
        ),
        ("quite = true\n", "did you mean `quiet`?"),
        ("colour = 1\n", "there is no setting `colour`\nthe settings are the long flags"),
        ("\nmax-iterations = \"3\"\n", "line 2: `max-iterations` needs a whole number"),
        ("max-iterations = 0x3\n", "`max-iterations` needs a whole number"),
        ("max-iterations = 1.5\n", "`max-iterations` needs a whole number"),
        ("commit = 1\n", "`commit` needs `true` or `false`"),
        ("check = [1]\n", "`check` needs a text in quotes, or a list of them"),
        ("model = 1\n", "`model` needs a text in quotes"),
        ("grace = true\n", "`grace` needs a time such as `90s`"),
        ("[limits]\nmax-iterations = 3\n", "line 1: there is no setting `limits`"),
        ("max-iterations = 1\nmax_iterations = 2\n", "line 2: `max-iterations` is set twice"),
        ("status = true\n", "`status` is given on the command line only"),
        ("a = \n", "line 1: "),
        ("commit = true\ncommit = false\n", "line 2: "),
        ("\"\\u001b[31mred\" = 1\n", "there is no setting `�[31mred`"),
    ];
    for (text, words) in table {
        let said = OptionsBench::new(text, "").refused();
        assert!(said.starts_with("`…/project/.spool/ralph.toml`, line "), "{text}: {said}");
        assert!(said.contains(words), "{text}: {said}");
    }
    for (text, words) in [
        (
            "max-iterations = -1\n",
            "`max-iterations` needs a whole number from 0 to 1000000, not `-1`",
        ),
        ("check = [\"true\", \"#\"]\n", "`check` needs a command: this one runs nothing"),
        ("harness = \"cursor\"\n", "`harness` needs `claude`, `opencode`"),
        ("harness = \"acp\"\n", "`demo` or `acp:COMMAND`, not `acp`"),
    ] {
        let said = OptionsBench::new("", text).refused();
        assert!(said.contains("user.toml`, line 1: ") && said.contains(words), "{said}");
    }
}

#[test]
fn project_grants_no_rights() {
    for hostile in [
        "allow-all = true",
        "allow_all = false",
        "harness-command = \"sh -c pwned\"",
        "trusted-projects = [\"/\"]",
    ] {
        let said = OptionsBench::new(hostile, "").refused();
        assert!(said.contains("cannot be set by a project"), "{hostile}: {said}");
        assert!(said.contains("line 1"), "{hostile}: {said}");
    }
}

#[test]
fn trusted_project_names_checks() {
    for (hostile, shown) in
        [("check = [\"touch pwned\"]", "touch pwned"), ("harness = \"opencode\"", "opencode")]
    {
        let bench = OptionsBench::new(hostile, "");
        let settings = bench.settings(&[]).unwrap();
        let said = only_what_is_trusted(settings.clone(), &bench.root(), ProjectTrust::Listed)
            .unwrap_err()
            .to_string();
        assert!(said.contains(shown) && said.contains("--trust-project"), "{said}");
        only_what_is_trusted(settings, &bench.root(), ProjectTrust::Now).unwrap();
    }
}

#[test]
fn typed_values_need_no_trust() {
    let bench = OptionsBench::new("check = [\"touch pwned\"]\nharness = \"opencode\"\n", "");
    let trust = |own: &[(&str, &str)]| {
        only_what_is_trusted(bench.settings(own).unwrap(), &bench.root(), ProjectTrust::Listed)
    };
    trust(&[("check", "true"), ("harness", "claude")]).unwrap();
    trust(&[("check", "true"), ("harness-command", "mine")]).unwrap();
    trust(&[("harness", "claude")]).unwrap_err();
}

#[test]
fn personal_file_names_trusted_projects() {
    let bench = OptionsBench::new("check = [\"cargo test\"]\n", "");
    let user = bench.scratch.path().join("user.toml");
    let listed = |folder: &Path| {
        fs::write(&user, format!("trusted-projects = ['{}']\n", folder.display())).unwrap();
        only_what_is_trusted(bench.settings(&[]).unwrap(), &bench.root(), ProjectTrust::Listed)
    };
    listed(&bench.root()).unwrap();
    listed(bench.root().parent().unwrap()).unwrap_err();
    listed(Path::new(".")).unwrap_err();
}

#[cfg(unix)]
#[test]
fn outside_project_file_is_refused() {
    let bench = OptionsBench::new("", "max-iterations = 1\n");
    let path = bench.root().join(".spool/ralph.toml");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(bench.scratch.path().join("user.toml"), &path).unwrap();
    assert!(bench.refused().contains("leads out of its folder"), "{}", bench.refused());
    fs::remove_file(&path).unwrap();
    fs::remove_dir(bench.root().join(".spool")).unwrap();
    std::os::unix::fs::symlink(bench.scratch.path(), bench.root().join(".spool")).unwrap();
    assert!(bench.refused().contains("leads out of its folder"), "{}", bench.refused());
}

#[test]
fn prompt_is_taken_whole() {
    let words = "it's $(touch pwned) `id`\n---\n\"$&\" --max-iterations 3 \\";
    let bench = OptionsBench::new("prompt-file = \"ask.md\"\n", "");
    let root = bench.root();
    let asked = |typed: Option<&str>| {
        let settings = bench.settings(&[]).unwrap();
        task(typed, &settings.merged(), Path::new("/"), Some(&root))
            .map_err(|error| error.to_string())
    };
    assert_eq!(asked(Some(words)).unwrap().unwrap(), words);
    assert!(asked(None).unwrap_err().contains("it does not exist"));
    fs::write(root.join("ask.md"), words).unwrap();
    assert_eq!(asked(None).unwrap().unwrap(), words);
    assert!(asked(Some(" \n")).unwrap_err().contains("the prompt is empty"));
    for (content, why) in [(&b"\xff"[..], "not UTF-8"), (b"  ", "it is empty"), (b"a\0b", "NUL")] {
        fs::write(root.join("ask.md"), content).unwrap();
        assert!(asked(None).unwrap_err().contains(why), "{why}");
    }
    let outside = OptionsBench::new("prompt-file = \"../user.toml\"\n", "");
    let settings = outside.settings(&[]).unwrap();
    let said = task(None, &settings.merged(), Path::new("/"), Some(&outside.root()))
        .unwrap_err()
        .to_string();
    assert!(said.contains("leads out of the project"), "{said}");
}

#[test]
fn check_alone_needs_a_check() {
    assert!(refused(&[("done", "check")]).contains("there is no check"));
    let options =
        options(&[("done", "check"), ("check", "cargo test"), ("check", "cargo fmt --check")]);
    assert_eq!(options.contract(DoneWhen::Check).token, None);
    assert_eq!(options.contract(DoneWhen::Tasks).token.unwrap(), "COMPLETE");
    let runs: Vec<&str> = options.checks.iter().map(|check| check.run.as_str()).collect();
    assert_eq!(runs, ["cargo test", "cargo fmt --check"]);
    for idle in [" ", "#", " # cargo test", "\n#\n"] {
        let said = refused(&[("check", idle)]);
        assert!(
            said.contains("'--check <COMMAND>': needs a command: this one runs nothing"),
            "{said}"
        );
    }
}

#[test]
fn nought_takes_a_guardrail_away() {
    let names = [
        "max-iterations",
        "stall-threshold",
        "no-progress",
        "iteration-timeout",
        "max-runtime",
        "token-budget",
    ];
    let all: Vec<(&str, &str)> = names.into_iter().map(|name| (name, "0")).collect();
    let rails = options(&all).contract(DoneWhen::Tasks).guardrails;
    assert_eq!(
        (rails.max_iterations, rails.max_commitless, rails.max_seconds, rails.max_tokens),
        (None, None, None, None)
    );
    assert_eq!((rails.max_unchanged, rails.max_idle_stops), (u32::MAX, u32::MAX));
}

#[test]
fn sample_has_every_key() {
    let sample = include_str!("../../../docs/ralph.toml");
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("ralph.toml");
    fs::write(&path, sample).unwrap();
    let as_it_is = Layers { person: file::of_user(&path).unwrap(), ..Layers::default() };
    let (sampled, default) = (resolved(&as_it_is).unwrap(), options(&[]));
    let without = |options: &Options| Options { settings: Chosen::default(), ..options.clone() };
    assert_eq!(format!("{:?}", without(&sampled)), format!("{:?}", without(&default)));
    for made in &sampled.settings.0 {
        let number = |text: &str| made.setting.kind.number(text);
        let default = match made.setting.default {
            // What does nothing by itself, or is known only with the agent program.
            "" if made.setting.kind == SettingKind::Switch => "false",
            "" if made.setting.name == "harness" => "claude",
            "" if made.setting.name == "review-when" => "end",
            "" if made.setting.name == "review-token-budget" => "5000000",
            default => default,
        };
        let value = &made.values[0];
        let same =
            value == default || (number(value).is_some() && number(value) == number(default));
        assert!(same, "{made:?}");
    }
    let is_key = |line: &str| {
        let name = line.strip_prefix("# ").and_then(|rest| rest.split_once(" = "));
        name.is_some_and(|(name, _)| names().any(|known| known == name))
    };
    let whole: Vec<&str> =
        sample.lines().map(|line| if is_key(line) { &line[2..] } else { line }).collect();
    fs::write(&path, whole.join("\n")).unwrap();
    let all = file::of_user(&path).unwrap();
    let mut names: Vec<&str> = all.0.iter().map(|made| made.setting.name).collect();
    let mut expected: Vec<&str> = self::names().collect();
    names.sort_unstable();
    expected.sort_unstable();
    assert_eq!(names, expected);
}

#[test]
fn settings_and_flags_correspond() {
    let command = flags();
    let flags = command.get_arguments().filter_map(|flag| flag.get_long().map(str::to_owned));
    let mut flags: Vec<String> = flags.collect();
    let mut names: Vec<&str> = self::names().collect();
    names.retain(|name| *name != "trusted-projects");
    flags.sort_unstable();
    names.sort_unstable();
    assert_eq!(flags, names);
}
