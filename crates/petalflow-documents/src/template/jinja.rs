//! Templates in Jinja, which settings in Rust have.

use std::borrow::Cow;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use minijinja::value::{Object, Rest, StringInput, Value as Item, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Output, State, UndefinedBehavior, filters};
use serde_json::Value;

use petalflow::BoxError;
use petalflow_document_model::documents::template::Variables;

use super::missing::MissingVariable;
use crate::values::canonical;

/// The instructions that one template may execute. Templates may come from a document, and have loops.
const FUEL: u64 = 1_000_000;

/// The largest text that a template may make, in bytes.
const OUTPUT: usize = 16 << 20;

/// The most bytes that the functions of one template may make.
const MADE: usize = 64 << 20;

/// The most bytes that the functions of one template may read.
const READ: usize = 1 << 30;

static STRICT: LazyLock<Environment<'static>> =
    LazyLock::new(|| environment(UndefinedBehavior::Strict));
static LENIENT: LazyLock<Environment<'static>> =
    LazyLock::new(|| environment(UndefinedBehavior::Chainable));

/// The name of the template in its environment.
const NAME: &str = "template";

/// A parsed template: `{{ name }}` is the value `name`.
pub(super) struct Jinja {
    strict: Environment<'static>,
    lenient: Environment<'static>,
}

impl Jinja {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let with_template = |base: &Environment<'static>| {
            let mut environment = base.clone();
            let added = environment.add_template_owned(NAME, text.to_owned());
            added
                .map(|()| environment)
                .map_err(|error| error.to_string())
        };
        Ok(Jinja {
            strict: with_template(&STRICT)?,
            lenient: with_template(&LENIENT)?,
        })
    }

    pub(super) fn render(
        &self,
        values: &Variables<'_>,
        missing: MissingVariable,
    ) -> Result<String, BoxError> {
        let environment = match missing {
            MissingVariable::Error => &self.strict,
            MissingVariable::Empty => &self.lenient,
        };
        let mut output = Limited(Vec::new());
        let values = Item::from_serialize(values);
        let rendered = environment
            .get_template(NAME)
            .and_then(|template| template.render_captured_to(&values, &mut output).map(drop));
        if output.0.len() > OUTPUT {
            return Err(format!("the template makes more than {OUTPUT} bytes").into());
        }
        rendered.map_err(|error| match error.kind() {
            ErrorKind::UndefinedError => missing_values(environment, &values, &error),
            _ => format!("the template cannot be filled: {error}"),
        })?;
        Ok(String::from_utf8(output.0)?)
    }
}

/// Names the values that a template reads and that are not there.
fn missing_values(environment: &Environment<'_>, values: &Item, error: &Error) -> String {
    let is_missing = |path: &String| {
        let mut parts = path.split('.');
        let is_function = parts
            .next()
            .is_some_and(|name| environment.globals().any(|(global, _)| global == name));
        let value = path
            .split('.')
            .try_fold(values.clone(), |value, name| value.get_attr(name).ok());
        !is_function && value.is_none_or(|value| value.is_undefined())
    };
    let read = environment.get_template(NAME);
    let read = read.map(|template| template.undeclared_variables(true));
    let mut missing: Vec<String> = read.unwrap_or_default().into_iter().collect();
    missing.retain(is_missing);
    missing.sort_unstable();
    let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
    match &*names {
        [] => format!("the template cannot be filled: {error}"),
        [name] => format!("the template cannot be filled: {name} has no value"),
        names => format!(
            "the template cannot be filled: {} have no values",
            names.join(", ")
        ),
    }
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

fn environment(undefined: UndefinedBehavior) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(undefined);
    environment.set_formatter(as_text_or_json);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(50);
    // The names of PetalFlow that Jinja does not have.
    environment.add_filter("json", |state: &State<'_, '_>, value: Item| {
        counted(state, to_json(&value, false)?)
    });
    environment.add_filter("jsonPretty", |state: &State<'_, '_>, value: Item| {
        counted(state, to_json(&value, true)?)
    });
    environment.add_function("print", print);
    // As those of Jinja, which do not count what they make.
    environment.add_filter("join", join);
    environment.add_filter("split", split);
    environment.add_filter("upper", |state: &State<'_, '_>, text: Cow<'_, str>| {
        counted(state, text.to_uppercase())
    });
    environment.add_filter("lower", |state: &State<'_, '_>, text: Cow<'_, str>| {
        counted(state, text.to_lowercase())
    });
    environment.add_filter("trim", trim);
    environment.add_filter("length", length);
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

