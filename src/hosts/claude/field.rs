//! A field of an event, read into the few types that events use: every stop reads all fields, and most are of no use.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

pub(super) enum EventField {
    Text(String),
    Flag(bool),
    /// A list of tasks in the background.
    Tasks(Vec<BackgroundTask>),
    /// An object: one task in the background.
    Task(BackgroundTask),
    /// Nothing, or a number.
    Other,
}

/// Work in the background; missing fields are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct BackgroundTask {
    /// Such as `subagent`.
    pub kind: String,
    /// Such as `running`.
    pub status: String,
    pub description: String,
}

impl EventField {
    /// Empty for other types.
    pub fn into_text(self) -> String {
        if let Self::Text(text) = self { text } else { String::new() }
    }

    /// Empty for other types.
    pub fn into_tasks(self) -> Vec<BackgroundTask> {
        if let Self::Tasks(tasks) = self { tasks } else { Vec::new() }
    }
}

impl<'de> Deserialize<'de> for EventField {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_any(AnyField)
    }
}

struct AnyField;

impl<'de> Visitor<'de> for AnyField {
    type Value = EventField;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("any value")
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<EventField, E> {
        Ok(EventField::Flag(flag))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<EventField, E> {
        Ok(EventField::Other)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<EventField, E> {
        Ok(EventField::Other)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<EventField, E> {
        Ok(EventField::Other)
    }

    fn visit_unit<E: Error>(self) -> Result<EventField, E> {
        Ok(EventField::Other)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<EventField, E> {
        Ok(EventField::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<EventField, A::Error> {
        let mut tasks = Vec::new();
        while let Some(field) = list.next_element()? {
            if let EventField::Task(task) = field {
                tasks.push(task);
            }
        }
        Ok(EventField::Tasks(tasks))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<EventField, A::Error> {
        let mut task = BackgroundTask::default();
        while let Some(name) = map.next_key::<EventField>()? {
            let part = match name.into_text().as_str() {
                "type" => &mut task.kind,
                "status" => &mut task.status,
                "description" => &mut task.description,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *part = map.next_value::<EventField>()?.into_text();
        }
        Ok(EventField::Task(task))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_objects_run_in_background() {
        let read = |json: &str| serde_json::from_str::<EventField>(json).unwrap();
        let tasks = read(
            r#"[null, -1, 2, 1.5, true, "type", ["type"], {}, {"more": {"type": [{}]}, "type": "subagent",
                "status": 7, "description": "first", "description": "a \"b\""}]"#,
        );
        let named = BackgroundTask {
            kind: "subagent".to_owned(),
            status: String::new(),
            description: "a \"b\"".to_owned(),
        };
        assert_eq!(tasks.into_tasks(), [BackgroundTask::default(), named]);
        assert_eq!(read(r#"{"type": "subagent"}"#).into_tasks(), []);
        assert_eq!(read(r#"["text"]"#).into_text(), "");
        assert_eq!(read(r#""text""#).into_text(), "text");
        assert!(matches!(read("true"), EventField::Flag(true)));
    }
}
