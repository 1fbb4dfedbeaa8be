//! YAML as a small tree with the line of each value: bounded in depth, in size, and in what aliases repeat.

use std::collections::BTreeMap;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, StrInput, Tag, options};

use super::error::SettingsError;
use crate::text;

/// Depth of lists and maps, in each notation.
const DEPTH: usize = 8;
/// Values of a file; aliases count each time.
const MOST_VALUES: usize = 20_000;
/// Bytes of all values together.
const MOST_TEXT: usize = 1 << 20;
/// Keys of one map.
const MOST_KEYS: usize = 100;

/// A value and its line, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub line: usize,
    pub value: YamlValue,
}

/// The reader decides what a text means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum YamlValue {
    /// An empty place, `~` or `null`.
    Nothing,
    /// A text in any notation.
    Text(String),
    List(Vec<Node>),
    /// The pairs in their order; each key once.
    Map(Vec<(Node, Node)>),
}

/// Reads one value. An error names fault and line; `lines_before` is added to every line.
pub fn read(text: &str, lines_before: usize) -> Result<Node, SettingsError> {
    document(text, lines_before, Author::Person)
}

/// Reads a file that a program wrote: it may contain what no person would mean.
pub fn read_generated(text: &str) -> Result<Node, SettingsError> {
    document(text, 0, Author::Program)
}

fn document(text: &str, lines_before: usize, author: Author) -> Result<Node, SettingsError> {
    let limits = options! {
        emit_comments: false,
        disallow_directives: true,
        flow_nesting_limit: DEPTH,
        block_nesting_limit: DEPTH,
    };
    let parser = Parser::new_from_str_with_options(text, limits);
    let mut reader = YamlReader {
        parser,
        source: text,
        lines_before,
        author,
        anchors: BTreeMap::new(),
        values: 0,
        text: 0,
    };
    reader.document()
}

#[derive(PartialEq)]
enum Author {
    Person,
    Program,
}

struct YamlReader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    source: &'a str,
    lines_before: usize,
    author: Author,
    /// Values named with `&`, by their number.
    anchors: BTreeMap<usize, YamlValue>,
    values: usize,
    text: usize,
}

impl<'a> YamlReader<'a> {
    fn document(&mut self) -> Result<Node, SettingsError> {
        let mut found = None;
        loop {
            let (line, event) = self.next()?;
            match event {
                Event::StreamEnd => {
                    return Ok(found.unwrap_or(Node { line, value: YamlValue::Nothing }));
                }
                Event::StreamStart | Event::DocumentEnd => {}
                Event::DocumentStart(..) if found.is_none() => {
                    let (line, event) = self.next()?;
                    found = Some(self.node(line, event)?);
                }
                _ => {
                    let what = "a second YAML document begins here";
                    return Err(SettingsError::at(line, what, "keep all settings in one"));
                }
            }
        }
    }

    fn next(&mut self) -> Result<(usize, Event<'a>), SettingsError> {
        match self.parser.next() {
            Some(Ok((event, span))) => {
                if let Event::Scalar(_, ScalarStyle::Plain, ..) = event {
                    self.no_swallowed_item(span.start.line(), span.end.line())?;
                }
                Ok((self.lines_before + span.start.line(), event))
            }
            Some(Err(error)) => {
                let what = format!("it is no YAML: {}", text::line(&error.info()));
                let advice = advice(error.kind());
                let mut line = error.marker().line();
                if advice == BLANKS {
                    let mut below = self.source.lines().skip(line.saturating_sub(1));
                    line += below.position(has_tab).unwrap_or(0);
                }
                Err(SettingsError::at(self.lines_before + line, what, advice))
            }
            None => Ok((self.lines_before + 1, Event::StreamEnd)),
        }
    }

    /// Refuses a list item that is indented deeper than its list and so became a part of the text before: YAML reads it
    /// so, but no person means it.
    fn no_swallowed_item(&self, first: usize, last: usize) -> Result<(), SettingsError> {
        // A program breaks a long text anywhere.
        if first == last || self.author == Author::Program {
            return Ok(());
        }
        let mut lines = self.source.lines().zip(1..).skip(first).take(last - first);
        let item = lines.find(|(line, _)| {
            line.trim_start()
                .strip_prefix('-')
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        });
        let Some((_, number)) = item else { return Ok(()) };
        let what =
            "a `-` is indented deeper than the list, which makes it a part of the line above";
        let line = self.lines_before + number;
        Err(SettingsError::at(line, what, "indent all `-` of a list alike"))
    }

