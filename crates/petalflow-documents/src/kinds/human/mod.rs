//! A node that asks a person.

mod auto_handler;
mod handler;
mod queued_handler;
mod request;
mod thread_handler;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Call, EnvelopeNode};
use crate::clock::now_ms;
use crate::template::{MissingVariable, Template, Variables};
use crate::wire::{WireTrace, rfc3339};
use crate::{Changes, ConfigError, NodeKind, Period};
use petalflow::{BoxError, async_trait};

pub use auto_handler::{AutoHandler, FuncHandler};
pub use handler::HumanHandler;
pub use queued_handler::{ChannelHandler, QueuedHandler};
pub use request::{HumanOption, HumanRequest, HumanResponse, RequestType};
pub use thread_handler::{HumanQuestion, ThreadHandler};

/// The settings of a [`HumanNode`].
///
/// ```
/// use petalflow_documents::kinds::{HumanConfig, HumanNode};
/// use serde_json::json;
///
/// let config: HumanConfig = serde_json::from_value(json!({
///     "mode": "choice",
///     "prompt": "Which one?",
///     "options": [{ "id": "a" }, { "id": "b" }],
///     "timeout": "5m",
///     "on_timeout": "default",
///     "default_option": "a",
/// }))?;
/// assert!(HumanNode::new(config).is_ok());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HumanConfig {
    /// What is asked.
    pub mode: RequestType,
    /// The text for the person. It is not a template.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub prompt: String,
    /// A template for the text, instead of `prompt`: `{{.name}}` or `{{.vars.name}}`, `{{.input}}`,
    /// `{{.trace.run_id}}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_template: Option<String>,
    /// How the template handles a missing variable.
    pub missing: MissingVariable,
    /// The variables that the person sees. An empty list means all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub input_vars: Vec<String>,
    /// The variable for the response.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub output_var: String,
    /// The options of a choice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<HumanOption>,
    /// A JSON Schema of the data of the response. It is information for the handler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Map<String, Value>>,
    /// How long the node waits. Zero means without end.
    pub timeout: Period,
    /// What happens after the timeout.
    pub on_timeout: TimeoutAction,
    /// The choice after the timeout, for `on_timeout: default`. `approve` and `yes` approve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_option: Option<String>,
}

/// What happens if a person does not answer in time.
///
/// ```
/// use petalflow_documents::kinds::TimeoutAction;
///
/// assert_eq!(TimeoutAction::default(), TimeoutAction::Fail);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeoutAction {
    /// The node fails.
    #[default]
    Fail,
    /// The response is the default option.
    Default,
    /// The path continues. The response has no choice.
    Skip,
}

/// A node that asks a person and waits for the response.
///
/// The output variable receives the [`HumanResponse`]. An approval also sets `<output_var>_approved`. The data of an edit,
/// an object, is merged into the variables.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_documents::Envelope;
/// use petalflow_documents::kinds::{AutoHandler, HumanConfig, HumanNode};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let config = HumanConfig {
///     prompt: "Publish?".into(),
///     output_var: "review".into(),
///     ..HumanConfig::default()
/// };
/// let node = HumanNode::new(config)?.handler(AutoHandler::approve());
/// let flow = Graph::<Envelope>::builder("review").node_as("review", node).build()?;
/// let envelope = flow.run(Envelope::new()).await?;
/// assert_eq!(envelope.get_var("review_approved"), Some(&true.into()));
/// # Ok(())
/// # }
/// ```
///
/// PetalFlow does not set `<output_var>_approved` if the default option is used after a timeout. Here it is set.
///
/// # Cancel safety
///
/// Dropping or cancelling the run drops the request. A handler does not wait for its response any more.
#[derive(Clone)]
pub struct HumanNode {
    config: HumanConfig,
    prompt: Option<Template>,
    handler: Option<Arc<dyn HumanHandler>>,
}

