//! A router by rules.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::routed::with_decision_variable;
use crate::kinds::{Call, Decide, EnvelopeNode};
use crate::values::{compare, equal, text};
use crate::{Changes, Envelope, NodeKind, RouteDecision};
use petalflow::{BoxError, async_trait};

/// The settings of a [`RuleRouter`].
///
/// ```
/// use petalflow_documents::kinds::RuleRouterConfig;
/// use serde_json::json;
///
/// let config: RuleRouterConfig = serde_json::from_value(json!({
///     "rules": [{ "target": "billing", "conditions": [{ "var_path": "topic", "op": "eq", "value": "money" }] }],
///     "default_target": "support",
/// }))?;
/// assert_eq!(config.rules[0].target, "billing");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RuleRouterConfig {
    /// The rules, in order.
    pub rules: Vec<RouteRule>,
    /// The target if no rule matches. Without it, no target is chosen then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_target: Option<String>,
    /// The variable for the decision. The default is `<node>_decision`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision_key: Option<String>,
    /// Chooses the targets of all rules that match, instead of the first.
    pub allow_multiple: bool,
}

/// A rule of a [`RuleRouter`].
///
/// ```
/// use petalflow_documents::kinds::RouteRule;
/// use serde_json::json;
///
/// let config: RouteRule = serde_json::from_value(json!({
///     "target": "billing", "conditions": [{ "var_path": "topic", "op": "eq", "value": "money" }],
/// }))?;
/// assert_eq!(config.conditions.len(), 1);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteRule {
    /// The conditions, which must all hold. A rule without conditions always matches.
    #[serde(default)]
    pub conditions: Vec<RouteCondition>,
    /// The target.
    pub target: String,
    /// The reason, as text for a person.
    #[serde(default)]
    pub reason: String,
}

/// A condition of a [`RouteRule`].
///
/// ```
/// use petalflow_documents::kinds::RouteCondition;
/// use serde_json::json;
///
/// let config: RouteCondition = serde_json::from_value(json!({
///     "var_path": "topic", "op": "eq", "value": "money",
/// }))?;
/// assert_eq!(config.var_path, "topic");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteCondition {
    /// The [path](Envelope::lookup) of the value.
    pub var_path: String,
    /// The comparison.
    pub op: RouteOp,
    /// The value to compare with.
    #[serde(default)]
    pub value: Value,
    /// The values for [`RouteOp::In`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Value>,
}

/// A comparison of a [`RouteCondition`].
///
/// ```
/// use petalflow_documents::kinds::RouteOp;
///
/// let op: RouteOp = serde_json::from_str(r#""eq""#)?;
/// assert_eq!(serde_json::to_value(op)?, "eq");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RouteOp {
    /// The values are equal. Numbers are compared by value: `1` equals `1.0`.
    Eq,
    /// The value is missing or not equal.
    Neq,
    /// A text contains the text, a list an equal item, or an object the name.
    Contains,
    /// Greater: for two numbers, or two texts.
    Gt,
    /// Less: for two numbers, or two texts.
    Lt,
    /// There is a value. It may be `null`.
    Exists,
    /// There is no value.
    NotExists,
    /// The value equals one of `values`.
    In,
}

/// A node that chooses targets by rules over variables. The decision is a [`RouteDecision`] in the variable
/// `<node>_decision`. See [`Routed`](super::Routed) for an example.
///
/// PetalFlow compares values of different types by their printed text: the text `10` is less than the number `9`, `true`
/// equals the text `true`, and the list of `a` and `b` contains `a b`. Here values of different types are not equal and have
/// no order, and a list contains its items.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_documents::Envelope;
/// use petalflow_documents::kinds::{RuleRouter, RuleRouterConfig};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let config: RuleRouterConfig = serde_json::from_value(json!({
///     "rules": [{ "target": "billing", "conditions": [{ "var_path": "topic", "op": "eq", "value": "money" }] }],
///     "default_target": "support",
/// }))?;
/// let flow = Graph::<Envelope>::builder("triage").node_as("triage", RuleRouter::new(config)).build()?;
/// let envelope = flow.run(Envelope::new().with_var("topic", "money")).await?;
/// assert_eq!(envelope.get_var_nested("triage_decision.targets"), Some(&json!(["billing"])));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RuleRouter {
    config: RuleRouterConfig,
}

impl RuleRouter {
    /// Creates a router.
    ///
    /// ```
    /// use petalflow_documents::kinds::{RuleRouter, RuleRouterConfig};
    ///
    /// let router = RuleRouter::new(RuleRouterConfig {
    ///     default_target: Some("support".into()),
    ///     ..RuleRouterConfig::default()
    /// });
    /// # let _ = router;
    /// ```
    pub fn new(config: RuleRouterConfig) -> Self {
        RuleRouter { config }
    }

    fn decision(&self, envelope: &Envelope) -> RouteDecision {
        let matching = self
            .config
            .rules
            .iter()
            .filter(|rule| rule.conditions.iter().all(|it| holds(it, envelope)));
        let limit = if self.config.allow_multiple {
            usize::MAX
        } else {
            1
        };
        let rules: Vec<&RouteRule> = matching.take(limit).collect();
        if rules.is_empty() {
            let default = self.config.default_target.as_ref();
            return default.map_or_else(RouteDecision::default, |target| RouteDecision {
                targets: vec![target.clone()],
                reason: "default route".into(),
                ..RouteDecision::default()
            });
        }
        let reasons: Vec<&str> = rules.iter().map(|rule| rule.reason.as_str()).collect();
        RouteDecision {
            targets: rules.iter().map(|rule| rule.target.clone()).collect(),
            reason: reasons.join("; "),
            ..RouteDecision::default()
        }
    }
}

#[async_trait]
impl Decide for RuleRouter {
    fn targets(&self) -> Vec<String> {
        let targets = self.config.rules.iter().map(|rule| rule.target.clone());
        targets.chain(self.config.default_target.clone()).collect()
    }

    async fn decide(&self, call: Call<'_>) -> Result<(RouteDecision, Changes), BoxError> {
        let variable = self.config.decision_key.clone();
        let variable = variable.unwrap_or_else(|| format!("{}_decision", call.name));
        with_decision_variable(self.decision(call.envelope), variable)
    }
}

#[async_trait]
impl EnvelopeNode for RuleRouter {
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

fn holds(condition: &RouteCondition, envelope: &Envelope) -> bool {
    let Some(found) = envelope.lookup(&condition.var_path) else {
        return matches!(condition.op, RouteOp::Neq | RouteOp::NotExists);
    };
    let value = &condition.value;
    match condition.op {
        RouteOp::Exists => true,
        RouteOp::NotExists => false,
        RouteOp::Eq => equal(found, value),
        RouteOp::Neq => !equal(found, value),
        RouteOp::Gt => compare(found, value) == Some(Ordering::Greater),
        RouteOp::Lt => compare(found, value) == Some(Ordering::Less),
        RouteOp::In => condition.values.iter().any(|value| equal(found, value)),
        RouteOp::Contains => match found {
            Value::String(found) => found.contains(&text(value)),
            Value::Array(items) => items.iter().any(|item| equal(item, value)),
            Value::Object(object) => object.contains_key(&text(value)),
            _ => false,
        },
    }
}
