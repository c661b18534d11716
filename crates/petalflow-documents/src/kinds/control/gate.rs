//! A node that lets a path continue only if a condition holds.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::kinds::{Call, Decide, EnvelopeNode};
use crate::values::truthy;
use crate::{Changes, ConfigError, Envelope, NodeKind, RouteDecision};
use petalflow::{BoxError, Route, async_trait};

/// The settings of a [`GateNode`].
///
/// ```
/// use petalflow_documents::kinds::{GateConfig, GateAction};
/// use serde_json::json;
///
/// let config: GateConfig = serde_json::from_value(json!({
///     "condition_var": "approved", "fail_message": "nobody approved it",
/// }))?;
/// assert_eq!(config.on_fail, GateAction::Block);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GateConfig {
    /// The [path](Envelope::lookup) of the value that opens the gate. A missing value closes it. Without a path the gate is
    /// open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition_var: Option<String>,
    /// What happens if the gate is closed.
    pub on_fail: GateAction,
    /// The message of the error. The default is `gate condition failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_message: Option<String>,
    /// The target for [`GateAction::Redirect`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect_node_id: Option<String>,
    /// The variable for `{ "passed": .., "action": .. }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_var: Option<String>,
}

/// What a gate does if it is closed.
///
/// ```
/// use petalflow_documents::kinds::{GateAction, GateConfig, GateNode};
///
/// // A gate that redirects needs a target.
/// let config = GateConfig { on_fail: GateAction::Redirect, ..GateConfig::default() };
/// assert_eq!(GateNode::new(config).unwrap_err().field, "redirect_node_id");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateAction {
    /// The node fails.
    #[default]
    Block,
    /// The path continues.
    Skip,
    /// The path continues at another node. Put the gate into [`Routed`](super::Routed) with [`Passage`].
    Redirect,
}

/// The routes of a gate or a guardian that redirects.
///
/// ```
/// use petalflow_documents::kinds::{Decide, GateConfig, GateNode, Passage, Routed};
///
/// let gate = GateNode::new(GateConfig::default())?;
/// assert_eq!(gate.targets(), ["Pass", "Redirect"]);
/// let gate: Routed<_, Passage> = Routed::new(gate)?;
/// # let _ = gate;
/// # Ok::<(), petalflow_documents::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Route)]
pub enum Passage {
    /// The path continues.
    Pass,
    /// The path continues at the other node.
    Redirect,
}

impl Passage {
    /// The decision of a node that passes, or redirects for this reason.
    pub(super) fn decision(self, reason: &str) -> RouteDecision {
        let (target, reason) = match self {
            Passage::Pass => ("Pass", ""),
            Passage::Redirect => ("Redirect", reason),
        };
        RouteDecision {
            targets: vec![target.into()],
            reason: reason.into(),
            ..RouteDecision::default()
        }
    }

    pub(super) fn targets() -> Vec<String> {
        vec!["Pass".into(), "Redirect".into()]
    }
}

/// The error of a node that redirects and has no routes.
pub(super) fn no_route(name: &str) -> BoxError {
    format!("node `{name}` redirects, but has no routes: put it into `Routed::<_, Passage>::new(..)`, with `match {{ Pass => .., Redirect => .. }}`").into()
}

/// A node that fails, or redirects, if a condition does not hold.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_documents::Envelope;
/// use petalflow_documents::kinds::{GateAction, GateConfig, GateNode, NoopNode, Passage, Routed};
///
/// fn gate() -> Routed<GateNode, Passage> {
///     let gate = GateNode::new(GateConfig {
///         condition_var: Some("approved".into()),
///         on_fail: GateAction::Redirect,
///         redirect_node_id: Some("refuse".into()),
///         result_var: Some("gate".into()),
///         ..GateConfig::default()
///     });
///     Routed::new(gate.expect("the settings are complete")).expect("the routes are those of a gate")
/// }
///
/// flow! {
///     Publish(Envelope) {
///         START -> check;
///         check -> match { Pass => publish, Redirect => refuse };
///         node check: Routed<GateNode, Passage> = gate();
///         node publish: NoopNode = NoopNode;
///         node refuse: NoopNode = NoopNode;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let envelope = Publish::run(Envelope::new()).await?;
/// assert_eq!(envelope.get_var_nested("gate.passed"), Some(&false.into()));
/// # Ok(())
/// # }
/// ```
///
/// PetalFlow redirects with a variable, `__gate_redirect__`, and ignores the name of a node that is not a successor. Here
/// the redirection is a route, which the compiler or the builder checks.
#[derive(Clone)]
pub struct GateNode {
    config: GateConfig,
    condition: Option<Arc<Condition>>,
}

