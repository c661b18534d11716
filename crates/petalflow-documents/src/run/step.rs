//! Runs step by step.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Envelope, NodeKind};
use petalflow::async_trait;

/// A point at which a run can pause.
///
/// ```
/// use petalflow_documents::run::StepPoint;
///
/// assert_eq!(serde_json::to_value(StepPoint::Before)?, "before");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepPoint {
    /// Before a node runs.
    Before,
    /// After a node has run.
    After,
}

/// Decides at each pause of a run how it continues. [`FuncController`](super::FuncController) has an example.
///
/// A pause is part of the task of its node: nodes of the same superstep that do not pause continue. The controller gets one
/// request at a time, in the order of the nodes.
///
/// ```
/// use petalflow::async_trait;
/// use petalflow_documents::run::{StepController, StepPoint, StepRequest, StepResponse};
///
/// struct SkipPublish;
///
/// #[async_trait]
/// impl StepController for SkipPublish {
///     async fn step(&self, request: StepRequest) -> StepResponse {
///         if request.node == "publish" { StepResponse::Skip } else { StepResponse::proceed() }
///     }
/// }
/// assert!(SkipPublish.pauses_at("publish", StepPoint::Before));
/// assert!(!SkipPublish.pauses_at("publish", StepPoint::After));
/// ```
#[async_trait]
pub trait StepController: Send + Sync + 'static {
    /// Whether the run pauses here. By default before each node.
    fn pauses_at(&self, node: &str, point: StepPoint) -> bool {
        let _ = node;
        point == StepPoint::Before
    }

    /// Whether the run pauses here after [`StepResponse::RunToBreakpoint`]. By default nowhere.
    fn is_breakpoint(&self, node: &str, point: StepPoint) -> bool {
        let _ = (node, point);
        false
    }

    /// Decides how the run continues.
    ///
    /// # Cancel safety
    ///
    /// The future is dropped if the run ends early.
    async fn step(&self, request: StepRequest) -> StepResponse;
}

/// A pause of a run.
///
/// ```
/// use petalflow_documents::builder::EnvelopeBuilder;
/// use petalflow_documents::kinds::NoopNode;
/// use petalflow_documents::run::{FuncController, RunOptions, StepResponse};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let flow = EnvelopeBuilder::new("pair").add_node("read", NoopNode).edge("write", NoopNode).build()?;
/// let controller = FuncController::new(|request| async move {
///     if request.number == 1 {
///         assert_eq!(request.graph.successors, ["write"]);
///     }
///     StepResponse::proceed()
/// });
/// flow.run_with(None, &RunOptions::new().step(controller)).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StepRequest {
    /// The number of the pause in its run, from 1.
    pub number: u64,
    /// The node.
    pub node: String,
    /// The kind of the node.
    pub kind: NodeKind,
    /// Whether the node will run or has run.
    pub point: StepPoint,
    /// The envelope that the node reads, or after it what its successors read. It is a copy.
    pub envelope: Envelope,
    /// The place of the node in the graph.
    pub graph: StepGraph,
}

/// The place of a node in its graph.
///
/// ```
/// use petalflow_documents::run::StepGraph;
///
/// let graph = StepGraph { successors: vec!["write".into()], ..StepGraph::default() };
/// assert!(graph.predecessors.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepGraph {
    /// The nodes after it.
    pub successors: Vec<String>,
    /// The nodes before it.
    pub predecessors: Vec<String>,
    /// All nodes of the graph.
    pub nodes: Arc<[String]>,
}

/// How a run continues.
///
/// ```
/// use petalflow_documents::run::StepResponse;
/// use serde_json::{Map, json};
///
/// let change = StepResponse::Continue {
///     set_vars: Map::from_iter([("approved".to_owned(), json!(true))]),
///     delete_vars: vec!["draft".into()],
/// };
/// assert_ne!(change, StepResponse::proceed());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum StepResponse {
    /// Runs to the next pause. Before a node, variables can be changed. The node sees the change, and writes it with its own
    /// changes. After a node, changes are ignored.
    Continue {
        /// Variables to set.
        set_vars: Map<String, Value>,
        /// Variables to remove.
        delete_vars: Vec<String>,
    },
    /// Does not run the node. Its successors run. After a node it is the same as `Continue`.
    Skip,
    /// Ends the run with [`StepAborted`].
    Abort {
        /// The reason, as text for a person.
        reason: String,
    },
    /// Runs to the next [breakpoint](StepController::is_breakpoint).
    RunToBreakpoint,
}

impl StepResponse {
    /// Continues without changes.
    pub fn proceed() -> Self {
        StepResponse::Continue {
            set_vars: Map::new(),
            delete_vars: Vec::new(),
        }
    }
}

/// The error of a run that a controller ended: [`RunError::get_ref`](petalflow::RunError::get_ref) returns it.
///
/// ```
/// use petalflow_documents::builder::EnvelopeBuilder;
/// use petalflow_documents::kinds::NoopNode;
/// use petalflow_documents::run::{FuncController, RunOptions, StepAborted, StepResponse};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let flow = EnvelopeBuilder::new("one").add_node("only", NoopNode).build()?;
/// let controller = FuncController::new(|_| async { StepResponse::Abort { reason: "wrong input".into() } });
/// let error = flow.run_with(None, &RunOptions::new().step(controller)).await.unwrap_err();
/// assert_eq!(error.downcast_ref::<StepAborted>().unwrap().reason, "wrong input");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run was ended at node `{node}`: {reason}")]
pub struct StepAborted {
    /// The node.
    pub node: String,
    /// The reason.
    pub reason: String,
}
