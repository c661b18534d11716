//! Nodes that choose the next nodes.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::kinds::Call;
use crate::{Changes, ConfigError, Envelope, RouteDecision};
use petalflow::node::{Effects, Output, Routing};
use petalflow::state::KeySet;
use petalflow::{BoxError, Context, Route, async_trait, node};

/// A node that chooses the next nodes: a router, a condition, or a gate.
///
/// As a node of a flow it stores its decision in a variable and has plain edges. To route by its decision, put it into
/// [`Routed`].
///
/// ```
/// use petalflow_documents::kinds::{Decide, RuleRouter, RuleRouterConfig};
/// use serde_json::json;
///
/// let config: RuleRouterConfig = serde_json::from_value(json!({
///     "rules": [{ "target": "billing", "conditions": [{ "var_path": "topic", "op": "eq", "value": "money" }] }],
///     "default_target": "support",
/// }))?;
/// assert_eq!(RuleRouter::new(config).targets(), ["billing", "support"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[async_trait]
pub trait Decide: Send + Sync + 'static {
    /// All targets that it can choose.
    fn targets(&self) -> Vec<String>;

    /// The node at which the path continues if the decision is `Redirect`, of a gate or a guardian. With `Pass` it continues
    /// at all others.
    fn redirect(&self) -> Option<&str> {
        None
    }

    /// Decides. The changes contain the variable with the decision.
    ///
    /// # Errors
    ///
    /// The error of the node.
    async fn decide(&self, call: Call<'_>) -> Result<(RouteDecision, Changes), BoxError>;
}

/// Adds the changes of a decision: a variable that contains it.
pub(in crate::kinds) fn with_decision_variable(
    decision: RouteDecision,
    variable: String,
) -> Result<(RouteDecision, Changes), BoxError> {
    let value = serde_json::to_value(&decision)?;
    Ok((decision, Changes::new().var(variable, value)))
}

/// A node that routes by its decision to the variants of `R`. The name of a target is the name of the variant, or the same
/// in snake case: `billing` and `Billing` both choose `Billing`. Several targets are all taken. No target ends the path.
///
/// The decision is emitted as an event.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_documents::kinds::{FuncNode, Routed, RuleRouter, RuleRouterConfig};
/// use petalflow_documents::{Changes, Envelope};
/// use serde_json::json;
///
/// #[derive(Route)]
/// pub enum Desk {
///     Billing,
///     Support,
/// }
///
/// fn answer(text: &'static str) -> FuncNode {
///     FuncNode::new(move |_| async move { Ok(Changes::new().var("answer", text)) })
/// }
///
/// flow! {
///     Triage(Envelope) {
///         START -> triage;
///         triage -> match { Billing => bill, Support => help };
///         node triage: Routed<RuleRouter, Desk>;
///         node bill: FuncNode = answer("Here is your bill.");
///         node help: FuncNode = answer("Turn it off and on.");
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let config: RuleRouterConfig = serde_json::from_value(json!({
///     "rules": [{ "target": "billing", "conditions": [{ "var_path": "topic", "op": "eq", "value": "money" }] }],
///     "default_target": "support",
/// }))?;
/// let triage = Routed::new(RuleRouter::new(config))?;
/// let envelope = Triage::new().triage(triage).run(Envelope::new().with_var("topic", "money")).await?;
/// assert_eq!(envelope.get_var_string("answer"), "Here is your bill.");
/// # Ok(())
/// # }
/// ```
pub struct Routed<N, R> {
    node: Arc<N>,
    routes: PhantomData<fn() -> R>,
}

impl<N, R> Clone for Routed<N, R> {
    fn clone(&self) -> Self {
        Routed {
            node: Arc::clone(&self.node),
            routes: PhantomData,
        }
    }
}

impl<N: fmt::Debug, R> fmt::Debug for Routed<N, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Routed").field(&self.node).finish()
    }
}

impl<N: Decide, R: Route> Routed<N, R> {
    /// Routes by the decisions of this node.
    ///
    /// # Errors
    ///
    /// If a target of the node is not a variant of `R`, or if the variant carries a value.
    pub fn new(node: N) -> Result<Self, ConfigError> {
        for target in node.targets() {
            let Some(route) = route_of::<R>(&target) else {
                let names = R::NAMES.join(", ");
                let problem = format!("there is no route `{target}`: use one of {names}");
                return Err(ConfigError::new("target", problem));
            };
            if R::PAYLOADS[route] {
                let name = R::NAMES[route];
                let problem =
                    format!("route `{name}` carries a value, and a router has none to send");
                return Err(ConfigError::new("target", problem));
            }
        }
        Ok(Routed {
            node: Arc::new(node),
            routes: PhantomData,
        })
    }
}

#[node(Envelope)]
impl<N: Decide, R: Route + 'static> Routed<N, R> {
    async fn run(
        &self,
        envelope: &Envelope,
        cx: Context,
    ) -> petalflow::Result<(Changes, ChosenRoutes<R>)> {
        let call = Call {
            name: cx.node(),
            envelope,
            cx: &cx,
        };
        let (decision, changes) = self.node.decide(call).await?;
        let chosen = ChosenRoutes::of(&decision)?;
        cx.emit_with(|| petalflow::event::CustomEvent::new(decision));
        Ok((changes, chosen))
    }
}

