//! Whatever a project's file says, without trust it makes nothing looser, and nothing of it is dropped silently.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::super::file::parse;
use super::super::{Approval, DoneWhen, Options};
use super::*;
use crate::engine::proof::LeastProof;
use crate::engine::{Check, PromiseMatch};
use crate::settings::RUNNER;
use crate::world;

/// A few values for each key, as a file has them: low, high, none, the default.
fn values(name: &str) -> &'static [&'static str] {
    match name {
        "change" | "module" | "prompt-file" | "model" | "review-model" => &["'a'", "'b'"],
        "no-interactive" | "no-landing" | "no-final-check" | "continue-session" | "commit"
        | "strict" | "verbose" | "quiet" | "json" | "review" | "converge" | "include-optional" => {
            &["true", "false"]
        }
        "review-when" => &["'phases'", "'verify'"],
        "review-timeout" => &["'5m'", "'24h'"],
        "review-token-budget" => &["1", "1000000"],
        "fallback-model" => &["'small'", "'large'"],
        "harness" | "fallback-harness" | "review-harness" => &["'claude'", "'opencode'"],
        "done" => &["'tasks'", "'manual'", "'check'"],
        "completion-promise" => &["'COMPLETE'", "'x'"],
        "promise-match" => &["'anywhere'", "'exact'"],
        "check" => &["'true'", "['touch pwned', 'true']"],
        "notify" => &["'true'", "'touch pwned'"],
        "proof" => &["'files'", "'word'"],
        "protect" => &["'tests/**'", "['*.lock', '/a/b']"],
        "check-timeout" => &["1", "300", "'5m'", "'24h'"],
        "min-iterations" => &["0", "1", "7"],
        "max-failures" => &["1", "2", "3", "5", "12", "1000000"],
        "grace" | "retry-pause" => &["0", "'5s'", "'10s'", "'10m'"],
        "iteration-timeout" | "idle-timeout" | "max-runtime" | "max-limit-wait" => {
            &["0", "'0s'", "'3s'", "60", "'1h'", "'364d'"]
        }
        _ => &["0", "8", "10", "50", "1000000"],
    }
}

/// The names that a project may set at all.
fn names() -> impl Iterator<Item = &'static str> {
    let never = [
        "trusted-projects",
        "harness-command",
        "allow-all",
        "permission-mode",
        "allow",
        "deny",
        "agent-args",
        "prices",
        "no-stay-awake",
    ];
    Setting::all_in(RUNNER).map(|setting| setting.name).filter(move |name| !never.contains(name))
}

/// The lines of a file, with values that are taken there.
fn file() -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
    let line = |name| {
        let value = proptest::sample::select(values(name));
        proptest::option::of(value).prop_map(move |value| value.map(|value| (name, value)))
    };
    let lines: Vec<_> = names().map(line).collect();
    lines.prop_map(|lines| lines.into_iter().flatten().collect())
}

fn read(lines: &[(&str, &str)], origin: fn(usize) -> Origin) -> Chosen {
    let lines: Vec<_> = lines.iter().map(|(name, value)| format!("{name} = {value}\n")).collect();
    parse(lines.concat().as_bytes(), Path::new("ralph.toml"), &origin).unwrap()
}

fn of_project(line: usize) -> Origin {
    Origin::Project(PathBuf::from("/p/.spool/ralph.toml"), line)
}

fn of_person(line: usize) -> Origin {
    Origin::Person(PathBuf::from("/me/ralph.toml"), line)
}

