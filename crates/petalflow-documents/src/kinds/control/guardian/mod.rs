//! A node that validates values.

mod check;
mod check_config;
mod pii;

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Passage;
use super::gate::{check_redirect, no_route};
use crate::kinds::{Call, Decide, EnvelopeNode};
use crate::{Changes, ConfigError, Envelope, NodeKind, RouteDecision};
use petalflow::{BoxError, async_trait};

use check::{Check, Failure};
pub use check_config::{CheckConfig, CheckType, ValueType};
pub use pii::PiiType;

/// The settings of a [`GuardianNode`].
///
/// ```
/// use petalflow_documents::kinds::{GuardianConfig, GuardianAction};
/// use serde_json::json;
///
/// let config: GuardianConfig = serde_json::from_value(json!({
///     "input_var": "answer",
///     "checks": [{ "name": "short", "type": "max_length", "max_length": 280 }],
///     "on_fail": "skip",
/// }))?;
/// assert_eq!(config.on_fail, GuardianAction::Skip);
/// assert!(!config.stop_on_first_failure);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GuardianConfig {
    /// The [path](Envelope::lookup) of the value. Without it, the object of all variables is checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_var: Option<String>,
    /// The checks, in order.
    pub checks: Vec<CheckConfig>,
    /// What happens if a check fails.
    pub on_fail: GuardianAction,
    /// The beginning of the error. The default is `validation failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_message: Option<String>,
    /// The target for [`GuardianAction::Redirect`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect_node_id: Option<String>,
    /// The variable for `{ "passed": .., "failures": [..] }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_var: Option<String>,
    /// Whether the checks after the first that fails are left out.
    pub stop_on_first_failure: bool,
}

/// What a guardian does if a check fails.
///
/// ```
/// use petalflow_documents::kinds::GuardianAction;
///
/// assert_eq!(GuardianAction::default(), GuardianAction::Fail);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GuardianAction {
    /// The node fails.
    #[default]
    Fail,
    /// The path continues.
    Skip,
    /// The path continues at another node. Put the guardian into [`Routed`](super::Routed) with [`Passage`].
    Redirect,
}

/// A node that validates a value, and fails or redirects if a check fails.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_documents::Envelope;
/// use petalflow_documents::kinds::{GuardianConfig, GuardianNode};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let config: GuardianConfig = serde_json::from_value(json!({
///     "input_var": "answer",
///     "checks": [
///         { "name": "short", "type": "max_length", "max_length": 10 },
///         { "name": "private", "type": "pii" },
///     ],
/// }))?;
/// let flow = Graph::<Envelope>::builder("guard").node_as("guard", GuardianNode::new(config)?).build()?;
/// assert!(flow.run(Envelope::new().with_var("answer", "All good.")).await.is_ok());
/// assert!(flow.run(Envelope::new().with_var("answer", "ann@example.com")).await.is_err());
/// # Ok(())
/// # }
/// ```
///
/// # Differences from PetalFlow
///
/// * Lengths are characters, not bytes.
/// * A schema is a JSON Schema, with all of its keywords. PetalFlow has a few of them, and its types `boolean` and
///   `integer` never match.
/// * A `pii` check blocks unless `block_pii` is false. PetalFlow's check can only fail if it is true, and says nothing
///   otherwise. Here a finding that does not block is in `warnings` of the result.
/// * A card number must have a correct check digit, and the numbers of an IP address must be at most 255.
/// * `redirect` is a route. PetalFlow sets a variable that nothing reads.
/// * A text is compared with a text, and a number with a number. The number `1` is not the text `1`.
#[derive(Clone)]
pub struct GuardianNode {
    config: Arc<GuardianConfig>,
    checks: Arc<Vec<Check>>,
    custom: Vec<(String, Arc<CustomCheck>)>,
}

type CustomCheck = dyn Fn(&Value, &Envelope) -> Result<Option<String>, BoxError> + Send + Sync;

