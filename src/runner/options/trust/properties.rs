//! Whatever a project's file says, without trust it makes nothing looser, and nothing of it is dropped silently.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::super::file::parse;
use super::super::{Approve, Landing, Sessions};
use super::*;
use crate::engine::Check;
use crate::world;

/// A few values for each key, as a file has them: low, high, none, the default.
fn values(name: &str) -> &'static [&'static str] {
    match name {
        "change" | "module" | "prompt-file" | "model" | "review-model" => &["'a'", "'b'"],
        "no-interactive" | "no-landing" | "continue-session" | "commit" | "strict" | "verbose"
        | "quiet" | "json" | "review" | "converge" | "include-optional" => &["true", "false"],
        "review-when" => &["'phases'", "'verify'"],
        "review-timeout" => &["'5m'", "'24h'"],
        "review-token-budget" => &["1", "1000000"],
        "fallback-model" => &["'small'", "'large'"],
        "harness" | "fallback-harness" | "review-harness" => &["'claude'", "'opencode'"],
        "done" => &["'tasks'", "'manual'", "'check'"],
        "completion-promise" => &["'COMPLETE'", "'x'"],
        "promise-match" => &["'anywhere'", "'own-line'"],
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
    RunnerSettings::NAMES.iter().copied().filter(move |name| !never.contains(name))
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

fn read(lines: &[(&str, &str)], origin: fn(usize) -> Origin) -> RunnerSettings {
    let lines: Vec<_> = lines.iter().map(|(name, value)| format!("{name} = {value}\n")).collect();
    parse(lines.concat().as_bytes(), Path::new("ralph.toml"), &origin).unwrap()
}

fn of_project(line: usize) -> Origin {
    Origin::Project(PathBuf::from("/p/.spool/ralph.toml"), line)
}

fn of_person(line: usize) -> Origin {
    Origin::Person(PathBuf::from("/me/ralph.toml"), line)
}

fn none_is_highest<T: Copy + Into<u64>>(limit: T) -> u64 {
    Some(limit.into()).filter(|limit| *limit > 0).unwrap_or(u64::MAX)
}

/// Every option beside its like without the project's file: a new one has to be thought of here.
fn assert_not_looser(with: Options, without: &Options) {
    let Options {
        task: _,
        harness,
        model: _,
        fallback_model: _,
        fallback_harness,
        promise,
        promise_match,
        min_iterations,
        max_iterations,
        done,
        spec_kit: _,
        checks,
        check_timeout,
        proof,
        converge,
        include_optional,
        protect,
        stall_threshold,
        no_progress,
        max_failures,
        max_unanswered,
        iteration_timeout,
        idle_timeout,
        max_runtime,
        token_budget,
        max_cost,
        limit_wait,
        prices,
        grace,
        retry_pause,
        allow_all,
        permissions,
        sessions: Sessions::Fresh | Sessions::Continued,
        commits,
        landing: Landing::Asked | Landing::Off,
        stay_awake,
        doubted,
        notify,
        shown: _,
        form: _,
        start: _,
        counting: _,
        checks_from: _,
    } = with;
    let time = |limit: Option<_>| limit.unwrap_or(std::time::Duration::MAX);
    let runs = |checks: &[Check]| checks.iter().map(|it| it.run.clone()).collect::<Vec<_>>();
    assert_eq!(harness, without.harness);
    assert_eq!(fallback_harness, without.fallback_harness);
    assert_eq!(allow_all, without.allow_all);
    assert_eq!(allow_all, Approve::Own);
    assert_eq!(permissions, without.permissions);
    assert_eq!(promise, without.promise);
    assert!(promise_match == without.promise_match || promise_match == PromiseMatch::OwnLine);
    assert!(min_iterations >= without.min_iterations);
    assert!(max_iterations.unwrap_or(u32::MAX) <= without.max_iterations.unwrap_or(u32::MAX));
    assert!(done == without.done || done == Some(DoneWhen::Tasks));
    assert_eq!(notify, without.notify);
    assert_eq!(runs(&checks), runs(&without.checks));
    assert!(checks.iter().zip(&without.checks).all(|(a, b)| a.limit_seconds <= b.limit_seconds));
    assert!(check_timeout <= without.check_timeout);
    assert!(proof == without.proof || proof == LeastProof::Files);
    assert!(converge >= without.converge && include_optional >= without.include_optional);
    assert!(without.protect.iter().all(|pattern| protect.contains(pattern)));
    assert!(none_is_highest(stall_threshold) <= none_is_highest(without.stall_threshold));
    assert!(none_is_highest(no_progress) <= none_is_highest(without.no_progress));
    assert!(max_failures <= without.max_failures && max_unanswered <= without.max_unanswered);
    assert!(time(iteration_timeout) <= time(without.iteration_timeout));
    assert!(time(idle_timeout) <= time(without.idle_timeout));
    assert!(time(max_runtime) <= time(without.max_runtime));
    assert!(token_budget.unwrap_or(u64::MAX) <= without.token_budget.unwrap_or(u64::MAX));
    assert!(max_cost.unwrap_or(u64::MAX) <= without.max_cost.unwrap_or(u64::MAX));
    assert!(limit_wait <= without.limit_wait);
    assert_eq!(prices, without.prices);
    assert_eq!(stay_awake, without.stay_awake);
    assert!(grace <= without.grace && retry_pause >= without.retry_pause);
    assert!(commits == without.commits || commits == Commits::Never);
    assert!(doubted == without.doubted || doubted == Doubted::Fails);
}

fn options(layers: &Layers) -> Result<Options> {
    resolve(layers, String::new(), Path::new("/"))
}

fn counted(layers: Layers) -> Result<Layers> {
    only_what_is_trusted(layers, Path::new("/nowhere"), ProjectTrust::Listed)
}

#[test]
fn s2_each_value_of_each_key_alone_is_free_named_or_refused() {
    for name in names() {
        for value in values(name) {
            let project = read(&[(name, value)], of_project);
            let setting = project.made();
            match counted(Layers { project, ..Layers::default() }) {
                Ok(layers) if layers.left_out.is_empty() => {
                    assert_eq!(layers.merged().made(), setting);
                    let without = options(&Layers::default()).unwrap();
                    assert_not_looser(options(&layers).unwrap(), &without);
                }
                Ok(layers) => {
                    assert_eq!(layers.left_out, setting);
                    assert_eq!(layers.merged().made(), []);
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
    fn s2_a_project_that_is_not_trusted_makes_nothing_looser_than_the_person_has_it(
        lines in file(),
        person in file(),
        // Few files get through when each of them asks for a check or a commit.
        bold in proptest::bool::weighted(0.2),
    ) {
        let mut project = read(&lines, of_project);
        for setting in project.made() {
            if !bold && setting.rule == FromProject::Trusted {
                project.remove(setting.name);
            }
        }
        let person = read(&person, of_person);
        let alone = Layers { person: person.clone(), ..Layers::default() };
        let Ok(without) = options(&alone) else { return Ok(()); };
        let made = project.made();
        let Ok(counted) = counted(Layers { project, person, ..Layers::default() }) else {
            return Ok(());
        };
        let there = counted.merged().made();
        for setting in &made {
            let is_named = there.contains(setting) || counted.left_out.contains(setting);
            prop_assert!(is_named, "dropped silently: {setting:?}");
        }
        if let Ok(with) = options(&counted) {
            assert_not_looser(with, &without);
        }
    }
}

#[test]
fn s2_every_key_has_values_here() {
    assert!(names().all(|name| !values(name).is_empty()));
}
