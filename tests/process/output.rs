//! What an agent prints: lines as they are, and a log.

use std::io::{Read, Seek};
use std::path::Path;

use ralph_speckit::runner::harness::Stream;
use ralph_speckit::runner::process;

use super::support::{Scribe, no_limits, run, script, supervisor};

#[test]
fn lines_come_from_both_streams() {
    let mut scribe = Scribe::new();
    let agent = script(r"printf 'caf\303\251 \377\376\r\n\nno end'; printf 'trouble\n' >&2");
    run(&agent, &no_limits(), &mut scribe).unwrap();
    let output: Vec<_> = scribe.lines.iter().filter(|line| line.0 == Stream::Output).collect();
    assert_eq!(output[0].1, b"caf\xc3\xa9 \xff\xfe");
    assert_eq!(output[1].1, b"");
    assert_eq!(output[2].1, b"no end");
    assert_eq!((output.len(), scribe.errors()), (3, vec!["trouble".to_owned()]));
}

#[test]
fn log_has_every_byte() {
    let mut log = tempfile::tempfile().unwrap();
    let agent = script(r"printf 'one\n\377'; printf 'two\n' >&2");
    let folder = Path::new("/");
    process::run(supervisor(), &agent, folder, &no_limits(), &mut log, &mut Scribe::new()).unwrap();
    let mut written = Vec::new();
    log.rewind().unwrap();
    log.read_to_end(&mut written).unwrap();
    // Two pipes: nothing says which of them is read first.
    let orders = [b"one\n\xfftwo\n", b"two\none\n\xff"];
    assert!(orders.contains(&written.as_slice().try_into().unwrap()), "{written:?}");
}

#[test]
fn output_left_in_pipe_is_read() {
    let mut scribe = Scribe::new();
    let agent = script("yes 0123456789 | head -n 5000; echo last");
    run(&agent, &no_limits(), &mut scribe).unwrap();
    let output = scribe.output();
    assert_eq!((output.len(), output.last().unwrap().as_str()), (5001, "last"));
}
