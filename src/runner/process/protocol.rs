//! What runner and supervisor say to each other over their socket.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::runner::harness::{Ending, Input, Launch};

/// What a supervisor is to do; all of it comes before the first [`SupervisorCommand`].
#[derive(Debug, PartialEq, Eq)]
pub struct SupervisorOrder {
    /// The program and all that belongs to it.
    pub launch: Launch,
    /// The folder in which it is started.
    pub folder: PathBuf,
    /// Time between asking it to end and killing it.
    pub grace: Duration,
}

/// What the runner asks of a supervisor later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SupervisorCommand {
    /// End the tree: ask first, then without asking.
    End,
    /// End the tree without asking.
    Kill,
    /// Write the text that follows into the program's standard input.
    Tell,
    /// Close the program's standard input once all of it is written.
    Close,
}

/// What a supervisor reports to the runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SupervisorEvent {
    /// It is out of the terminal's reach and waits for its order.
    Ready,
    /// The program runs under this process id.
    Started(i32),
    /// The program could not be started, for this error number.
    NotStarted(i32),
    /// The program left with this exit code.
    LeftWithCode(i32),
    /// The program was ended by this signal.
    LeftBySignal(i32),
    /// Nothing of the tree is left; so many processes besides the program had to be ended.
    Over(i32),
}

/// The most that an order may be, in bytes: far more than a system takes as arguments.
const LONGEST_ORDER: u32 = 256 << 20;

impl SupervisorOrder {
    /// Returns the bytes that [`SupervisorOrder::read`] takes.
    pub fn written(launch: &Launch, folder: &Path, grace: Duration) -> Vec<u8> {
        let mut fields = FieldWriter(vec![0; 4]);
        fields.put(launch.program.as_os_str());
        fields.put(folder.as_os_str());
        fields.number(u32::try_from(grace.as_millis()).unwrap_or(u32::MAX));
        fields.number(match launch.ending {
            Ending::Terminate => 0,
            Ending::Interrupt => 1,
        });
        fields.count(launch.arguments.len());
        for argument in &launch.arguments {
            fields.put(argument);
        }
        fields.count(launch.unset.len());
        for name in &launch.unset {
            fields.put(OsStr::new(name));
        }
        fields.count(launch.set.len());
        for (name, value) in &launch.set {
            fields.put(OsStr::new(name));
            fields.put(value);
        }
        match &launch.input {
            Input::Nothing => fields.number(0),
            Input::Text(text) => {
                fields.number(1);
                fields.put(OsStr::from_bytes(text));
            }
            Input::Dialog(text) => {
                fields.number(2);
                fields.put(OsStr::from_bytes(text));
            }
        }
        let mut bytes = fields.0;
        let length = u32::try_from(bytes.len() - 4).unwrap_or(u32::MAX);
        bytes[..4].copy_from_slice(&length.to_be_bytes());
        bytes
    }

    /// Returns the order that comes out of `source`; an error for the end of it, or what is no order.
    pub fn read(source: &mut dyn Read) -> io::Result<Self> {
        Self::from(&sized(source)?).ok_or_else(no_order)
    }

    fn from(bytes: &[u8]) -> Option<Self> {
        let mut rest = FieldReader(bytes);
        let program = PathBuf::from(rest.text()?);
        let folder = PathBuf::from(rest.text()?);
        let grace = Duration::from_millis(rest.number()?.into());
        let ending = match rest.number()? {
            0 => Ending::Terminate,
            _ => Ending::Interrupt,
        };
        let arguments = (0..rest.number()?).map(|_| rest.text()).collect::<Option<_>>()?;
        let unset = (0..rest.number()?).map(|_| rest.name()).collect::<Option<_>>()?;
        let set =
            (0..rest.number()?).map(|_| Some((rest.name()?, rest.text()?))).collect::<Option<_>>();
        let input = match rest.number()? {
            0 => Input::Nothing,
            1 => Input::Text(rest.text()?.into_vec()),
            _ => Input::Dialog(rest.text()?.into_vec()),
        };
        let launch = Launch { program, arguments, set: set?, unset, input, ending, folder: None };
        Some(Self { launch, folder, grace })
    }
}

/// The bytes whose number comes first.
fn sized(source: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    source.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if length > LONGEST_ORDER {
        return Err(no_order());
    }
    let mut bytes = vec![0; length as usize];
    source.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn no_order() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "this is no order for a supervisor")
}

struct FieldWriter(Vec<u8>);

impl FieldWriter {
    fn number(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_be_bytes());
    }

    fn count(&mut self, count: usize) {
        self.number(u32::try_from(count).unwrap_or(u32::MAX));
    }

    fn put(&mut self, text: &OsStr) {
        self.count(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }
}

struct FieldReader<'a>(&'a [u8]);