impl fmt::Debug for HumanNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HumanNode")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl HumanNode {
    /// Creates a node. It needs a [handler](Self::handler) to run.
    ///
    /// # Errors
    ///
    /// If the template cannot be parsed, two options have the same identifier, a choice has no options, or the default
    /// option is missing or is not one of the options.
    pub fn new(config: HumanConfig) -> Result<Self, ConfigError> {
        let prompt = config.prompt_template.as_deref();
        let prompt = prompt.map(Template::parse).transpose();
        let prompt = prompt.map_err(|problem| ConfigError::new("prompt_template", problem))?;
        let mut ids = BTreeSet::new();
        if let Some(option) = config.options.iter().find(|it| !ids.insert(it.id.as_str())) {
            let problem = format!("two options have the identifier `{}`", option.id);
            return Err(ConfigError::new("options", problem));
        }
        let default = config.default_option.as_deref().unwrap_or_default();
        if config.on_timeout == TimeoutAction::Default && default.is_empty() {
            let problem = "`on_timeout: default` needs the option";
            return Err(ConfigError::new("default_option", problem));
        }
        if config.mode == RequestType::Choice && config.options.is_empty() {
            return Err(ConfigError::new("options", "a choice needs at least one"));
        }
        if !default.is_empty() && !config.options.is_empty() && !ids.contains(&default) {
            let problem = format!("`{default}` is not one of the options");
            return Err(ConfigError::new("default_option", problem));
        }
        Ok(HumanNode {
            config,
            prompt,
            handler: None,
        })
    }

    /// Sets how the person is asked.
    #[must_use]
    pub fn handler(mut self, handler: impl HumanHandler) -> Self {
        self.handler = Some(Arc::new(handler));
        self
    }

    fn request(&self, call: Call<'_>) -> Result<HumanRequest, BoxError> {
        let (config, envelope) = (&self.config, call.envelope);
        let prompt = match &self.prompt {
            None => config.prompt.clone(),
            Some(template) => {
                let null = Value::Null;
                let values = Variables::new(&envelope.vars)
                    .with("input", envelope.input.as_deref().unwrap_or(&null))
                    .with_object("vars", &envelope.vars);
                let trace = json!(WireTrace::from(&envelope.trace));
                template.render(&values.with("trace", &trace), config.missing)?
            }
        };
        let is_included =
            |name: &String| config.input_vars.is_empty() || config.input_vars.contains(name);
        let data = envelope.vars.iter().filter(|(name, _)| is_included(name));
        Ok(HumanRequest {
            id: request::new_id(),
            kind: config.mode,
            prompt,
            data: data.map(|(a, b)| (a.clone(), b.clone())).collect(),
            options: config.options.clone(),
            schema: config.schema.clone(),
            timeout: config.timeout,
            created_at: rfc3339(now_ms()),
            run_id: envelope.trace.run_id.clone(),
            node: call.name.into(),
        })
    }

    /// The response after the timeout.
    fn timeout_response(&self, id: String) -> Result<HumanResponse, BoxError> {
        let config = &self.config;
        let (choice, reason) = match config.on_timeout {
            TimeoutAction::Fail => {
                let timeout = config.timeout.0;
                return Err(format!("nobody answered within {timeout:?}").into());
            }
            TimeoutAction::Default => (config.default_option.clone(), "default"),
            TimeoutAction::Skip => (None, "skipped"),
        };
        let choice = choice.unwrap_or_default();
        let meta = [("timeout", true), (reason, true)];
        Ok(HumanResponse {
            request_id: id,
            approved: matches!(choice.as_str(), "approve" | "yes"),
            choice,
            responded_at: rfc3339(now_ms()),
            meta: meta
                .map(|(name, value)| (name.into(), value.into()))
                .into_iter()
                .collect(),
            ..HumanResponse::default()
        })
    }

    async fn respond(&self, call: Call<'_>) -> Result<Changes, BoxError> {
        let handler = self
            .handler
            .as_ref()
            .ok_or("it has no handler: set one with `.handler(..)`")?;
        let request = self.request(call)?;
        let (id, timeout) = (request.id.clone(), self.config.timeout.0);
        let response = handler.request(request, call.cx);
        let response = if timeout.is_zero() {
            response.await
        } else {
            tokio::time::timeout(timeout, response)
                .await
                .unwrap_or(Ok(None))
        };
        let response = response.map_err(|error| format!("the handler failed: {error}"))?;
        let skipped = response.is_none() && self.config.on_timeout == TimeoutAction::Skip;
        let response = response.map_or_else(|| self.timeout_response(id), Ok)?;
        let mut changes = Changes::new();
        let output = &self.config.output_var;
        if !output.is_empty() {
            changes = changes.var(output, serde_json::to_value(&response)?);
        }
        Ok(match (self.config.mode, response.data) {
            (RequestType::Approval, _) if !skipped => {
                changes.var(format!("{output}_approved"), response.approved)
            }
            (RequestType::Edit, Some(Value::Object(edited))) => {
                let edits = edited.into_iter();
                edits.fold(changes, |changes, (name, value)| changes.var(name, value))
            }
            _ => changes,
        })
    }
}

#[async_trait]
impl EnvelopeNode for HumanNode {
    fn kind(&self) -> NodeKind {
        NodeKind::Human
    }

    async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError> {
        let changes = self.respond(call).await;
        changes.map_err(|error| format!("human node `{}`: {error}", call.name).into())
    }
}
