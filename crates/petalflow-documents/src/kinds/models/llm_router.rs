//! A router by the answer of a model.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::RetryConfig;
use super::call_settings::CallSettings;
use super::noted::noted;
use crate::kinds::control::with_decision_variable;
use crate::kinds::{Call, Decide, EnvelopeNode};
use crate::values::text;
use crate::{Changes, ConfigError, Envelope, NodeKind, Period, RouteDecision};
use petalflow::{BoxError, async_trait};
use petalflow_llm::nodes::{model_of_node, stream_model};
use petalflow_llm::{LlmClient, LlmRequest, LlmResponse};

/// The settings of an [`LlmRouter`].
///
/// ```
/// use petalflow_documents::kinds::LlmRouterConfig;
/// use serde_json::json;
///
/// let config: LlmRouterConfig = serde_json::from_value(json!({
///     "input_vars": ["question"],
///     "allowed_targets": { "money": "billing", "other": "support" },
/// }))?;
/// assert_eq!(config.allowed_targets["money"], "billing");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LlmRouterConfig {
    /// The provider of the model. It is information for the program that builds the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model. The default is that of the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The system prompt. The labels are appended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// The variables that the model reads. They are separated by a blank line.
    #[serde(default)]
    pub input_vars: Vec<String>,
    /// The target of each label. The model chooses a label.
    pub allowed_targets: BTreeMap<String, String>,
    /// The variable for the decision. The default is `<node>_decision`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_key: Option<String>,
    /// The temperature. The default is 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
    /// The longest time of all attempts together. The default is 30 seconds. Zero means no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Period>,
    /// The retries.
    #[serde(default)]
    pub retry: RetryConfig,
}

/// A node that lets a model choose a target. The decision is a [`RouteDecision`] in the variable `<node>_decision`. See
/// [`Routed`](crate::kinds::Routed) for routes.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_documents::Envelope;
/// use petalflow_documents::kinds::{LlmRouter, LlmRouterConfig};
/// use petalflow_llm::ScriptedModel;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let config: LlmRouterConfig = serde_json::from_value(json!({
///     "input_vars": ["question"],
///     "allowed_targets": { "money": "billing", "other": "support" },
/// }))?;
/// let model = ScriptedModel::new([r#"{ "choice": "money", "reason": "a bill" }"#]);
/// let router = LlmRouter::new(config)?.model(model);
/// let flow = Graph::<Envelope>::builder("triage").node_as("triage", router).build()?;
/// let envelope = flow.run(Envelope::new().with_var("question", "Where is my bill?")).await?;
/// assert_eq!(envelope.get_var_nested("triage_decision.targets"), Some(&json!(["billing"])));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct LlmRouter {
    config: LlmRouterConfig,
    client: Option<Arc<dyn LlmClient>>,
    call: CallSettings,
}

impl fmt::Debug for LlmRouter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmRouter")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

/// The answer of the model.
#[derive(Default, Deserialize)]
struct Answer {
    #[serde(default)]
    choice: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    confidence: Option<f64>,
}

impl LlmRouter {
    /// Creates a router that calls the run's model.
    ///
    /// # Errors
    ///
    /// If there are no labels, or one is empty.
    pub fn new(config: LlmRouterConfig) -> Result<Self, ConfigError> {
        if config.allowed_targets.is_empty() {
            return Err(ConfigError::new(
                "allowed_targets",
                "at least one is required",
            ));
        }
        if config
            .allowed_targets
            .keys()
            .any(|label| label.trim().is_empty())
        {
            return Err(ConfigError::new("allowed_targets", "a label is empty"));
        }
        let timeout = config.timeout.map_or(Duration::from_secs(30), |it| it.0);
        let call = CallSettings::with_timeout(timeout).with_retry(config.retry);
        Ok(LlmRouter {
            config,
            client: None,
            call,
        })
    }

    /// Uses this model instead of the run's model.
    #[must_use]
    pub fn model(mut self, client: impl LlmClient) -> Self {
        self.client = Some(Arc::new(client));
        self
    }

