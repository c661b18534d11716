//! Prompt templates.

use minijinja::value::ValueKind;
use minijinja::{Environment, Output, State, UndefinedBehavior};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::Envelope;
use petalflow::BoxError;

/// How a prompt handles a missing variable.
///
/// ```
/// use petalflow_envelope::MissingVariable;
///
/// assert_eq!(MissingVariable::default(), MissingVariable::Error);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissingVariable {
    /// The node fails.
    #[default]
    Error,
    /// An empty text.
    Empty,
}

/// The values that a template can read.
#[derive(Serialize)]
struct TemplateValues<'a> {
    #[serde(flatten)]
    vars: &'a Map<String, Value>,
    input: Option<&'a Value>,
}

/// Renders a template: `{{ name }}` is the variable `name`, `{{ input }}` the input of the flow.
pub(super) fn render(
    template: &str,
    missing: MissingVariable,
    envelope: &Envelope,
) -> Result<String, BoxError> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(match missing {
        MissingVariable::Error => UndefinedBehavior::Strict,
        MissingVariable::Empty => UndefinedBehavior::Chainable,
    });
    environment.set_formatter(as_text_or_json);
    let values = TemplateValues {
        vars: &envelope.vars,
        input: envelope.input.as_deref(),
    };
    environment
        .render_str(template, values)
        .map_err(|error| format!("the prompt's template cannot be filled: {error}").into())
}

/// Writes lists and objects as JSON, and other values as text.
fn as_text_or_json(
    out: &mut Output<'_>,
    state: &State<'_, '_>,
    value: &minijinja::Value,
) -> Result<(), minijinja::Error> {
    match value.kind() {
        ValueKind::Map | ValueKind::Seq => {
            let json = serde_json::to_string(value).map_err(|error| {
                minijinja::Error::new(minijinja::ErrorKind::BadSerialization, error.to_string())
            })?;
            out.write_str(&json).map_err(minijinja::Error::from)
        }
        _ => minijinja::escape_formatter(out, state, value),
    }
}
