//! Structured output: the answer as a user-defined type.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::at::At;
use super::{Mode, model};
use petalflow::tool::ToolSpec;

/// The tool by which a model gives its answer, if it does not support a schema together with tools.
pub(super) const NAME: &str = "set_model_response";

/// The instructions for this tool.
pub(super) const INSTRUCTION: &str = "You have other tools. When you have the final answer, give it by calling \
     `set_model_response` with it, in the form that it asks for. Do not write the answer as text.";

/// The result of this tool.
pub(super) const TAKEN: &str = "Response set.";

/// The required form of an answer.
#[derive(Clone)]
pub(super) struct Output {
    pub(super) schema: Arc<Value>,
    /// Checks a value. The error says what is wrong with it.
    pub(super) check: fn(&Value) -> Result<(), String>,
}

impl Output {
    pub(super) fn of<T: JsonSchema + DeserializeOwned>() -> Self {
        Output {
            schema: Arc::new(schemars::schema_for!(T).to_value()),
            check: |value| checked::<T>(value).map(drop),
        }
    }

    pub(super) fn tool(&self) -> Arc<ToolSpec> {
        let description = "Sets the final answer, in the form that is asked for.";
        Arc::new(ToolSpec::new(NAME, description, Value::clone(&self.schema)))
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Output").field(&self.schema).finish()
    }
}

/// Whether the answer is a tool call: there are other tools, and the model does not support a schema with tools.
pub(super) fn as_tool(at: At<'_>) -> bool {
    let agent = at.agent();
    let has_tools = !agent.tools.is_empty()
        || !agent.sources.is_empty()
        || super::transfer::tool(at.roster, at.place).is_some()
        || super::delegation::delegates(at.roster, at.place)
            .next()
            .is_some();
    let able =
        model::of(at.roster, at.place).is_ok_and(|model| model.capabilities().schema_with_tools);
    agent.output.is_some() && agent.mode != Mode::Task && has_tools && !able
}

fn checked<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| located(&error))
}

/// Parses an answer. Removes the Markdown block that models often put around JSON.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let json = unfenced(text);
    let mut json = serde_json::Deserializer::from_str(json);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| located(&error))?;
    json.end().map_err(|error| error.to_string())?;
    Ok(value)
}

fn located<E: std::fmt::Display>(error: &serde_path_to_error::Error<E>) -> String {
    match error.path().to_string() {
        path if path == "." => error.inner().to_string(),
        path => format!("`{path}`: {}", error.inner()),
    }
}

fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inner = text
        .strip_prefix("```")
        .and_then(|rest| rest.strip_suffix("```"))
        .map(|rest| rest.strip_prefix("json").unwrap_or(rest));
    inner.unwrap_or(text).trim()
}
