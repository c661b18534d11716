//! Nodes that control which nodes follow: choices, checks and merges.

mod conditional;
mod gate;
mod guardian;
mod merge;
mod routed;
mod rule_router;

pub use conditional::{ConditionConfig, ConditionalConfig, ConditionalNode, EvaluationOrder};
pub use gate::{GateAction, GateConfig, GateNode, Passage};
pub use guardian::{
    CheckConfig, CheckType, GuardianAction, GuardianConfig, GuardianNode, PiiType, ValueType,
};
pub(crate) use merge::changes_of;
pub use merge::{Conflict, MergeConfig, MergeNode};
pub(super) use routed::with_decision_variable;
pub use routed::{ChosenRoutes, Decide, Routed};
pub use rule_router::{RouteCondition, RouteOp, RouteRule, RuleRouter, RuleRouterConfig};
