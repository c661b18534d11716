//! Runs a graph with options.

use std::collections::HashSet;
use std::error::Error;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use serde_json::{Value, json};

use super::control::RunControl;
use super::event::{RunEvent, RunEventKind, object};
use super::flow::EnvelopeFlow;
use super::options::RunOptions;
use crate::Envelope;
use petalflow::RunError;
use petalflow::event::{Event, EventKind};
use petalflow::interrupt::Interrupt;
use petalflow::run::RunErrorKind;

/// Why a run has no result.
///
/// ```
/// use petalflow_documents::ConfigError;
/// use petalflow_documents::builder::EnvelopeBuilder;
/// use petalflow_documents::kinds::FuncNode;
/// use petalflow_documents::run::RunOptions;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let fetch = FuncNode::new(|_| async { Err(ConfigError::new("url", "it is empty").into()) });
/// let flow = EnvelopeBuilder::new("one").add_node("fetch", fetch).build()?;
/// let error = flow.run_with(None, &RunOptions::new()).await.unwrap_err();
/// assert_eq!(error.downcast_ref::<ConfigError>().unwrap().field, "url");
/// # Ok(())
/// # }
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum EnvelopeRunError {
    /// The run failed.
    #[error(transparent)]
    Failed(#[from] RunError),
    /// A node asks a person. Run the graph on a thread, with [`EnvelopeFlow::launch`], to answer it.
    #[error("the run waits for a person: run the graph on a thread to answer")]
    Paused {
        /// What it waits for.
        interrupts: Vec<Interrupt>,
        /// The envelope at the pause.
        envelope: Box<Envelope>,
    },
}

/// The message, which is what `main` prints if it returns the error.
impl std::fmt::Debug for EnvelopeRunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl EnvelopeRunError {
    /// The error of a node that ended the run, such as [`MaxHopsExceeded`](super::MaxHopsExceeded), if it is an `E`.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        match self {
            EnvelopeRunError::Failed(error) => error.get_ref()?.downcast_ref(),
            EnvelopeRunError::Paused { .. } => None,
        }
    }
}

impl EnvelopeFlow {
    /// Runs the graph with these options. Without an envelope it runs with an empty one. The run gets a new identifier, in
    /// `trace.run_id`.
    ///
    /// ```
    /// use petalflow_documents::builder::EnvelopeBuilder;
    /// use petalflow_documents::kinds::NoopNode;
    /// use petalflow_documents::run::RunOptions;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let flow = EnvelopeBuilder::new("one").add_node("only", NoopNode).build()?;
    /// let envelope = flow.run_with(None, &RunOptions::new().concurrency(2)).await?;
    /// assert!(!envelope.trace.run_id.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the run fails, or pauses for a person.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the run.
    pub async fn run_with(
        &self,
        envelope: impl Into<Option<Envelope>>,
        options: &RunOptions,
    ) -> Result<Envelope, EnvelopeRunError> {
        let mut envelope: Envelope = envelope.into().unwrap_or_default();
        envelope.trace.run_id = new_run_id();
        let mut events = RunEvents {
            flow: self,
            options,
            run_id: envelope.trace.run_id.clone(),
            seq: 0,
            failed: HashSet::new(),
        };
        let nodes = u64::try_from(self.kinds().len()).unwrap_or(u64::MAX);
        let hops = nodes.saturating_mul(u64::from(options.max_hops));
        let mut launch = self
            .launch()
            .limit(hops.saturating_add(1))
            .max_concurrency(options.concurrency)
            .manage(RunControl::new(options.clone()));
        if let Some(token) = &options.cancel {
            launch = launch.cancel_with(token.clone());
        }
        let run = launch.run(envelope);
        if !options.has_listener() {
            return run.await.map_err(run_error);
        }
        let mut stream = run.events();
        while let Some(event) = stream.next().await {
            match event.kind {
                EventKind::Finished { state } => {
                    events.send(
                        RunEventKind::RunFinished,
                        json!({ "status": "completed" }),
                        None,
                    );
                    return Ok(state);
                }
                EventKind::Failed { error } => {
                    let payload = json!({ "status": "failed", "error": error.to_string() });
                    events.send(RunEventKind::RunFinished, payload, None);
                    return Err(run_error(error));
                }
                EventKind::Interrupted {
                    interrupts, state, ..
                } => {
                    events.send(
                        RunEventKind::RunFinished,
                        json!({ "status": "paused" }),
                        None,
                    );
                    return Err(EnvelopeRunError::Paused {
                        interrupts,
                        envelope: Box::new(state),
                    });
                }
                _ => events.translate(&event),
            }
        }
        unreachable!("the last event of a run is one of those above")
    }
}

fn run_error(error: RunError) -> EnvelopeRunError {
    if let RunErrorKind::Interrupted { interrupts } = error.kind() {
        let interrupts = interrupts.clone();
        let envelope = error.into_state::<Envelope>().unwrap_or_default();
        return EnvelopeRunError::Paused {
            interrupts,
            envelope: Box::new(envelope),
        };
    }
    EnvelopeRunError::Failed(error)
}

/// Turns events of the engine into events of the run.
struct RunEvents<'a> {
    flow: &'a EnvelopeFlow,
    options: &'a RunOptions,
    run_id: String,
    seq: u64,
    /// Tasks whose failure was recorded. The engine does not see it.
    failed: HashSet<petalflow::event::TaskId>,
}

impl RunEvents<'_> {
    fn translate(&mut self, event: &Event<Envelope>) {
        let node = event.task.as_ref().map(|task| Arc::clone(&task.node));
        let node = node.as_deref();
        match &event.kind {
            EventKind::RunStarted => self.send(RunEventKind::RunStarted, Value::Null, None),
            EventKind::NodeStarted => self.send(RunEventKind::NodeStarted, Value::Null, node),
            EventKind::NodeFinished { .. } => {
                let is_failed = event
                    .task
                    .as_ref()
                    .is_some_and(|task| self.failed.remove(&task.id));
                if !is_failed {
                    self.send(RunEventKind::NodeFinished, Value::Null, node);
                }
            }
            EventKind::NodeFailed { error } => {
                let panicked = error.kind == petalflow::error::FailureKind::Panic;
                let payload =
                    json!({ "error": error.message, "panic": panicked, "attempt": error.attempt });
                self.send(RunEventKind::NodeFailed, payload, node);
            }
            EventKind::Custom(custom) => {
                let (kind, payload) = RunEventKind::of(custom);
                if kind == RunEventKind::NodeFailed {
                    self.failed.extend(event.task.as_ref().map(|task| task.id));
                }
                self.send(kind, Value::Object(payload), node);
            }
            _ => {}
        }
    }

    fn send(&mut self, kind: RunEventKind, payload: Value, node: Option<&str>) {
        let mut event = RunEvent::new(&self.run_id, kind, object(payload));
        event.node_kind = node.and_then(|node| self.flow.kinds().get(node).cloned());
        event.node = node.map(str::to_owned);
        self.options.deliver(event, &mut self.seq);
    }
}

/// A new identifier, in the form of a UUID.
fn new_run_id() -> String {
    // The keys of a new `RandomState` are random.
    let random = || RandomState::new().hash_one(std::time::Instant::now());
    let (high, low) = (random(), random());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:x}{:03x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        8 | low >> 62,
        low >> 48 & 0xfff,
        low & 0xffff_ffff_ffff,
    )
}