    /// The value that begins with this event.
    fn node(&mut self, line: usize, event: Event<'a>) -> Result<Node, SettingsError> {
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                allow(line, tag.as_deref(), &["str", "bool", "int"])?;
                let bare = style == ScalarStyle::Plain && tag.is_none();
                self.count(line, 1, text.len())?;
                let is_nothing = matches!(text.as_ref(), "" | "~" | "null" | "Null" | "NULL");
                let text = || YamlValue::Text(text.into_owned());
                (if bare && is_nothing { YamlValue::Nothing } else { text() }, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                allow(line, tag.as_deref(), &["seq"])?;
                self.count(line, 1, 0)?;
                (self.list()?, anchor)
            }
            Event::MappingStart(_, anchor, tag) => {
                allow(line, tag.as_deref(), &["map"])?;
                self.count(line, 1, 0)?;
                (self.map()?, anchor)
            }
            Event::Alias(number) => (self.repeated(line, number)?, 0),
            _ => return Err(SettingsError::at(line, "a value is missing", QUOTES)),
        };
        if anchor > 0 {
            self.anchors.insert(anchor, value.clone());
        }
        Ok(Node { line, value })
    }

    fn list(&mut self) -> Result<YamlValue, SettingsError> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (_, Event::SequenceEnd) => return Ok(YamlValue::List(items)),
                (line, event) => items.push(self.node(line, event)?),
            }
        }
    }

    fn map(&mut self) -> Result<YamlValue, SettingsError> {
        let mut pairs: Vec<(Node, Node)> = Vec::new();
        loop {
            let key = match self.next()? {
                (_, Event::MappingEnd) => return Ok(YamlValue::Map(pairs)),
                (line, event) => self.node(line, event)?,
            };
            let (line, event) = self.next()?;
            let mut value = self.node(line, event)?;
            if matches!(value.value, YamlValue::Text(_) | YamlValue::Nothing) {
                // A block of text begins a line after its `|`, but a person looks for the key.
                value.line = key.line;
            }
            let is_same = |(earlier, _): &&(Node, Node)| earlier.value == key.value;
            if let Some((earlier, _)) = pairs.iter().find(is_same) {
                let name = match &key.value {
                    YamlValue::Text(name) => format!("`{}`", short(name)),
                    _ => "a key".to_owned(),
                };
                let what = format!("{name} is already on line {}", earlier.line);
                return Err(SettingsError::at(key.line, what, "keep one of the two"));
            }
            if pairs.len() == MOST_KEYS {
                let what = format!("a map has more than {MOST_KEYS} keys");
                return Err(SettingsError::at(key.line, what, QUOTES));
            }
            pairs.push((key, value));
        }
    }

    /// The value of an alias.
    fn repeated(&mut self, line: usize, number: usize) -> Result<YamlValue, SettingsError> {
        let Some(value) = self.anchors.get(&number).cloned() else {
            let what = "a value repeats itself without end";
            return Err(SettingsError::at(line, what, QUOTES));
        };
        let (values, text) = weight(&value);
        self.count(line, values, text)?;
        Ok(value)
    }

    fn count(&mut self, line: usize, values: usize, text: usize) -> Result<(), SettingsError> {
        self.values += values;
        self.text += text;
        if self.values > MOST_VALUES || self.text > MOST_TEXT {
            let what = "the values are too many or too long, with all that aliases repeat";
            return Err(SettingsError::at(line, what, "write a shorter file"));
        }
        Ok(())
    }
}

/// Values in a value, itself included, and bytes of text.
fn weight(value: &YamlValue) -> (usize, usize) {
    let sum = |(values, text): (usize, usize), value| {
        let (more_values, more_text) = weight(value);
        (values + more_values, text + more_text)
    };
    match value {
        YamlValue::Nothing => (1, 0),
        YamlValue::Text(text) => (1, text.len()),
        YamlValue::List(items) => items.iter().map(|item| &item.value).fold((1, 0), sum),
        YamlValue::Map(pairs) => {
            pairs.iter().flat_map(|(key, value)| [&key.value, &value.value]).fold((1, 0), sum)
        }
    }
}

/// Refuses a tag that would change the meaning of a value.
fn allow(line: usize, tag: Option<&Tag>, known: &[&str]) -> Result<(), SettingsError> {
    match tag {
        None => Ok(()),
        Some(tag) if known.iter().any(|name| tag.is_yaml_core_schema_tag(name)) => Ok(()),
        Some(_) => {
            let what = "the value has a YAML tag, a word that begins with `!`";
            Err(SettingsError::at(line, what, QUOTES))
        }
    }
}

/// A tab is among the blanks at the beginning.
fn has_tab(line: &str) -> bool {
    line.chars().take_while(|letter| letter.is_whitespace()).any(|letter| letter == '\t')
}

const QUOTES: &str = "put quotes around a command with special characters";
const BLANKS: &str = "use blanks in place of the tab";

/// What to do about the parser's error.
fn advice(error: &ErrorKind) -> &'static str {
    match error {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar
        | ErrorKind::TabAtBlockScalarStart => BLANKS,
        ErrorKind::MappingValueNotAllowed | ErrorKind::SimpleKeyExpected => {
            "put quotes around a text with `: `, or complete the line before"
        }
        ErrorKind::UnclosedQuotedScalar
        | ErrorKind::InvalidQuotedScalarIndent
        | ErrorKind::DocumentIndicatorInQuotedScalar
        | ErrorKind::InvalidTrailingSingleQuotedScalar
        | ErrorKind::InvalidTrailingDoubleQuotedScalar
        | ErrorKind::UnknownQuotedScalarEscape => {
            "close every quote, and put quotes of the other kind around the whole command"
        }
        ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::InvalidIndentation
        | ErrorKind::ExpectedBlockSequenceEntry => {
            "indent all keys of one map alike, and all `-` of a list"
        }
        _ => QUOTES,
    }
}

/// The beginning of a text on one line.
pub fn short(text: &str) -> String {
    text::title(text, 60)
}
