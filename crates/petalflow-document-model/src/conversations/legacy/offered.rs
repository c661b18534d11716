//! The forms in which nodes offer functions: those of providers' tools, and that of the runtime.

use std::borrow::Cow;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Function, Parameters};
use crate::source::Pointer;

/// A function that a node offers, or several, in one of these forms:
///
/// | form | schema of the arguments |
/// | --- | --- |
/// | OpenAI's chat completions: `{ "type": "function", "function": { "name": .. } }` | `function.parameters` |
/// | Gemini: `{ "function_declarations": [{ "name": .. }] }` | `parameters` of each |
/// | Bedrock: `{ "toolSpec": { "name": .. }, "handler": .. }` | `toolSpec.inputSchema.json` |
/// | Anthropic: `{ "name": .. }` | `input_schema`, or `input_schema.json` |
/// | OpenAI's responses, and one declaration of Gemini: `{ "name": .. }` | `parameters` |
/// | the runtime: `{ "name": .. }` | `properties` and `required`, beside the name |
///
/// ```
/// use petalflow_document_model::conversations::legacy::Offered;
/// use serde_json::json;
///
/// let offered: Offered = serde_json::from_value(json!({
///     "name": "find", "description": "Finds films.", "properties": { "title": { "type": "string" } }, "required": ["title"],
///     "handler": "find_films",
/// }))?;
/// assert!(matches!(offered, Offered::Plain(_)));
/// assert_eq!(offered.functions()[0].handler_name(), Some("find_films"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Offered {
    /// In the form of the tools of OpenAI's chat completions.
    Tool(Tool),
    /// In the form of Gemini's tools.
    Gemini(GeminiTool),
    /// In the form of Bedrock's tools.
    Bedrock(BedrockTool),
    /// In the form of Anthropic's tools.
    Anthropic(AnthropicFunction),
    /// In the form of the tools of OpenAI's responses.
    Flat(FlatFunction),
    /// With its parameters beside its name.
    Plain(PlainFunction),
}

impl Offered {
    /// The functions, with their parameters as a schema. Only Gemini's form can have more than one.
    ///
    /// ```
    /// use petalflow_document_model::conversations::legacy::Offered;
    /// use serde_json::json;
    ///
    /// let offered: Offered = serde_json::from_value(json!({ "function_declarations": [
    ///     { "name": "find", "parameters": { "type": "object", "properties": { "title": { "type": "string" } } } },
    ///     { "name": "leave" },
    /// ] }))?;
    /// let names: Vec<String> = offered.functions().iter().map(|it| it.name.clone()).collect();
    /// assert_eq!(names, ["find", "leave"]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn functions(&self) -> Vec<Cow<'_, Function>> {
        let described = self.described(&Pointer::root()).into_iter();
        described.map(|it| it.function).collect()
    }
}

/// A function in the form of the tools of OpenAI's chat completions.
///
/// ```
/// use petalflow_document_model::conversations::legacy::Tool;
/// use serde_json::json;
///
/// let tool: Tool = serde_json::from_value(json!({
///     "type": "function", "function": { "name": "find", "transition_to": "results" },
/// }))?;
/// assert_eq!(tool.function.transition_to.as_deref(), Some("results"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Always `function`.
    #[serde(rename = "type")]
    pub kind: ToolKind,
    /// The function.
    pub function: Function,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The kind of a tool.
///
/// ```
/// use petalflow_document_model::conversations::legacy::ToolKind;
///
/// assert_eq!(serde_json::to_value(ToolKind::Function)?, "function");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// A function.
    Function,
}

/// Functions in the form of Gemini's tools.
///
/// ```
/// use petalflow_document_model::conversations::legacy::GeminiTool;
/// use serde_json::json;
///
/// let tool: GeminiTool = serde_json::from_value(json!({ "function_declarations": [{ "name": "find" }] }))?;
/// assert_eq!(tool.function_declarations[0].name, "find");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeminiTool {
    /// The functions.
    #[schemars(length(min = 1))]
    pub function_declarations: Vec<Function>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A function in the form of Bedrock's tools.
///
/// ```
/// use petalflow_document_model::conversations::legacy::BedrockTool;
/// use serde_json::json;
///
/// let tool: BedrockTool = serde_json::from_value(json!({
///     "toolSpec": { "name": "find", "inputSchema": { "json": { "properties": { "title": { "type": "string" } } } } },
///     "handler": "find_films",
/// }))?;
/// let schema = tool.spec.input_schema.unwrap().json;
/// assert_eq!(schema.properties["title"]["type"], "string");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BedrockTool {
    /// What the model sees.
    #[serde(rename = "toolSpec")]
    pub spec: BedrockSpec,
    /// The name of its code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
    /// The node that follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition_to: Option<String>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What a model sees of a function in the form of Bedrock's tools.
///
/// ```
/// use petalflow_document_model::conversations::legacy::BedrockSpec;
///
/// let spec: BedrockSpec = serde_json::from_str(r#"{ "name": "find" }"#)?;
/// assert_eq!(spec.input_schema, None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BedrockSpec {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The schema of its arguments.
    #[serde(
        rename = "inputSchema",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub input_schema: Option<BedrockSchema>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The schema of the arguments of a function in the form of Bedrock's tools.
///
/// ```
/// use petalflow_document_model::conversations::legacy::BedrockSchema;
///
/// let schema: BedrockSchema = serde_json::from_str(r#"{ "json": { "properties": {} } }"#)?;
/// assert!(schema.json.properties.is_empty());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BedrockSchema {
    /// The schema.
    pub json: Parameters,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A function in the form of Anthropic's tools.
///
/// ```
/// use petalflow_document_model::conversations::legacy::AnthropicFunction;
/// use serde_json::json;
///
/// let function: AnthropicFunction = serde_json::from_value(json!({
///     "name": "find", "input_schema": { "type": "object", "properties": { "title": { "type": "string" } } },
/// }))?;
/// assert_eq!(function.input_schema.properties["title"]["type"], "string");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnthropicFunction {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The schema of its arguments.
    pub input_schema: Parameters,
    /// The name of its code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
    /// The node that follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition_to: Option<String>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A function in the form of the tools of OpenAI's responses.
///
/// ```
/// use petalflow_document_model::conversations::legacy::FlatFunction;
/// use serde_json::json;
///
/// let function: FlatFunction = serde_json::from_value(json!({
///     "type": "function", "name": "find", "parameters": { "properties": { "title": { "type": "string" } } },
/// }))?;
/// assert_eq!(function.parameters.properties["title"]["type"], "string");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlatFunction {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The schema of its arguments.
    pub parameters: Parameters,
    /// The name of its code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
    /// The node that follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition_to: Option<String>,
    /// All other fields, such as `type`.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A function with its parameters beside its name.
///
/// ```
/// use petalflow_document_model::conversations::legacy::PlainFunction;
///
/// let function: PlainFunction = serde_json::from_str(r#"{ "name": "find", "properties": {}, "required": [] }"#)?;
/// assert!(function.handler.is_none());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlainFunction {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The parameters by name, each with its schema.
    #[serde(default)]
    pub properties: IndexMap<String, Map<String, Value>>,
    /// The parameters that every call has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<Vec<String>>,
    /// The name of its code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
    /// The node that follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition_to: Option<String>,
    /// All other fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
