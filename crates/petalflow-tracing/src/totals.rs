//! Sums of model usage, by node.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Report, UsageSummary};
use petalflow_llm::TokenUsage;

/// Sums of model usage, by node. Clones share the sums.
///
/// `Totals` is [middleware](petalflow::Middleware) that records the current node. [`meter`](Self::meter) wraps a
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
/// let launch = Write::new().manage(totals.meter(Echo)).middleware(totals.clone());
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
    parent: Option<Totals>,
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
    /// for run in [all.child(), all.child()] {
    ///     // `launch.clone().middleware(run.clone())`
    ///     run.record("draft", &TokenUsage { input: 10, ..TokenUsage::default() });
    ///     assert_eq!(run.total().usage.input, 10);
    /// }
    /// assert_eq!(all.total().usage.input, 20);
    /// ```
    #[must_use]
    pub fn child(&self) -> Self {
        Totals(Arc::new(Sums {
            by_node: Mutex::default(),
            parent: Some(self.clone()),
        }))
    }

    /// Counts a call that was not made through [`meter`](Self::meter).
    pub fn record(&self, node: &str, usage: &TokenUsage) {
        self.add(node, &UsageSummary::of_call(usage));
    }

    /// Returns the sums by node.
    pub fn report(&self) -> Report {
        let nodes = self.lock();
        Report {
            nodes: nodes
                .iter()
                .map(|(node, summary)| (node.to_string(), *summary))
                .collect(),
        }
    }

    /// Returns the sum of all nodes.
    pub fn total(&self) -> UsageSummary {
        self.report().total()
    }

    pub(super) fn add(&self, node: &str, call: &UsageSummary) {
        {
            let mut nodes = self.lock();
            match nodes.get_mut(node) {
                Some(summary) => *summary += *call,
                None => {
                    nodes.insert(node.into(), *call);
                }
            }
        }
        if let Some(parent) = &self.0.parent {
            parent.add(node, call);
        }
    }

    /// Whether a call that counts in these totals also counts in `other`.
    pub(super) fn is_within(&self, other: &Totals) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || self
                .0
                .parent
                .as_ref()
                .is_some_and(|parent| parent.is_within(other))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, UsageSummary>> {
        // A panic cannot leave the sums in an inconsistent state.
        self.0
            .by_node
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
