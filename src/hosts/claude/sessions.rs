//! Claude Code's list of its running programs: a file `sessions/PID.json` for each. A killed program leaves its file
//! behind.

use std::path::Path;

use serde_json::Value;

use crate::hosts::json::read_json;
use crate::hosts::transcript::HostProgram;
use crate::store::read::{self, below};

/// The most programs that are read.
const MOST: usize = 1_000;
/// The longest file that is read, in bytes.
const MOST_BYTES: u64 = 64 << 10;

/// The programs in the settings folder of this transcript, `projects/PROJECT/SESSION.jsonl`.
pub fn beside(transcript: &Path) -> Vec<HostProgram> {
    let projects = transcript.ancestors().nth(2).filter(|folder| folder.ends_with("projects"));
    let Some(config) = projects.and_then(Path::parent) else { return Vec::new() };
    let listed = read::entries(&below(config, &["sessions"]), MOST).entries.into_iter();
    let files = listed
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.filter_map(|path| program(&read::read(&path, MOST_BYTES).ok()?.bytes)).collect()
}

fn program(bytes: &[u8]) -> Option<HostProgram> {
    let file: Value = read_json(bytes)?;
    let text = |name: &str| file.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(HostProgram {
        id: u32::try_from(file.get("pid")?.as_u64()?).ok()?,
        start: text("procStart").parse().unwrap_or_default(),
        space: text("pidDomain"),
        session: text("sessionId"),
        status: text("status"),
        waits_for: text("waitingFor"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_list_versions_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join("sessions").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            "7.json",
            r#"{"pid":7,"sessionId":"a","cwd":"/x","startedAt":1,"procStart":"2092654","version":"2.1.330","peerFeatures":["notify_idle"],"kind":"interactive","pidDomain":"linux:3d:pid:[4026531836]","asksForConvertedSkills":null,"status":"waiting","waitingFor":"permission prompt"}"#,
        );
        write("8.json", r#"{"pid":8,"sessionId":"b","procStart":"99","version":"2.1.143"}"#);
        write("8.key", "secret");
        write("9.json", r#"{"pid":"9"}"#);
        write("10.json", "{");
        let mut found = beside(&folder.path().join("projects/-x/a.jsonl"));
        found.sort_by_key(|program| program.id);
        let first = HostProgram {
            id: 7,
            start: 2_092_654,
            space: "linux:3d:pid:[4026531836]".to_owned(),
            session: "a".to_owned(),
            status: "waiting".to_owned(),
            waits_for: "permission prompt".to_owned(),
        };
        let second =
            HostProgram { id: 8, start: 99, session: "b".to_owned(), ..HostProgram::default() };
        assert_eq!(found, [first, second]);
        assert_eq!(beside(&folder.path().join("transcripts/a.jsonl")), []);
    }
}
