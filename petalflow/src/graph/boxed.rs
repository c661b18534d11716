//! Nodes of any type in one collection.

use std::future::Future;

use super::GraphNode;
use super::node::Entry;
use crate::flow::Flow;
use crate::node::{Context, Output};
use crate::state::State;

/// A node of any type, for programs that collect nodes before they build a graph.
///
/// ```
/// use petalflow::graph::BoxNode;
/// use petalflow::prelude::*;
/// use std::collections::BTreeMap;
///
/// #[state]
/// struct Text {
///     #[key(input)]
///     text: String,
/// }
///
/// #[node(Text)]
/// async fn trim(text: &str) -> TextText {
///     TextText(text.trim().into())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let mut steps: BTreeMap<&str, BoxNode<Text>> = BTreeMap::new();
/// steps.insert("trim", BoxNode::new(trim {}));
/// steps.insert("shout", BoxNode::from_fn(|text: &Text, _| std::future::ready(TextText(text.text.to_uppercase()))));
///
/// // The order may come from a file.
/// let (mut builder, mut last) = (Graph::<Text>::builder("pipeline"), START);
/// for name in ["trim", "shout"] {
///     let step = steps.remove(name).ok_or("no such step")?;
///     builder = builder.boxed(name, step).edge(last, name);
///     last = name;
/// }
/// assert_eq!(builder.build()?.run(" petals ".to_string()).await?.text, "PETALS");
/// # Ok(())
/// # }
/// ```
pub struct BoxNode<S: State>(pub(super) Entry<S>);

impl_debug!([S: State] BoxNode<S>, |this| spec = this.0.spec);

impl<S: State> BoxNode<S> {
    /// An annotated function or a node value. See [`GraphBuilder::node`](super::GraphBuilder::node).
    pub fn new<N: GraphNode<S>>(node: N) -> Self {
        BoxNode(Entry::node(node))
    }

    /// A closure. See [`GraphBuilder::node_fn`](super::GraphBuilder::node_fn).
    pub fn from_fn<F, R, O>(node: F) -> Self
    where
        F: Fn(&S, Context) -> R + Send + Sync + 'static,
        R: Future<Output = O> + Send + 'static,
        O: Output<S>,
    {
        BoxNode(Entry::closure(node))
    }

    /// A flow. See [`GraphBuilder::subflow`](super::GraphBuilder::subflow).
    pub fn subflow<C, I, M, O>(flow: C, input: I, out: M) -> Self
    where
        C: Flow + Clone,
        I: Fn(&S) -> <C::State as State>::Input + Send + Sync + 'static,
        M: Fn(C::State) -> O + Send + Sync + 'static,
        O: Output<S> + 'static,
    {
        BoxNode(Entry::subflow(flow, input, out))
    }
}
