//! The settings of a check.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::pii::PiiType;

/// A check of a guardian. Which fields it needs depends on its type.
///
/// ```
/// use petalflow_documents::kinds::{CheckConfig, CheckType};
/// use serde_json::json;
///
/// let config: CheckConfig = serde_json::from_value(json!({
///     "name": "adult", "type": "range", "field": "age", "min": 18,
/// }))?;
/// assert_eq!(config.kind, CheckType::Range);
/// assert_eq!((config.min, config.max), (Some(18.0), None));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckConfig {
    /// The name of the check, for failures.
    #[serde(default)]
    pub name: String,
    /// The type.
    #[serde(rename = "type")]
    pub kind: CheckType,
    /// The path of the field. Without it, the whole value is checked. A missing field fails only for
    /// [`CheckType::Required`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub field: String,
    /// The message of a failure, instead of the default.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// For [`CheckType::Required`]: the fields, instead of `field`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_fields: Vec<String>,
    /// For [`CheckType::MaxLength`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<usize>,
    /// For [`CheckType::MinLength`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_length: Option<usize>,
    /// For [`CheckType::Pattern`]: a regular expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// For [`CheckType::Enum`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_values: Vec<Value>,
    /// For [`CheckType::Type`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_type: Option<ValueType>,
    /// For [`CheckType::Range`]: the smallest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// For [`CheckType::Range`]: the largest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// For [`CheckType::Pii`]: what is searched. An empty list means everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pii_types: Vec<PiiType>,
    /// For [`CheckType::Pii`]: whether a finding is a failure. If false, it is listed as a warning. The default is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_pii: Option<bool>,
    /// For [`CheckType::Schema`]: a JSON Schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Map<String, Value>>,
}

/// The type of a check.
///
/// ```
/// use petalflow_documents::kinds::CheckType;
///
/// assert_eq!(serde_json::to_value(CheckType::MaxLength)?, "max_length");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckType {
    /// There is a value, and it is not `null`, or an empty text, list or object.
    #[default]
    Required,
    /// At most this many characters, items or fields.
    MaxLength,
    /// At least this many characters, items or fields.
    MinLength,
    /// The text of the value matches a regular expression.
    Pattern,
    /// The value is one of a list.
    Enum,
    /// The value has a type.
    Type,
    /// The value is a number within limits.
    Range,
    /// The value contains no personal data.
    Pii,
    /// The value conforms to a JSON Schema.
    Schema,
}

/// The type of a value.
///
/// ```
/// use petalflow_documents::kinds::{CheckConfig, ValueType};
/// use serde_json::json;
///
/// let check: CheckConfig = serde_json::from_value(json!({
///     "type": "type", "field": "tags", "expected_type": "array",
/// }))?;
/// assert_eq!(check.expected_type, Some(ValueType::Array));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ValueType {
    /// A text.
    String,
    /// A number.
    Number,
    /// `true` or `false`.
    Bool,
    /// A list.
    Array,
    /// An object.
    Object,
    /// `null`.
    Null,
}
