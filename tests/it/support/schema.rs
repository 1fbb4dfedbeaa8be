//! What a value breaks of a schema, as far as the schemas of this repository go: a word of a schema that this check does
//! not know fails the test. It is stricter than a schema in one point: a field that no schema names is wrong.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// The largest whole number that every reader of JSON holds exactly.
const LARGEST: u64 = (1 << 53) - 1;

/// What a schema says of a value, and what this check reads of it.
const KNOWN: [&str; 20] = [
    "$schema",
    "$defs",
    "$ref",
    "title",
    "description",
    "examples",
    "default",
    "type",
    "const",
    "enum",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "properties",
    "additionalProperties",
    "required",
    "items",
    "anyOf",
    "oneOf",
];

/// Fails unless what `spool` printed is in the form of `schemas/NAME.schema.json`.
#[track_caller]
pub fn holds(name: &str, value: &Value) {
    let found = Schema::named(name).problems(value);
    assert!(found.is_empty(), "{name}: {}\n{value:#}", found.join("\n"));
}

/// A schema of the repository.
pub struct Schema(Value);

impl Schema {
    /// The schema in `schemas/NAME.schema.json`.
    pub fn named(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
        let text = fs::read_to_string(folder.join(format!("{name}.schema.json")));
        Self(serde_json::from_str(&text.unwrap_or_else(|error| panic!("{name}: {error}"))).unwrap())
    }

    /// The schema itself.
    pub fn value(&self) -> &Value {
        &self.0
    }

    /// What a value breaks of it, each with its place.
    pub fn problems(&self, value: &Value) -> Vec<String> {
        let mut found = Found::default();
        self.check(&self.0, value, "$", &mut found);
        found.close(value, "$");
        found.problems
    }

    fn check(&self, schema: &Value, value: &Value, at: &str, found: &mut Found) {
        for word in schema.as_object().unwrap().keys() {
            assert!(KNOWN.contains(&word.as_str()), "{at}: the check does not know `{word}`");
        }
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.strip_prefix("#/$defs/").unwrap();
            self.check(&self.0["$defs"][name], value, at, found);
        }
        let allowed: Vec<&str> = match &schema["type"] {
            Value::String(kind) => vec![kind],
            Value::Array(kinds) => kinds.iter().map(|kind| kind.as_str().unwrap()).collect(),
            _ => Vec::new(),
        };
        if !allowed.is_empty() && !allowed.iter().any(|kind| is_of(kind, value)) {
            found.problems.push(format!("{at}: {value} is none of {allowed:?}"));
            return;
        }
        let one_of = schema["enum"].as_array().is_none_or(|words| words.contains(value));
        let is_it = schema.get("const").is_none_or(|wanted| wanted == value);
        if !(one_of && is_it) {
            found.is_another |= schema.get("const").is_some();
            found.problems.push(format!("{at}: {value} is not what it may be"));
        }
        if let Some(format) = schema.get("format") {
            assert_eq!(format, "date-time", "{at}: a format that this check does not know");
            if value.as_str().is_some_and(|text| !is_time(text)) {
                found.problems.push(format!("{at}: {value} is no time in UTC"));
            }
        }
        if let (Some(pattern), Some(text)) = (schema["pattern"].as_str(), value.as_str()) {
            assert_eq!(pattern, "^[0-9]*$", "{at}: a pattern that this check does not know");
            if !text.bytes().all(|byte| byte.is_ascii_digit()) {
                found.problems.push(format!("{at}: `{text}` is not {pattern}"));
            }
        }
        if let Some(number) = value.as_f64() {
            let least = schema["minimum"].as_f64().unwrap_or(f64::MIN);
            let most = schema["maximum"].as_f64().unwrap_or(LARGEST as f64);
            if number < least || number > most {
                found.problems.push(format!("{at}: {number} is out of its range"));
            }
        }
        if let Some(fields) = value.as_object() {
            self.check_fields(schema, fields, at, found);
        }
        if let (Some(items), Some(rule)) = (value.as_array(), schema.get("items")) {
            for (place, item) in items.iter().enumerate() {
                self.check_inside(rule, item, &format!("{at}[{place}]"), found);
            }
        }
        for choice in ["anyOf", "oneOf"] {
            self.choose(schema[choice].as_array(), value, at, found);
        }
    }

    fn check_fields(
        &self,
        schema: &Value,
        fields: &serde_json::Map<String, Value>,
        at: &str,
        found: &mut Found,
    ) {
        for (name, rule) in schema["properties"].as_object().into_iter().flatten() {
            found.known.insert(name.clone());
            if let Some(field) = fields.get(name) {
                self.check_inside(rule, field, &format!("{at}.{name}"), found);
            }
        }
        if let Some(rule) = schema.get("additionalProperties") {
            let is_named = |name: &str| schema["properties"].get(name).is_some();
            for (name, field) in fields.iter().filter(|(name, _)| !is_named(name)) {
                found.known.insert(name.clone());
                if rule.is_object() {
                    self.check_inside(rule, field, &format!("{at}.{name}"), found);
                }
            }
        }
        for name in schema["required"].as_array().into_iter().flatten() {
            let name = name.as_str().unwrap();
            if !fields.contains_key(name) {
                found.problems.push(format!("{at}: `{name}` is missing"));
            }
        }
    }

    /// Checks a value that stands in another one: its fields are its own.
    fn check_inside(&self, schema: &Value, value: &Value, at: &str, found: &mut Found) {
        let mut inside = Found::default();
        self.check(schema, value, at, &mut inside);
        inside.close(value, at);
        found.problems.append(&mut inside.problems);
        found.is_another |= inside.is_another;
    }

    /// One of these has to fit; the problems of the nearest are told where none does.
    fn choose(&self, choices: Option<&Vec<Value>>, value: &Value, at: &str, found: &mut Found) {
        let Some(choices) = choices else { return };
        let tried = choices.iter().map(|choice| {
            let mut tried = Found::default();
            self.check(choice, value, at, &mut tried);
            tried
        });
        let best = tried.min_by_key(|tried| (tried.is_another, tried.problems.len())).unwrap();
        found.problems.extend(best.problems);
        found.known.extend(best.known);
    }
}

/// What was found of one value.
#[derive(Default)]
struct Found {
    problems: Vec<String>,
    /// Whether a fixed word says that it is something else.
    is_another: bool,
    /// The fields that a schema names.
    known: BTreeSet<String>,
}

impl Found {
    /// A field that nobody has named is wrong.
    fn close(&mut self, value: &Value, at: &str) {
        for name in value.as_object().into_iter().flat_map(|fields| fields.keys()) {
            if !self.known.contains(name) {
                self.problems.push(format!("{at}: no schema has `{name}`"));
            }
        }
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("a type that this check does not know: {other}"),
    }
}

/// Whether this is such as `2026-11-22T00:05:12.345Z`.
fn is_time(text: &str) -> bool {
    let form = "0000-00-00T00:00:00.000Z";
    let shape = |text: &str| -> String {
        text.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect()
    };
    shape(text) == form
}
