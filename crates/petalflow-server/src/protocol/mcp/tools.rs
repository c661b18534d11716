//! The tools: one per flow, and one that answers questions.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{JsonObject, Tool};
use serde_json::Value;

use super::arguments::Arguments;
use super::{answer_tool, outcome};
use crate::served::{Facts, ServedThreads};
use crate::server::Inner;
use crate::settings::ANSWER_TOOL;

/// The tools of a server.
pub(super) fn all(server: &Inner) -> Vec<Tool> {
    let flows = server.settings.flows.iter();
    let flows = flows.map(|flow| of_flow(flow.facts()));
    let answer = tool(
        ANSWER_TOOL,
        "Answers what a thread waits for, and returns the result of its run.".into(),
        answer_tool::schema(),
        outcome::schema(None),
    );
    flows.chain([answer]).collect()
}

/// The flow whose tool has this name.
pub(super) fn flow(server: &Inner, name: &str) -> Result<Arc<dyn ServedThreads>, ErrorData> {
    let mut flows = server.settings.flows.iter();
    if let Some(flow) = flows.find(|flow| flow.facts().name == name) {
        return Ok(Arc::clone(flow));
    }
    let names = server.settings.flows.iter().map(|flow| &*flow.facts().name);
    let names: Vec<String> = names
        .chain([ANSWER_TOOL])
        .map(|name| format!("`{name}`"))
        .collect();
    let text = format!("unknown tool `{name}`; there are {}", names.join(", "));
    Err(ErrorData::invalid_params(text, None))
}

fn of_flow(facts: &Facts) -> Tool {
    let arguments = Arguments::of(facts);
    tool(
        &facts.name,
        description(facts),
        arguments.schema(facts),
        outcome::schema(Some(facts)),
    )
}

fn tool(name: &str, description: String, input: Value, output: Value) -> Tool {
    Tool::new(name.to_string(), description, object(input))
        .with_raw_output_schema(Arc::new(object(output)))
}

fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

/// What models read about a flow: what the program says, or what the documentation of its input says.
fn description(facts: &Facts) -> String {
    let kind = facts.kind.as_str();
    let name = &facts.name;
    if let Some(description) = &facts.description {
        return description.clone();
    }
    let of_input = facts.input.as_ref().unwrap_or(&Value::Null);
    match of_input["description"].as_str() {
        Some(text) => format!("Runs the {kind} `{name}`. Its input: {text}"),
        None => format!("Runs the {kind} `{name}`."),
    }
}