type Condition = dyn Fn(&Envelope) -> Result<bool, BoxError> + Send + Sync;

impl fmt::Debug for GateNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GateNode")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl GateNode {
    /// Creates a gate.
    ///
    /// # Errors
    ///
    /// If it redirects and `redirect_node_id` is missing.
    pub fn new(config: GateConfig) -> Result<Self, ConfigError> {
        check_redirect(
            config.on_fail == GateAction::Redirect,
            config.redirect_node_id.as_deref(),
        )?;
        Ok(GateNode {
            config,
            condition: None,
        })
    }

    /// Opens the gate by a function, instead of `condition_var`.
    ///
    /// ```
    /// use petalflow_documents::kinds::{GateConfig, GateNode};
    ///
    /// let gate = GateNode::new(GateConfig::default())?.condition(|envelope| Ok(!envelope.has_errors()));
    /// # let _ = gate;
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    #[must_use]
    pub fn condition(
        mut self,
        condition: impl Fn(&Envelope) -> Result<bool, BoxError> + Send + Sync + 'static,
    ) -> Self {
        self.condition = Some(Arc::new(condition));
        self
    }

    fn is_open(&self, envelope: &Envelope) -> Result<bool, BoxError> {
        match (&self.condition, &self.config.condition_var) {
            (Some(condition), _) => condition(envelope),
            (None, Some(path)) => Ok(envelope.lookup(path).is_some_and(truthy)),
            (None, None) => Ok(true),
        }
    }
}

/// Checks that a redirection has a target.
pub(super) fn check_redirect(redirects: bool, target: Option<&str>) -> Result<(), ConfigError> {
    if redirects && target.is_none_or(str::is_empty) {
        let problem = "`on_fail: redirect` needs the node to continue at";
        return Err(ConfigError::new("redirect_node_id", problem));
    }
    Ok(())
}

#[async_trait]
impl Decide for GateNode {
    fn targets(&self) -> Vec<String> {
        Passage::targets()
    }

    fn redirect(&self) -> Option<&str> {
        self.config.redirect_node_id.as_deref()
    }

    async fn decide(&self, call: Call<'_>) -> Result<(RouteDecision, Changes), BoxError> {
        let open = self.is_open(call.envelope)?;
        let action = self.config.on_fail;
        if !open && action == GateAction::Block {
            let message = self.config.fail_message.as_deref();
            let message = message.unwrap_or("gate condition failed");
            return Err(format!("gate node `{}`: {message}", call.name).into());
        }
        let mut changes = Changes::new();
        if let Some(variable) = &self.config.result_var {
            changes = changes.var(variable, json!({ "passed": open, "action": action }));
        }
        let passage = if !open && action == GateAction::Redirect {
            Passage::Redirect
        } else {
            Passage::Pass
        };
        Ok((passage.decision("gate redirect"), changes))
    }
}

#[async_trait]
impl EnvelopeNode for GateNode {
    fn kind(&self) -> NodeKind {
        NodeKind::Gate
    }

    fn router(&self) -> Option<&dyn Decide> {
        (self.config.on_fail == GateAction::Redirect).then_some(self as _)
    }

    async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError> {
        let (decision, changes) = self.decide(call).await?;
        if decision.targets == ["Redirect"] {
            return Err(no_route(call.name));
        }
        Ok(changes)
    }
}
