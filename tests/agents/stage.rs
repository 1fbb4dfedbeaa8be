//! A scratch folder with all that one test needs: a home, a project under git, and the agent program on the `PATH`.

use crate::agent::Agent;
use ralph_speckit::rehearsal::ScriptedModel;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The scratch folder. Whatever still runs out of it is killed when it goes.
pub struct Stage {
    pub agent: Agent,
    pub model: ScriptedModel,
    folder: TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Stage {
    pub fn new(agent: Agent, model: ScriptedModel) -> Stage {
        let folder = TempDir::with_prefix("agents-").expect("a scratch folder");
        for name in ["home", "project", "bin", "tmp"] {
            fs::create_dir(folder.path().join(name)).expect("a folder of the scratch");
        }
        let program = agent.program().expect("an installed program");
        // The links are followed, because a script looks for its modules beside itself.
        let program = fs::canonicalize(program).expect("a real path");
        symlink(program, folder.path().join("bin").join(agent.name())).expect("a link");
        let variables = agent.settle(&folder.path().join("home"), &model.url());
        let stage = Stage { agent, model, folder, variables };
        stage.git(&["init", "--quiet", "--initial-branch", "main"]);
        stage.write("README.md", "A project of a test.\n");
        stage.git(&["add", "README.md"]);
        stage.git(&["commit", "--quiet", "--message", "begin"]);
        stage
    }

    pub fn project(&self) -> PathBuf {
        self.real().join("project")
    }

    pub fn home(&self) -> PathBuf {
        self.real().join("home")
    }

    /// The scratch folder by its real path, as `/proc` and the programs name it.
    fn real(&self) -> PathBuf {
        fs::canonicalize(self.folder.path()).expect("a real path")
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.project().join(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        fs::write(path, text).expect("a file in the project");
    }

    /// The text of a file of the project; empty where there is none.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.project().join(name)).unwrap_or_default()
    }

    pub fn git(&self, words: &[&str]) -> String {
        let output = self.command(Path::new("git")).args(words).output().expect("git");
        assert!(output.status.success(), "git {words:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// A command in the project that sees nothing of this machine's own settings.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.project()).env_clear().stdin(Stdio::null());
        command.envs(self.environment());
        command
    }

    fn environment(&self) -> Vec<(String, OsString)> {
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", self.real().join("bin").display());
        let mut all = vec![
            ("PATH".to_owned(), path.into()),
            ("HOME".to_owned(), self.home().into()),
            ("TMPDIR".to_owned(), self.real().join("tmp").into()),
            ("LANG".to_owned(), "C.UTF-8".into()),
            ("GIT_AUTHOR_NAME".to_owned(), "A Test".into()),
            ("GIT_AUTHOR_EMAIL".to_owned(), "test@example.org".into()),
            ("GIT_COMMITTER_NAME".to_owned(), "A Test".into()),
            ("GIT_COMMITTER_EMAIL".to_owned(), "test@example.org".into()),
        ];
        all.extend(self.variables.iter().map(|(name, value)| ((*name).to_owned(), value.into())));
        all
    }

    /// Every process that has to do with the scratch folder: by its command, its folder, or its environment.
    pub fn processes(&self) -> Vec<(i32, String)> {
        let scratch = self.real().into_os_string().into_encoded_bytes();
        let mentions = |bytes: &[u8]| bytes.windows(scratch.len()).any(|part| part == scratch);
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let read = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
            let folder = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
            let command = read("cmdline");
            if mentions(&command)
                || mentions(folder.into_os_string().as_encoded_bytes())
                || mentions(&read("environ"))
            {
                found.push((pid, String::from_utf8_lossy(&command).replace('\0', " ")));
            }
        }
        found
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for (pid, _) in self.processes() {
            if let Some(pid) = Pid::from_raw(pid) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}
