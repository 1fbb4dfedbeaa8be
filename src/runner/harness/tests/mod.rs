//! Every adapter against the recordings of the real programs, and against what is broken.

mod acp;
mod acp_types;
mod endings;
mod hazards;
mod launch;
mod replay;
mod rules;

use std::path::{Path, PathBuf};

use super::{
    AgentEvent, AgentOrder, AgentReport, Approval, CallOutcome, ExitInfo, OutputReader,
    Permissions, Stream,
};

/// The program's own rules apply.
static NONE: Permissions =
    Permissions { mode: None, allow: Vec::new(), deny: Vec::new(), arguments: Vec::new() };

/// The recording of this name, as its lines.
fn recording(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/streams");
    let file = folder.join(format!("{name}.jsonl"));
    let bytes = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
}

/// The names of all recordings.
fn recordings() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/streams");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .map(|file: PathBuf| file.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

/// An order that asks for nothing special.
fn order(prompt: &str) -> AgentOrder<'_> {
    AgentOrder {
        prompt,
        model: None,
        version: "",
        approval: Approval::Own,
        permissions: &NONE,
        resume: None,
        folder: Path::new("/nowhere"),
        scratch: Path::new("/nowhere"),
    }
}

/// The reader for the recording of this name.
fn reader_for(name: &str, approval: Approval) -> Box<dyn OutputReader> {
    let program = name.split('-').next().unwrap();
    let order = AgentOrder { approval, ..order("go on") };
    harness_named(program).reader(&order)
}

fn harness_named(name: &str) -> Box<dyn super::Harness> {
    match name {
        "claude" => Box::new(super::claude::Claude),
        "codex" => Box::new(super::codex::Codex),
        "copilot" => Box::new(super::copilot::Copilot),
        "gemini" => Box::new(super::gemini::Gemini),
        "opencode" => Box::new(super::opencode::Opencode),
        other => panic!("no harness {other}"),
    }
}

/// What a reader makes of these lines of standard output, and of an exit code; what came of the calls is [`outcomes`].
fn read<L: AsRef<[u8]>>(
    mut reader: Box<dyn OutputReader>,
    lines: &[L],
    left: &ExitInfo,
) -> (AgentReport, Vec<AgentEvent>) {
    let mut heard = Vec::new();
    for line in lines {
        reader.line(Stream::Output, line.as_ref(), &mut |event| heard.push(event));
    }
    heard.retain(|event| !matches!(event, AgentEvent::Returned { .. }));
    (reader.report(left), heard)
}

/// What came of the tool calls of a recording: each with its number, in the order in which that was reported.
fn outcomes(name: &str, approval: Approval) -> Vec<(u64, CallOutcome)> {
    let mut seen = Vec::new();
    let mut reader = reader_for(name, approval);
    for line in recording(name) {
        reader.line(Stream::Output, &line, &mut |event| {
            if let AgentEvent::Returned { call, outcome } = event {
                seen.push((call, outcome));
            }
        });
    }
    seen
}

fn code(code: i32) -> ExitInfo {
    ExitInfo { code: Some(code), ..ExitInfo::default() }
}