impl FieldReader<'_> {
    fn number(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*number))
    }

    fn text(&mut self) -> Option<OsString> {
        let length = self.number()? as usize;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(OsString::from_vec(text.to_vec()))
    }

    fn name(&mut self) -> Option<String> {
        self.text()?.into_string().ok()
    }
}

impl SupervisorCommand {
    /// Returns the bytes that tell the program this text.
    pub fn telling(text: &[u8]) -> Vec<u8> {
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        [&[Self::Tell.written()][..], &length.to_be_bytes(), text].concat()
    }

    /// Returns the text that follows [`SupervisorCommand::Tell`]; an error for the end of `source`, or too long a text.
    pub fn told(source: &mut dyn Read) -> io::Result<Vec<u8>> {
        sized(source)
    }

    /// Returns the byte that stands for it.
    pub fn written(self) -> u8 {
        match self {
            Self::End => b'e',
            Self::Kill => b'k',
            Self::Tell => b't',
            Self::Close => b'c',
        }
    }

    /// Returns the command that a byte stands for.
    pub fn from(byte: u8) -> Option<Self> {
        match byte {
            b'e' => Some(Self::End),
            b'k' => Some(Self::Kill),
            b't' => Some(Self::Tell),
            b'c' => Some(Self::Close),
            _ => None,
        }
    }
}

impl SupervisorEvent {
    /// The length of each, in bytes.
    pub const LENGTH: usize = 5;

    /// Returns the bytes that stand for it.
    pub fn written(self) -> [u8; Self::LENGTH] {
        let (letter, number) = match self {
            Self::Ready => (b'r', 0),
            Self::Started(id) => (b's', id),
            Self::NotStarted(error) => (b'n', error),
            Self::LeftWithCode(code) => (b'c', code),
            Self::LeftBySignal(signal) => (b'g', signal),
            Self::Over(survivors) => (b'o', survivors),
        };
        let mut bytes = [letter; Self::LENGTH];
        bytes[1..].copy_from_slice(&number.to_be_bytes());
        bytes
    }

    /// Returns the news that bytes stand for.
    pub fn from(bytes: [u8; Self::LENGTH]) -> Option<Self> {
        let [letter, number @ ..] = bytes;
        let number = i32::from_be_bytes(number);
        Some(match letter {
            b'r' => Self::Ready,
            b's' => Self::Started(number),
            b'n' => Self::NotStarted(number),
            b'c' => Self::LeftWithCode(number),
            b'g' => Self::LeftBySignal(number),
            b'o' => Self::Over(number),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch() -> Launch {
        Launch {
            program: "agent".into(),
            arguments: vec!["-p".into(), OsString::from_vec(vec![b'a', 0xff, b'\n'])],
            set: vec![("NAME".into(), "value".into())],
            unset: vec!["CLAUDECODE".into()],
            input: Input::Text(b"do it".to_vec()),
            ending: Ending::Interrupt,
            ..Launch::default()
        }
    }

    #[test]
    fn an_order_arrives_as_it_was_given_whatever_its_bytes() {
        let folder = Path::new("/a folder");
        let grace = Duration::from_millis(2500);
        let bytes = SupervisorOrder::written(&launch(), folder, grace);
        let order = SupervisorOrder { launch: launch(), folder: folder.into(), grace };
        assert_eq!(SupervisorOrder::read(&mut &bytes[..]).unwrap(), order);
    }

    #[test]
    fn an_order_that_breaks_off_anywhere_is_an_error() {
        let bytes = SupervisorOrder::written(&launch(), Path::new("/"), Duration::ZERO);
        for length in 0..bytes.len() {
            assert!(SupervisorOrder::read(&mut &bytes[..length]).is_err(), "{length}");
            let (_, body) = bytes[..length.max(4)].split_at(4);
            assert_eq!(SupervisorOrder::from(body), None, "{length}");
        }
    }

    #[test]
    fn news_and_commands_arrive_as_they_were_told() {
        for news in [
            SupervisorEvent::Ready,
            SupervisorEvent::Started(4711),
            SupervisorEvent::NotStarted(2),
            SupervisorEvent::LeftWithCode(137),
            SupervisorEvent::LeftBySignal(9),
            SupervisorEvent::Over(3),
        ] {
            assert_eq!(SupervisorEvent::from(news.written()), Some(news));
        }
        for command in [
            SupervisorCommand::End,
            SupervisorCommand::Kill,
            SupervisorCommand::Tell,
            SupervisorCommand::Close,
        ] {
            assert_eq!(SupervisorCommand::from(command.written()), Some(command));
        }
        let told = SupervisorCommand::telling(b"{}\n");
        assert_eq!(SupervisorCommand::told(&mut &told[1..]).unwrap(), b"{}\n");
        assert!(SupervisorCommand::told(&mut &told[1..told.len() - 1]).is_err());
    }
}
