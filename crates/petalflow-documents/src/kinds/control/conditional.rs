//! A router by expressions.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::routed::with_decision_variable;
use crate::expression::Expression;
use crate::kinds::{Call, Decide, EnvelopeNode};
use crate::values::truthy;
use crate::{Changes, ConfigError, NodeKind, RouteDecision};
use petalflow::{BoxError, async_trait};

/// The settings of a [`ConditionalNode`].
///
/// ```
/// use petalflow_documents::kinds::{ConditionalConfig, EvaluationOrder};
/// use serde_json::json;
///
/// let config: ConditionalConfig = serde_json::from_value(json!({
///     "conditions": [{ "name": "large", "expression": "total > 100" }],
///     "default": "small",
/// }))?;
/// assert_eq!(config.conditions[0].name, "large");
/// assert_eq!(config.evaluation_order, EvaluationOrder::FirstMatch);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConditionalConfig {
    /// The conditions, in order.
    pub conditions: Vec<ConditionConfig>,
    /// The target if no condition holds. Without it the node fails then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Whether the first condition that holds is chosen, or all.
    #[serde(default)]
    pub evaluation_order: EvaluationOrder,
    /// If false, the output variable receives `{ "matched": .., "condition": .. }`. The default is true.
    #[serde(default = "yes")]
    pub pass_through: bool,
    /// The output variable. The default is `<node>_output`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_key: Option<String>,
}

fn yes() -> bool {
    true
}

/// A condition of a [`ConditionalNode`].
///
/// ```
/// use petalflow_documents::kinds::ConditionConfig;
/// use serde_json::json;
///
/// let config: ConditionConfig = serde_json::from_value(json!({ "name": "large", "expression": "total > 100" }))?;
/// assert_eq!(config.expression, "total > 100");
/// assert!(config.description.is_empty());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConditionConfig {
    /// The name, which is the target.
    pub name: String,
    /// The [expression](crate::expression). An [empty or false](crate::expression) value does not choose the target.
    pub expression: String,
    /// The reason, as text for a person. The default is the name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// Which conditions are chosen.
///
/// ```
/// use petalflow_documents::kinds::EvaluationOrder;
///
/// assert_eq!(serde_json::to_value(EvaluationOrder::FirstMatch)?, "first_match");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EvaluationOrder {
    /// The first one that holds.
    #[default]
    FirstMatch,
    /// All that hold.
    All,
}

/// A node that chooses targets by [expressions](crate::expression) over variables. The name `input` is the variable of that name,
/// or else the object of all variables. The decision is a [`RouteDecision`] in the variable `<node>_decision`.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_documents::Envelope;
/// use petalflow_documents::kinds::{ConditionalConfig, ConditionalNode, NoopNode, Routed};
/// use serde_json::json;
///
/// #[derive(Route)]
/// pub enum Size {
///     Large,
///     Small,
/// }
///
/// flow! {
///     Sort(Envelope) {
///         START -> sort;
///         sort -> match { Large => large, Small => small };
///         node sort: Routed<ConditionalNode, Size>;
///         node large: NoopNode = NoopNode;
///         node small: NoopNode = NoopNode;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let config: ConditionalConfig = serde_json::from_value(json!({
///     "conditions": [{ "name": "large", "expression": "input.items.length > 2" }],
///     "default": "small",
/// }))?;
/// let sort = Routed::new(ConditionalNode::new(config)?)?;
/// let envelope = Sort::new().sort(sort).run(Envelope::new().with_var("items", vec![1, 2, 3])).await?;
/// assert_eq!(envelope.get_var_nested("sort_decision.targets"), Some(&json!(["large"])));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ConditionalNode {
    config: ConditionalConfig,
    expressions: Vec<Expression>,
}

impl ConditionalNode {
    /// Creates a node.
    ///
    /// # Errors
    ///
    /// If there is no condition, or one has no name, a name that another one has, or an expression that cannot be parsed.
    pub fn new(config: ConditionalConfig) -> Result<Self, ConfigError> {
        if config.conditions.is_empty() {
            return Err(ConfigError::new("conditions", "at least one is required"));
        }
        let mut names = HashSet::new();
        let mut expressions = Vec::with_capacity(config.conditions.len());
        for (index, condition) in config.conditions.iter().enumerate() {
            let field = |name: &str| format!("conditions[{index}].{name}");
            if condition.name.is_empty() {
                return Err(ConfigError::new(field("name"), "it is empty"));
            }
            if !names.insert(&condition.name) {
                let problem = format!("another condition has the name `{}`", condition.name);
                return Err(ConfigError::new(field("name"), problem));
            }
            if condition.expression.trim().is_empty() {
                return Err(ConfigError::new(field("expression"), "it is empty"));
            }
            let expression = Expression::parse(&condition.expression);
            let expression =
                expression.map_err(|error| ConfigError::new(field("expression"), error))?;
            expressions.push(expression);
        }
        Ok(ConditionalNode {
            config,
            expressions,
        })
    }

    fn decision(&self, vars: &Map<String, Value>) -> Result<RouteDecision, BoxError> {
        let needs_input = self.expressions.iter().any(|it| it.reads("input"));
        let with_input = (needs_input && !vars.contains_key("input")).then(|| {
            let mut all = vars.clone();
            all.insert("input".into(), Value::Object(vars.clone()));
            all
        });
        let vars = with_input.as_ref().unwrap_or(vars);
        let mut matching = Vec::new();
        for (condition, expression) in self.config.conditions.iter().zip(&self.expressions) {
            let value = expression
                .evaluate(vars)
                .map_err(|error| format!("condition `{}`: {error}", condition.name))?;
            if truthy(&value) {
                matching.push(condition);
                if self.config.evaluation_order == EvaluationOrder::FirstMatch {
                    break;
                }
            }
        }
        let (targets, reason) = match (&matching[..], &self.config.default) {
            ([], None) => {
                return Err("no condition holds, and there is no `default`".into());
            }
            ([], Some(default)) => (vec![default.clone()], "default branch".to_owned()),
            ([only], _) if only.description.is_empty() => {
                (vec![only.name.clone()], only.name.clone())
            }
            ([only], _) => (vec![only.name.clone()], only.description.clone()),
            (several, _) => {
                let targets = several.iter().map(|it| it.name.clone()).collect();
                (targets, format!("{} branches matched", several.len()))
            }
        };
        Ok(RouteDecision {
            targets,
            reason,
            ..RouteDecision::default()
        })
    }
}

#[async_trait]
impl Decide for ConditionalNode {
    fn targets(&self) -> Vec<String> {
        let names = self.config.conditions.iter().map(|it| it.name.clone());
        names.chain(self.config.default.clone()).collect()
    }

    async fn decide(&self, call: Call<'_>) -> Result<(RouteDecision, Changes), BoxError> {
        let decision = self
            .decision(&call.envelope.vars)
            .map_err(|error| format!("conditional node `{}`: {error}", call.name))?;
        let condition = decision.targets.first().cloned();
        let (decision, mut changes) =
            with_decision_variable(decision, format!("{}_decision", call.name))?;
        if !self.config.pass_through {
            let output = call.output(self.config.output_key.as_deref());
            let value = json!({ "matched": condition.is_some(), "condition": condition });
            changes = changes.var(output, value);
        }
        Ok((decision, changes))
    }
}

#[async_trait]
impl EnvelopeNode for ConditionalNode {
    fn kind(&self) -> NodeKind {
        NodeKind::Conditional
    }

    fn router(&self) -> Option<&dyn Decide> {
        Some(self)
    }

    async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError> {
        Ok(self.decide(call).await?.1)
    }
}
