//! What a node has written and decided, without the type of its state.

use std::any::Any;

use super::StateType;
use super::state::other_state;
use crate::delivery::Delivery;
use crate::node::{Choice, Effects, RouteChoice};
use crate::state::{KeySet, State, Update};
use petalflow_graph::RouteIdx;

/// The effects of one run of a node over a state of any type. A box is also the form of writes alone, such as those of an
/// answer.
pub(crate) type EffectsBox = Box<dyn AnyEffects>;

/// The effects of one run of a node. Every [`Effects`] is one.
pub(crate) trait AnyEffects: Any + Send + Sync {
    /// What the type of the state says.
    fn ty(&self) -> &'static StateType;

    /// The keys that were written.
    fn written(&self) -> KeySet;

    /// The keys that were written with [`Overwrite`](crate::Overwrite).
    fn overwritten(&self) -> KeySet;

    /// Removes all writes, and keeps the memory.
    fn clear_writes(&mut self);

    /// The writes, in a box of their own.
    fn clone_writes(&self) -> EffectsBox;

    /// Takes the writes into a box of their own.
    fn take_writes(&mut self) -> EffectsBox;

    /// What the node has decided and sent.
    fn choice(&self) -> &Choice;

    /// The same, to be changed.
    fn choice_mut(&mut self) -> &mut Choice;
}

impl<S: State> AnyEffects for Effects<S> {
    fn ty(&self) -> &'static StateType {
        StateType::of::<S>()
    }

    fn written(&self) -> KeySet {
        self.update.written()
    }

    fn overwritten(&self) -> KeySet {
        self.update.overwritten()
    }

    fn clear_writes(&mut self) {
        self.update.clear();
    }

    fn clone_writes(&self) -> EffectsBox {
        Box::new(Effects::<S>::of(self.update.clone()))
    }

    fn take_writes(&mut self) -> EffectsBox {
        Box::new(Effects::<S>::of(std::mem::take(&mut self.update)))
    }

    fn choice(&self) -> &Choice {
        &self.choice
    }

    fn choice_mut(&mut self) -> &mut Choice {
        &mut self.choice
    }
}

impl dyn AnyEffects {
    /// The routing decision of the node.
    pub(crate) fn chosen(&self) -> RouteChoice {
        self.choice().chosen()
    }

    /// The chosen routes, if the node chose several.
    pub(crate) fn routes(&self) -> &[RouteIdx] {
        self.choice().routes()
    }

    /// What the node sends: by route, or `None` for the targets of `each`.
    pub(crate) fn deliveries(&self) -> &[(Option<RouteIdx>, Delivery)] {
        self.choice().deliveries()
    }

    /// Removes everything, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.clear_writes();
        self.choice_mut().clear();
    }
}

impl std::fmt::Debug for dyn AnyEffects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Effects")
            .field("written", &self.written())
            .field("choice", self.choice())
            .finish()
    }
}

/// The effects of a node over this state.
pub(crate) fn effects_ref<S: State>(effects: &dyn AnyEffects) -> &Effects<S> {
    let any: &dyn Any = effects;
    match any.downcast_ref() {
        Some(effects) => effects,
        None => other_state(S::NAME),
    }
}

/// The same, to be changed.
pub(crate) fn effects_mut<S: State>(effects: &mut dyn AnyEffects) -> &mut Effects<S> {
    let any: &mut dyn Any = effects;
    match any.downcast_mut() {
        Some(effects) => effects,
        None => other_state(S::NAME),
    }
}

/// The writes of a box.
pub(crate) fn into_update<S: State>(effects: EffectsBox) -> Update<S> {
    let any: Box<dyn Any> = effects;
    match any.downcast::<Effects<S>>() {
        Ok(effects) => effects.update,
        Err(_) => other_state(S::NAME),
    }
}