    fn request(&self, envelope: &Envelope) -> LlmRequest {
        let config = &self.config;
        let labels: Vec<&String> = config.allowed_targets.keys().collect();
        let system = config.system_prompt.as_deref().filter(|it| !it.is_empty());
        let system = system.unwrap_or(
            "You are a classifier. Analyze the input and choose the most appropriate category.",
        );
        let list = labels
            .iter()
            .map(|it| it.as_str())
            .collect::<Vec<_>>()
            .join(", ");
        let values = config
            .input_vars
            .iter()
            .filter_map(|name| envelope.lookup(name));
        let schema = json!({
            "type": "object",
            "properties": {
                "choice": { "type": "string", "enum": labels },
                "reason": { "type": "string" },
                "confidence": { "type": "number", "minimum": 0, "maximum": 1 },
            },
            "required": ["choice"],
        });
        LlmRequest {
            model: config.model.as_deref().map(Into::into),
            system: Some(format!(
                "{system}\n\nYou must choose exactly one of these options: {list}\n\nRespond with JSON containing your choice and a brief reason."
            )),
            input_text: Some(values.map(text).collect::<Vec<_>>().join("\n\n")),
            temperature: Some(config.temperature.unwrap_or(0.1)),
            json_schema: Some(Arc::new(schema)),
            ..LlmRequest::default()
        }
    }

    /// The decision in an answer: its JSON, its text as JSON, or a label in its text.
    fn decision(&self, response: &LlmResponse) -> Result<RouteDecision, BoxError> {
        let text = response.text();
        let read = |value: Value| serde_json::from_value::<Answer>(value).ok();
        let given = response.json.clone().and_then(read);
        let given = given.filter(|answer| !answer.choice.is_empty());
        let answer = given.or_else(|| serde_json::from_str::<Value>(&text).ok().and_then(read));
        let answer = match answer {
            Some(answer) => answer,
            None => self.label_in(&text)?,
        };
        let Some(target) = self.config.allowed_targets.get(&answer.choice) else {
            let labels: Vec<&str> = self
                .config
                .allowed_targets
                .keys()
                .map(String::as_str)
                .collect();
            return Err(format!(
                "the model chose `{}`, which is not one of {}",
                answer.choice,
                labels.join(", ")
            )
            .into());
        };
        Ok(RouteDecision {
            targets: vec![target.clone()],
            reason: answer.reason,
            confidence: answer.confidence,
            meta: Map::from_iter([
                ("choice".to_owned(), answer.choice.into()),
                ("model".to_owned(), response.model.clone().into()),
            ]),
        })
    }

    /// The label that a text contains. If several are there, it is the longest, so that `refund` is not found in
    /// `no refund`.
    fn label_in(&self, text: &str) -> Result<Answer, BoxError> {
        let lower = text.to_lowercase();
        let labels = self.config.allowed_targets.keys();
        let found = labels.filter(|label| lower.contains(&label.to_lowercase()));
        // `max_by_key` takes the last of several; reversed, the first in the order of the names.
        let Some(label) = found.rev().max_by_key(|label| label.len()) else {
            return Err(format!("the answer of the model contains no label: {text:?}").into());
        };
        Ok(Answer {
            choice: label.clone(),
            reason: "extracted from text".into(),
            confidence: None,
        })
    }
}

#[async_trait]
impl Decide for LlmRouter {
    fn targets(&self) -> Vec<String> {
        self.config.allowed_targets.values().cloned().collect()
    }

    async fn decide(&self, call: Call<'_>) -> Result<(RouteDecision, Changes), BoxError> {
        let client = model_of_node(self.client.as_ref(), call.cx)?;
        let request = self.request(call.envelope);
        let attempt = |attempt| stream_model(&*client, &request, call.cx, attempt);
        let attempts = self.call.run("LLM router", attempt);
        let response = noted(&request, call, attempts).await?;
        let variable = self.config.decision_key.clone();
        let variable = variable.unwrap_or_else(|| format!("{}_decision", call.name));
        with_decision_variable(self.decision(&response)?, variable)
    }
}

#[async_trait]
impl EnvelopeNode for LlmRouter {
    fn kind(&self) -> NodeKind {
        NodeKind::Router
    }

    fn router(&self) -> Option<&dyn Decide> {
        Some(self)
    }

    async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError> {
        Ok(self.decide(call).await?.1)
    }
}
