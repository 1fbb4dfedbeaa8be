//! What keeps the machine awake while a loop runs: the inhibitor of the system.

/// What keeps the machine awake, until it is dropped or this process has gone.
#[derive(Debug)]
pub struct Inhibitor {
    #[cfg(unix)]
    companion: Option<crate::exec::beside::Companion>,
    /// Since when it should.
    #[cfg(unix)]
    since: crate::world::Stopwatch,
    /// Whether somebody was told that it does not answer.
    #[cfg(unix)]
    is_told: bool,
    /// Why it does not, as long as nobody has asked.
    trouble: Option<String>,
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::time::Duration;

    use super::Inhibitor;
    use crate::exec::beside::Companion;
    use crate::exec::find::find;
    use crate::text;
    use crate::world::{Deadline, Stopwatch};

    /// The program that does it.
    const PROGRAM: &str = if cfg!(target_os = "macos") { "caffeinate" } else { "systemd-inhibit" };
    /// What it prints, by the shell that it starts, once it holds the machine awake.
    const HELD: &str = "held";
    /// The longest that a loop waits for its answer, once.
    const PATIENCE: Duration = Duration::from_millis(500);
    /// One that has not answered by then does not hold the machine.
    const ANSWER: Duration = Duration::from_secs(5);
    /// The most of its words that a message has, in characters.
    const WORDS: usize = 200;

    impl Inhibitor {
        /// Returns an inhibitor that was just started.
        pub fn start() -> Self {
            let program = find(PROGRAM);
            let Some((program, shell)) = program.zip(find("/bin/sh")) else {
                return Self::new(None, Some(format!("there is no `{PROGRAM}`")));
            };
            let process = std::process::id().to_string();
            // It starts the shell only when it holds the machine awake, and the shell waits until this process has gone.
            let waits = format!("echo {HELD}; read -r _");
            let linux = [
                "--what=idle:sleep".as_ref(),
                "--mode=block".as_ref(),
                "--who=spool".as_ref(),
                "--why=spool ralph is at work".as_ref(),
                shell.as_os_str(),
                "-c".as_ref(),
                waits.as_ref(),
            ];
            let macos: [&OsStr; 3] = ["-i".as_ref(), "-w".as_ref(), process.as_ref()];
            let arguments = if cfg!(target_os = "macos") { &macos[..] } else { &linux[..] };
            match Companion::start(program.as_os_str(), arguments) {
                // The first process of a container cannot have one, and does not decide when the machine sleeps.
                Ok(companion) => Self::new(companion, None),
                Err(error) => {
                    Self::new(None, Some(format!("`{PROGRAM}` cannot be started: {error}")))
                }
            }
        }

        fn new(companion: Option<Companion>, trouble: Option<String>) -> Self {
            Self { companion, since: Stopwatch::start(), is_told: false, trouble }
        }

        /// Returns why the machine is not kept awake, once; `None` while it is, or while that is not known yet. The first call
        /// waits for an answer, half a second at most.
        pub fn trouble(&mut self) -> Option<String> {
            self.look(PATIENCE.saturating_sub(self.since.elapsed()));
            self.trouble.take()
        }

        /// Returns the same once it is known, within 5 s, and whether anything can hold the machine: the first process of a
        /// container cannot.
        pub fn known_trouble(&mut self) -> (Option<String>, bool) {
            self.look(ANSWER.saturating_sub(self.since.elapsed()));
            (self.trouble.take(), self.companion.is_some())
        }

        /// Takes in what it has said; waits for its answer, at most this long.
        fn look(&mut self, patience: Duration) {
            let Some(companion) = &mut self.companion else { return };
            let deadline = Deadline::after(patience);
            let (words, is_held) = loop {
                let words = String::from_utf8_lossy(companion.words(Duration::ZERO)).into_owned();
                let is_held = cfg!(target_os = "macos") || words.lines().any(|it| it == HELD);
                if is_held || companion.has_left() || deadline.is_over() {
                    break (words, is_held);
                }
                companion.wait(deadline.left());
            };
            let has_left = companion.has_left();
            if !has_left && (is_held || self.since.elapsed() < ANSWER) {
                self.is_told &= !is_held;
                return;
            }
            if has_left {
                self.companion = None;
            }
            if !std::mem::replace(&mut self.is_told, true) {
                let words = words.strip_prefix(HELD).unwrap_or(&words);
                let words = text::title(words.trim(), WORDS);
                let words = match (words.is_empty(), has_left) {
                    (false, _) => words,
                    (true, true) => "it ended".to_owned(),
                    (true, false) => format!("no answer for {} s", ANSWER.as_secs()),
                };
                self.trouble = Some(format!("`{PROGRAM}`: {words}"));
            }
        }
    }
}

#[cfg(windows)]
impl Inhibitor {
    /// Returns one that holds nothing, and says so.
    pub fn start() -> Self {
        Self { trouble: Some("nothing does that on Windows yet".to_owned()) }
    }

    /// Returns why the machine is not kept awake, once.
    pub fn trouble(&mut self) -> Option<String> {
        self.trouble.take()
    }

    /// Returns the same, and whether anything can hold the machine.
    pub fn known_trouble(&mut self) -> (Option<String>, bool) {
        (self.trouble(), false)
    }
}
