//! The node kinds, each configured by a struct that a document can contain.
//!
//! Each kind is a node value for [`flow!`](petalflow::flow!) and for [`Graph::builder`](petalflow::Graph::builder). Its
//! settings implement `Deserialize`, which refuses unknown fields, `Serialize` and `JsonSchema`.
//!
//! ```
//! use petalflow::prelude::*;
//! use petalflow_documents::Envelope;
//! use petalflow_documents::kinds::{TransformConfig, TransformNode};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let config: TransformConfig = serde_json::from_value(json!({
//!     "transform": "template",
//!     "template": "Hello, {{.name}}!",
//!     "output_var": "greeting",
//! }))?;
//! let flow = Graph::<Envelope>::builder("greet")
//!     .node_as("greet", TransformNode::new(config)?)
//!     .build()?;
//! let envelope = flow.run(Envelope::new().with_var("name", "Ann")).await?;
//! assert_eq!(envelope.get_var_string("greeting"), "Hello, Ann!");
//! # Ok(())
//! # }
//! ```
//!
//! The nodes that choose the next node implement [`Decide`]. [`Routed`] makes them route to the variants of an enum.

mod control;
mod data;
mod func;
mod human;
mod models;
mod noop;
mod web;
mod wrappers;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;

pub(crate) use control::changes_of;
pub use control::{
    CheckConfig, CheckType, ChosenRoutes, ConditionConfig, ConditionalConfig, ConditionalNode,
    Conflict, Decide, EvaluationOrder, GateAction, GateConfig, GateNode, GuardianAction,
    GuardianConfig, GuardianNode, MergeConfig, MergeNode, Passage, PiiType, RouteCondition,
    RouteOp, RouteRule, Routed, RuleRouter, RuleRouterConfig, ValueType,
};
pub use data::{
    DeepOrShallow, DuplicateKept, FilterConfig, FilterNode, FilterOp, FilterTarget, ParseFormat,
    SortOrder, StringifyFormat, TransformConfig, TransformNode,
};
pub use func::FuncNode;
pub use human::{
    AutoHandler, ChannelHandler, FuncHandler, HumanConfig, HumanHandler, HumanNode, HumanOption,
    HumanQuestion, HumanRequest, HumanResponse, QueuedHandler, RequestType, ThreadHandler,
    TimeoutAction,
};
pub use models::{
    BudgetConfig, LlmConfig, LlmNode, LlmRouter, LlmRouterConfig, RetryConfig, ToolConfig, ToolNode,
};
pub use noop::NoopNode;
pub use web::{Refusal, TriggerAuth, WebhookRequest, WebhookTriggerConfig, WebhookTriggerNode};
#[cfg(feature = "http")]
#[cfg_attr(docsrs, doc(cfg(feature = "http")))]
pub use web::{WebhookCallConfig, WebhookCallNode};
pub use wrappers::{
    BranchNode, CacheConfig, CacheEntry, CacheNode, CacheStore, MapConfig, MapNode,
    MemoryCacheStore,
};

use crate::{Changes, Envelope, NodeKind};
use petalflow::{BoxError, Context, async_trait, node};

/// What is between the name of a [`MapNode`] and the index of an item, in the name of its inner node.
pub(crate) const ITEM: &str = "-item-";

/// One call of a node: its name, the envelope, and the context of the task.
///
/// ```
/// use petalflow::{BoxError, async_trait};
/// use petalflow_documents::kinds::{Call, EnvelopeNode};
/// use petalflow_documents::{Changes, NodeKind};
///
/// struct Sign;
///
/// #[async_trait]
/// impl EnvelopeNode for Sign {
///     fn kind(&self) -> NodeKind {
///         NodeKind::Other("sign".into())
///     }
///
///     async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError> {
///         Ok(Changes::new().var(call.output(None), call.name))
///     }
/// }
/// # let _ = Sign;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The name of the node. For a node inside another node it is the name of the outer node with a suffix.
    pub name: &'a str,
    /// The envelope.
    pub envelope: &'a Envelope,
    /// The context of the task.
    pub cx: &'a Context,
}

impl Call<'_> {
    /// The name of the variable for the result: the given one, or `<node>_output`.
    pub fn output(&self, name: Option<&str>) -> String {
        name.map_or_else(|| format!("{}_output", self.name), str::to_owned)
    }

    /// The name, which is the same for all items of a [`MapNode`].
    pub(crate) fn name_of_all_items(&self) -> String {
        let outer = self.cx.node();
        match self.name.strip_prefix(outer) {
            Some(suffix) => {
                let parts = suffix.split(ITEM).enumerate();
                let parts = parts.map(|(index, part)| match index {
                    0 => part,
                    _ => part.trim_start_matches(|c: char| c.is_ascii_digit()),
                });
                outer.to_owned() + &parts.collect::<Vec<_>>().join(ITEM)
            }
            None => self.name.to_owned(),
        }
    }
}

