//! Nodes: what they are, what they return, and what the run hands to them.

mod context;
mod effects;
mod extract;
mod item;
mod output;
mod policy;
mod route;

use std::future::Future;

pub use context::{Context, Namespace, Scope, TaskId};
pub use effects::{Chosen, Effects};
pub use extract::{Extract, Managed, ManagedValues, Requirements};
pub use item::{Delivery, Each, Takes};
pub use output::{Chooses, Fails, Output, Written};
pub use policy::{Policy, Retry};
pub use route::{Carries, Route};

use crate::{KeySet, State};

/// A step of a flow over the state `S`. Written by [`#[node]`](macro@crate::node).
#[diagnostic::on_unimplemented(
    message = "PF025: `{Self}` is not a node over `{S}`",
    label = "not a node over `{S}`",
    note = "annotate its `impl` block with `#[node({S})]`; a flow is a node with `{{ in: .., out: .. }}` behind its name"
)]
pub trait Node<S: State>: Send + Sync + 'static {
    /// What it returns: writes, and where to go next.
    type Output: Output<S>;
    /// What an edge must deliver to it: the type of its `#[item]` parameter, `()` without one.
    type Item: Send + Sync + 'static;
    /// Its name, unless the flow gives it another.
    const NAME: &'static str;
    /// The keys it reads. A node that reads the whole state names none.
    const READS: KeySet;
    /// Whether it has an `#[item]` parameter.
    const TAKES: bool = false;
    /// Its own retries and timeouts; the flow's `with` wins over them.
    const POLICY: Policy = Policy::NONE;

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
#[diagnostic::on_unimplemented(
    message = "PF025: `{Self}` is not a node over `{S}`",
    label = "not a node over `{S}`",
    note = "annotate the function with `#[node({S})]`; a node value is declared with `node name: Type = value;`"
)]
pub trait FnNode<S: State>: Node<S> {
    /// The node.
    const NODE: Self;
}