/// The index of the route with this name.
fn route_of<R: Routing>(target: &str) -> Option<usize> {
    let plain = |name: &str| name.replace('_', "").to_lowercase();
    let exact = R::NAMES.iter().position(|name| *name == target);
    exact.or_else(|| {
        R::NAMES
            .iter()
            .position(|name| plain(name) == plain(target))
    })
}

/// The routes of `R` that a decision chose.
///
/// ```
/// use petalflow::Route;
/// use petalflow_documents::RouteDecision;
/// use petalflow_documents::kinds::ChosenRoutes;
///
/// #[derive(Route)]
/// pub enum Desk {
///     Billing,
///     Support,
/// }
///
/// let decision = RouteDecision { targets: vec!["billing".into()], ..RouteDecision::default() };
/// assert!(ChosenRoutes::<Desk>::of(&decision).is_ok());
/// let decision = RouteDecision { targets: vec!["sales".into()], ..RouteDecision::default() };
/// assert!(ChosenRoutes::<Desk>::of(&decision).is_err());
/// ```
pub struct ChosenRoutes<R> {
    routes: Vec<u32>,
    of: PhantomData<fn() -> R>,
}

impl<R> fmt::Debug for ChosenRoutes<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ChosenRoutes").field(&self.routes).finish()
    }
}

impl<R: Route> ChosenRoutes<R> {
    /// Finds the routes of a decision.
    ///
    /// # Errors
    ///
    /// If a target is not a variant of `R`.
    pub fn of(decision: &RouteDecision) -> Result<Self, BoxError> {
        let mut routes = Vec::with_capacity(decision.targets.len());
        for target in &decision.targets {
            let Some(route) = route_of::<R>(target) else {
                let names = R::NAMES.join(", ");
                return Err(format!("there is no route `{target}`: the routes are {names}").into());
            };
            routes.push(u32::try_from(route)?);
        }
        Ok(ChosenRoutes {
            routes,
            of: PhantomData,
        })
    }
}

impl<R: Route> Routing for ChosenRoutes<R> {
    const NAMES: &'static [&'static str] = R::NAMES;
    const PAYLOADS: &'static [bool] = R::PAYLOADS;
    const MANY: bool = true;
    const ROUTES: bool = true;
}

impl<R: Route> Output<Envelope> for ChosenRoutes<R> {
    const MAY_WRITE: KeySet = KeySet::NONE;
    const MUST_WRITE: KeySet = KeySet::NONE;
    type Routing = Self;

    fn apply(self, effects: &mut Effects<Envelope>) -> Result<(), BoxError> {
        effects.choose_none();
        for route in self.routes {
            effects.choose_also(route);
        }
        Ok(())
    }
}
