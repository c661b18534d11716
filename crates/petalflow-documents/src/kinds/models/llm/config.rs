//! The settings of a node that asks a model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[cfg(doc)]
use super::LlmNode;
use crate::Period;
use crate::kinds::RetryConfig;
use crate::template::MissingVariable;

/// The settings of an [`LlmNode`].
///
/// ```
/// use petalflow_documents::kinds::LlmConfig;
/// use serde_json::json;
///
/// let config: LlmConfig = serde_json::from_value(json!({
///     "model": "gpt-4o-mini",
///     "prompt_template": "Summarize: {{.text}}",
///     "max_tokens": 200,
/// }))?;
/// assert_eq!(config.max_tokens, Some(200));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LlmConfig {
    /// The provider of the model. It is information for the program that builds the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model. The default is that of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// The template of the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_template: Option<String>,
    /// How the template handles a missing variable.
    pub missing: MissingVariable,
    /// The variables of a prompt without a template.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub input_vars: Vec<String>,
    /// The variable for the answer. The default is `<node>_output`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_key: Option<String>,
    /// The sampling temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
    /// The maximum number of tokens in the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// The JSON Schema of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_schema: Option<Map<String, Value>>,
    /// The limits on the usage.
    pub budget: BudgetConfig,
    /// Whether the prompt and the answer are appended to the messages.
    pub record_messages: bool,
    /// The longest time of all attempts together. The default is one minute. Zero means no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Period>,
    /// The retries.
    pub retry: RetryConfig,
}

/// Limits on the usage of an answer. Zero means no limit.
///
/// ```
/// use petalflow_documents::kinds::{BudgetConfig, LlmConfig};
///
/// let budget = BudgetConfig { total: 5_000, cost: 0.05, ..BudgetConfig::default() };
/// let config = LlmConfig { budget, ..LlmConfig::default() };
/// assert_eq!(config.budget.input, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BudgetConfig {
    /// The limit on request tokens.
    pub input: u64,
    /// The limit on response tokens.
    pub output: u64,
    /// The limit on all tokens.
    pub total: u64,
    /// The limit on the cost, in US dollars.
    pub cost: f64,
}
