//! A node that reshapes values.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::kinds::{Call, EnvelopeNode};
use crate::template::{MissingVariable, Template, Variables};
use crate::values::{canonical, deep_merge, get, remove, set, text};
use crate::wire::{WireArtifact, WireFailure, WireMessage, WireTrace};
use crate::{Changes, ConfigError, Envelope, NodeKind};
use petalflow::{BoxError, async_trait};

/// The settings of a [`TransformNode`]: a transformation, its input, and the variable for its result. Fields and variables
/// are paths of names separated by dots.
///
/// ```
/// use petalflow_documents::kinds::{TransformConfig, TransformNode};
/// use serde_json::json;
///
/// let config: TransformConfig = serde_json::from_value(json!({
///     "transform": "rename",
///     "input_var": "user",
///     "mapping": { "mail": "email" },
///     "output_var": "user",
/// }))?;
/// assert!(TransformNode::new(config).is_ok());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "transform", rename_all = "snake_case", deny_unknown_fields)]
pub enum TransformConfig {
    /// Keeps some fields of an object, at their places. Missing fields are left out.
    Pick {
        /// The object.
        input_var: String,
        /// The fields.
        fields: Vec<String>,
        /// The variable for the result.
        output_var: String,
    },
    /// Removes some fields of an object.
    Omit {
        /// The object.
        input_var: String,
        /// The fields.
        fields: Vec<String>,
        /// The variable for the result.
        output_var: String,
    },
    /// Renames fields of an object. All fields are taken out before any is put back, so that names can be exchanged.
    Rename {
        /// The object.
        input_var: String,
        /// The new field of each old field.
        mapping: BTreeMap<String, String>,
        /// The variable for the result.
        output_var: String,
    },
    /// Makes one object of nested objects. Lists are values. Empty objects vanish.
    Flatten {
        /// The object.
        input_var: String,
        /// The text between the names. The default is a dot.
        #[serde(default = "dot")]
        separator: String,
        /// How many levels of inner objects are flattened. Zero means all.
        #[serde(default)]
        max_depth: usize,
        /// The variable for the result.
        output_var: String,
    },
    /// Merges objects into one. A variable that is not an object becomes a field of its name. Missing ones are left out.
    Merge {
        /// The variables, in order. Later ones replace the fields of earlier ones.
        input_vars: Vec<String>,
        /// Whether the objects in them are merged too.
        #[serde(default)]
        merge_strategy: DeepOrShallow,
        /// The variable for the result.
        output_var: String,
    },
    /// Fills a template: `{{.name}}` is a variable, `{{._input}}` the input of the flow, `{{._env}}` the envelope.
    Template {
        /// The template.
        template: String,
        /// How a missing variable is handled.
        #[serde(default)]
        missing: MissingVariable,
        /// The variable for the result.
        output_var: String,
    },
    /// Makes a text of a value.
    Stringify {
        /// The value.
        input_var: String,
        /// The form of the text.
        #[serde(default)]
        format: StringifyFormat,
        /// The variable for the result.
        output_var: String,
    },
    /// Makes a value of a text.
    Parse {
        /// The text.
        input_var: String,
        /// The form of the text.
        #[serde(default)]
        format: ParseFormat,
        /// The variable for the result.
        output_var: String,
    },
    /// Transforms each item of a list. The item is the variable `_item`.
    Map {
        /// The list.
        input_var: String,
        /// The transformation of an item. Its result is the output variable, or `null` if that is `null`.
        item_transform: Box<TransformConfig>,
        /// The variable for the result.
        output_var: String,
    },
}

fn dot() -> String {
    ".".into()
}

/// Whether objects in objects are merged.
///
/// ```
/// use petalflow_documents::kinds::DeepOrShallow;
///
/// assert_eq!(DeepOrShallow::default(), DeepOrShallow::Shallow);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeepOrShallow {
    /// They are replaced.
    #[default]
    Shallow,
    /// They are merged.
    Deep,
}

/// The form of the text of a value.
///
/// ```
/// use petalflow_documents::kinds::StringifyFormat;
///
/// assert_eq!(StringifyFormat::default(), StringifyFormat::Json);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StringifyFormat {
    /// JSON over several lines, with sorted names.
    #[default]
    Json,
    /// A text unchanged, and any other value as JSON.
    Text,
}