/// A node over an envelope, as a trait object. All node kinds implement it. [`MapNode`], [`CacheNode`] and [`BranchNode`]
/// contain one. A closure is one in a [`FuncNode`].
///
/// ```
/// use petalflow_documents::NodeKind;
/// use petalflow_documents::kinds::{EnvelopeNode, NoopNode};
///
/// assert_eq!(NoopNode.kind(), NodeKind::Noop);
/// assert!(NoopNode.router().is_none());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a node over an envelope",
    label = "not a node",
    note = "a closure is one in `FuncNode::new(|envelope| async move {{ Ok(Changes::new()) }})`; the others are the types of `petalflow_documents::kinds`"
)]
#[async_trait]
pub trait EnvelopeNode: Send + Sync + 'static {
    /// The kind of the node.
    fn kind(&self) -> NodeKind;

    /// Runs the node once and returns what it changes.
    ///
    /// # Errors
    ///
    /// The error of the node.
    async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError>;

    /// The node as a router, if it chooses the next nodes. An [`EnvelopeGraph`](crate::builder::EnvelopeGraph) routes by it.
    fn router(&self) -> Option<&dyn Decide> {
        None
    }

    /// The node as a trigger, if an HTTP request starts it.
    fn trigger(&self) -> Option<&WebhookTriggerNode> {
        None
    }
}

/// What [`EnvelopeNode::process`] returns.
type Processed<'t> = BoxFuture<'t, Result<Changes, BoxError>>;

impl<N: EnvelopeNode + ?Sized> EnvelopeNode for Arc<N> {
    fn kind(&self) -> NodeKind {
        (**self).kind()
    }

    fn router(&self) -> Option<&dyn Decide> {
        (**self).router()
    }

    fn trigger(&self) -> Option<&WebhookTriggerNode> {
        (**self).trigger()
    }

    // Without another box around that of the node.
    fn process<'n, 'c, 't>(&'n self, call: Call<'c>) -> Processed<'t>
    where
        'n: 't,
        'c: 't,
        Self: 't,
    {
        (**self).process(call)
    }
}

/// Any [`EnvelopeNode`] as a node of a flow. Clones share it.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_documents::Envelope;
/// use petalflow_documents::kinds::{AnyNode, NoopNode};
///
/// # fn main() -> petalflow::Result<()> {
/// // The kind may come from a document.
/// let node = AnyNode::new(NoopNode);
/// let flow = Graph::<Envelope>::builder("one").node_as("first", node).build()?;
/// # let _ = flow;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct AnyNode(Arc<dyn EnvelopeNode>);

impl AnyNode {
    /// Boxes a node.
    pub fn new(node: impl EnvelopeNode) -> Self {
        // A node that is boxed already stays as it is.
        match (&node as &dyn Any).downcast_ref::<AnyNode>() {
            Some(boxed) => boxed.clone(),
            None => AnyNode(Arc::new(node)),
        }
    }
}

impl fmt::Debug for AnyNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnyNode").field(&self.0.kind()).finish()
    }
}

impl EnvelopeNode for AnyNode {
    fn kind(&self) -> NodeKind {
        self.0.kind()
    }

    fn router(&self) -> Option<&dyn Decide> {
        self.0.router()
    }

    fn trigger(&self) -> Option<&WebhookTriggerNode> {
        self.0.trigger()
    }

    fn process<'n, 'c, 't>(&'n self, call: Call<'c>) -> Processed<'t>
    where
        'n: 't,
        'c: 't,
        Self: 't,
    {
        self.0.process(call)
    }
}

/// Makes a type that implements [`EnvelopeNode`] a node of flows.
macro_rules! node_of_flows {
    ($($node:ident),*) => {$(
        #[node(Envelope)]
        impl $node {
            async fn run(&self, envelope: &Envelope, cx: Context) -> petalflow::Result<Changes> {
                let call = Call { name: cx.node(), envelope, cx: &cx };
                EnvelopeNode::process(self, call).await
            }
        }
    )*};
}

node_of_flows!(
    AnyNode,
    BranchNode,
    CacheNode,
    ConditionalNode,
    FilterNode,
    FuncNode,
    GateNode,
    GuardianNode,
    HumanNode,
    LlmNode,
    LlmRouter,
    MapNode,
    MergeNode,
    NoopNode,
    RuleRouter,
    ToolNode,
    TransformNode,
    WebhookTriggerNode
);
#[cfg(feature = "http")]
node_of_flows!(WebhookCallNode);
