//! Nodes: their parameters, their results and what a run provides to them.

mod context;
mod external;
mod extract;
mod item;
pub(crate) mod key;
mod keys;
mod last_activity;
mod mailbox;
mod managed;
mod managed_provider;
mod no_keep;
mod note_request;
mod output;
mod receive;
mod route;
#[cfg(feature = "builder")]
mod routes;
mod run_children;
mod run_shared;
mod scope;
mod sleep;
mod spec;
mod test_context;
mod test_records;
mod unfinished;

use std::future::Future;

pub use crate::delivery::{Delivery, ItemCodec};
pub use crate::effects::{Effects, RouteChoice};
pub use crate::request_parts::RequestParts;
pub use context::Context;
pub(crate) use external::{ExternalOutput, Following};
pub use extract::{Extract, Managed, Requirements};
pub use item::{AcceptsItem, Each, Sent};
pub use key::{Inbox, Key, Overwrite, Receivable};
pub use keys::Keys;
pub(crate) use last_activity::LastActivity;
pub use mailbox::Mailbox;
pub use managed::{ManagedValues, RestoreContext};
pub use managed_provider::ManagedProvider;
pub(crate) use no_keep::NoKeep;
pub use output::{IntoBoxError, KeyWrites, Output, WriteOutput};
#[doc(hidden)]
pub use output::{key_output, last_output};
pub use petalflow_graph::RouteIdx;
pub use receive::Receive;
pub use route::{Carried, Carries, Route, Routing};
#[cfg(feature = "builder")]
#[cfg_attr(docsrs, doc(cfg(feature = "builder")))]
pub use routes::Routes;
pub(crate) use run_children::{ChildEnd, RunChild, RunChildren};
pub(crate) use run_shared::{RunShared, Surroundings};
pub use scope::Scope;
pub(crate) use spec::node_spec;
pub use test_context::TestContext;

use crate::policy::Policy;
use crate::state::{KeySet, ThreadSafe};

/// A node of a flow over the state `S`. Implemented by [`#[node]`](macro@crate::node).
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
/// assert_eq!(<write as Node<Essay>>::POLICY.retry[0].max_attempts(), 3);
/// assert_eq!(reads::<Essay, _>(write {}), ["topic"]);
/// ```
#[diagnostic::on_unimplemented(
    message = "PF025: `{Self}` is not a node over `{S}`",
    label = "not a node over `{S}`",
    note = "annotate the function, or the `impl` block of its type, with `#[node({S})]`; a node value is declared with `node name: Type = value;`, another flow with `node name: Flow {{ in: .., out: .. }};`",
    note = "a type with a key as its parameter, such as `Llm<{S}Messages>`, is a node only for a key whose value is of the type that its documentation names"
)]
pub trait Node<S>: ThreadSafe {
    /// The result of the node: writes and a routing decision.
    type Output: Output<S>;
    /// The type that an edge must deliver: the type of the `#[item]` parameter, or `()` without one.
    type Item: ThreadSafe;
    /// The default name of the node in a flow.
    const NAME: &'static str;
    /// The keys that the node reads. Empty for a node that reads the whole state.
    const READS: KeySet;
    /// Whether the node can read other keys than [`READS`](Self::READS). For a node written by hand without
    /// [`READS`](Self::READS), this is `true`.
    const READS_ALL: bool = Self::READS.is_empty();
    /// Whether the node has an `#[item]` parameter.
    const TAKES_ITEM: bool = false;
    /// The node, if it is an annotated function, which needs no value.
    ///
    /// ```
    /// use petalflow::node::Node;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// #[node(Essay)]
    /// async fn write() -> EssayDraft {
    ///     EssayDraft("…".into())
    /// }
    ///
    /// assert!(<write as Node<Essay>>::FUNCTION.is_some());
    /// ```
    const FUNCTION: Option<&'static Self> = None;
    /// The node's own retries and timeouts. `with` in the flow overrides them.
    const POLICY: Policy = Policy::NONE;
    /// How the item is stored; `None` without an item, or if it cannot be stored.
    const ITEM_CODEC: Option<ItemCodec> = None;

    /// Adds what the node needs from the run, so that missing values are reported before the first node runs.
    fn require(requirements: &mut Requirements<'_>) {
        let _ = requirements;
    }

    /// Runs the node once with the superstep's snapshot.
    ///
    /// A node that takes a value from the run, which may be missing, returns a `Result`. For any other node this is the
    /// future of the function itself.
    fn run<'a>(
        &'a self,
        state: &'a S,
        scope: &'a Scope,
    ) -> impl Future<Output = Self::Output> + Send + 'a;
}
