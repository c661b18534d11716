//! The effects of one run of a node, which the barrier applies.

use petalflow_graph::RouteIdx;

use crate::delivery::Delivery;
use crate::state::{State, Update};

/// The routing decision of a node.
///
/// ```
/// use petalflow::node::{Effects, Output, RouteChoice, RouteIdx};
/// use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
///
/// #[derive(Route)]
/// enum Verdict { Revise, Publish }
///
/// let mut effects = Effects::<Essay>::default();
/// assert_eq!(effects.chosen(), RouteChoice::Edges);
/// Verdict::Publish.apply(&mut effects).unwrap();
/// assert_eq!(effects.chosen(), RouteChoice::One(RouteIdx::new(1)));
/// # let _ = Verdict::Revise;
/// ```
///
/// It has no other variants, so that programs match all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RouteChoice {
    /// Along its edges.
    #[default]
    Edges,
    /// Along one route, given by its index in [`Routing::NAMES`](crate::node::Routing::NAMES).
    One(RouteIdx),
    /// Along several routes, or none.
    Many,
}

/// The writes, the routing decision and the deliveries of one run of a node. The runtime reuses the value in each
/// superstep, so that small writes do not allocate.
///
/// ```
/// use petalflow::node::{Effects, Output};
/// use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
///
/// // What a node returns, looked at without running a flow.
/// let mut effects = Effects::<Essay>::default();
/// (EssayDraft("…".into()), Each(vec![1, 2, 3])).apply(&mut effects).unwrap();
/// assert_eq!(effects.update.of::<EssayDraft>().only().unwrap(), "…");
/// assert_eq!(effects.deliveries()[0].1.len(), 3);
/// effects.clear();
/// assert!(!effects.update.written_any());
/// ```
pub struct Effects<S: State> {
    /// The writes.
    pub update: Update<S>,
    pub(crate) choice: Choice,
}

/// What a node has decided and sent.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    chosen: RouteChoice,
    // Boxed, because few nodes send, and every running task has one of these.
    sent: Option<Box<Sent>>,
}

/// The chosen routes and what is sent along edges.
#[derive(Debug, Default)]
struct Sent {
    routes: Vec<RouteIdx>,
    deliveries: Vec<(Option<RouteIdx>, Delivery)>,
    /// Routes that were chosen by name.
    #[cfg(feature = "builder")]
    named: Vec<String>,
}

impl<S: State> Default for Effects<S> {
    fn default() -> Self {
        Effects {
            update: Update::default(),
            choice: Choice::default(),
        }
    }
}

impl_debug!([S: State] Effects<S>, |this| written = this.update.written(), choice = this.choice);

impl<S: State> Effects<S> {
    /// These writes, without a decision.
    pub(crate) fn of(update: Update<S>) -> Self {
        Effects {
            update,
            choice: Choice::default(),
        }
    }

    /// The routing decision of the node.
    pub fn chosen(&self) -> RouteChoice {
        self.choice.chosen()
    }

    /// The chosen routes, if the node chose several.
    pub fn routes(&self) -> &[RouteIdx] {
        self.choice.routes()
    }

    /// The deliveries: by route, or `None` for the targets of `each`.
    pub fn deliveries(&self) -> &[(Option<RouteIdx>, Delivery)] {
        self.choice.deliveries()
    }

    /// Chooses one route, by its index in [`Routing::NAMES`](crate::node::Routing::NAMES).
    pub fn choose(&mut self, route: u32) {
        self.choice.choose(route);
    }

    /// Adds a route to those chosen; returns `false` if it was already chosen.
    pub fn choose_also(&mut self, route: u32) -> bool {
        self.choice.choose_also(route)
    }

    /// Chooses no route, unless one was already chosen.
    pub fn choose_none(&mut self) {
        self.choice.choose_none();
    }

    /// Sends a value along a route, or with `None` to the targets of `each`.
    pub fn send(&mut self, route: Option<u32>, delivery: Delivery) {
        self.choice.send(route, delivery);
    }

    /// Clears everything and keeps the allocated memory.
    pub fn clear(&mut self) {
        self.update.clear();
        self.choice.clear();
    }
}

impl Choice {
    /// The routing decision of the node.
    pub(crate) fn chosen(&self) -> RouteChoice {
        self.chosen
    }

    /// The chosen routes, if the node chose several.
    pub(crate) fn routes(&self) -> &[RouteIdx] {
        self.sent.as_ref().map_or(&[], |sent| &sent.routes)
    }

    /// The deliveries: by route, or `None` for the targets of `each`.
    pub(crate) fn deliveries(&self) -> &[(Option<RouteIdx>, Delivery)] {
        self.sent.as_ref().map_or(&[], |sent| &sent.deliveries)
    }

    /// Chooses one route.
    pub(crate) fn choose(&mut self, route: u32) {
        self.chosen = RouteChoice::One(RouteIdx::new(route));
    }

    /// Adds a route to those chosen. Whether it was not chosen before.
    pub(crate) fn choose_also(&mut self, route: u32) -> bool {
        self.choose_none();
        let route = RouteIdx::new(route);
        let routes = &mut self.sent.get_or_insert_default().routes;
        let new = !routes.contains(&route);
        if new {
            routes.push(route);
        }
        new
    }

    /// Chooses no route, unless one was already chosen.
    pub(crate) fn choose_none(&mut self) {
        self.chosen = RouteChoice::Many;
    }

    /// Chooses routes by their names. The builder knows the names.
    #[cfg(feature = "builder")]
    pub(crate) fn choose_named(&mut self, names: Vec<String>) {
        self.choose_none();
        self.sent.get_or_insert_default().named.extend(names);
    }

    /// Finds the routes that were chosen by name.
    #[cfg(feature = "builder")]
    pub(crate) fn find_named(&mut self, routes: &[String]) -> Result<(), String> {
        let named = match &mut self.sent {
            Some(sent) => std::mem::take(&mut sent.named),
            None => return Ok(()),
        };
        for name in named {
            let route = routes.iter().position(|route| *route == name);
            let route = route.and_then(|route| u32::try_from(route).ok());
            self.choose_also(route.ok_or(name)?);
        }
        Ok(())
    }

    /// Sends a value along a route, or with `None` to the targets of `each`.
    pub(crate) fn send(&mut self, route: Option<u32>, delivery: Delivery) {
        self.sent
            .get_or_insert_default()
            .deliveries
            .push((route.map(RouteIdx::new), delivery));
    }

    /// Clears the decision and the deliveries, and keeps the allocated memory.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.chosen = RouteChoice::Edges;
        if let Some(sent) = &mut self.sent {
            sent.routes.clear();
            sent.deliveries.clear();
            #[cfg(feature = "builder")]
            sent.named.clear();
        }
    }
}
