//! How an agent program is started: arguments, environment, folder, standard input.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use ralph_speckit::runner::harness::{Input, Launch, Stream, Told};
use ralph_speckit::runner::process::{self, Control, Cut, ProcessLimits, Watcher};

use super::support::{Scribe, no_limits, run, script, supervisor};

fn fail(program: &Path, folder: &Path) -> io::Error {
    let launch = Launch { program: program.into(), ..Launch::default() };
    let mut log = tempfile::tempfile().unwrap();
    process::run(supervisor(), &launch, folder, &no_limits(), &mut log, &mut Scribe::new())
        .expect_err("it was started")
}

#[test]
fn missing_program_has_plain_words() {
    let error = fail(Path::new("no-such-agent"), Path::new("/"));
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    let words = "cannot start `no-such-agent`: there is no such program\n\
                 install it, or give its whole path";
    assert_eq!(error.to_string(), words);
}

#[test]
fn missing_folder_is_no_missing_program() {
    let error = fail(Path::new("sh"), Path::new("/no/such/folder"));
    assert_eq!(error.kind(), io::ErrorKind::NotADirectory);
    assert_eq!(error.to_string(), "the folder `/no/such/folder` is not there");
}

#[test]
fn unrunnable_and_uninterpreted_programs_differ() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("agent");
    fs::write(&program, "#!/no/such/interpreter\n").unwrap();
    let error = fail(&program, folder.path());
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let error = fail(&program, folder.path());
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    assert!(error.to_string().ends_with("its first line names is not there"), "{error}");
}

#[test]
fn missing_supervisor_is_no_missing_agent() {
    let mut log = tempfile::tempfile().unwrap();
    let supervisor = Path::new("/no/such/supervisor");
    let error = process::run(
        supervisor,
        &script("true"),
        Path::new("/"),
        &no_limits(),
        &mut log,
        &mut Scribe::new(),
    )
    .expect_err("it was started");
    assert_eq!(error.kind(), io::ErrorKind::Other, "{error}");
}

#[test]
fn arguments_environment_and_folder_arrive() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().canonicalize().unwrap();
    let mut launch = script("pwd; printf '%s|' \"$0\" \"$@\"; echo; env");
    launch.arguments.extend([
        "name".into(),
        "$(touch x) `y` 'z' \"*\"".into(),
        String::new().into(),
    ]);
    launch.set = vec![("RALPH_TEST_SET".into(), "a\nb".into())];
    launch.unset = vec!["HOME".into()];
    let mut scribe = Scribe::new();
    let mut log = tempfile::tempfile().unwrap();
    process::run(supervisor(), &launch, &place, &no_limits(), &mut log, &mut scribe).unwrap();
    let lines = scribe.output();
    assert_eq!(lines[0], place.display().to_string());
    assert_eq!(lines[1], "name|$(touch x) `y` 'z' \"*\"||");
    let place = lines.iter().position(|line| line == "RALPH_TEST_SET=a").unwrap();
    assert_eq!(lines[place + 1], "b");
    assert!(!lines.iter().any(|line| line.starts_with("HOME=")), "{lines:?}");
    assert!(!lines.iter().any(|line| line.starts_with("RALPH_RUNNER_SUPERVISOR")), "{lines:?}");
    assert!(!folder.path().join("x").exists());
}

#[test]
fn standard_input_is_never_left_open() {
    let mut scribe = Scribe::new();
    run(&script("cat; echo over"), &no_limits(), &mut scribe).unwrap();
    assert_eq!(scribe.output(), ["over"]);
}

#[test]
fn long_text_reaches_standard_input() {
    let mut launch = script("echo first; cksum; echo over");
    let text: Vec<u8> = (0..1_u32 << 20).map(|place| (place % 251) as u8).collect();
    launch.input = Input::Text(text);
    let mut scribe = Scribe::new();
    run(&launch, &no_limits(), &mut scribe).unwrap();
    let lines = scribe.output();
    assert_eq!(lines[0], "first");
    assert!(lines[1].ends_with(" 1048576"), "{lines:?}");
    assert_eq!(lines[2], "over");
}

#[test]
fn unread_input_holds_nothing_up() {
    for text in ["echo started; sleep 1; exit 4", "exec 0<&-; echo started; sleep 1; exit 4"] {
        let mut launch = script(text);
        launch.input = Input::Text(vec![b'a'; 1 << 20]);
        let mut scribe = Scribe::new();
        let ended = run(&launch, &no_limits(), &mut scribe).unwrap();
        assert_eq!((ended.left.code, scribe.output()), (Some(4), vec!["started".to_owned()]));
    }
}

/// Answers each line with the next text, and closes the input with the last.
struct Partner(Vec<&'static str>, Vec<String>, Vec<u8>);

impl Watcher for Partner {
    fn line(&mut self, _: Stream, line: &[u8]) -> Control {
        self.1.push(String::from_utf8_lossy(line).into_owned());
        Control::GoOn
    }

    fn tells(&mut self) -> Told {
        let text = self.0.pop().unwrap_or_default().as_bytes().to_vec();
        Told { text, closes: self.0.is_empty() }
    }

    fn cancels(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.2)
    }

    fn moment(&mut self) -> Control {
        Control::GoOn
    }
}

#[test]
fn dialog_gets_answers_and_an_end() {
    let mut launch = script("while read -r line; do echo \"got $line\"; done; echo over");
    launch.input = Input::Dialog(b"one\n".to_vec());
    let mut partner = Partner(vec!["", "three\n", "two\n"], Vec::new(), Vec::new());
    let ended = run(&launch, &no_limits(), &mut partner).unwrap();
    assert_eq!(partner.1, ["got one", "got two", "got three", "over"]);
    assert_eq!((ended.left.code, ended.cut), (Some(0), None));
}

#[test]
fn program_hears_cancel_before_a_signal() {
    let text = "trap 'echo signal; exit 1' TERM; read -r line; echo \"got $line\"; exit 7";
    let mut launch = script(text);
    launch.input = Input::Dialog(Vec::new());
    let wall = Some(Duration::from_millis(300));
    let limits = ProcessLimits { wall, grace: Duration::from_secs(20), ..no_limits() };
    let mut partner = Partner(vec!["x"], Vec::new(), b"cancel\n".to_vec());
    let ended = run(&launch, &limits, &mut partner).unwrap();
    assert_eq!(partner.1, ["got cancel"]);
    assert_eq!((ended.left.code, ended.cut), (Some(7), Some(Cut::Wall)));
    // One that does not listen is ended all the same.
    let mut launch = script("trap '' TERM; while :; do sleep 1; done");
    launch.input = Input::Dialog(Vec::new());
    let limits = ProcessLimits { grace: Duration::from_millis(300), ..limits };
    let mut partner = Partner(vec!["x"], Vec::new(), b"cancel\n".to_vec());
    let ended = run(&launch, &limits, &mut partner).unwrap();
    assert_eq!((ended.left.code, ended.cut), (None, Some(Cut::Wall)));
}
