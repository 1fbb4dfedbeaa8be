//! The keeper of a runner that was killed: how the next runner knows that it is still at work.

/// Returns the name of the keeper of the runner with this process id, as the system lists it.
pub fn name(runner: u32) -> String {
    format!("spool-keeper of {runner}")
}

/// Returns whether the runner with this process id has a keeper that is still there.
pub fn has_keeper(runner: u32) -> bool {
    commands().contains(&name(runner))
}

/// The command lines of all processes that can be seen.
#[cfg(target_os = "linux")]
fn commands() -> Vec<String> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers =
        entries.filter(|entry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit));
    let commands = numbers.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let text =
        |command: Vec<u8>| String::from_utf8_lossy(&command).trim_end_matches('\0').to_owned();
    commands.map(text).collect()
}

/// The command lines of all processes that can be seen.
#[cfg(not(target_os = "linux"))]
fn commands() -> Vec<String> {
    let mut command = std::process::Command::new("/bin/ps");
    let output = command.args(["-axww", "-o", "command="]).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.unwrap_or_default().lines().map(|line| line.trim_end().to_owned()).collect()
}
