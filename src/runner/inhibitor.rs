//! Keeps the machine awake while a loop runs, by the system's inhibitor.

/// Keeps the machine awake until it is dropped or this process has gone.
#[derive(Debug)]
pub struct Inhibitor {
    #[cfg(unix)]
    companion: Option<crate::exec::beside::Companion>,
    /// Since the start.
    #[cfg(unix)]
    since: crate::world::Stopwatch,
    /// The person was told that the inhibitor does not answer.
    #[cfg(unix)]
    is_told: bool,
    /// Why the inhibitor does not work, until somebody asks.
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

    /// The system's inhibitor.
    const PROGRAM: &str = if cfg!(target_os = "macos") { "caffeinate" } else { "systemd-inhibit" };
    /// The inhibitor's shell prints this once the machine is kept awake.
    const HELD: &str = "held";
    /// How long a loop waits for the answer, once.
    const PATIENCE: Duration = Duration::from_millis(500);
    /// After this time without an answer, the machine is not kept awake.
    const ANSWER: Duration = Duration::from_secs(5);
    /// The most characters of the program's words in a message.
    const WORDS: usize = 200;

    impl Inhibitor {
        pub fn start() -> Self {
            let program = find(PROGRAM);
            let Some((program, shell)) = program.zip(find("/bin/sh")) else {
                return Self::new(None, Some(format!("there is no `{PROGRAM}`")));
            };
            let process = std::process::id().to_string();
            // The inhibitor starts the shell only once the machine is kept awake. The supervisor ends both.
            let waits = format!("echo {HELD}; while sleep 3600; do :; done");
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
                // A container's first process cannot have one, and does not decide when the machine sleeps.
                Ok(companion) => Self::new(companion, None),
                Err(error) => {
                    Self::new(None, Some(format!("`{PROGRAM}` cannot be started: {error}")))
                }
            }
        }

        fn new(companion: Option<Companion>, trouble: Option<String>) -> Self {
            Self { companion, since: Stopwatch::start(), is_told: false, trouble }
        }

        /// Reports once why the machine is not kept awake; `None` also while that is not known. The first call waits
        /// for an answer, at most half a second.
        pub fn trouble(&mut self) -> Option<String> {
            self.look(PATIENCE.saturating_sub(self.since.elapsed()));
            self.trouble.take()
        }

        /// Waits up to 5 s. The second value is false where nothing can keep the machine awake, as in a container's
        /// first process.
        pub fn known_trouble(&mut self) -> (Option<String>, bool) {
            self.look(ANSWER.saturating_sub(self.since.elapsed()));
            (self.trouble.take(), self.companion.is_some())
        }

        /// Waits for the answer, at most `patience`.
        fn look(&mut self, patience: Duration) {
            let Some(companion) = &mut self.companion else { return };
            let deadline = Deadline::after(patience);
            let (words, is_held) = loop {
                let words = String::from_utf8_lossy(companion.words()).into_owned();
                let is_held = cfg!(target_os = "macos") || words.lines().any(|line| line == HELD);
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
    /// An inhibitor that does nothing, and says so.
    pub fn start() -> Self {
        Self { trouble: Some("nothing does that on Windows yet".to_owned()) }
    }

    /// Reports once why the machine is not kept awake.
    pub fn trouble(&mut self) -> Option<String> {
        self.trouble.take()
    }

    /// The second value is false where nothing can keep the machine awake.
    pub fn known_trouble(&mut self) -> (Option<String>, bool) {
        (self.trouble(), false)
    }
}