impl fmt::Debug for GuardianNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardianNode")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl GuardianNode {
    /// Creates a node.
    ///
    /// # Errors
    ///
    /// If a check misses a field that its type needs, a pattern or a schema is wrong, or the target of a redirection is
    /// missing.
    pub fn new(config: GuardianConfig) -> Result<Self, ConfigError> {
        check_redirect(
            config.on_fail == GuardianAction::Redirect,
            config.redirect_node_id.as_deref(),
        )?;
        let checks = config.checks.iter().enumerate();
        let checks = checks.map(|(index, check)| Check::new(index, check));
        let checks = checks.collect::<Result<_, _>>()?;
        Ok(GuardianNode {
            config: Arc::new(config),
            checks: Arc::new(checks),
            custom: Vec::new(),
        })
    }

    /// Adds a last check: a function of the value and the envelope, which returns the message of a failure.
    ///
    /// ```
    /// use petalflow_documents::kinds::{GuardianConfig, GuardianNode};
    ///
    /// let node = GuardianNode::new(GuardianConfig::default())?
    ///     .check("few", |_, envelope| Ok((envelope.messages.len() > 9).then(|| "too many messages".into())));
    /// # let _ = node;
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    #[must_use]
    pub fn check(
        mut self,
        name: impl Into<String>,
        check: impl Fn(&Value, &Envelope) -> Result<Option<String>, BoxError> + Send + Sync + 'static,
    ) -> Self {
        self.custom.push((name.into(), Arc::new(check)));
        self
    }

    /// The failures, and the findings that do not block.
    fn validate(&self, envelope: &Envelope) -> Result<(Vec<Failure>, Vec<Failure>), BoxError> {
        let all;
        let value = if let Some(path) = &self.config.input_var {
            let value = envelope.lookup(path);
            value.ok_or_else(|| format!("there is no variable `{path}`"))?
        } else {
            all = Value::Object(envelope.vars.clone());
            &all
        };
        let (mut failures, mut warnings) = (Vec::new(), Vec::new());
        for check in self.checks.iter() {
            let found = check.run(value);
            if check.blocks {
                failures.extend(found);
            } else {
                warnings.extend(found);
            }
            if self.config.stop_on_first_failure && !failures.is_empty() {
                return Ok((failures, warnings));
            }
        }
        for (name, custom) in &self.custom {
            let message = custom(value, envelope);
            let message = message.map_err(|error| format!("check `{name}`: {error}"))?;
            failures.extend(message.map(|message| Failure::custom(name, message)));
            if self.config.stop_on_first_failure && !failures.is_empty() {
                break;
            }
        }
        Ok((failures, warnings))
    }
}

#[async_trait]
impl Decide for GuardianNode {
    fn targets(&self) -> Vec<String> {
        Passage::targets()
    }

    fn redirect(&self) -> Option<&str> {
        self.config.redirect_node_id.as_deref()
    }

    async fn decide(&self, call: Call<'_>) -> Result<(RouteDecision, Changes), BoxError> {
        let problem = |text: String| format!("guardian node `{}`: {text}", call.name);
        let (failures, warnings) = self
            .validate(call.envelope)
            .map_err(|error| problem(error.to_string()))?;
        let passed = failures.is_empty();
        let messages: Vec<&str> = failures.iter().map(|it| it.message.as_str()).collect();
        let messages = messages.join("; ");
        if !passed && self.config.on_fail == GuardianAction::Fail {
            let text = self.config.fail_message.as_deref();
            let text = text.unwrap_or("validation failed");
            return Err(problem(format!("{text}: {messages}")).into());
        }
        let mut changes = Changes::new();
        if let Some(variable) = &self.config.result_var {
            let mut result = json!({ "passed": passed, "failures": failures });
            if !warnings.is_empty() {
                result["warnings"] = json!(warnings);
            }
            changes = changes.var(variable, result);
        }
        let passage = if !passed && self.config.on_fail == GuardianAction::Redirect {
            Passage::Redirect
        } else {
            Passage::Pass
        };
        Ok((passage.decision(&messages), changes))
    }
}

#[async_trait]
impl EnvelopeNode for GuardianNode {
    fn kind(&self) -> NodeKind {
        NodeKind::Guardian
    }

    fn router(&self) -> Option<&dyn Decide> {
        (self.config.on_fail == GuardianAction::Redirect).then_some(self as _)
    }

    async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError> {
        let (decision, changes) = self.decide(call).await?;
        if decision.targets == ["Redirect"] {
            return Err(no_route(call.name));
        }
        Ok(changes)
    }
}
