//! The settings of nodes: deferral, policies, retained state, stored names, interrupts.

use super::GraphBuilder;
use crate::graph::interrupt_point::{BoxGuard, NamedInterruptPoint, boxed};
use crate::interrupt::Guard;
use crate::policy::{NodePolicy, Policy, Retry};
use crate::state::State;

impl<S: State> GraphBuilder<S> {
    /// Defers a node until nothing else is active.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// # #[node(Log)]
    /// # async fn a() -> LogLines { LogLines(vec!["a".into()]) }
    /// # #[node(Log)]
    /// # async fn b() -> LogLines { LogLines(vec!["b".into()]) }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// // `last` is reached after one superstep, and waits for `b`, which is reached after two.
    /// let graph = Graph::<Log>::builder("log")
    ///     .node_as("last", a {})
    ///     .node_as("first", a {})
    ///     .node(b {})
    ///     .edge(START, "first")
    ///     .edge("first", "last")
    ///     .edge("first", "b")
    ///     .defer("last")
    ///     .build()?;
    /// assert_eq!(graph.run(()).await?.lines, ["a", "b", "a"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn defer(mut self, node: impl Into<String>) -> Self {
        self.deferred.push(node.into());
        self
    }

    /// Sets retries and timeouts of a node. They replace those of its annotation.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # use std::time::Duration;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// use petalflow::error::FailureKind;
    /// use petalflow::policy::Policy;
    /// use petalflow::run::RunErrorKind;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let graph = Graph::<Log>::builder("log")
    ///     .node_fn("wait", |_: &Log, _| std::future::pending::<()>())
    ///     .with("wait", Policy { timeout: Some(Duration::from_millis(1)), ..Policy::NONE })
    ///     .build()?;
    /// let error = graph.run(()).await.err().unwrap();
    /// assert!(matches!(error.kind(), RunErrorKind::Node(error) if error.kind == FailureKind::Timeout));
    /// # Ok(())
    /// # }
    /// ```
    pub fn with(mut self, node: impl Into<String>, policy: Policy) -> Self {
        self.policies.push((node.into(), policy.into()));
        self
    }

    /// Sets the retries of a node. The first policy that covers an error decides. They replace those of the annotation and of an
    /// earlier [`with`](Self::with). An empty list changes nothing.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # use std::time::Duration;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// use petalflow::policy::Retry;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let attempts = 3; // Perhaps from a file.
    /// let graph = Graph::<Log>::builder("log")
    ///     .node_fn("fetch", |_: &Log, cx| async move {
    ///         if cx.attempt() < 3 { Err("busy") } else { Ok(LogLines(vec!["fetched".into()])) }
    ///     })
    ///     .retry("fetch", [Retry::attempts(attempts).first(Duration::ZERO)])
    ///     .build()?;
    /// assert_eq!(graph.run(()).await?.lines, ["fetched"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn retry(
        mut self,
        node: impl Into<String>,
        retries: impl IntoIterator<Item = Retry>,
    ) -> Self {
        let policy = NodePolicy::retrying(retries.into_iter().collect());
        self.policies.push((node.into(), policy));
        self
    }

    /// Retains the state of a sub-flow for the whole thread. Without it, each run of the sub-flow begins with a new state.
    pub fn keep_thread(mut self, subflow: impl Into<String>) -> Self {
        self.retained.push(subflow.into());
        self
    }

    /// Sets the name of a node in stored checkpoints. With its old name, a node that was renamed can resume stored threads.
    pub fn id(mut self, node: impl Into<String>, id: impl Into<String>) -> Self {
        self.ids.push((node.into(), id.into()));
        self
    }

    /// Stops the run before the node, for the decision of a person.
    pub fn interrupt_before(self, node: impl Into<String>) -> Self {
        self.interrupt(node, false, None)
    }

    /// Stops the run after the node, for the decision of a person.
    pub fn interrupt_after(self, node: impl Into<String>) -> Self {
        self.interrupt(node, true, None)
    }

    /// Stops the run before the node if the guard returns true. The guard can read the whole state, so there is no check that
    /// keys are written before they are read.
    ///
    /// ```
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Essay {
    ///     #[key(input)]
    ///     topic: String,
    ///     draft: String,
    /// }
    ///
    /// #[node(Essay)]
    /// async fn write(topic: &str) -> EssayDraft {
    ///     EssayDraft(topic.into())
    /// }
    ///
    /// # fn main() -> petalflow::Result<()> {
    /// let graph = Graph::<Essay>::builder("essay")
    ///     .node(write {})
    ///     .interrupt_before_if("write", |essay: &Essay| essay.topic.contains("secret"))
    ///     .edge(START, "write")
    ///     .build()?;
    /// assert!(graph.mermaid().contains("⏸ write"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn interrupt_before_if<F, G>(self, node: impl Into<String>, guard: F) -> Self
    where
        F: Fn(&S) -> G + Send + Sync + 'static,
        G: Guard,
    {
        self.interrupt(node, false, Some(boxed(guard)))
    }

    /// Stops the run after the node if the guard returns true.
    pub fn interrupt_after_if<F, G>(self, node: impl Into<String>, guard: F) -> Self
    where
        F: Fn(&S) -> G + Send + Sync + 'static,
        G: Guard,
    {
        self.interrupt(node, true, Some(boxed(guard)))
    }

    fn interrupt(
        mut self,
        node: impl Into<String>,
        after: bool,
        guard: Option<BoxGuard<S>>,
    ) -> Self {
        self.interrupt_points.push(NamedInterruptPoint {
            node: node.into(),
            after,
            guard,
        });
        self
    }
}
