//! Templates.

use std::io;
use std::sync::LazyLock;

use minijinja::value::{Rest, Value as Item, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Output, State, UndefinedBehavior};
use serde::Serialize;
use serde_json::Value;

use crate::values::canonical;
use petalflow::BoxError;

/// How a template handles a missing variable.
///
/// ```
/// use petalflow_envelope::MissingVariable;
///
/// assert_eq!(MissingVariable::default(), MissingVariable::Error);
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MissingVariable {
    /// The node fails.
    #[default]
    Error,
    /// An empty text.
    Empty,
}

/// The instructions that one template may execute. Templates may come from a document, and have loops.
const FUEL: u64 = 1_000_000;

/// The largest text that a template may make, in bytes.
const OUTPUT: usize = 16 << 20;

static STRICT: LazyLock<Environment<'static>> =
    LazyLock::new(|| environment(UndefinedBehavior::Strict));
static LENIENT: LazyLock<Environment<'static>> =
    LazyLock::new(|| environment(UndefinedBehavior::Chainable));

/// Renders a template: `{{ name }}` is the value `name`.
pub(crate) fn render(
    template: &str,
    missing: MissingVariable,
    values: impl Serialize,
) -> Result<String, BoxError> {
    let environment = match missing {
        MissingVariable::Error => &STRICT,
        MissingVariable::Empty => &LENIENT,
    };
    let mut output = Limited(Vec::new());
    let rendered = environment
        .template_from_str(template)
        .and_then(|template| template.render_captured_to(values, &mut output).map(drop));
    if output.0.len() > OUTPUT {
        return Err(format!("the template makes more than {OUTPUT} bytes").into());
    }
    rendered.map_err(|error| format!("the template cannot be filled: {error}"))?;
    Ok(String::from_utf8(output.0)?)
}

/// What a template writes, up to the limit.
struct Limited(Vec<u8>);

impl io::Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        if self.0.len() > OUTPUT {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Fails if the template cannot be parsed.
pub(crate) fn check(template: &str) -> Result<(), String> {
    let environment = Environment::new();
    let parsed = environment.template_from_str(template);
    parsed.map(drop).map_err(|error| error.to_string())
}

fn environment(undefined: UndefinedBehavior) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(undefined);
    environment.set_formatter(as_text_or_json);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(50);
    // The names of PetalFlow that Jinja does not have.
    environment.add_filter("json", |value: Item| to_json(&value, false));
    environment.add_filter("jsonPretty", |value: Item| to_json(&value, true));
    environment.add_filter("default", default);
    environment.add_function("coalesce", coalesce);
    environment.add_test("contains", contains);
    environment.add_test("hasPrefix", |text: &str, part: &str| text.starts_with(part));
    environment.add_test("hasSuffix", |text: &str, part: &str| text.ends_with(part));
    environment
}

/// Writes a text as it is, and any other value as JSON.
fn as_text_or_json(out: &mut Output<'_>, state: &State<'_, '_>, value: &Item) -> Result<(), Error> {
    match value.kind() {
        ValueKind::Map | ValueKind::Seq | ValueKind::Bool | ValueKind::None => {
            let json = to_json(value, false)?;
            out.write_str(&json).map_err(Error::from)
        }
        _ => minijinja::escape_formatter(out, state, value),
    }
}

fn to_json(value: &Item, pretty: bool) -> Result<String, Error> {
    let bad = |error: serde_json::Error| Error::new(ErrorKind::BadSerialization, error.to_string());
    let value: Value = canonical(&serde_json::to_value(value).map_err(bad)?);
    let json = if pretty {
        serde_json::to_string_pretty(&value)
    } else {
        serde_json::to_string(&value)
    };
    json.map_err(bad)
}

fn is_absent(value: &Item) -> bool {
    value.is_undefined() || value.is_none() || value.as_str() == Some("")
}

/// The value, unless it is missing, `null` or an empty text.
fn default(value: Item, other: Option<Item>) -> Item {
    if is_absent(&value) {
        other.unwrap_or_else(|| Item::from(""))
    } else {
        value
    }
}

/// The first value that is not missing, `null` or an empty text.
fn coalesce(values: Rest<Item>) -> Item {
    let found = values.0.into_iter().find(|value| !is_absent(value));
    found.unwrap_or_else(|| Item::from(()))
}

/// Whether a text contains a part, or a list an item.
fn contains(container: &Item, part: &Item) -> bool {
    match (container.as_str(), part.as_str()) {
        (Some(text), Some(part)) => text.contains(part),
        _ => container
            .try_iter()
            .is_ok_and(|mut items| items.any(|item| item == *part)),
    }
}