/// The form of a text that is parsed.
///
/// ```
/// use petalflow_documents::kinds::ParseFormat;
///
/// assert_eq!(ParseFormat::default(), ParseFormat::Json);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParseFormat {
    /// JSON.
    #[default]
    Json,
}

/// A node that reshapes variables. See [`TransformConfig`] for the transformations.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_documents::Envelope;
/// use petalflow_documents::kinds::{TransformConfig, TransformNode};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let config: TransformConfig = serde_json::from_value(json!({
///     "transform": "pick",
///     "input_var": "user",
///     "fields": ["name", "address.city"],
///     "output_var": "public",
/// }))?;
/// let flow = Graph::<Envelope>::builder("pick").node_as("pick", TransformNode::new(config)?).build()?;
/// let user = json!({ "name": "Ann", "address": { "city": "Rome", "street": "Via Appia" } });
/// let envelope = flow.run(Envelope::new().with_var("user", user)).await?;
/// assert_eq!(envelope.get_var("public"), Some(&json!({ "name": "Ann", "address": { "city": "Rome" } })));
/// # Ok(())
/// # }
/// ```
///
/// PetalFlow renames in the random order of a map. With `a` to `b` and `b` to `c`, the value of `a` ends in `b` or in `c`.
/// Here it ends in `b`.
#[derive(Clone)]
pub struct TransformNode(Transform);

#[derive(Clone)]
enum Transform {
    Config(Arc<Prepared>),
    Custom(String, Arc<Custom>),
}

/// Settings, and what is made of them once.
struct Prepared {
    config: TransformConfig,
    template: Option<Template>,
    /// The transformation of items.
    item: Option<Box<Prepared>>,
}

type Custom = dyn Fn(&Envelope) -> Result<Value, BoxError> + Send + Sync;

impl std::fmt::Debug for TransformNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut f = f.debug_tuple("TransformNode");
        match &self.0 {
            Transform::Config(prepared) => f.field(&prepared.config).finish(),
            Transform::Custom(output, _) => f.field(output).finish_non_exhaustive(),
        }
    }
}

impl TransformNode {
    /// Creates a node.
    ///
    /// # Errors
    ///
    /// If a list is empty that must not be, a template cannot be parsed, two fields get the same name, the output variable
    /// has no name, or transformations are nested deeper than 16 levels.
    pub fn new(config: TransformConfig) -> Result<Self, ConfigError> {
        let prepared = prepare(config, 0)?;
        Ok(TransformNode(Transform::Config(Arc::new(prepared))))
    }

    /// Creates a node that sets a variable to the result of a function.
    ///
    /// ```
    /// use petalflow_documents::kinds::TransformNode;
    ///
    /// let node = TransformNode::custom("count", |envelope| Ok(envelope.messages.len().into()));
    /// # let _ = node;
    /// ```
    pub fn custom(
        output_var: impl Into<String>,
        function: impl Fn(&Envelope) -> Result<Value, BoxError> + Send + Sync + 'static,
    ) -> Self {
        TransformNode(Transform::Custom(output_var.into(), Arc::new(function)))
    }
}

#[async_trait]
impl EnvelopeNode for TransformNode {
    fn kind(&self) -> NodeKind {
        NodeKind::Transform
    }

    async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError> {
        let (output, value) = match &self.0 {
            Transform::Config(prepared) => {
                (prepared.config.output(), transform(prepared, call.envelope))
            }
            Transform::Custom(output, function) => (output.as_str(), function(call.envelope)),
        };
        let value = value.map_err(|error| format!("transform node `{}`: {error}", call.name))?;
        Ok(Changes::new().var(output, value))
    }
}

impl TransformConfig {
    fn output(&self) -> &str {
        match self {
            TransformConfig::Pick { output_var, .. }
            | TransformConfig::Omit { output_var, .. }
            | TransformConfig::Rename { output_var, .. }
            | TransformConfig::Flatten { output_var, .. }
            | TransformConfig::Merge { output_var, .. }
            | TransformConfig::Template { output_var, .. }
            | TransformConfig::Stringify { output_var, .. }
            | TransformConfig::Parse { output_var, .. }
            | TransformConfig::Map { output_var, .. } => output_var,
        }
    }
}

/// The largest depth of transformations of items of items.
const MAX_DEPTH: usize = 16;

