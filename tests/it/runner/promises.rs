//! What an agent's words are taken for: a promise, talk about one, or a need for a person.

use crate::runner::support::{Bench, PROMISE};

/// Runs two iterations of an agent that does some work and says this.
fn said(words: &str, arguments: &str) -> crate::runner::ran::Ran {
    let bench = Bench::new();
    bench.agent(&format!("echo $n > made.txt\ncat <<'END'\n{words}\nEND"));
    bench.ralph(&format!("--max-iterations 2 {arguments}")).run()
}

#[test]
fn d3_a_sentence_that_denies_the_promise_ends_nothing() {
    for words in [
        format!("Two tests fail: I will not write {PROMISE} yet."),
        format!("When the tests pass I will write {PROMISE}."),
    ] {
        for place in ["", "--promise-match anywhere"] {
            said(&words, place).with_code(3).says("the promise is quoted or denied, not made");
        }
    }
}

#[test]
fn d3_a_quoted_promise_ends_nothing() {
    for words in [
        format!("`{PROMISE}`"),
        format!("The marker is \"{PROMISE}\"."),
        format!("```\n{PROMISE}\n```"),
        format!("~~~\n{PROMISE}"),
        format!("> {PROMISE}"),
    ] {
        said(&words, "").with_code(3);
        said(&format!("This is what I am to write:\n{words}"), "--promise-match anywhere")
            .with_code(3);
    }
}

#[test]
fn d3_the_promise_has_to_be_alone_on_the_last_line_unless_told_otherwise() {
    let words = format!("All is done. {PROMISE} Bye.");
    said(&words, "").with_code(3);
    said(&words, "--promise-match anywhere").with_code(0);
    said(&format!("All is done.\n\n{PROMISE}"), "").with_code(0);
}

#[test]
fn d3_blocked_outranks_a_promise_beside_it() {
    let need = "<blocked>set the key</blocked>";
    for words in [format!("{need}\n{PROMISE}"), format!("{PROMISE}\n{need}")] {
        for place in ["", "--promise-match anywhere"] {
            said(&words, place).with_code(6).says("set the key");
        }
    }
    said(&format!("```\n{need}\n```\n{PROMISE}"), "").with_code(0);
}

#[test]
fn d3_the_next_iteration_reads_how_a_promise_is_made() {
    let bench = Bench::new();
    bench.agent(&format!("echo $n > made.txt\necho 'I do not write {PROMISE} yet'"));
    bench.ralph("--max-iterations 2").run().with_code(3);
    let prompt = bench.prompt(2);
    assert!(prompt.contains("write it alone on the last line"), "{prompt}");
}
