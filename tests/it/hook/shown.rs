//! What the person of the plugin sees beyond the contract of spec 003.

use crate::hook::support::{ALL_DONE, Bench, FEATURE, executing};

#[test]
fn completed_loop_reports_by_plugin() {
    let done = || Bench::project().current_feature(FEATURE).tasks(ALL_DONE).state(&executing(3, 3));
    let bench = done();
    let stop = bench.stop("s1").by_plugin().run();
    assert!(
        stop.message().starts_with("Ralph-speckit: done: 001-login · 3 of 3 tasks · 1 iteration"),
        "{stop}"
    );
    assert_eq!(bench.verdicts("s1"), ["end completed"]);
    done().stop("s1").run().silent();
}
