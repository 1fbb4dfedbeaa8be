//! What keeps the machine awake while a loop runs: the inhibitor of the system.

#[cfg(windows)]
use std::path::Path;

/// What keeps the machine awake, until it is dropped or this process has gone.
#[derive(Debug)]
pub struct Inhibitor {
    #[cfg(unix)]
    companion: Option<crate::exec::beside::Companion>,
    /// Why it does not, as long as nobody has asked.
    trouble: Option<String>,
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::path::Path;
    use std::time::Duration;

    use super::Inhibitor;
    use crate::exec::beside::Companion;
    use crate::exec::find::{find, find_outside};
    use crate::text;

    /// The program that does it.
    const PROGRAM: &str = if cfg!(target_os = "macos") { "caffeinate" } else { "systemd-inhibit" };
    /// What it prints, by the shell that it starts, once it holds the machine awake.
    const HELD: &str = "held";
    /// The longest that it is waited for at the start.
    const PATIENCE: Duration = Duration::from_millis(500);
    /// The most of its words that a message has, in characters.
    const WORDS: usize = 200;

    impl Inhibitor {
        /// Returns an inhibitor that was just started; a program in `project` is not taken for one.
        pub fn start(project: &Path) -> Self {
            let program = find_outside(PROGRAM, project);
            let Some((program, shell)) = program.zip(find("/bin/sh")) else {
                return Self { companion: None, trouble: Some(format!("there is no `{PROGRAM}`")) };
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
                Ok(companion) => Self { companion, trouble: None },
                Err(error) => Self {
                    companion: None,
                    trouble: Some(format!("`{PROGRAM}` cannot be started: {error}")),
                },
            }
        }

        /// Returns why the machine is not kept awake, once; `None` while it is, or while that is not known yet. Waits for an
        /// answer where none has come yet, half a second at most.
        pub fn trouble(&mut self) -> Option<String> {
            if let Some(companion) = &mut self.companion {
                let waits = if cfg!(target_os = "macos") { Duration::ZERO } else { PATIENCE };
                let words = String::from_utf8_lossy(companion.words(waits)).into_owned();
                if companion.has_left() {
                    self.companion = None;
                    let words = words.strip_prefix(HELD).unwrap_or(&words);
                    let words = text::title(words.trim(), WORDS);
                    let words = if words.is_empty() { "it ended".to_owned() } else { words };
                    self.trouble = Some(format!("`{PROGRAM}`: {words}"));
                }
            }
            self.trouble.take()
        }
    }
}

#[cfg(windows)]
impl Inhibitor {
    /// Returns one that holds nothing, and says so.
    pub fn start(_: &Path) -> Self {
        Self { trouble: Some("nothing does that on Windows yet".to_owned()) }
    }

    /// Returns why the machine is not kept awake, once.
    pub fn trouble(&mut self) -> Option<String> {
        self.trouble.take()
    }
}
