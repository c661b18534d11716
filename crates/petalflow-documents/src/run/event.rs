//! The events of a run.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::clock::now_ms;
use crate::{NodeKind, RouteDecision};
use petalflow::Context;
use petalflow::event::CustomEvent;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal,)*) => {
        /// The kind of a [`RunEvent`].
        ///
        /// ```
        /// use petalflow_documents::run::RunEventKind;
        ///
        /// assert_eq!(RunEventKind::StepPaused.to_string(), "step.paused");
        /// assert_eq!(RunEventKind::parse("run.started"), Some(RunEventKind::RunStarted));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum RunEventKind {
            $($(#[$doc])* #[serde(rename = $name)] $kind,)*
        }

        impl RunEventKind {
            /// All kinds.
            pub const ALL: &[RunEventKind] = &[$(RunEventKind::$kind),*];

            /// Returns the name.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(RunEventKind::$kind => $name,)*
                }
            }

            /// Returns the kind with this name.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.as_str() == name)
            }
        }
    };
}

kinds! {
    /// The run began.
    RunStarted = "run.started",
    /// A node began.
    NodeStarted = "node.started",
    /// A node produced a value.
    NodeOutput = "node.output",
    /// A node failed. `error` has the message.
    NodeFailed = "node.failed",
    /// A node ended.
    NodeFinished = "node.finished",
    /// A router has chosen the next nodes. The payload is a [`RouteDecision`](crate::RouteDecision).
    RouteDecision = "route.decision",
    /// The run ended. `status` is `completed` or `failed`, with `error`.
    RunFinished = "run.finished",
    /// The run paused at `point` of a node.
    StepPaused = "step.paused",
    /// The run continued.
    StepResumed = "step.resumed",
    /// A controller skipped a node.
    StepSkipped = "step.skipped",
    /// A controller ended the run. `reason` has its reason.
    StepAborted = "step.aborted",
    /// A tool was called.
    ToolCall = "tool.call",
    /// A tool returned.
    ToolResult = "tool.result",
    /// A chunk of the text of a model.
    NodeOutputDelta = "node.output.delta",
    /// The complete text of a model.
    NodeOutputFinal = "node.output.final",
    /// A preview of a result.
    NodeOutputPreview = "node.output.preview",
    /// The state of the run.
    RunSnapshot = "run.snapshot",
    /// A model was called.
    LlmCall = "llm.call",
    /// A model answered.
    LlmResponse = "llm.response",
    /// An envelope was passed along an edge.
    EdgeTransfer = "edge.transfer",
}

impl fmt::Display for RunEventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl RunEventKind {
    /// Returns the kind and the payload of an event that a node emitted. An event of no known kind is a `node.output`.
    ///
    /// ```
    /// use petalflow::event::CustomEvent;
    /// use petalflow_documents::RouteDecision;
    /// use petalflow_documents::run::RunEventKind;
    ///
    /// let decision = RouteDecision { targets: vec!["billing".into()], ..RouteDecision::default() };
    /// let (kind, payload) = RunEventKind::of(&CustomEvent::new(decision));
    /// assert_eq!(kind, RunEventKind::RouteDecision);
    /// assert_eq!(payload["targets"][0], "billing");
    /// ```
    pub fn of(event: &CustomEvent) -> (Self, Map<String, Value>) {
        if let Some(signal) = event.downcast_ref::<Signal>() {
            return (signal.kind, signal.payload.clone());
        }
        let value = event.value().ok();
        let value = value.and_then(|value| serde_json::to_value(value).ok());
        let mut payload = object(value.unwrap_or_default());
        if event.downcast_ref::<RouteDecision>().is_some() {
            return (RunEventKind::RouteDecision, payload);
        }
        // The events of models and tools name their kind.
        let kind = payload.get("kind").and_then(Value::as_str);
        let Some(kind) = kind.and_then(RunEventKind::parse) else {
            return (RunEventKind::NodeOutput, payload);
        };
        payload.remove("kind");
        (kind, payload)
    }

