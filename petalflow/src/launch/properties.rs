//! What is known of a launch before it runs.

use super::Launch;
use crate::flow::Flow;

impl<F: Flow> Launch<F> {
    /// The flow.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// # #[node(Log)]
    /// # async fn greet() {}
    /// # flow!(Greet(Log) { greet });
    /// assert_eq!(Greet::new().flow().name(), "Greet");
    /// ```
    pub fn flow(&self) -> &F {
        &self.flow
    }

    /// The graph of the flow.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// # #[node(Log)]
    /// # async fn greet() {}
    /// # flow!(Greet(Log) { greet });
    /// assert_eq!(Greet::new().graph().nodes()[0].name, "greet");
    /// ```
    pub fn graph(&self) -> petalflow_graph::Graph {
        self.plan().graph().clone()
    }
}
