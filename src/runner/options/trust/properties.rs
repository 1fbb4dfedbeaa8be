//! Whatever a project's file says, without trust it makes nothing looser, and nothing of it is dropped silently.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::super::keys::{self, KEYS};
use super::super::{Approve, Sessions};
use super::*;
use crate::engine::Check;

/// A few values for each key, as a file has them: low, high, none, the default.
fn values(name: &str) -> &'static [&'static str] {
    match name {
        "change" | "module" | "prompt-file" | "model" => &["a", "b"],
        "no-interactive" | "continue-session" | "commit" | "strict" | "verbose" | "quiet"
        | "json" => &["true", "false"],
        "harness" => &["claude", "opencode"],
        "done" => &["tasks", "manual", "check"],
        "completion-promise" => &["COMPLETE", "x"],
        "promise-match" => &["anywhere", "own-line"],
        "check" => &["true", "touch pwned"],
        "check-timeout" => &["1", "300", "5m", "24h"],
        "min-iterations" => &["0", "1", "7"],
        "max-failures" => &["1", "2", "3", "5", "12", "1000000"],
        "grace" | "retry-pause" => &["0", "5s", "10s", "10m"],
        "iteration-timeout" | "idle-timeout" | "max-runtime" => {
            &["0", "0s", "3s", "60", "1h", "364d"]
        }
        _ => &["0", "00", "8", "10", "50", "1000000"],
    }
}

/// What a file may set, with values that are taken there.
fn file(origin: fn(usize) -> Origin) -> impl Strategy<Value = Vec<Setting>> {
    let free = KEYS.iter().filter(|key| key.project != FromProject::Never);
    let choices: Vec<_> = free
        .enumerate()
        .map(|(at, key)| {
            let value = proptest::sample::select(values(key.name));
            proptest::option::of(value).prop_map(move |value| {
                value.map(|it| Setting { key, values: vec![it.to_owned()], origin: origin(at + 1) })
            })
        })
        .collect();
    choices.prop_map(|settings| settings.into_iter().flatten().collect())
}

fn of_project(line: usize) -> Origin {
    Origin::Project { path: PathBuf::from("/p/.spool/ralph.toml"), line }
}

fn of_person(line: usize) -> Origin {
    Origin::User { path: PathBuf::from("/me/ralph.toml"), line }
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
        promise,
        promise_match,
        min_iterations,
        max_iterations,
        done,
        checks,
        stall_threshold,
        no_progress,
        max_failures,
        max_unanswered,
        iteration_timeout,
        idle_timeout,
        max_runtime,
        token_budget,
        grace,
        retry_pause,
        allow_all,
        sessions: Sessions::Fresh | Sessions::Continued,
        commits,
        doubted,
        shown: _,
        form: _,
        start: _,
    } = with;
    let time = |limit: Option<_>| limit.unwrap_or(std::time::Duration::MAX);
    let runs = |checks: &[Check]| checks.iter().map(|it| it.run.clone()).collect::<Vec<_>>();
    assert_eq!(harness, without.harness);
    assert_eq!(allow_all, without.allow_all);
    assert_eq!(allow_all, Approve::Own);
    assert_eq!(promise, without.promise);
    assert!(promise_match == without.promise_match || promise_match == PromiseMatch::OwnLine);
    assert!(min_iterations >= without.min_iterations);
    assert!(max_iterations.unwrap_or(u32::MAX) <= without.max_iterations.unwrap_or(u32::MAX));
    assert!(done == without.done || done == Some(DoneCriteria::Tasks));
    assert_eq!(runs(&checks), runs(&without.checks));
    assert!(checks.iter().zip(&without.checks).all(|(a, b)| a.limit_seconds <= b.limit_seconds));
    assert!(none_is_highest(stall_threshold) <= none_is_highest(without.stall_threshold));
    assert!(none_is_highest(no_progress) <= none_is_highest(without.no_progress));
    assert!(max_failures <= without.max_failures && max_unanswered <= without.max_unanswered);
    assert!(time(iteration_timeout) <= time(without.iteration_timeout));
    assert!(time(idle_timeout) <= time(without.idle_timeout));
    assert!(time(max_runtime) <= time(without.max_runtime));
    assert!(token_budget.unwrap_or(u64::MAX) <= without.token_budget.unwrap_or(u64::MAX));
    assert!(grace <= without.grace && retry_pause >= without.retry_pause);
    assert!(commits == without.commits || commits == Commits::Never);
    assert!(doubted == without.doubted || doubted == Doubted::Fails);
}

fn options(settings: &Settings) -> Result<Options> {
    resolve(settings, String::new(), Path::new("/"))
}

#[test]
fn s2_each_value_of_each_key_alone_is_free_named_or_refused() {
    for key in KEYS.iter().filter(|key| key.project != FromProject::Never) {
        for value in values(key.name) {
            let setting = Setting { key, values: vec![(*value).to_owned()], origin: of_project(1) };
            let settings = Settings::of(vec![vec![], vec![setting.clone()], vec![]]);
            let counted = only_what_is_trusted(settings, Path::new("/nowhere"), Trusted::Listed);
            match counted {
                Ok(settings) if settings.left_out.is_empty() => {
                    assert_eq!(settings.get(key.name), Some(&setting));
                    let without = options(&Settings::of(vec![])).unwrap();
                    assert_not_looser(options(&settings).unwrap(), &without);
                }
                Ok(settings) => {
                    assert_eq!(settings.left_out, [setting]);
                    assert_eq!(settings.get(key.name), None);
                }
                Err(error) => {
                    let said = error.to_string();
                    assert!(said.contains(key.name), "{said}");
                    assert!(
                        said.contains("ralph.toml") || said.contains("there is no check"),
                        "{said}"
                    );
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4_000) })]

    #[test]
    fn s2_a_project_that_is_not_trusted_makes_nothing_looser_than_the_person_has_it(
        project in file(of_project),
        person in file(of_person),
        // Few files get through when each of them asks for a check or a commit.
        bold in proptest::bool::weighted(0.2),
    ) {
        let is_kept = |it: &Setting| bold || it.key.project != FromProject::Trusted;
        let project: Vec<Setting> = project.into_iter().filter(is_kept).collect();
        let Ok(without) = options(&Settings::of(vec![person.clone()])) else { return Ok(()); };
        let settings = Settings::of(vec![vec![], project.clone(), person]);
        let Ok(counted) = only_what_is_trusted(settings, Path::new("/nowhere"), Trusted::Listed) else {
            return Ok(());
        };
        for setting in &project {
            let is_there = counted.get(setting.key.name) == Some(setting);
            prop_assert!(is_there || counted.left_out.contains(setting), "dropped silently: {setting:?}");
        }
        if let Ok(with) = options(&counted) {
            assert_not_looser(with, &without);
        }
    }
}

#[test]
fn s2_every_key_has_values_here() {
    assert!(
        KEYS.iter().all(|key| keys::find(key.name) == Some(key) && !values(key.name).is_empty())
    );
}
