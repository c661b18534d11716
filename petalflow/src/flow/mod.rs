//! Flows: a checked graph with its nodes.

mod any_flow;
mod step;
mod with_plan;

use std::future::Future;
use std::sync::Arc;

// What `flow!` expands to. It is not in `__private`, because rustc prints its path in errors.
#[doc(hidden)]
#[cfg(not(rust_analyzer))]
pub use petalflow_macros::flow_impl;
#[doc(hidden)]
#[cfg(rust_analyzer)]
pub use petalflow_macros::flow_in_editor as flow_impl;

pub(crate) use any_flow::{AnyFlow, Lane};
pub use step::Step;
pub(crate) use step::{FastPath, next_on_fast_path};
pub(crate) use with_plan::WithPlan;

use crate::error::BoxError;
use crate::node::Requirements;
use crate::plan::ExecutionPlan;
use crate::state::State;

/// A graph that can run. [`flow!`](macro@crate::flow) and the graph builder create it.
///
/// ```
/// use petalflow::Launch;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
/// # flow!(Write(Essay) { write });
///
/// /// Launches any flow with the settings of this program.
/// fn launch<F: Flow>(flow: F) -> Launch<F> {
///     println!("launching {}", flow.name());
///     Launch::new(flow).limit(1_000)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// assert_eq!(launch(Write).run(()).await?.draft, "…");
/// let graph = Graph::<Essay>::builder("write").node(write {}).build()?;
/// assert_eq!(launch(graph).run(()).await?.draft, "…");
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a flow",
    label = "not a flow",
    note = "declare it with `flow!(Name(State) {{ .. }})`"
)]
pub trait Flow: Send + Sync + Sized + 'static {
    /// The state of the flow.
    type State: State;

    /// The flow's name.
    fn name(&self) -> &str;

    /// The name of the flow in stored threads. `#[flow(id = "…")]` sets it for a flow that was renamed.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
    /// flow! {
    ///     // It was called `Write` when the first threads were stored.
    ///     #[flow(id = "Write")]
    ///     WriteEssay(Essay) { write }
    /// }
    ///
    /// assert_eq!((WriteEssay.name(), WriteEssay.stored_name()), ("WriteEssay", "Write"));
    /// ```
    fn stored_name(&self) -> &str {
        self.name()
    }

    /// Its execution plan.
    #[doc(hidden)]
    fn plan(&self) -> Arc<ExecutionPlan>;

    /// Adds the requirements of its nodes.
    #[doc(hidden)]
    fn require(&self, requirements: &mut Requirements<'_>);

    /// Evaluates the guard of an `interrupt`: whether the run stops. `point` is an index in [`ExecutionPlan::interrupt_points`].
    ///
    /// # Errors
    ///
    /// The error of the guard.
    #[doc(hidden)]
    fn guard(&self, point: u32, state: &Self::State) -> Result<bool, BoxError> {
        let _ = (point, state);
        Ok(true)
    }

    /// Runs one node with the superstep's snapshot and, on the fast path, the nodes after it while [`Step::advance`]
    /// returns the next one. This is the only generated code on the hot path.
    #[doc(hidden)]
    fn step<'a>(
        &'a self,
        node: u32,
        step: &'a mut Step<'_, Self::State>,
    ) -> impl Future<Output = Result<(), BoxError>> + Send + 'a;
}

/// A flow, or a launch of one: for code that uses a flow's graph and does not run it.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a flow nor the launch of one",
    label = "not a flow"
)]
pub trait HasFlow {
    type Flow: Flow;

    fn flow(&self) -> &Self::Flow;

    /// The plan of the runs, which a launch may have changed.
    fn plan_of_runs(&self) -> Arc<ExecutionPlan> {
        Flow::plan(self.flow())
    }
}

impl<F: Flow> HasFlow for F {
    type Flow = F;

    fn flow(&self) -> &F {
        self
    }
}

/// The start of a flow, as a type: for a node `start` that does not exist, rustc suggests this name.
#[doc(hidden)]
#[derive(Debug)]
pub enum START {}

/// The end of a flow, as a type.
#[doc(hidden)]
#[derive(Debug)]
pub enum END {}
