//! How many instructions a program takes, as valgrind counts them: no clock, and the same on a busy machine.

use std::fs::{self, File};
use std::process::Command;

use super::left_out::left_out;

/// How many instructions a program takes with this on its standard input; `None` and says so, without valgrind.
pub fn instructions(program: &Command, input: &[u8]) -> Option<u64> {
    let path = ralph_speckit::world::raw_variable("PATH")?;
    let mut folders = std::env::split_paths(&path);
    let Some(folder) = folders.find(|folder| folder.join("valgrind").is_file()) else {
        left_out("it needs valgrind");
        return None;
    };
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("input");
    fs::write(&file, input).unwrap();
    let mut counted = Command::new(folder.join("valgrind"));
    counted.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program.get_program());
    counted.args(program.get_args()).env_clear().stdin(File::open(file).unwrap());
    counted.current_dir(program.get_current_dir().unwrap());
    counted.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let said = counted.output().unwrap();
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    let figure = said.lines().find_map(|line| line.split_once("Collected : "));
    Some(figure.unwrap_or_else(|| panic!("{said}")).1.trim().parse().unwrap())
}
