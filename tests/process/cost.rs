//! What a run costs besides its agent program, and that it does not grow.
//!
//! `cargo test --release --test process -- --ignored --nocapture the_cost_of`

#![cfg(target_os = "linux")]

use crate::limited::Limited;
use std::process::{Command, Stdio};
use std::time::Duration;

use ralph_speckit::runner::harness::Launch;

use super::support::{Scribe, no_limits, run, script};

/// Processor time of this process and of all that it has waited for, in milliseconds: user and system.
fn spent() -> [f64; 2] {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().collect();
    let field = |place: usize| fields[place].parse::<f64>().unwrap();
    // The system counts in hundredths of a second.
    [(field(11) + field(13)) * 10.0, (field(12) + field(14)) * 10.0]
}

fn cost(times: u32, mut what: impl FnMut()) -> [f64; 2] {
    let before = spent();
    (0..times).for_each(|_| what());
    let after = spent();
    [0, 1].map(|place| (after[place] - before[place]) / f64::from(times))
}

#[test]
#[ignore = "measures; run it alone"]
fn the_cost_of_a_run() {
    let launch = Launch { program: "true".into(), ..Launch::default() };
    let plain = cost(500, || {
        assert!(Command::new("true").stdin(Stdio::null()).finish().status.success());
    });
    println!("`true` alone: {:.2} ms user, {:.2} ms system", plain[0], plain[1]);
    for hundred in 1..=5 {
        let kept = cost(200, || {
            let ended = run(&launch, &no_limits(), &mut Scribe::new()).unwrap();
            assert_eq!(ended.left.code, Some(0));
        });
        let own = kept[0] + kept[1] - plain[0] - plain[1];
        println!(
            "{hundred}: {:.2} ms user, {:.2} ms system; less `true`: {own:.2} ms",
            kept[0], kept[1]
        );
    }
    let agent = script("exec sleep 10");
    let idle = cost(1, || {
        run(&agent, &no_limits(), &mut Scribe::new()).unwrap();
    });
    println!("10 s of silence: {:.0} ms user, {:.0} ms system", idle[0], idle[1]);
    let left = script("sleep 60 & exit 0");
    let survivors = cost(20, || {
        let mut limits = no_limits();
        limits.grace = Duration::from_secs(1);
        assert!(run(&left, &limits, &mut Scribe::new()).unwrap().survivors > 0);
    });
    println!("with a survivor: {:.2} ms user, {:.2} ms system", survivors[0], survivors[1]);
}
