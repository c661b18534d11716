//! The options of a run.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::event::{EventReceiver, EventSender, RunEvent};
use super::step::StepController;
use petalflow::run::RunToken;

pub(super) type Listener = Arc<dyn Fn(&RunEvent) + Send + Sync>;
pub(super) type Decorator = Arc<dyn Fn(RunEvent, &mut dyn FnMut(RunEvent)) + Send + Sync>;

const MAX_HOPS: u32 = 100;

/// The options of a run. See the [module](super) for an example.
///
/// By default a node runs at most 100 times, the first failure ends the run, one node runs at a time, and there is no
/// timeout.
///
/// ```
/// use petalflow::run::CancelToken;
/// use petalflow_documents::Envelope;
/// use petalflow_documents::builder::EnvelopeBuilder;
/// use petalflow_documents::kinds::NoopNode;
/// use petalflow_documents::run::RunOptions;
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let flow = EnvelopeBuilder::new("one").add_node("only", NoopNode).build()?;
/// let token = CancelToken::new();
/// let options = RunOptions::new()
///     .max_hops(3)
///     .concurrency(2)
///     .continue_on_error(true)
///     .node_timeout(Duration::from_secs(30))
///     .cancel_with(&token);
/// assert!(flow.run_with(Envelope::new(), &options).await.is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RunOptions {
    pub(super) max_hops: u32,
    pub(super) continue_on_error: bool,
    pub(super) concurrency: usize,
    pub(super) node_timeout: Option<Duration>,
    pub(super) step: Option<Arc<dyn StepController>>,
    pub(super) step_timeout: Option<Duration>,
    pub(super) cancel: Option<RunToken>,
    pub(super) bus: Vec<Listener>,
    pub(super) handlers: Vec<Listener>,
    pub(super) channels: Vec<EventSender>,
    pub(super) decorators: Vec<Decorator>,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            max_hops: MAX_HOPS,
            continue_on_error: false,
            concurrency: 1,
            node_timeout: None,
            step: None,
            step_timeout: None,
            cancel: None,
            bus: Vec::new(),
            handlers: Vec::new(),
            channels: Vec::new(),
            decorators: Vec::new(),
        }
    }
}

impl fmt::Debug for RunOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOptions")
            .field("max_hops", &self.max_hops)
            .field("continue_on_error", &self.continue_on_error)
            .field("concurrency", &self.concurrency)
            .field("node_timeout", &self.node_timeout)
            .field("step_timeout", &self.step_timeout)
            .finish_non_exhaustive()
    }
}

impl RunOptions {
    /// Creates the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how often each node may run. Then the run fails with [`MaxHopsExceeded`](super::MaxHopsExceeded). 0 means the
    /// default.
    #[must_use]
    pub fn max_hops(mut self, hops: u32) -> Self {
        self.max_hops = if hops == 0 { MAX_HOPS } else { hops };
        self
    }

    /// Records failures of nodes in the envelope, and continues with the envelope as it was before the node.
    #[must_use]
    pub fn continue_on_error(mut self, continues: bool) -> Self {
        self.continue_on_error = continues;
        self
    }

    /// Sets how many nodes may run at the same time. 0 means 1.
    #[must_use]
    pub fn concurrency(mut self, nodes: usize) -> Self {
        self.concurrency = nodes.max(1);
        self
    }

    /// Sets how long a node may take. Then it is dropped and fails with [`NodeTimeout`](super::NodeTimeout). Zero means no
    /// limit.
    #[must_use]
    pub fn node_timeout(mut self, timeout: Duration) -> Self {
        self.node_timeout = (!timeout.is_zero()).then_some(timeout);
        self
    }

    /// Runs the graph step by step.
    #[must_use]
    pub fn step(mut self, controller: impl StepController) -> Self {
        self.step = Some(Arc::new(controller));
        self
    }

    /// Sets how long a controller may take for a response. Then the run ends with [`StepAborted`](super::StepAborted).
    #[must_use]
    pub fn step_timeout(mut self, timeout: Duration) -> Self {
        self.step_timeout = Some(timeout);
        self
    }

    /// Cancels the run when this token is cancelled.
    #[must_use]
    pub fn cancel_with(mut self, token: impl Into<RunToken>) -> Self {
        self.cancel = Some(token.into());
        self
    }

    /// Adds a handler for events. It gets one event at a time, in order.
    #[must_use]
    pub fn on_event(mut self, handler: impl Fn(&RunEvent) + Send + Sync + 'static) -> Self {
        self.handlers.push(Arc::new(handler));
        self
    }

    /// Publishes events to a bus, before the handlers get them.
    #[must_use]
    pub fn publish(mut self, bus: impl Fn(&RunEvent) + Send + Sync + 'static) -> Self {
        self.bus.push(Arc::new(bus));
        self
    }

    /// Sends events to a channel.
    ///
    /// ```
    /// use petalflow_documents::run::RunOptions;
    ///
    /// let (options, mut events) = RunOptions::new().channel();
    /// assert_eq!((events.try_next(), events.dropped_events()), (None, 0));
    /// # let _ = options;
    /// ```
    #[must_use]
    pub fn channel(mut self) -> (Self, EventReceiver) {
        let (sender, receiver) = EventReceiver::new();
        self.channels.push(sender);
        (self, receiver)
    }

    /// Wraps the emitter of events: the function gets each event, and passes on what it returns to the second argument. An
    /// event gets its number afterwards. The decorator that was added first is the outermost.
    ///
    /// ```
    /// use petalflow_documents::run::{RunEventKind, RunOptions};
    ///
    /// let options = RunOptions::new().decorate(|mut event, next| {
    ///     if event.kind != RunEventKind::NodeOutputDelta {
    ///         event.payload.insert("tenant".into(), 7.into());
    ///         next(event);
    ///     }
    /// });
    /// # let _ = options;
    /// ```
    #[must_use]
    pub fn decorate(
        mut self,
        decorator: impl Fn(RunEvent, &mut dyn FnMut(RunEvent)) + Send + Sync + 'static,
    ) -> Self {
        self.decorators.push(Arc::new(decorator));
        self
    }

    /// Whether anything receives events.
    pub(super) fn has_listener(&self) -> bool {
        !(self.bus.is_empty() && self.handlers.is_empty() && self.channels.is_empty())
    }

    /// Passes an event on: through the decorators, then to the bus, the handlers and the channels.
    pub(super) fn deliver(&self, event: RunEvent, seq: &mut u64) {
        self.deliver_through(&self.decorators, event, seq);
    }

    fn deliver_through(&self, decorators: &[Decorator], mut event: RunEvent, seq: &mut u64) {
        if let Some((decorator, inner)) = decorators.split_first() {
            return decorator(event, &mut |event| self.deliver_through(inner, event, seq));
        }
        *seq += 1;
        event.seq = *seq;
        for listener in self.bus.iter().chain(&self.handlers) {
            listener(&event);
        }
        self.channels
            .iter()
            .for_each(|channel| channel.send(&event));
    }
}
