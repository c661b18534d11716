//! Sums of model usage, by node.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::current_node::{self, CurrentNode};
use super::spawned::carry;
use super::{Report, UsageSummary};
use petalflow::async_trait;
use petalflow::middleware::{Middleware, Next, NodeCall};
use petalflow::{BoxError, State};
use petalflow_llm::{
    Capabilities, LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, LlmStream,
    StreamChunk, TokenUsage,
};

/// Sums of model usage, by node. Clones share the sums.
///
/// `Totals` is [middleware](petalflow::Middleware) that records the current node. [`watch`](Self::watch) wraps a
/// client and counts its calls. Every call counts, including calls of failed attempts, because it was paid for. Each
/// call costs one lookup. Memory grows only with the number of nodes in the graph.
///
/// ```
/// use petalflow_llm::{LlmClient, LlmError, LlmRequest, LlmResponse, TokenUsage};
/// use petalflow::async_trait;
/// use petalflow_tracing::{Metered, Totals};
/// use petalflow::prelude::*;
///
/// /// A model that returns its input.
/// struct Echo;
///
/// #[async_trait]
/// impl LlmClient for Echo {
///     fn name(&self) -> &str {
///         "echo"
///     }
///
///     async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
///         let usage = TokenUsage { input: 5, output: 5, total: 10, ..TokenUsage::default() };
///         let text = request.input_text.clone().unwrap_or_default();
///         Ok(LlmResponse { usage, ..LlmResponse::text_only(text) })
///     }
/// }
///
/// #[state]
/// struct Essay {
///     draft: String,
/// }
///
/// #[node(Essay)]
/// async fn write(model: Managed<Metered<Echo>>) -> petalflow::Result<EssayDraft> {
///     Ok(EssayDraft(model.complete(&LlmRequest::prompt("petals")).await?.text()))
/// }
///
/// flow!(Write(Essay) { write });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let totals = Totals::new();
/// let launch = Write::new().manage(totals.watch(Echo)).middleware(totals.clone());
/// launch.run(()).await?;
/// assert_eq!(totals.report().node("write").unwrap().usage.input, 5);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Totals(Arc<Sums>);

#[derive(Debug, Default)]
struct Sums {
    by_node: Mutex<BTreeMap<Arc<str>, UsageSummary>>,
    /// The totals that these are part of.
    above: Option<Totals>,
}

impl Totals {
    /// Creates empty totals.
    pub fn new() -> Self {
        Totals::default()
    }

    /// Creates totals that also count in these. Use it for one run of many.
    ///
    /// ```
    /// use petalflow_llm::TokenUsage;
    /// use petalflow_tracing::Totals;
    ///
    /// let all = Totals::new();
    /// for run in [all.part(), all.part()] {
    ///     // `launch.clone().middleware(run.clone())`
    ///     run.record("draft", &TokenUsage { input: 10, ..TokenUsage::default() });
    ///     assert_eq!(run.total().usage.input, 10);
    /// }
    /// assert_eq!(all.total().usage.input, 20);
    /// ```
    #[must_use]
    pub fn part(&self) -> Self {
        Totals(Arc::new(Sums {
            by_node: Mutex::default(),
            above: Some(self.clone()),
        }))
    }

    /// Wraps a client and counts its calls by the calling node, in the totals of the current run and in these.
    pub fn watch<C: LlmClient>(&self, client: C) -> Metered<C> {
        Metered {
            client,
            totals: self.clone(),
        }
    }

    /// Counts a call that was not made through [`watch`](Self::watch).
    pub fn record(&self, node: &str, usage: &TokenUsage) {
        self.add(node, &answered(usage));
    }

    /// Returns the sums by node.
    pub fn report(&self) -> Report {
        let nodes = self.lock();
        Report {
            nodes: nodes
                .iter()
                .map(|(node, tally)| (node.to_string(), *tally))
                .collect(),
        }
    }

    /// Returns the sum of all nodes.
    pub fn total(&self) -> UsageSummary {
        self.report().total()
    }

    fn add(&self, node: &str, call: &UsageSummary) {
        {
            let mut nodes = self.lock();
            match nodes.get_mut(node) {
                Some(tally) => *tally += *call,
                None => {
                    nodes.insert(node.into(), *call);
                }
            }
        }
        if let Some(above) = &self.0.above {
            above.add(node, call);
        }
    }

    /// Whether a call that counts in these totals also counts in `other`.
    fn is_within(&self, other: &Totals) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || self
                .0
                .above
                .as_ref()
                .is_some_and(|above| above.is_within(other))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, UsageSummary>> {
        // A panic cannot leave the sums in an inconsistent state.
        self.0
            .by_node
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl<S: State> Middleware<S> for Totals {
    async fn around(&self, call: NodeCall<'_, S>, next: Next<'_, S>) -> Result<(), BoxError> {
        carry();
        let node = CurrentNode {
            node: call.node().into(),
            totals: self.clone(),
        };
        current_node::within(Some(node), next.run(call)).await
    }
}

/// A client that counts its calls in [`Totals`].
pub struct Metered<C> {
    client: C,
    totals: Totals,
}

impl<C> fmt::Debug for Metered<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metered")
            .field("totals", &self.totals)
            .finish_non_exhaustive()
    }
}

fn answered(usage: &TokenUsage) -> UsageSummary {
    UsageSummary {
        calls: 1,
        failed: 0,
        usage: *usage,
    }
}

/// The usage of a failed call. A response with an unreadable tool call was paid for as well.
fn broken(error: &LlmError) -> UsageSummary {
    let usage = match &error.kind {
        LlmErrorKind::Arguments { response } => response.usage,
        _ => TokenUsage::default(),
    };
    UsageSummary {
        failed: 1,
        ..answered(&usage)
    }
}

/// The usage in the last chunk of a stream.
fn streamed(last: &StreamChunk) -> UsageSummary {
    let mut call = match &last.error {
        Some(error) => broken(error),
        None => answered(&TokenUsage::default()),
    };
    if let Some(response) = &last.response {
        call.usage += response.usage;
    }
    call
}

/// Counts for the current node, if any: in the totals of its run, and in `totals` if those are not part of it.
fn count(totals: &Totals, node: Option<&CurrentNode>, call: &UsageSummary) {
    let Some(current) = node else {
        totals.add("", call);
        return;
    };
    current.totals.add(&current.node, call);
    if !current.totals.is_within(totals) {
        totals.add(&current.node, call);
    }
}

#[async_trait]
impl<C: LlmClient> LlmClient for Metered<C> {
    fn name(&self) -> &str {
        self.client.name()
    }

    fn model(&self) -> Option<&str> {
        self.client.model()
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }

    async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        let result = self.client.complete(request).await;
        let call = match &result {
            Ok(response) => answered(&response.usage),
            Err(error) => broken(error),
        };
        count(&self.totals, current_node::current().as_ref(), &call);
        result
    }

    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        // The node that starts the stream pays for it, even if another node reads it.
        let node = current_node::current();
        match self.client.stream(request).await {
            Ok(stream) => {
                let totals = self.totals.clone();
                Ok(stream.watched(move |chunk| {
                    if chunk.done {
                        count(&totals, node.as_ref(), &streamed(chunk));
                    }
                }))
            }
            Err(error) => {
                count(&self.totals, node.as_ref(), &broken(&error));
                Err(error)
            }
        }
    }
}
