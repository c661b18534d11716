//! Graphs over envelopes that are built at run time: [`EnvelopeGraph`], and [`EnvelopeBuilder`] in a fluent form.
//!
//! ```
//! use petalflow_documents::builder::EnvelopeBuilder;
//! use petalflow_documents::kinds::{FuncNode, MergeConfig, MergeNode, NoopNode};
//! use petalflow_documents::{Changes, Envelope};
//!
//! fn set(name: &'static str, value: i64) -> FuncNode {
//!     FuncNode::new(move |_| async move { Ok(Changes::new().var(name, value)) })
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let flow = EnvelopeBuilder::new("both")
//!     .add_node("start", NoopNode)
//!     .fan_out([("left", set("a", 1)), ("right", set("b", 2))])
//!     .merge("merge", MergeNode::new(MergeConfig::default()))
//!     .build()?;
//! let envelope = flow.run(Envelope::new()).await?;
//! assert_eq!((&envelope.vars["a"], &envelope.vars["b"]), (&1.into(), &2.into()));
//! # Ok(())
//! # }
//! ```
//!
//! # What differs from PetalFlow
//!
//! There is one execution model, that of petalflow. All nodes of a superstep read the same envelope, and their changes are
//! applied in the order in which the nodes were added. The number of nodes that run at the same time has no influence on the
//! result.
//!
//! * A node runs once in a superstep, also if it has several predecessors. PetalFlow runs it once for each predecessor.
//! * A [merge](NodeKind::Merge) waits for the edges that can still fire. So it runs after a router that skips one of its
//!   branches. In PetalFlow it never runs then. It merges in the order of its edges and not in the order of arrival, and it
//!   merges also if one node runs at a time.
//! * The branches before a merge do not see each other: each continues with its own changes, and the merge gets the
//!   envelope at the end of each branch. Branches that no merge joins share one envelope: from the next superstep on they see
//!   what others changed, and the result has the changes of all. The result of PetalFlow is that of one branch. A path that
//!   leaves a branch and goes around the merge takes the changes of the branch with it.
//! * A router can choose only among its edges. The builder refuses a router with another target.
//! * A node that the entry cannot reach is left out of the flow. A cycle without a way out is an error.

mod compile;
mod error;
mod fluent;
mod graph;
mod graph_node;
mod regions;

#[cfg(doc)]
use crate::NodeKind;

pub use crate::run::flow::EnvelopeFlow;
pub use error::{BuildErrors, EdgeEnd, GraphError};
pub use fluent::EnvelopeBuilder;
pub use graph::EnvelopeGraph;
