//! The messages between runner and supervisor over their socket: a length, then so much JSON.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::runner::harness::{Ending, Input, Launch};

/// A supervisor's order, before any [`SupervisorCommand`]. The folder is no `PathBuf`, since its bytes may be no text.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupervisorOrder {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    /// Variables to set.
    pub set: Vec<(String, OsString)>,
    /// Variables to remove.
    pub unset: Vec<String>,
    pub input: Input,
    pub ending: Ending,
    pub folder: OsString,
    /// Time between asking and killing.
    pub grace: Duration,
}

/// The runner's later messages.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SupervisorCommand {
    /// Ask the tree to end, then kill it.
    End,
    /// Kill the tree.
    Kill,
    /// Write this text to the program's standard input.
    Tell(Vec<u8>),
    /// Close the program's standard input behind all text.
    Close,
}

/// The supervisor's messages.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SupervisorEvent {
    /// The supervisor has left the terminal and waits for its order.
    Ready,
    /// The program's process id.
    Started(i32),
    /// The error number of a failed start.
    NotStarted(i32),
    /// The program's exit status, as the system encodes it.
    Left(i32),
    /// Nothing of the tree is left; so many processes besides the program had to be ended.
    Over(usize),
}

/// In bytes; no system takes as many as arguments.
const LONGEST: u32 = 256 << 20;

impl SupervisorOrder {
    pub fn of(launch: &Launch, folder: &Path, grace: Duration) -> Self {
        let Launch { program, arguments, set, unset, input, ending, .. } = launch.clone();
        let (program, folder) = (program.into(), folder.into());
        Self { program, arguments, set, unset, input, ending, folder, grace }
    }
}

pub fn say(other: &mut dyn Write, message: &impl Serialize) -> io::Result<()> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = u32::try_from(bytes.len() - 4).unwrap_or(u32::MAX);
    bytes[..4].copy_from_slice(&length.to_be_bytes());
    other.write_all(&bytes)
}

/// An error for the other side's end, and for anything but a message.
pub fn hear<T: DeserializeOwned>(other: &mut dyn Read) -> io::Result<T> {
    let mut length = [0; 4];
    other.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length as usize];
    other.read_exact(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn order() -> SupervisorOrder {
        let launch = Launch {
            program: OsString::from_vec(vec![b'/', 0xfe]).into(),
            arguments: vec!["-p".into(), OsString::from_vec(vec![b'a', 0xff, b'\n'])],
            set: vec![("NAME".into(), "value".into())],
            unset: vec!["CLAUDECODE".into()],
            input: Input::Text(b"do it\0\xff".to_vec()),
            ending: Ending::Interrupt,
            ..Launch::default()
        };
        SupervisorOrder::of(&launch, Path::new("/a folder"), Duration::from_millis(2500))
    }

    fn said(message: &impl Serialize) -> Vec<u8> {
        let mut bytes = Vec::new();
        say(&mut bytes, message).unwrap();
        bytes
    }

    #[test]
    fn an_order_arrives_whatever_its_bytes() {
        let order = order();
        assert_eq!(hear::<SupervisorOrder>(&mut &said(&order)[..]).unwrap(), order);
        assert_eq!(order.arguments[1].len(), 3);
    }

    #[test]
    fn broken_order_is_an_error() {
        let bytes = said(&order());
        for length in 0..bytes.len() {
            assert!(hear::<SupervisorOrder>(&mut &bytes[..length]).is_err(), "{length}");
        }
        let too_long = [&u32::MAX.to_be_bytes()[..], b"{}"].concat();
        assert!(hear::<SupervisorOrder>(&mut &too_long[..]).is_err());
    }

    #[test]
    fn events_arrive_one_by_one() {
        let events = [
            SupervisorEvent::Ready,
            SupervisorEvent::Started(4711),
            SupervisorEvent::NotStarted(2),
            SupervisorEvent::Left(137 << 8),
            SupervisorEvent::Over(3),
        ];
        let bytes: Vec<u8> = events.iter().flat_map(said).collect();
        let mut source = &bytes[..];
        for event in events {
            assert_eq!(hear::<SupervisorEvent>(&mut source).unwrap(), event);
        }
        for command in [
            SupervisorCommand::End,
            SupervisorCommand::Kill,
            SupervisorCommand::Tell(b"{}\n\xff".to_vec()),
            SupervisorCommand::Close,
        ] {
            assert_eq!(hear::<SupervisorCommand>(&mut &said(&command)[..]).unwrap(), command);
        }
    }
}
