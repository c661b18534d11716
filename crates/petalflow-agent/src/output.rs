//! Structured output: the answer as a user-defined type.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The required form of an answer.
#[derive(Clone)]
pub(crate) struct Output {
    pub(crate) schema: Arc<Value>,
    /// Checks a value. The error says what is wrong with it.
    pub(crate) check: fn(&Value) -> Result<(), String>,
    /// Checks the text of an answer.
    pub(crate) read: fn(&str) -> Result<(), String>,
}

impl Output {
    pub(crate) fn of<T: JsonSchema + DeserializeOwned>() -> Self {
        Output {
            schema: Arc::new(schemars::schema_for!(T).to_value()),
            check: |value| deserialize::<T>(value).map(drop),
            read: |text| parse::<T>(text).map(drop),
        }
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Output").field(&self.schema).finish()
    }
}

fn deserialize<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| located(&error))
}

/// Parses an answer. Removes the Markdown block that models often put around JSON.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let json = unfenced(text);
    let mut json = serde_json::Deserializer::from_str(json);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| located(&error))?;
    json.end().map_err(|error| error.to_string())?;
    Ok(value)
}

/// The name of a type without the paths of modules.
pub(crate) fn short_name<T>() -> String {
    let name = std::any::type_name::<T>();
    name.split_inclusive(['<', '>', ',', ' ', '(', ')', '[', ']', '&', ';'])
        .filter_map(|path| path.rsplit("::").next())
        .collect()
}

/// The message to a model whose answer does not have the requested form: the problem, and what to do instead.
pub(crate) fn correction(problem: &str, instruction: &str) -> String {
    format!("Your answer does not have the requested form: {problem}. {instruction}")
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