/// Every option beside its like without the project's file: a new setting has to be thought of here.
fn assert_not_looser(with: &Options, without: &Options) {
    let time = |limit: Option<_>| limit.unwrap_or(std::time::Duration::MAX);
    let number = |limit: Option<u32>| limit.unwrap_or(u32::MAX);
    let runs = |checks: &[Check]| checks.iter().map(|check| check.run.clone()).collect::<Vec<_>>();
    let (is, was) = (&with.settings, &without.settings);
    for setting in Setting::all_in(RUNNER) {
        let holds = match setting.name {
            "change"
            | "module"
            | "prompt-file"
            | "no-interactive"
            | "trusted-projects"
            | "model"
            | "fallback-model"
            | "continue-session"
            | "no-landing"
            | "verbose"
            | "quiet"
            | "json"
            | "review-when"
            | "review-harness"
            | "review-model"
            | "review-timeout"
            | "review-token-budget" => true,
            "harness" | "harness-command" => with.harness == without.harness,
            "fallback-harness" => with.fallback_harness == without.fallback_harness,
            "allow-all" => with.allow_all == without.allow_all && with.allow_all == Approval::Own,
            "permission-mode" | "allow" | "deny" | "agent-args" => {
                with.permissions == without.permissions
            }
            "commit" => is.commit() == was.commit() || !is.commit(),
            "strict" => is.strict() == was.strict() || is.strict(),
            "done" => with.done == without.done || with.done == Some(DoneWhen::Tasks),
            "completion-promise" => is.completion_promise() == was.completion_promise(),
            "promise-match" => {
                is.promise_match() == was.promise_match()
                    || is.promise_match() == PromiseMatch::Anywhere
            }
            "check" | "review" => runs(&with.checks) == runs(&without.checks),
            "proof" => is.proof() == was.proof() || is.proof() == LeastProof::Files,
            "protect" => without.protect.iter().all(|pattern| with.protect.contains(pattern)),
            "no-final-check" => is.no_final_check() == was.no_final_check(),
            "check-timeout" => {
                let limits = with.checks.iter().zip(&without.checks);
                is.check_timeout() <= was.check_timeout()
                    && limits.into_iter().all(|(is, was)| is.limit_seconds <= was.limit_seconds)
            }
            "converge" => is.converge() >= was.converge(),
            "include-optional" => is.include_optional() >= was.include_optional(),
            "min-iterations" => is.min_iterations() >= was.min_iterations(),
            "max-iterations" => number(is.max_iterations()) <= number(was.max_iterations()),
            "stall-threshold" => number(is.stall_threshold()) <= number(was.stall_threshold()),
            "no-progress" => number(is.no_progress()) <= number(was.no_progress()),
            "max-failures" => {
                let unanswered =
                    |options: &Options| options.contract(DoneWhen::Tasks).guardrails.max_unanswered;
                is.max_failures() <= was.max_failures() && unanswered(with) <= unanswered(without)
            }
            "iteration-timeout" => time(is.iteration_timeout()) <= time(was.iteration_timeout()),
            "idle-timeout" => time(is.idle_timeout()) <= time(was.idle_timeout()),
            "max-runtime" => time(with.max_runtime) <= time(without.max_runtime),
            "token-budget" => {
                is.token_budget().unwrap_or(u64::MAX) <= was.token_budget().unwrap_or(u64::MAX)
            }
            "max-usd" => is.max_usd().unwrap_or(u64::MAX) <= was.max_usd().unwrap_or(u64::MAX),
            "max-limit-wait" => time(with.limit_wait) <= time(without.limit_wait),
            "prices" => with.prices == without.prices,
            "no-stay-awake" => is.no_stay_awake() == was.no_stay_awake(),
            "grace" => is.grace() <= was.grace(),
            "retry-pause" => is.retry_pause() >= was.retry_pause(),
            "notify" => is.notify() == was.notify(),
            new => panic!("nobody has thought of `{new}`"),
        };
        assert!(holds, "{} is looser:\n{is:?}\n{was:?}", setting.name);
    }
}

fn options(layers: &Layers) -> Result<Options> {
    resolve(layers, String::new(), Path::new("/"))
}

fn counted(layers: Layers) -> Result<Layers> {
    only_what_is_trusted(layers, Path::new("/nowhere"), ProjectTrust::Listed)
}

#[test]
fn s2_values_are_sorted_by_trust() {
    for name in names() {
        for value in values(name) {
            let project = read(&[(name, value)], of_project);
            let setting = project.0.clone();
            match counted(Layers { project, ..Layers::default() }) {
                Ok(layers) if layers.left_out.is_empty() => {
                    assert_eq!(layers.merged().0, setting);
                    let without = options(&Layers::default()).unwrap();
                    assert_not_looser(&options(&layers).unwrap(), &without);
                }
                Ok(layers) => {
                    assert_eq!(layers.left_out, setting);
                    assert_eq!(layers.merged().0, []);
                }
                Err(error) => {
                    let said = error.to_string();
                    assert!(said.contains(name), "{said}");
                    let is_named = said.contains("ralph.toml");
                    assert!(is_named || said.contains("there is no check"), "{said}");
                }
            }
        }
    }
}

fn cases() -> u32 {
    if world::variable("RALPH_TEST_THOROUGH").is_some() { 4_000 } else { 500 }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn s2_untrusted_project_loosens_nothing(
        lines in file(),
        person in file(),
        // Few files get through when each of them asks for a check or a commit.
        bold in proptest::bool::weighted(0.2),
    ) {
        let mut project = read(&lines, of_project);
        for setting in project.0.clone() {
            if !bold && matches!(setting.setting.rule, Rule::Program | Rule::Word(_)) {
                project.remove(setting.setting);
            }
        }
        let person = read(&person, of_person);
        let alone = Layers { person: person.clone(), ..Layers::default() };
        let Ok(without) = options(&alone) else { return Ok(()); };
        let made = project.0.clone();
        let Ok(counted) = counted(Layers { project, person, ..Layers::default() }) else {
            return Ok(());
        };
        let there = counted.merged().0;
        for setting in &made {
            let is_named = there.contains(setting) || counted.left_out.contains(setting);
            prop_assert!(is_named, "dropped silently: {setting:?}");
        }
        if let Ok(with) = options(&counted) {
            assert_not_looser(&with, &without);
        }
    }
}

#[test]
fn s2_every_key_has_values_here() {
    assert!(names().all(|name| !values(name).is_empty()));
}
