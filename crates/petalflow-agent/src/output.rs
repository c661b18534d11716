//! Structured output: the answer as a user-defined type.

use std::sync::Arc;

use petalflow::tool::schema;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What is wrong with an answer, or nothing.
type Checked = Result<(), String>;

/// The required form of an answer.
#[derive(Clone)]
pub(crate) struct Output {
    pub(crate) schema: Arc<Value>,
    /// Reads a value as the type, and validates it.
    value: Arc<dyn Fn(&Value) -> Checked + Send + Sync>,
    /// Reads the text of an answer as the type, and validates it.
    text: Arc<dyn Fn(&str) -> Checked + Send + Sync>,
}

impl Output {
    /// Answers of this type that pass `validate`.
    pub(crate) fn of<T: JsonSchema + DeserializeOwned>(
        validate: impl Fn(&T) -> Checked + Send + Sync + 'static,
    ) -> Self {
        let validate = Arc::new(validate);
        let validate_text = Arc::clone(&validate);
        Output {
            schema: Arc::new(schemars::schema_for!(T).to_value()),
            value: Arc::new(move |value| validate(&deserialize(value)?)),
            text: Arc::new(move |text| validate_text(&parse(text)?)),
        }
    }

    /// Checks a value. The error says what is wrong with it.
    pub(crate) fn check(&self, value: &Value) -> Checked {
        self.compared((self.value)(value), Some(value))
    }

    /// Checks the text of an answer, and returns its value.
    pub(crate) fn check_text(&self, text: &str) -> Result<Value, String> {
        let value: Option<Value> = serde_json::from_str(unfenced(text)).ok();
        self.compared((self.text)(text), value.as_ref())?;
        Ok(value.unwrap_or_default())
    }

    /// Adds what serde does not see: limits, and more than one mistake.
    fn compared(&self, read: Checked, value: Option<&Value>) -> Checked {
        let mistakes = value.map(|value| schema::check(&self.schema, value));
        let mistakes = mistakes.unwrap_or_default();
        match read {
            Ok(()) => match mistakes.limits() {
                beyond if beyond.is_empty() => Ok(()),
                beyond => Err(beyond.to_string()),
            },
            Err(_) if mistakes.len() > 1 => Err(mistakes.to_string()),
            Err(problem) => Err(problem),
        }
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Output").field(&self.schema).finish()
    }
}

/// Reads a value as the type.
pub(crate) fn deserialize<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
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

/// The text of an answer that is a value: a text is as it is, and everything else its JSON.
pub(crate) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
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
