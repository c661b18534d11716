//! Decoding of a call's arguments.

use ::schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::schema::{self, Mistakes, drop_nulls};
use super::{ToolContext, ToolError, ToolSpec};
use crate::error::BoxError;
use crate::node::{Extract, Requirements};

/// The argument types of tools.
#[diagnostic::on_unimplemented(
    message = "PF022: a `{Self}` cannot be an argument of a tool",
    label = "has no JSON Schema, or cannot be read from JSON",
    note = "for a type of your own, derive both: `#[derive(Deserialize, JsonSchema)]`; in place of a type of another crate, take such a type or a `String`, and convert it in the tool",
    note = "what comes from the run and not from the model is marked with `#[run]`, such as `#[run] db: Managed<Db>`"
)]
pub trait ToolArgument: DeserializeOwned + JsonSchema + Send {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send> ToolArgument for T {}

/// A parameter that the run provides.
#[diagnostic::on_unimplemented(
    message = "a `{Self}` does not come from the run",
    label = "not something that the run can hand over",
    note = "implement `petalflow::node::Extract` for it, or drop `#[run]` where a model gives it"
)]
pub trait ToolHandle: Sized {
    /// Takes the value from the run.
    ///
    /// # Errors
    ///
    /// Fails if the call is outside of a run, or if the run does not have the value.
    fn from_context(cx: &ToolContext) -> Result<Self, BoxError>;

    /// Adds what the run must have.
    fn require(requirements: &mut Requirements<'_>);
}

#[diagnostic::do_not_recommend]
impl<T: Extract> ToolHandle for T {
    fn from_context(cx: &ToolContext) -> Result<Self, BoxError> {
        cx.extract()
    }

    fn require(requirements: &mut Requirements<'_>) {
        T::require(requirements);
    }
}

/// The maximum length of a message, which can quote a model's output of any length.
const LONGEST_MESSAGE: usize = 500;

/// Decodes the arguments of a call.
///
/// # Errors
///
/// A message for the model: what does not fit, and where.
pub(crate) fn read<T: DeserializeOwned>(spec: &ToolSpec, arguments: Value) -> Result<T, ToolError> {
    let tool = &spec.name;
    let mut arguments = object(tool, arguments)?;
    drop_nulls(&spec.parameters, &mut arguments);
    let mut arguments = Value::Object(arguments);
    // A type can accept more than its schema says, but it does not check limits.
    let mistakes = schema::check(&spec.parameters, &arguments);
    let second = has_floats(&arguments).then(|| arguments.clone());
    let read = serde_path_to_error::deserialize(arguments.take());
    let error = match read {
        Ok(read) => return within_limits(tool, read, mistakes),
        Err(error) => error,
    };
    // In JSON Schema, and so for models, `3.0` is an integer.
    let whole = second
        .map(whole_numbers)
        .map(serde_path_to_error::deserialize);
    match whole {
        Some(Ok(read)) => within_limits(tool, read, mistakes),
        // serde stops at the first mistake.
        _ if mistakes.len() > 1 => Err(beyond(tool, &mistakes)),
        _ => Err(misfit(tool, &error)),
    }
}

/// The arguments, unless they are beyond a limit of the schema.
fn within_limits<T>(tool: &str, read: T, mistakes: Mistakes) -> Result<T, ToolError> {
    let mistakes = mistakes.limits();
    if mistakes.is_empty() {
        return Ok(read);
    }
    Err(beyond(tool, &mistakes))
}

fn beyond(tool: &str, mistakes: &Mistakes) -> ToolError {
    ToolError::Arguments(format!(
        "the arguments of tool `{tool}` do not fit: {mistakes}; call it again with arguments that fit its schema"
    ))
}

/// Whether it contains whole numbers that are written as floats.
fn has_floats(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().and_then(whole).is_some() && number.is_f64(),
        Value::Array(items) => items.iter().any(has_floats),
        Value::Object(fields) => fields.values().any(has_floats),
        _ => false,
    }
}

/// Converts whole numbers that are written as floats to integers.
fn whole_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => match number.as_f64().and_then(whole) {
            Some(number) => number.into(),
            None => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(whole_numbers).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            fields
                .map(|(name, value)| (name, whole_numbers(value)))
                .collect()
        }
        other => other,
    }
}

/// The number as an integer, if it is whole and in the exact range of floats.
fn whole(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is whole, and not as large"
    )]
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

/// The arguments as an object. No arguments are an empty object; a text can contain the JSON of an object.
fn object(tool: &str, arguments: Value) -> Result<Map<String, Value>, ToolError> {
    let found = match arguments {
        Value::Object(arguments) => return Ok(arguments),
        Value::Null => return Ok(Map::new()),
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(arguments)) => return Ok(arguments),
            Ok(_) => "a text".into(),
            Err(_) if text.trim().is_empty() => return Ok(Map::new()),
            Err(error) => format!("text that is not JSON ({error})"),
        },
        Value::Array(_) => "a list".into(),
        Value::Bool(_) => "a boolean".into(),
        Value::Number(_) => "a number".into(),
    };
    Err(ToolError::Arguments(format!(
        "the arguments of tool `{tool}` are {found}; call it again with a JSON object that fits its schema"
    )))
}

fn misfit(tool: &str, error: &serde_path_to_error::Error<serde_json::Error>) -> ToolError {
    let path = error.path();
    let place = if path.iter().next().is_none() {
        String::new()
    } else {
        format!(" at `{}`", shorten(&path.to_string()))
    };
    let problem = error.inner().to_string();
    ToolError::Arguments(format!(
        "the arguments of tool `{tool}` do not fit{place}: {}; call it again with arguments that fit its schema",
        shorten(&problem)
    ))
}

/// Shortens a long text to its start and its end.
fn shorten(text: &str) -> String {
    if text.len() <= LONGEST_MESSAGE {
        return text.into();
    }
    let begin = text.floor_char_boundary(LONGEST_MESSAGE / 2);
    let end = text.ceil_char_boundary(text.len() - LONGEST_MESSAGE / 2);
    format!("{} … {}", &text[..begin], &text[end..])
}
