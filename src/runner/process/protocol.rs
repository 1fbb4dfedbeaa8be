//! What runner and supervisor say to each other over their socket: each a length and as much JSON.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::runner::harness::{Ending, Input, Launch};

/// What a supervisor is to do; all of it comes before the first [`SupervisorCommand`]. A path is no `PathBuf` here: its
/// bytes may be no text.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupervisorOrder {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables that are set.
    pub set: Vec<(String, OsString)>,
    /// Variables that are taken out of the environment.
    pub unset: Vec<String>,
    /// What its standard input gets.
    pub input: Input,
    /// The signal that it ends best on.
    pub ending: Ending,
    /// The folder in which it is started.
    pub folder: OsString,
    /// Time between asking it to end and killing it.
    pub grace: Duration,
}

/// What the runner asks of a supervisor later.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SupervisorCommand {
    /// End the tree: ask first, then without asking.
    End,
    /// End the tree without asking.
    Kill,
    /// Write this text into the program's standard input.
    Tell(Vec<u8>),
    /// Close the program's standard input once all of it is written.
    Close,
}

/// What a supervisor reports to the runner.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SupervisorEvent {
    /// It is out of the terminal's reach and waits for its order.
    Ready,
    /// The program runs under this process id.
    Started(i32),
    /// The program could not be started, for this error number.
    NotStarted(i32),
    /// The program left, and this is the status that the system has given of it.
    Left(i32),
    /// Nothing of the tree is left; so many processes besides the program had to be ended.
    Over(usize),
}

/// The most that is said at once, in bytes: far more than a system takes as arguments.
const LONGEST: u32 = 256 << 20;

impl SupervisorOrder {
    /// The order to start this in `folder`.
    pub fn of(launch: &Launch, folder: &Path, grace: Duration) -> Self {
        let Launch { program, arguments, set, unset, input, ending, .. } = launch.clone();
        let (program, folder) = (program.into(), folder.into());
        Self { program, arguments, set, unset, input, ending, folder, grace }
    }
}

/// Says something to the other side.
pub fn say(other: &mut dyn Write, message: &impl Serialize) -> io::Result<()> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = u32::try_from(bytes.len() - 4).unwrap_or(u32::MAX);
    bytes[..4].copy_from_slice(&length.to_be_bytes());
    other.write_all(&bytes)
}

/// Hears what the other side says; an error for its end, or what is no such message.
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
    fn a_broken_off_order_is_an_error() {
        let bytes = said(&order());
        for length in 0..bytes.len() {
            assert!(hear::<SupervisorOrder>(&mut &bytes[..length]).is_err(), "{length}");
        }
        let too_long = [&u32::MAX.to_be_bytes()[..], b"{}"].concat();
        assert!(hear::<SupervisorOrder>(&mut &too_long[..]).is_err());
    }

    #[test]
    fn events_and_commands_arrive_one_by_one() {
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
