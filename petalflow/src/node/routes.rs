//! Routes whose names are known at run time.

use super::{Effects, Output, Routing};
use crate::error::BoxError;
use crate::state::{KeySet, State};

/// Any number of routes by name, for a node whose routes are known at run time only.
/// [`GraphBuilder::routes`](crate::graph::GraphBuilder::routes) lists all of its routes. None ends the path. A name that
/// occurs several times is taken once. A name that is not in the list is an error of the node.
///
/// ```
/// use petalflow::node::Routes;
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Ticket {
///     #[key(input)]
///     topic: String,
///     #[key(append)]
///     answers: Vec<String>,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// // These may come from a file.
/// let topics = ["money", "parcels"];
/// let mut builder = Graph::<Ticket>::builder("triage")
///     .node_fn("triage", |ticket: &Ticket, _| std::future::ready(Routes::to(&ticket.topic)))
///     .routes("triage", topics);
/// for topic in topics {
///     builder = builder
///         .node_fn(topic, move |_: &Ticket, _| async move { TicketAnswers(vec![format!("about {topic}")]) })
///         .route("triage", topic, topic);
/// }
/// let graph = builder.edge(START, "triage").build()?;
/// assert_eq!(graph.run("parcels".to_string()).await?.answers, ["about parcels"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes(pub Vec<String>);

impl Routes {
    /// One route.
    pub fn to(name: impl Into<String>) -> Self {
        Routes(vec![name.into()])
    }
}

impl<N: Into<String>> FromIterator<N> for Routes {
    fn from_iter<I: IntoIterator<Item = N>>(names: I) -> Self {
        Routes(names.into_iter().map(Into::into).collect())
    }
}

impl Routing for Routes {
    const MANY: bool = true;
    const ROUTES: bool = true;
    const NAMED: bool = true;
}

#[diagnostic::do_not_recommend]
impl<S> Output<S> for Routes {
    const MAY_WRITE: KeySet = KeySet::NONE;
    const MUST_WRITE: KeySet = KeySet::NONE;
    type Routing = Self;

    fn apply(self, effects: &mut Effects<S>) -> Result<(), BoxError>
    where
        S: State,
    {
        effects.choice.choose_named(self.0);
        Ok(())
    }
}
