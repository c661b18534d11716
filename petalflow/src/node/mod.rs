//! Nodes: what they are, what they return, and what the run hands to them.

mod context;
mod effects;
mod extract;
mod item;
mod key;
mod last_activity;
mod managed;
mod managed_provider;
mod output;
mod route;
mod run_shared;
mod scope;
mod spec;

use std::future::Future;

pub use crate::delivery::{Delivery, ItemCodec};
pub use context::Context;
pub use effects::{Effects, RouteChoice};
pub use extract::{Extract, Managed, Requirements};
pub use item::{AcceptsItem, Each, Sent};
pub use key::{Key, Overwrite};
pub(crate) use last_activity::LastActivity;
pub use managed::{ManagedValues, RestoreContext};
pub use managed_provider::ManagedProvider;
pub use output::{Fails, Output, WriteOutput};
pub use route::{Carried, Carries, Route, Routing};
pub(crate) use run_shared::RunShared;
pub use scope::Scope;
pub(crate) use spec::node_spec;

use crate::policy::Policy;
use crate::state::KeySet;

/// A step of a flow over the state `S`. Written by [`#[node]`](macro@crate::node).
///
/// ```
/// use petalflow::node::Node;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay {
/// #     #[key(input)]
/// #     topic: String,
/// #     draft: String,
/// # }
/// #[node(Essay, retry = 3)]
/// async fn write(topic: &str) -> EssayDraft {
///     EssayDraft(format!("about {topic}"))
/// }
///
/// fn reads<S: State, N: Node<S>>(_: N) -> Vec<&'static str> {
///     N::READS.iter().map(|key| S::KEYS[key].name).collect()
/// }
///
/// assert_eq!(<write as Node<Essay>>::NAME, "write");
/// assert_eq!(<write as Node<Essay>>::POLICY.retry[0].attempts(), 3);
/// assert_eq!(reads::<Essay, _>(write {}), ["topic"]);
/// ```
#[diagnostic::on_unimplemented(
    message = "PF025: `{Self}` is not a node over `{S}`",
    label = "not a node over `{S}`",
    note = "annotate its `impl` block with `#[node({S})]`; a flow is a node with `{{ in: .., out: .. }}` behind its name"
)]
pub trait Node<S>: Send + Sync + 'static {
    /// What it returns: writes, and where to go next.
    type Output: Output<S>;
    /// What an edge must deliver to it: the type of its `#[item]` parameter, `()` without one.
    type Item: Send + Sync + 'static;
    /// Its name, unless the flow gives it another.
    const NAME: &'static str;
    /// The keys it reads. A node that reads the whole state names none.
    const READS: KeySet;
    /// Whether it may read more than that. [`#[node]`](macro@crate::node) knows; a node written by hand that names no key is
    /// taken to read the whole state.
    const READS_ALL: bool = Self::READS.is_empty();
    /// Whether it has an `#[item]` parameter.
    const TAKES_ITEM: bool = false;
    /// Its own retries and timeouts; the flow's `with` wins over them.
    const POLICY: Policy = Policy::NONE;
    /// How its item is stored, where it takes one that can be.
    const ITEM_CODEC: Option<ItemCodec> = None;

    /// Adds what it needs from the run, so that all that is missing is named before the first node runs.
    fn require(requirements: &mut Requirements<'_>) {
        let _ = requirements;
    }

    /// Runs it once against the superstep's snapshot.
    ///
    /// A node that takes something from the run, which may not have it, returns it in a `Result`; a node that does not is the
    /// function's own future, with nothing around it.
    fn run<'a>(
        &'a self,
        state: &'a S,
        scope: &'a Scope,
    ) -> impl Future<Output = Self::Output> + Send + 'a;
}

/// A node that is an annotated function: it needs no value.
///
/// ```
/// use petalflow::node::FnNode;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// #[node(Essay)]
/// async fn write() -> EssayDraft {
///     EssayDraft("…".into())
/// }
///
/// fn just<S: State, N: FnNode<S>>() -> Graph<S> {
///     Graph::builder(N::NAME).node(N::NODE).build().unwrap()
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// assert_eq!(just::<Essay, write>().run(()).await?.draft, "…");
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "PF025: `{Self}` is not a node over `{S}`",
    label = "not a node over `{S}`",
    note = "annotate the function with `#[node({S})]`; a node value is declared with `node name: Type = value;`"
)]
pub trait FnNode<S>: Node<S> {
    /// The node.
    const NODE: Self;
}

#[diagnostic::do_not_recommend]
impl<S, N: Node<S> + Itself> FnNode<S> for N {
    const NODE: Self = <N as Itself>::ITSELF;
}

/// What `#[node]` says of a function. It speaks of no state, so that one that is none is not blamed here as well.
#[doc(hidden)]
pub trait Itself {
    const ITSELF: Self;
}