fn prepare(config: TransformConfig, depth: usize) -> Result<Prepared, ConfigError> {
    validate(&config)?;
    let template = match &config {
        TransformConfig::Template { template, .. } => {
            let parsed = Template::parse(template);
            Some(parsed.map_err(|problem| ConfigError::new("template", problem))?)
        }
        _ => None,
    };
    let item = match &config {
        TransformConfig::Map { .. } if depth == MAX_DEPTH => {
            let problem = format!("it is nested deeper than {MAX_DEPTH} levels");
            return Err(ConfigError::new("item_transform", problem));
        }
        TransformConfig::Map { item_transform, .. } => {
            let item = TransformConfig::clone(item_transform);
            let item = prepare(item, depth + 1).map_err(|error| {
                let field = format!("item_transform.{}", error.field);
                ConfigError { field, ..error }
            })?;
            Some(Box::new(item))
        }
        _ => None,
    };
    Ok(Prepared {
        config,
        template,
        item,
    })
}

fn validate(config: &TransformConfig) -> Result<(), ConfigError> {
    if config.output().is_empty() {
        return Err(ConfigError::new("output_var", "it is empty"));
    }
    match config {
        TransformConfig::Pick { fields, .. } | TransformConfig::Omit { fields, .. }
            if fields.is_empty() =>
        {
            Err(ConfigError::new("fields", "at least one is required"))
        }
        TransformConfig::Rename { mapping, .. } => {
            if mapping.is_empty() {
                return Err(ConfigError::new("mapping", "at least one is required"));
            }
            let mut names = HashSet::new();
            match mapping.values().find(|name| !names.insert(*name)) {
                Some(name) => {
                    let problem = format!("two fields get the name `{name}`");
                    Err(ConfigError::new("mapping", problem))
                }
                None => Ok(()),
            }
        }
        TransformConfig::Merge { input_vars, .. } if input_vars.is_empty() => {
            Err(ConfigError::new("input_vars", "at least one is required"))
        }
        _ => Ok(()),
    }
}

fn transform(prepared: &Prepared, envelope: &Envelope) -> Result<Value, BoxError> {
    use TransformConfig as Config;
    match &prepared.config {
        Config::Pick {
            input_var, fields, ..
        } => Ok(pick(object(envelope, input_var)?, fields).into()),
        Config::Omit {
            input_var, fields, ..
        } => Ok(omit(object(envelope, input_var)?.clone(), fields).into()),
        Config::Rename {
            input_var, mapping, ..
        } => Ok(rename(object(envelope, input_var)?.clone(), mapping).into()),
        Config::Flatten {
            input_var,
            separator,
            max_depth,
            ..
        } => Ok(flatten(object(envelope, input_var)?, separator, *max_depth).into()),
        Config::Merge {
            input_vars,
            merge_strategy,
            ..
        } => Ok(merge(envelope, input_vars, *merge_strategy).into()),
        Config::Template { missing, .. } => match &prepared.template {
            Some(template) => fill(template, *missing, envelope),
            None => Ok(Value::Null),
        },
        Config::Stringify {
            input_var, format, ..
        } => stringify(input(envelope, input_var)?, *format),
        Config::Parse {
            input_var, format, ..
        } => parse(envelope, input_var, *format),
        Config::Map { input_var, .. } => map(envelope, input_var, prepared.item.as_deref()),
    }
}

fn pick(input: &Map<String, Value>, fields: &[String]) -> Map<String, Value> {
    let mut picked = Map::new();
    for field in fields {
        if let Some(value) = get(input, field) {
            set(&mut picked, field, value.clone());
        }
    }
    picked
}

fn omit(mut input: Map<String, Value>, fields: &[String]) -> Map<String, Value> {
    for field in fields {
        remove(&mut input, field);
    }
    input
}

/// Removes all fields before any is set, so that names can be exchanged.
fn rename(mut input: Map<String, Value>, mapping: &BTreeMap<String, String>) -> Map<String, Value> {
    let values: Vec<_> = mapping
        .iter()
        .filter_map(|(old, new)| Some((new, remove(&mut input, old)?)))
        .collect();
    for (name, value) in values {
        set(&mut input, name, value);
    }
    input
}

/// Merges the fields of objects. A value that is not an object becomes a field with the name of its variable.
fn merge(envelope: &Envelope, names: &[String], strategy: DeepOrShallow) -> Map<String, Value> {
    let mut merged = Map::new();
    for name in names {
        match (envelope.lookup(name), strategy) {
            (None, _) => {}
            (Some(Value::Object(fields)), DeepOrShallow::Deep) => deep_merge(&mut merged, fields),
            (Some(Value::Object(fields)), DeepOrShallow::Shallow) => merged.extend(fields.clone()),
            (Some(value), _) => {
                merged.insert(name.clone(), value.clone());
            }
        }
    }
    merged
}