    /// Emits an event from inside a node. `payload` returns an object. It is not called, and nothing happens, if nothing
    /// listens to the run.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow_documents::run::RunEventKind;
    /// use petalflow_documents::{Changes, Envelope};
    /// use serde_json::json;
    ///
    /// #[node(Envelope)]
    /// async fn draw(cx: Context) -> Changes {
    ///     RunEventKind::NodeOutputPreview.emit(&cx, || json!({ "lines": 3 }));
    ///     Changes::new()
    /// }
    /// # let _ = draw {};
    /// ```
    pub fn emit(self, cx: &Context, payload: impl FnOnce() -> Value) {
        cx.emit_with(|| {
            CustomEvent::new(Signal {
                kind: self,
                payload: object(payload()),
            })
        });
    }
}

/// An event that a node emits.
#[derive(Debug, Serialize)]
pub(super) struct Signal {
    pub(super) kind: RunEventKind,
    #[serde(flatten)]
    pub(super) payload: Map<String, Value>,
}

/// An object unchanged, and any other value as `value` of an object.
pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        Value::Null => Map::new(),
        value => Map::from_iter([("value".to_owned(), value)]),
    }
}

/// An event of a run.
///
/// ```
/// use petalflow_documents::run::{RunEvent, RunEventKind};
/// use serde_json::json;
///
/// let event: RunEvent = serde_json::from_value(json!({
///     "seq": 2, "kind": "node.started", "run_id": "run-7", "node": "fetch", "at_ms": 0,
/// }))?;
/// assert_eq!(event.kind, RunEventKind::NodeStarted);
/// assert_eq!(event.node.as_deref(), Some("fetch"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEvent {
    /// The number of the event in its run, from 1.
    pub seq: u64,
    /// The kind.
    pub kind: RunEventKind,
    /// The identifier of the run.
    pub run_id: String,
    /// The node, for events of a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The kind of the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_kind: Option<NodeKind>,
    /// The time, in milliseconds since 1970 (UTC).
    pub at_ms: u64,
    /// The data of the kind.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub payload: Map<String, Value>,
}

impl RunEvent {
    /// An event that has no number yet.
    pub(super) fn new(run_id: &str, kind: RunEventKind, payload: Map<String, Value>) -> Self {
        RunEvent {
            seq: 0,
            kind,
            run_id: run_id.into(),
            node: None,
            node_kind: None,
            at_ms: now_ms(),
            payload,
        }
    }
}

/// The number of events that a channel holds.
const CHANNEL_SIZE: usize = 100;

/// The receiving end of the channel of [`RunOptions::channel`](super::RunOptions::channel). It holds 100 events. If it is
/// full, further events are dropped and counted.
///
/// ```
/// use petalflow_documents::builder::EnvelopeBuilder;
/// use petalflow_documents::kinds::NoopNode;
/// use petalflow_documents::run::{RunEventKind, RunOptions};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let flow = EnvelopeBuilder::new("one").add_node("only", NoopNode).build()?;
/// let (options, mut events) = RunOptions::new().channel();
/// flow.run_with(None, &options).await?;
/// assert_eq!(events.next().await.unwrap().kind, RunEventKind::RunStarted);
/// assert_eq!(events.try_next().unwrap().kind, RunEventKind::NodeStarted);
/// assert_eq!(events.dropped_events(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct EventReceiver {
    events: mpsc::Receiver<RunEvent>,
    dropped: Arc<AtomicU64>,
}

#[derive(Clone, Debug)]
pub(super) struct EventSender {
    events: mpsc::Sender<RunEvent>,
    dropped: Arc<AtomicU64>,
}

impl EventReceiver {
    pub(super) fn new() -> (EventSender, EventReceiver) {
        let (sender, events) = mpsc::channel(CHANNEL_SIZE);
        let dropped = Arc::new(AtomicU64::new(0));
        let sender = EventSender {
            events: sender,
            dropped: Arc::clone(&dropped),
        };
        (sender, EventReceiver { events, dropped })
    }

    /// The next event. `None` after the options of the run were dropped.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no event.
    pub async fn next(&mut self) -> Option<RunEvent> {
        self.events.recv().await
    }

    /// The next event, if there is one now.
    pub fn try_next(&mut self) -> Option<RunEvent> {
        self.events.try_recv().ok()
    }

    /// How many events were dropped because the channel was full.
    pub fn dropped_events(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl EventSender {
    pub(super) fn send(&self, event: &RunEvent) {
        if self.events.try_send(event.clone()).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}
