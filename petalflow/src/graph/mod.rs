//! Graphs as data, and, with the feature `builder`, graphs that are built at run time, with the rules and the engine of
//! `flow!`.
//!
//! ```
//! use petalflow::prelude::*;
//!
//! #[state]
//! struct Text {
//!     #[key(input)]
//!     text: String,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! // The steps may come from a configuration file.
//! let mut builder = Graph::<Text>::builder("pipeline");
//! let mut last = START;
//! for step in ["trim", "shout"] {
//!     builder = match step {
//!         "trim" => builder.node_fn(step, |text: &Text, _| std::future::ready(TextText(text.text.trim().into()))),
//!         _ => builder.node_fn(step, |text: &Text, _| std::future::ready(TextText(text.text.to_uppercase()))),
//!     };
//!     builder = builder.edge(last, step);
//!     last = step;
//! }
//! let pipeline = builder.edge(last, END).build()?;
//! assert_eq!(pipeline.run(" petals ".to_string()).await?.text, "PETALS");
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "builder")]
mod boxed;
#[cfg(feature = "builder")]
mod build;
#[cfg(feature = "builder")]
mod builder;
#[cfg(feature = "builder")]
mod built;
#[cfg(feature = "builder")]
mod error;
#[cfg(feature = "builder")]
mod interrupt_point;
#[cfg(feature = "builder")]
mod items;
#[cfg(feature = "builder")]
mod node;
#[cfg(feature = "builder")]
mod resolve;
#[cfg(feature = "builder")]
mod rules;

#[cfg(feature = "builder")]
#[cfg_attr(docsrs, doc(cfg(feature = "builder")))]
pub use boxed::BoxNode;
#[cfg(feature = "builder")]
#[doc(hidden)]
pub use builder::Runnable;
#[cfg(feature = "builder")]
#[cfg_attr(docsrs, doc(cfg(feature = "builder")))]
pub use builder::{GraphBuilder, GraphNode};
#[cfg(feature = "builder")]
#[cfg_attr(docsrs, doc(cfg(feature = "builder")))]
pub use built::Graph;
#[cfg(feature = "builder")]
#[cfg_attr(docsrs, doc(cfg(feature = "builder")))]
pub use error::GraphErrors;
pub use petalflow_graph::{Diagnostic, Location, Metrics, NodeInfo, Role, Rule, Topology, When};

/// The start of a run, in the edges of the builder. The edge from it may be omitted if exactly one node has no edge into it.
///
/// ```
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
/// let graph = Graph::<Essay>::builder("essay").node(write {}).edge(START, "write").build().unwrap();
/// assert_eq!(graph.topology().entries, ["write"]);
/// ```
pub const START: &str = "START";
/// The end of a path, in the edges of the builder. The edge to it may be omitted after a node without other edges.
///
/// ```
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
/// let graph = Graph::<Essay>::builder("essay").node(write {}).edge("write", END).edge(START, "write").build().unwrap();
/// assert_eq!(graph.topology().exits, ["write"]);
/// ```
pub const END: &str = "END";