/// What the functions of one template have made and read.
///
/// The fuel counts instructions. One instruction can make or read a long text, and `{{$x := print $x $x}}` doubles it.
#[derive(Debug, Default)]
struct TextUsage {
    made_bytes: AtomicUsize,
    read_bytes: AtomicUsize,
}

impl Object for TextUsage {}

/// Counts bytes that a function is about to make.
fn count_made(state: &State<'_, '_>, bytes: usize) -> Result<(), Error> {
    let used = state.get_or_set_temp_object("petalflow.used", TextUsage::default);
    spend(&used.made_bytes, bytes, MADE, "make")
}

/// Counts bytes that a function is about to read.
fn count_read(state: &State<'_, '_>, bytes: usize) -> Result<(), Error> {
    let used = state.get_or_set_temp_object("petalflow.used", TextUsage::default);
    spend(&used.read_bytes, bytes, READ, "read")
}

fn spend(used: &AtomicUsize, bytes: usize, limit: usize, what: &str) -> Result<(), Error> {
    let before = used.fetch_add(bytes, Ordering::Relaxed);
    if before.saturating_add(bytes) <= limit {
        return Ok(());
    }
    let problem = format!("its functions {what} more than {limit} bytes");
    Err(Error::new(ErrorKind::OutOfFuel, problem))
}

/// Counts a text after it was made. Only for a text whose values have at most its length, apart from a small factor.
fn counted(state: &State<'_, '_>, text: String) -> Result<String, Error> {
    count_made(state, text.len())?;
    Ok(text)
}

/// The length of a value as a text.
fn text_len(value: &Item) -> usize {
    value
        .as_str()
        .map_or_else(|| value.to_string().len(), str::len)
}

/// The values as one text.
fn print(state: &State<'_, '_>, values: Rest<Item>) -> Result<String, Error> {
    let strict = state.undefined_behavior() == UndefinedBehavior::Strict;
    if strict && values.iter().any(Item::is_undefined) {
        return Err(ErrorKind::UndefinedError.into());
    }
    count_made(state, values.iter().map(text_len).sum())?;
    Ok(values.iter().map(ToString::to_string).collect())
}

fn join(
    state: &State<'_, '_>,
    value: &Item,
    separator: Option<StringInput<'_>>,
) -> Result<Item, Error> {
    let between = separator
        .as_ref()
        .map_or(0, |separator| separator.as_str().len());
    let bytes = match value.as_str() {
        Some(text) => text.len() + text.chars().count() * between,
        None => value
            .try_iter()
            .map_or(0, |items| items.map(|item| text_len(&item) + between).sum()),
    };
    count_made(state, bytes)?;
    filters::join(state, value, separator)
}

fn split(
    state: &State<'_, '_>,
    value: &Item,
    separator: Option<Arc<str>>,
    most: Option<i64>,
) -> Result<Item, Error> {
    // Each part is a value with a header, and there may be one per byte.
    let parts = match (value.as_str(), &separator) {
        (Some(text), Some(separator)) if !separator.is_empty() => {
            text.matches(&**separator).count()
        }
        (text, _) => text.map_or(0, str::len),
    };
    count_made(state, text_len(value) + parts * size_of::<Item>())?;
    filters::split(value, separator, most)
}

fn trim(
    state: &State<'_, '_>,
    value: StringInput<'_>,
    chars: Option<Cow<'_, str>>,
) -> Result<Item, Error> {
    count_made(state, value.as_str().len())?;
    Ok(filters::trim(value, chars))
}

fn length(state: &State<'_, '_>, value: &Item) -> Result<usize, Error> {
    count_read(state, value.as_str().map_or(0, str::len))?;
    filters::length(value)
}

/// Whether a text contains a part, or a list an item.
fn contains(state: &State<'_, '_>, container: &Item, part: &Item) -> Result<bool, Error> {
    if let (Some(text), Some(part)) = (container.as_str(), part.as_str()) {
        count_read(state, text.len())?;
        return Ok(text.contains(part));
    }
    count_read(state, container.len().unwrap_or(0) * size_of::<Item>())?;
    let items = container.try_iter();
    Ok(items.is_ok_and(|mut items| items.any(|item| item == *part)))
}
