//! The schemas in `schemas/`, made from the types.

use std::fs;
use std::path::{Path, PathBuf};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::forms::VERSION;
use crate::forms::doctor::DoctorForm;
use crate::forms::events::EventForm;
use crate::forms::harnesses::HarnessesForm;
use crate::forms::log::LogForm;
use crate::forms::plan::PlanForm;
use crate::forms::review::Review;
use crate::forms::runner::RunnerStatusForm;
use crate::forms::setup::SetupForm;
use crate::forms::status::{StatusForm, StatuslineForm, SteeredForm, TrustForm};
use crate::forms::task::{NextForm, NotedForm, ProvedForm, TaskListForm, TaskShowForm};
use crate::runner::story::Story;

/// The test then writes the schemas instead of comparing them.
const WRITE: &str = "RALPH_WRITE_SCHEMAS";

/// Each schema, by the name of its file.
fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("status", of::<StatusForm>()),
        ("ralph-status", of::<RunnerStatusForm>()),
        ("ralph-event", of::<EventForm>()),
        ("log", of::<LogForm>()),
        ("log-iteration", of::<Story>()),
        ("statusline", of::<StatuslineForm>()),
        ("doctor", of::<DoctorForm>()),
        ("task-next", of::<NextForm>()),
        ("task-list", of::<TaskListForm>()),
        ("task-show", of::<TaskShowForm>()),
        ("task-proved", of::<ProvedForm>()),
        ("task-noted", of::<NotedForm>()),
        ("trust", of::<TrustForm>()),
        ("review", of::<Review>()),
        ("steered", of::<SteeredForm>()),
        ("ralph-plan", of::<PlanForm>()),
        ("ralph-harnesses", of::<HarnessesForm>()),
        ("setup", of::<SetupForm>()),
    ]
}

fn of<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    without_types_of_rust(schema.as_object_mut());
    with_version(&mut schema);
    schema
}

/// Puts the version before the other fields, as [`crate::forms::Versioned`] does.
fn with_version(schema: &mut Schema) {
    let version = json!({
        "description": "The version of this form.",
        "type": "integer",
        "const": VERSION,
    });
    let schema = schema.as_object_mut().unwrap();
    let fields = schema["properties"].as_object_mut().unwrap();
    fields.shift_insert(0, "version".to_owned(), version);
    schema["required"].as_array_mut().unwrap().insert(0, "version".into());
}

/// Removes the formats that only tell Rust's type of a number.
fn without_types_of_rust(schema: Option<&mut Map<String, Value>>) {
    let Some(schema) = schema else { return };
    if schema.get("format").is_some_and(|format| format != "date-time") {
        schema.remove("format");
    }
    for value in schema.values_mut() {
        match value {
            Value::Object(inner) => without_types_of_rust(Some(inner)),
            Value::Array(all) => {
                for value in all {
                    without_types_of_rust(value.as_object_mut());
                }
            }
            _ => {}
        }
    }
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("schemas/{name}.schema.json"))
}

#[test]
fn repository_schemas_match_types() {
    for (name, schema) in schemas() {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if crate::world::variable(WRITE).is_some() {
            fs::write(path(name), text).unwrap();
            continue;
        }
        let committed = fs::read_to_string(path(name)).unwrap_or_default();
        assert!(
            committed == text,
            "schemas/{name}.schema.json is not the one of its type; write it again: {WRITE}=1 cargo test --lib cli::schemas"
        );
    }
}
