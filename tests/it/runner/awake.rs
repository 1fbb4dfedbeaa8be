//! The machine is kept awake by the system's own program while a loop runs, and that program never outlives it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use ralph_speckit::world::pause;
use rustix::process::Signal;

use crate::runner::support::{Bench, Call, says};
use crate::support::amounts::few_or_all;
use crate::support::limited::until;
use crate::support::moments::Moments;
use crate::support::system::is_alive;

/// Has a program's errors come with its output.
const MERGED: [&str; 4] = ["sh", "-c", "exec \"$@\" 2>&1", "sh"];
/// What it says when the machine is not held.
const SAID: &str = "this machine may fall asleep while the loop runs";
/// How many loops run side by side.
const AT_ONCE: usize = 4;

/// A scripted inhibitor: it notes its process, its arguments, its folder and what its standard input is, and then does as
/// the real one, or this.
fn inhibitor(bench: &Bench, then: &str) {
    let name = if cfg!(target_os = "macos") { "caffeinate" } else { "systemd-inhibit" };
    let text = format!(
        "#!/bin/sh\necho $$ >>\"$DESK/inhibitors\"\necho \"$@\" >\"$DESK/asked\"\npwd >\"$DESK/place\"\n\
         [ -t 0 ] && echo terminal >\"$DESK/input\"\n{then}\n"
    );
    bench.program(name, &text);
}

/// What the real one does: it runs the command that follows its own flags, and leaves with it.
const REAL: &str = "while case \"$1\" in --*) true ;; *) false ;; esac; do shift; done\n\"$@\"";

/// The same where nothing of the command's is listened to, and no signal either.
const STUBBORN: &str = "trap '' TERM INT HUP\necho held\nwhile :; do sleep 1; done";

fn ralph<'a>(bench: &'a Bench, arguments: &str) -> Call<'a> {
    bench.ralph(&format!("--no-stay-awake=false {arguments}"))
}

/// The processes of the inhibitors that were started.
fn inhibitors(bench: &Bench) -> BTreeSet<i32> {
    let ids = fs::read_to_string(bench.beside("desk/inhibitors")).unwrap_or_default();
    ids.lines().map(|id| id.parse().unwrap()).collect()
}

/// Every process that has the mark of this bench in its environment.
#[cfg(target_os = "linux")]
fn of_this_bench(bench: &Bench) -> Vec<String> {
    let mark = format!("DESK={}", bench.beside("desk").display());
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    all.filter(|process| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|pair| pair == mark.as_bytes())
    })
    .map(|process| {
        fs::read_to_string(process.join("cmdline")).unwrap_or_default().replace('\0', " ")
    })
    .filter(|line| !line.is_empty())
    .collect()
}

#[test]
fn r4_machine_stays_awake_with_loop() {
    let bench = Bench::new();
    inhibitor(&bench, REAL);
    bench
        .agent("read -r held <\"$DESK/inhibitors\"\nkill -0 $held && echo held >\"$DESK/seen-$n\"");
    let ran = ralph(&bench, "--max-iterations 2").run().with_code(3);
    assert!(!ran.errors.contains(SAID), "{ran}");
    assert_eq!((bench.desk("seen-1"), bench.desk("seen-2")), ("held\n".into(), "held\n".into()));
    let all = inhibitors(&bench);
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(all.iter().all(|id| !is_alive(*id)), "it lives on");
    if cfg!(target_os = "linux") {
        assert!(bench.desk("asked").starts_with("--what=idle:sleep --mode=block --who=spool"));
    }
    assert_eq!(bench.desk("place"), "/\n");
    assert!(!bench.beside("desk/input").exists(), "it has the terminal");
}

#[test]
fn r4_failing_inhibitor_gets_one_line() {
    for (then, what) in [
        (
            "echo 'Failed to connect to bus: No such file or directory' >&2; exit 1",
            "Failed to connect",
        ),
        ("exit 1", "it ended"),
        ("echo held; exit 0", "it ended"),
    ] {
        let bench = Bench::new();
        inhibitor(&bench, then);
        bench.agent("");
        let ran = ralph(&bench, "--max-iterations 3").run().with_code(3);
        let said: Vec<_> = ran.errors.lines().filter(|line| line.contains(SAID)).collect();
        assert_eq!(said.len(), 1, "{ran}");
        assert!(said[0].contains(what) && said[0].contains("--no-stay-awake"), "{ran}");
    }
}

