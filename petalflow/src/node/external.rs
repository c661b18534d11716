//! Outputs that do not come from their node: a person gives them, in place of the node.

use petalflow_graph::NodeIdx;

use super::{Effects, Output, RouteChoice, Routing};
use crate::erased::EffectsBox;
use crate::error::BoxError;
use crate::plan::ExecutionPlan;
use crate::state::State;

/// An output that a person gives. The types of a node and of such an output are not compared at compile time, because the
/// node is known by its name.
pub(crate) struct ExternalOutput {
    effects: EffectsBox,
    decision: Decision,
}

/// What the type of an output decides.
#[derive(Clone, Copy, Debug)]
struct Decision {
    /// The names of the routes; empty if they are known at run time only.
    names: &'static [&'static str],
    payloads: &'static [bool],
    routes: bool,
    named: bool,
    sends: bool,
}

/// What follows a node whose output a person has given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Following {
    /// The edges fire.
    Edges,
    /// The node itself runs: it writes nothing, and decides by the new state.
    Node,
}

impl_debug!(
    ExternalOutput,
    |this| effects = this.effects,
    decision = this.decision
);

impl ExternalOutput {
    pub(crate) fn new<S: State, O: Output<S>>(output: O) -> Result<Self, BoxError> {
        let mut effects = Effects::<S>::default();
        output.apply(&mut effects)?;
        Ok(ExternalOutput {
            effects: Box::new(effects),
            decision: Decision {
                names: O::Routing::NAMES,
                payloads: O::Routing::PAYLOADS,
                routes: O::Routing::ROUTES,
                named: O::Routing::NAMED,
                sends: O::Routing::SENDS,
            },
        })
    }

    /// Writes that choose no route and send no items.
    pub(crate) fn of_update(effects: EffectsBox) -> Self {
        ExternalOutput {
            effects,
            decision: Decision {
                names: &[],
                payloads: &[],
                routes: false,
                named: false,
                sends: false,
            },
        }
    }

    /// Its effects, if no node gives it.
    ///
    /// # Errors
    ///
    /// It decides what follows, which only a node does.
    pub(crate) fn of_no_node(self) -> Result<EffectsBox, String> {
        let decides = match self.decision {
            Decision { routes: true, .. } => "a route",
            Decision { sends: true, .. } => "items for `each`",
            _ => return Ok(self.effects),
        };
        Err(format!(
            "an update with {decides} must say by which node it is: `Edit::by`"
        ))
    }

    /// Its effects as those of a node, and what follows.
    ///
    /// # Errors
    ///
    /// It decides something that the node does not decide, or the other way round.
    pub(crate) fn by(
        mut self,
        plan: &ExecutionPlan,
        node: NodeIdx,
    ) -> Result<(EffectsBox, Following), String> {
        let (spec, name) = (plan.spec(node), plan.name(node));
        let Decision { routes, sends, .. } = self.decision;
        let decides = spec.facts.has_route || spec.sends;
        if decides && !routes && !sends && spec.facts.may_write.is_empty() && !spec.facts.takes_item
        {
            return Ok((self.effects, Following::Node));
        }
        match (routes, spec.facts.has_route) {
            (true, true) => self.check_route(plan, node)?,
            (true, false) => {
                return Err(format!(
                    "node `{name}` chooses no route, and the update by it has one: leave the route out"
                ));
            }
            (false, true) => {
                let routes = name_list(&plan.route_names(node));
                return Err(format!(
                    "node `{name}` chooses a route, and the update by it has none: add one in the last place, as in `Edit::new((.., route)).by(\"{name}\")`; the routes are {routes}"
                ));
            }
            (false, false) => {}
        }
        match (sends, spec.sends) {
            (true, false) => Err(format!(
                "node `{name}` sends no items, and the update by it has an `Each`: leave it out"
            )),
            (false, true) => Err(format!(
                "node `{name}` sends items along `each`, and the update by it has none: add `Each(..)` in the last place; an empty one sends nothing"
            )),
            _ => Ok((self.effects, Following::Edges)),
        }
    }

    /// Checks the route of an output by a node that chooses one.
    fn check_route(&mut self, plan: &ExecutionPlan, node: NodeIdx) -> Result<(), String> {
        let (spec, name) = (plan.spec(node), plan.name(node));
        let known = plan.route_names(node);
        if self.decision.named {
            // Without the builder, no type names its routes at run time.
            #[cfg(feature = "builder")]
            self.find_named(plan, node)?;
        } else if self.decision.names != known || self.decision.payloads != spec.payloads {
            return Err(format!(
                "node `{name}` chooses one of the routes {}, and the route of the update by it is one of {}: give a route of the type that the node returns",
                name_list(&known),
                name_list(self.decision.names)
            ));
        }
        let chosen = self.effects.routes().len();
        if !spec.facts.many && self.effects.chosen() == RouteChoice::Many && chosen != 1 {
            return Err(format!(
                "node `{name}` chooses exactly one route, and the update by it has {chosen}"
            ));
        }
        Ok(())
    }

    /// Finds the routes that the output names.
    #[cfg(feature = "builder")]
    fn find_named(&mut self, plan: &ExecutionPlan, node: NodeIdx) -> Result<(), String> {
        let (spec, name) = (plan.spec(node), plan.name(node));
        let known: Vec<String> = plan.route_names(node).into_iter().map(Into::into).collect();
        self.effects
            .choice_mut()
            .find_named(&known)
            .map_err(|unknown| {
                let known = name_list(&known);
                format!("node `{name}` has no route `{unknown}`: its routes are {known}")
            })?;
        let carries = |route: &&petalflow_graph::RouteIdx| {
            spec.payloads.get(route.index()).copied().unwrap_or(false)
        };
        match self.effects.routes().iter().find(carries) {
            Some(route) => Err(format!(
                "the route `{}` of node `{name}` carries a value, which its name does not have: give a route of the type that the node returns",
                known[route.index()]
            )),
            None => Ok(()),
        }
    }
}

/// Names for a message.
fn name_list(names: &[impl AsRef<str>]) -> String {
    let names: Vec<_> = names
        .iter()
        .map(|name| format!("`{}`", name.as_ref()))
        .collect();
    names.join(", ")
}