fn stringify(value: &Value, format: StringifyFormat) -> Result<Value, BoxError> {
    Ok(match format {
        StringifyFormat::Json => serde_json::to_string_pretty(&canonical(value))?.into(),
        StringifyFormat::Text => text(value).into(),
    })
}

fn parse(envelope: &Envelope, input_var: &str, format: ParseFormat) -> Result<Value, BoxError> {
    let text = input(envelope, input_var)?.as_str();
    let text = text.ok_or_else(|| format!("variable `{input_var}` is not a text"))?;
    match format {
        ParseFormat::Json => serde_json::from_str(text)
            .map_err(|error| format!("variable `{input_var}` is not JSON: {error}").into()),
    }
}

/// Transforms each item, which is the variable `_item` then.
fn map(
    envelope: &Envelope,
    input_var: &str,
    item_transform: Option<&Prepared>,
) -> Result<Value, BoxError> {
    let items = input(envelope, input_var)?.as_array();
    let items = items.ok_or_else(|| format!("variable `{input_var}` is not a list"))?;
    let mut inner = envelope.clone();
    let results = items.iter().enumerate().map(|(index, item)| {
        inner.set_var("_item", item.clone());
        let value = item_transform.map_or(Ok(Value::Null), |it| transform(it, &inner));
        value.map_err(|error| format!("map item {index}: {error}").into())
    });
    results.collect()
}

fn input<'e>(envelope: &'e Envelope, path: &str) -> Result<&'e Value, BoxError> {
    let found = envelope.lookup(path);
    found.ok_or_else(|| format!("there is no variable `{path}`").into())
}

fn object<'e>(envelope: &'e Envelope, path: &str) -> Result<&'e Map<String, Value>, BoxError> {
    let object = input(envelope, path)?.as_object();
    object.ok_or_else(|| format!("variable `{path}` is not an object").into())
}

/// Zero levels are all levels.
fn flatten(object: &Map<String, Value>, separator: &str, max_depth: usize) -> Map<String, Value> {
    let levels = if max_depth == 0 {
        usize::MAX
    } else {
        max_depth
    };
    let mut flat = Map::new();
    flatten_into(&mut flat, object, "", separator, levels);
    flat
}

fn flatten_into(
    flat: &mut Map<String, Value>,
    object: &Map<String, Value>,
    prefix: &str,
    separator: &str,
    levels: usize,
) {
    for (name, value) in object {
        let name = if prefix.is_empty() {
            name.clone()
        } else {
            format!("{prefix}{separator}{name}")
        };
        match value {
            Value::Object(inner) if levels > 0 => {
                flatten_into(flat, inner, &name, separator, levels - 1);
            }
            value => {
                flat.insert(name, value.clone());
            }
        }
    }
}

fn fill(
    template: &Template,
    missing: MissingVariable,
    envelope: &Envelope,
) -> Result<Value, BoxError> {
    let null = Value::Null;
    let input = envelope.input.as_deref().unwrap_or(&null);
    let values = Variables::new(&envelope.vars).with("_input", input);
    // Most templates do not need the copies.
    let text = if template.reads("_env") {
        let envelope = serde_json::to_value(EnvelopeValues::new(envelope))?;
        template.render(&values.with("_env", &envelope), missing)
    } else {
        template.render(&values, missing)
    };
    Ok(text?.into())
}

/// The envelope in a template: its wire form, with the lists that are empty.
#[derive(Serialize)]
struct EnvelopeValues<'e> {
    input: Option<&'e Value>,
    vars: &'e Map<String, Value>,
    messages: Vec<WireMessage>,
    artifacts: Vec<WireArtifact>,
    errors: Vec<WireFailure>,
    trace: WireTrace,
}

impl<'e> EnvelopeValues<'e> {
    fn new(envelope: &'e Envelope) -> Self {
        EnvelopeValues {
            input: envelope.input.as_deref(),
            vars: &envelope.vars,
            messages: envelope.messages.iter().map(WireMessage::from).collect(),
            artifacts: envelope.artifacts.iter().map(WireArtifact::from).collect(),
            errors: envelope.errors.iter().map(WireFailure::from).collect(),
            trace: WireTrace::from(&envelope.trace),
        }
    }
}
