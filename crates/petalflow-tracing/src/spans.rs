//! Spans of runs, supersteps and nodes.

use std::sync::Arc;

use petalflow::async_trait;
use tracing::{Instrument as _, Span, field};

use super::scope::{self, Run};
use super::span::{int, record_failure};
use super::spawned::register;
use petalflow::middleware::{Middleware, Next, NodeCall, RunMiddleware, RunNext};
use petalflow::run::RunErrorKind;
use petalflow::{BoxError, Flow, Launch, RunError, State};

/// Middleware that makes a span for each run, each superstep and each attempt of a node. It is
/// [middleware](petalflow::Middleware) of both kinds. [`Launch::traced`](TraceLaunch::traced) adds both.
///
/// A node's span is a child of its superstep's span, which is a child of the run's span. Spawned work runs inside the
/// node's span. A superstep's span ends when the next one starts. Nodes of a nested flow have no spans.
///
/// ```
/// use petalflow_tracing::{Spans, TraceLaunch};
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
/// # flow!(Write(Essay) { write });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// Write::new().traced(Spans::new()).run(()).await?;
/// // The same, where only one of the two is wanted, or other middleware comes in between:
/// Write::new().run_middleware(Spans::new()).middleware(Spans::new()).run(()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Spans {
    content: bool,
}

impl Spans {
    /// Creates the middleware. It records no content. So the status of a failed node has no message if a tool failed, or
    /// if the arguments or the answer of a model cannot be read: such messages may quote content. Messages of your own
    /// errors are recorded.
    pub fn new() -> Self {
        Spans { content: false }
    }

    /// Records prompts, answers, arguments and results in the spans of models and tools that the run calls. This
    /// includes agents and nested flows. Anyone who sees the spans can then read this content.
    ///
    /// ```
    /// use petalflow_tracing::{Spans, TraceLaunch};
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
    /// # flow!(Write(Essay) { write });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// Write::new().traced(Spans::new().with_content()).run(()).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_content(mut self) -> Self {
        self.content = true;
        self
    }
}

/// Extends [`Launch`] with the method [`traced`](Self::traced).
///
/// ```
/// use petalflow_tracing::{Spans, TraceLaunch};
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("petals".into()) }
/// # flow!(Write(Essay) { write });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// // Spans `invoke_workflow Write`, `superstep 1` and `node write`.
/// let essay = Write::new().traced(Spans::new()).run(()).await?;
/// assert_eq!(essay.draft, "petals");
/// # Ok(())
/// # }
/// ```
pub trait TraceLaunch {
    /// Makes a span for each run, each superstep and each attempt of a node. See [`Spans`].
    #[must_use = "nothing runs before `run`"]
    fn traced(self, spans: Spans) -> Self;
}

impl<F: Flow> TraceLaunch for Launch<F> {
    fn traced(self, spans: Spans) -> Self {
        self.run_middleware(spans).middleware(spans)
    }
}

#[async_trait]
impl<S: State> Middleware<S> for Spans {
    async fn around(&self, call: NodeCall<'_, S>, next: Next<'_, S>) -> Result<(), BoxError> {
        register();
        let span = node_span(&call);
        let inside = span.clone();
        let run = async move {
            let result = next.run(call).await;
            if let Err(error) = &result {
                record_failure(&inside, "node", &**error, scope::records_content());
            }
            result
        };
        run.instrument(span).await
    }
}

#[async_trait]
impl<S: State> RunMiddleware<S> for Spans {
    async fn around(&self, input: Option<S::Input>, next: RunNext<'_, S>) -> Result<S, RunError> {
        register();
        let span = run_span(next.flow(), next.thread());
        let inside = span.clone();
        let content = self.content || scope::records_content();
        let scope = Arc::new(Run::new(span.clone(), content));
        let run = async move {
            let result = scope::within(Some(scope), next.run(input)).await;
            match &result {
                Err(error) => record_outcome(&inside, error, content),
                Ok(_) => {
                    inside.record("petalflow.outcome", "finished");
                }
            }
            result
        };
        run.instrument(span).await
    }
}

/// Records how a run ended. An interrupted, drained or rejected run has not failed.
fn record_outcome(span: &Span, error: &RunError, content: bool) {
    let (outcome, kind) = match error.kind() {
        RunErrorKind::Interrupted { .. } => ("interrupted", None),
        RunErrorKind::Sleeping { .. } => ("sleeping", None),
        RunErrorKind::Drained { .. } => ("drained", None),
        RunErrorKind::Rejected { .. } => ("rejected", None),
        RunErrorKind::Cancelled => ("cancelled", Some("cancelled")),
        RunErrorKind::Timeout { .. } => ("failed", Some("timeout")),
        RunErrorKind::Node(_) => ("failed", Some("node")),
        RunErrorKind::Limit { .. } => ("failed", Some("limit")),
        RunErrorKind::Thread { .. } => ("failed", Some("thread")),
        RunErrorKind::Write { .. } => ("failed", Some("write")),
        RunErrorKind::Message { .. } => ("failed", Some("message")),
        RunErrorKind::Panic { .. } => ("failed", Some("panic")),
        RunErrorKind::MissingManaged(_) | RunErrorKind::RestoreManaged { .. } => {
            ("failed", Some("managed"))
        }
        RunErrorKind::IncompleteJoin { .. } | RunErrorKind::NoEdge { .. } => {
            ("failed", Some("graph"))
        }
        _ => ("failed", Some("other")),
    };
    span.record("petalflow.outcome", outcome);
    if let Some(kind) = kind {
        record_failure(span, kind, error, content);
    }
}

fn run_span(flow: &str, thread: Option<&str>) -> Span {
    tracing::info_span!(
        target: "petalflow",
        "invoke_workflow",
        otel.name = format!("invoke_workflow {flow}"),
        otel.kind = "internal",
        otel.status_code = field::Empty,
        otel.status_description = field::Empty,
        "error.type" = field::Empty,
        gen_ai.operation.name = "invoke_workflow",
        gen_ai.workflow.name = flow,
        gen_ai.conversation.id = thread,
        petalflow.outcome = field::Empty,
    )
}

fn node_span<S: State>(call: &NodeCall<'_, S>) -> Span {
    let cx = call.context();
    let node = call.node();
    let namespace = Some(cx.namespace().as_str()).filter(|namespace| !namespace.is_empty());
    let span = tracing::info_span!(
        target: "petalflow",
        parent: &scope::step(call.superstep()),
        "node",
        otel.name = format!("node {node}"),
        otel.kind = "internal",
        otel.status_code = field::Empty,
        otel.status_description = field::Empty,
        "error.type" = field::Empty,
        petalflow.node = node,
        petalflow.superstep = int(call.superstep()),
        petalflow.attempt = i64::from(call.attempt()),
        petalflow.index = cx.index().map(|index| int(index as u64)),
        petalflow.namespace = namespace,
        petalflow.task.id = field::Empty,
    );
    if !span.is_disabled() {
        span.record("petalflow.task.id", field::display(cx.task_id()));
    }
    span
}
