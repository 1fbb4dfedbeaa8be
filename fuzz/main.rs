//! One fuzz target under libFuzzer: `RALPH_FUZZ_TARGET` names it.

#![no_main]

mod targets;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use targets::{TARGETS, Target};

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("RALPH_FUZZ_TARGET").unwrap_or_default();
    TARGETS.iter().find(|target| target.name == name).unwrap_or_else(|| {
        let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
        panic!("RALPH_FUZZ_TARGET is `{name}`; it takes one of: {}", names.join(", "))
    })
});

fuzz_target!(|bytes: &[u8]| (TARGET.run)(bytes));
