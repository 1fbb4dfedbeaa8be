//! The page on the fields of all forms, made from their schemas.

use std::collections::BTreeMap;

use serde_json::Value;

const BEGIN: &str = "\
# The fields of what programs read

Which fields has an answer, and what do they mean? A test makes this page from the schemas. [json.md](json.md) has the commands,
with an example of each; the parts that several forms share come last.
";

/// The page on these forms, each with its name and its schema.
pub fn page(forms: &[(&str, &Value)]) -> String {
    let mut parts: BTreeMap<&str, &Value> = BTreeMap::new();
    let mut page = vec![BEGIN.to_owned()];
    for (name, schema) in forms {
        let defined = schema["$defs"].as_object().into_iter().flatten();
        let defined: BTreeMap<&str, &Value> =
            defined.map(|(name, part)| (name.as_str(), part)).collect();
        let link = format!("[The schema](../../schemas/{name}.schema.json).");
        let table = table(schema, &defined);
        page.push(format!("\n## {name}\n{}\n{link}\n{table}", described(schema)));
        for variant in schema["oneOf"].as_array().into_iter().flatten() {
            page.push(event(name, variant, &defined));
        }
        for (&part, &schema) in &defined {
            let other = parts.insert(part, schema);
            assert!(other.is_none_or(|other| other == schema), "two forms of {part}");
        }
    }
    for (name, part) in parts.iter().filter(|(_, part)| has_fields(part)) {
        let table = table(part, &parts);
        page.push(format!("\n## {name}\n{}\n{table}", described(part)));
    }
    page.concat()
}

/// One kind of line of a form that has several.
fn event(form: &str, variant: &Value, parts: &BTreeMap<&str, &Value>) -> String {
    let name = variant["properties"]["event"]["const"].as_str().unwrap();
    format!("\n### {form}: {name}\n{}\n{}", described(variant), table(variant, parts))
}

/// The fields of a schema, a row each; empty where there is none but the name of the event.
fn table(schema: &Value, parts: &BTreeMap<&str, &Value>) -> String {
    let fields = schema["properties"].as_object().into_iter().flatten();
    let rows = fields.filter(|(_, field)| !field["description"].is_null()).map(|(name, field)| {
        let words = format!("{}{}", described(field), values(field, parts));
        format!("| `{name}` | {} | {} |\n", kind(field, parts), words.replace('|', "\\|"))
    });
    let rows: String = rows.collect();
    if rows.is_empty() {
        rows
    } else {
        format!("\n| field | type | meaning |\n|---|---|---|\n{rows}")
    }
}

fn described(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().replace('\n', " ")
}

/// The type of a field in words, with a link to the part that it holds.
fn kind(field: &Value, parts: &BTreeMap<&str, &Value>) -> String {
    if let Some(name) = part_of(field) {
        let is_word = parts.get(name).is_some_and(|part| !has_fields(part));
        let link = format!("[{name}](#{})", name.to_lowercase());
        return if is_word { "word".to_owned() } else { link };
    }
    if let Some(choices) = field["anyOf"].as_array() {
        return format!("{} or null", kind(&choices[0], parts));
    }
    let kinds: Vec<&str> = match &field["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    let name = match kinds[0] {
        "array" => format!("list of {}", kind(&field["items"], parts)),
        "string" if field["format"] == "date-time" => "time".to_owned(),
        "string" => "text".to_owned(),
        "boolean" => "true or false".to_owned(),
        "integer" => "number".to_owned(),
        other => other.to_owned(),
    };
    if kinds.contains(&"null") { format!("{name} or null") } else { name }
}

/// The words that a field may hold.
fn values(field: &Value, parts: &BTreeMap<&str, &Value>) -> String {
    let field = field["anyOf"].get(0).unwrap_or(field);
    let words = part_of(field).and_then(|name| parts.get(name)?["oneOf"].as_array());
    let told = words
        .into_iter()
        .flatten()
        .map(|word| format!(" `{}`: {}", word["const"].as_str().unwrap(), described(word)));
    let known = field["examples"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let known: Vec<String> = known.map(|word| format!("`{word}`")).collect();
    let known = if known.is_empty() { String::new() } else { format!(" {}.", known.join(", ")) };
    told.chain([known]).collect()
}

fn part_of(field: &Value) -> Option<&str> {
    field["$ref"].as_str()?.strip_prefix("#/$defs/")
}

fn has_fields(part: &Value) -> bool {
    part["properties"].is_object()
}