#[test]
fn r4_silent_inhibitor_is_told_once() {
    if cfg!(target_os = "macos") {
        return;
    }
    let bench = Bench::new();
    inhibitor(&bench, "echo 'still asking' >&2; exec sleep 600");
    // It is looked at between two iterations: so many that it is seen, and one more.
    bench.agent("echo $n > made.txt\necho $n >> \"$DESK/worked\"\nsleep 0.3");
    let mut running =
        ralph(&bench, "--max-iterations 100000").arg("--json").started_by(&MERGED).start();
    running.wait_for(SAID);
    let worked = || bench.desk("worked").lines().count();
    let before = worked();
    until("another iteration", || (worked() > before + 1).then_some(()));
    running.signal(Signal::INT);
    let ran = running.finish().with_code(130);
    assert_eq!(ran.output.matches(SAID).count(), 1, "{ran}");
    ran.says("`systemd-inhibit`: still asking; --no-stay-awake does not try");
    assert!(inhibitors(&bench).into_iter().all(|id| !is_alive(id)), "it lives on");
}

#[test]
fn r4_unwanted_inhibitor_is_not_started() {
    let bench = Bench::new();
    inhibitor(&bench, REAL);
    bench.agent("");
    let ran = bench.ralph("--max-iterations 1 --no-stay-awake").run().with_code(3);
    assert!(!ran.errors.contains(SAID), "{ran}");
    bench.ralph("--no-stay-awake=false --dry-run").run().with_code(0);
    let own = bench.home().join(".config/ralph-speckit");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("ralph.toml"), "no-stay-awake = true\n").unwrap();
    bench
        .spool("ralph --change 2-1 --max-iterations 1 --harness-command agent again")
        .run()
        .with_code(3);
    assert_eq!(inhibitors(&bench), BTreeSet::new());
}

#[test]
fn r4_project_programs_are_no_inhibitor() {
    let bench = Bench::new();
    let name = if cfg!(target_os = "macos") { "caffeinate" } else { "systemd-inhibit" };
    let place = bench.beside("desk");
    let trap = format!("#!/bin/sh\necho $$ >>{}/inhibitors\n", place.display());
    for folder in ["", "tools"] {
        let inside = Path::new("project").join(folder).join(name);
        bench.executable(inside.to_str().unwrap(), &trap);
    }
    bench.agent("");
    let tools = bench.path("tools");
    let path = format!(".:tools:{}:{}", tools.display(), bench.beside("bin").display());
    let system = "/usr/bin:/bin";
    let without = bench.beside("without");
    fs::create_dir(&without).unwrap();
    // All of the system's programs but the real one.
    for folder in system.split(':').map(Path::new).filter(|folder| folder.is_dir()) {
        for program in fs::read_dir(folder).unwrap().flatten() {
            if program.file_name() != name {
                let _ =
                    std::os::unix::fs::symlink(program.path(), without.join(program.file_name()));
            }
        }
    }
    let path = format!("{path}:{}", without.display());
    let ran = ralph(&bench, "--max-iterations 1").env("PATH", &path).run().with_code(3);
    assert_eq!(inhibitors(&bench), BTreeSet::new(), "{ran}");
    assert!(ran.errors.contains(&format!("{SAID}: there is no `{name}`")), "{ran}");
}

#[test]
fn r4_inhibitor_ends_with_the_runner() {
    let moments = Moments {
        variable: "STRESS_MOMENTS",
        // A quarter of each kind of signal.
        plays: few_or_all(20, 200),
        at_once: AT_ONCE,
        latest: Duration::from_millis(600),
    };
    moments.play(one_end);
}

/// Ends one runner by a signal after so long, and returns how many inhibitors it had started by then.
fn one_end(number: u64, moment: Duration) -> u64 {
    let bench = Bench::folder();
    // Every fifth one listens to no signal.
    inhibitor(&bench, if number.is_multiple_of(5) { STUBBORN } else { REAL });
    bench.agent("exec sleep 3600");
    let signal = [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL][(number % 4) as usize];
    let running = ralph(&bench, "--grace 1s").start();
    pause(moment);
    running.signal(signal);
    let ran = running.finish();
    let told = format!("{signal:?} after {moment:?}: {ran}");
    until(&format!("the end of the inhibitors, {told}"), || {
        (!inhibitors(&bench).into_iter().any(is_alive)).then_some(())
    });
    #[cfg(target_os = "linux")]
    until(&format!("the end of {:?}, {told}", of_this_bench(&bench)), || {
        of_this_bench(&bench).is_empty().then_some(())
    });
    inhibitors(&bench).len() as u64
}

#[test]
fn r4_killed_runner_leaves_no_inhibitor() {
    let bench = Bench::new();
    inhibitor(&bench, REAL);
    bench.agent(&format!("{}\nexec sleep 3600", says("there")));
    let mut running = ralph(&bench, "").start();
    running.wait_for("there");
    let all = inhibitors(&bench);
    assert_eq!(all.len(), 1);
    running.signal(Signal::KILL);
    drop(running);
    until("its end", || (!all.iter().any(|id| is_alive(*id))).then_some(()));
}
