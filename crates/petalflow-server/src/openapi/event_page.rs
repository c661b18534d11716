//! The page of the reference that lists the events.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

const HEAD: &str = "\
# Events of threads

`GET /threads/{thread}/events` sends the events of a thread as server-sent events. The field `event` of each has its
kind, `id` has its number in the log of the thread, and `data` has the event in JSON. The schema `ThreadEvent` of the
[OpenAPI document](../guide/http.md#the-openapi-document) is the union of all kinds. A client ignores kinds and fields
that it does not know.

This page is made from the types of the server: `PETALFLOW_BLESS=1 cargo test -p petalflow-server event` writes it
again.
";

/// The most characters of a line.
const MAX_LINE: usize = 120;

/// The page, from the schemas of the events.
pub(super) fn text(schemas: &Map<String, Value>) -> String {
    let mut page = HEAD.to_string();
    let kinds = &schemas["ThreadEvent"]["oneOf"];
    let kinds: Vec<&Value> = kinds
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|kind| schemas.get(name_of(kind)?))
        .collect();
    page.push_str("\n## Fields of all events\n\n");
    let is_of_all = |field: &str| {
        kinds
            .iter()
            .all(|kind| kind["properties"].get(field).is_some())
    };
    if let Some(first) = kinds.first() {
        table(&mut page, first, is_of_all);
    }
    page.push_str("\n## Kinds\n");
    for kind in &kinds {
        let name = kind["properties"]["kind"]["const"]
            .as_str()
            .unwrap_or_default();
        let _ = write!(page, "\n### {name}\n\n{}\n", paragraph(kind));
        let is_own = |field: &str| !is_of_all(field);
        let fields = kind["properties"].as_object();
        if fields.is_some_and(|fields| fields.keys().any(|field| is_own(field))) {
            page.push('\n');
            table(&mut page, kind, is_own);
        }
    }
    page.push_str("\n## What events have\n");
    for (name, schema) in schemas.iter().collect::<BTreeMap<_, _>>() {
        if name == "ThreadEvent"
            || schema["properties"]
                .get("kind")
                .is_some_and(|kind| kind.get("const").is_some())
        {
            continue;
        }
        let _ = write!(page, "\n### {name}\n\n{}\n\n", paragraph(schema));
        if let Some(choices) = schema["oneOf"].as_array() {
            page.push_str("| value | meaning |\n| --- | --- |\n");
            for choice in choices {
                let value = choice["const"].as_str().unwrap_or_default();
                let _ = writeln!(page, "| `{value}` | {} |", words(choice));
            }
        } else {
            table(&mut page, schema, |_| true);
        }
    }
    page
}

/// The fields of a schema that are wanted.
fn table(page: &mut String, schema: &Value, is_wanted: impl Fn(&str) -> bool) {
    page.push_str("| field | type | meaning |\n| --- | --- | --- |\n");
    let required = schema["required"].as_array();
    // By name, whatever the order of maps in the program that the server is part of.
    let fields = schema["properties"].as_object().into_iter().flatten();
    let fields: BTreeMap<&String, &Value> = fields.filter(|(name, _)| is_wanted(name)).collect();
    for (name, field) in fields {
        let is_required = required.is_some_and(|it| it.iter().any(|it| it == name));
        let absent = if is_required { "" } else { ", may be absent" };
        let meaning = match field.get("const") {
            Some(_) => "What has happened: one of the kinds below.".into(),
            None => words(field),
        };
        let _ = writeln!(
            page,
            "| `{name}` | {}{absent} | {meaning} |",
            kind_of(field)
        );
    }
}

/// The description of a schema, on one line.
fn words(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The same in lines that our documents may have.
fn paragraph(schema: &Value) -> String {
    let mut text = String::new();
    let mut length = 0;
    for word in words(schema).split(' ') {
        let letters = word.chars().count();
        if length > 0 && length + 1 + letters > MAX_LINE {
            text.push('\n');
            length = 0;
        } else if length > 0 {
            text.push(' ');
            length += 1;
        }
        text.push_str(word);
        length += letters;
    }
    text
}

/// The type of a field in words.
fn kind_of(field: &Value) -> String {
    if let Some(name) = name_of(field) {
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(either) = field["anyOf"].as_array() {
        let kinds: Vec<String> = either.iter().map(kind_of).collect();
        return kinds.join(" or ");
    }
    match &field["type"] {
        Value::String(name) if name == "array" => format!("list of {}", kind_of(&field["items"])),
        Value::String(name) => plain(name).into(),
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str);
            names.map(plain).collect::<Vec<_>>().join(" or ")
        }
        _ => "any value".into(),
    }
}

fn plain(name: &str) -> &str {
    match name {
        "string" => "text",
        "integer" => "number",
        "boolean" => "`true` or `false`",
        "null" => "`null`",
        other => other,
    }
}

/// The name of the schema to which this one refers.
fn name_of(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}
